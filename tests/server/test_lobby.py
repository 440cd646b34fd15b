"""Who may play under which name, and who plays whom."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dicegym.errors import ParameterError
from dicegym.server.admission import Secrets
from dicegym.server.game_table import find_company

pytest.importorskip("sqlalchemy")
pytest.importorskip("websockets")
from talk import Bot, first_box, run, serving


def secrets_file(folder: Path, text: str = "anna:correct horse\nbob:battery staple\n") -> Any:
    path = folder / "secrets.txt"
    path.write_text(text)
    return path


@run
async def test_a_secret_alone_logs_in_as_in_the_original(tmp_path: Path) -> None:
    async with serving(tmp_path, secrets=secrets_file(tmp_path)) as server:
        bot = await Bot.connect(server)
        await bot.send({"key": "LOGIN", "secret": "battery staple"})
        carl = await Bot.named(server, "carl")
        shown = await carl.until("STANDING")
        assert {row["playerName"] for row in shown["standing"]} == {"bob", "carl"}, "known by the secret"


@run
async def test_wrong_secrets(tmp_path: Path) -> None:
    async with serving(tmp_path, secrets=secrets_file(tmp_path), login=60) as server:
        bot = await Bot.connect(server)
        for login in ({"secret": "battery"}, {"secret": "correct horse", "playerName": "bob"}, {"secret": ""}):
            await bot.send({"key": "LOGIN", **login})
            assert (await bot.receive())["code"] == "wrong-secret"
        assert await bot.receive() == {}, "after the third the connection is closed"
        assert [line for line in server.told if "wrong secret from 127.0.0.1" in line]
        assert not [line for line in server.told if "battery" in line]


@run
async def test_a_name_with_a_secret_is_nobody_elses(tmp_path: Path) -> None:
    async with serving(tmp_path, secrets=secrets_file(tmp_path)) as server:
        bot = await Bot.connect(server)
        await bot.send({"key": "LOGIN", "playerName": "anna"})
        assert (await bot.receive())["code"] == "secret-needed"
        await bot.send({"key": "LOGIN", "playerName": "carl"})
        assert (await bot.receive())["playerName"] == "carl", "other names are free where guests play"


@run
async def test_without_guests_everybody_needs_a_secret(tmp_path: Path) -> None:
    async with serving(tmp_path, secrets=secrets_file(tmp_path), guests=False, login=0.3) as server:
        bot = await Bot.connect(server)
        await bot.send({"key": "LOGIN", "playerName": "carl"})
        assert (await bot.receive())["code"] == "secret-needed"
        assert (await bot.receive())["code"] == "secret-needed", "and the time to log in is over"
        assert await bot.receive() == {}
        assert (await Bot.named(server, "anna", secret="correct horse")).name == "anna"


@run
async def test_who_logs_in_again_with_its_secret_takes_over(tmp_path: Path) -> None:
    """Its old connection may be dead without the server's knowing."""
    async with serving(tmp_path, secrets=secrets_file(tmp_path)) as server:
        old, bob = (
            await Bot.named(server, "anna", secret="correct horse"),
            await Bot.named(server, "bob", secret="battery staple"),
        )
        standing = await old.until("STANDING")
        await bob.until("STANDING")
        turn = standing["currentPlayer"]["playerName"]
        new = await Bot.named(server, "anna", secret="correct horse")
        assert (await old.until("ERROR"))["code"] == "replaced"
        assert await old.receive() == {}
        shown = await new.until("STANDING")
        assert [row["playerName"] for row in shown["standing"]] == [row["playerName"] for row in standing["standing"]]
        mover = bob if turn == "bob" else new
        if mover is bob:
            await bob.send(first_box(standing))
            assert (await new.my_turn())["key"] == "STANDING"


@run
async def test_names_of_guests(tmp_path: Path) -> None:
    async with serving(tmp_path, players=6) as server:
        bots = [await Bot.named(server, name) for name in ("anna", "anna", "Zoë", "🎲")]
        assert [bot.name for bot in bots] == ["anna", "anna-2", "Zoë", "🎲"]
        bot = await Bot.connect(server)
        for name in ("", " anna", "a" * 41, "a\nb", "\x1b[31mred", "\u202eevil", "\ud800"):
            await bot.send({"key": "LOGIN", "playerName": name})
            assert (await bot.receive())["code"] == "bad-name", name
        for message in ({"key": "LOGIN", "playerName": 7}, {"key": "LOGIN", "secret": []}, {"key": "HELLO"}):
            await bot.send(message)
            assert (await bot.receive())["code"] == "bad-login", message
        await bot.send({"type": "ROLL_DICE", "dice": [0]})
        assert (await bot.receive())["code"] == "bad-login"
        await bot.send({"key": "LOGIN"})
        assert (await bot.receive())["playerName"] == "guest-1"


@run
async def test_a_client_may_log_in_after_a_slow_start_but_once(tmp_path: Path) -> None:
    async with serving(tmp_path, login=0.05) as server:
        bot = await Bot.connect(server)
        assert (await bot.receive())["playerName"] == "guest-1"
        await bot.send({"key": "LOGIN", "playerName": "anna"})
        error = await bot.receive()
        assert error["code"] == "not-your-turn"
        assert "guest-1" in error["message"]


def test_secrets_files(tmp_path: Path) -> None:
    read = Secrets.read(secrets_file(tmp_path, "# mine\n\nanna : a:b c \nbob:secret\n"))
    assert read.owner("a:b c") == "anna"
    assert read.owner("secret") == "bob"
    assert read.owner("Secret") is None
    assert "anna" in read
    assert "carl" not in read
    read = Secrets.read(secrets_file(tmp_path, "anna:pässword"))
    assert read.owner("pässword") == "anna"
    assert read.owner("\ud800") is None


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("anna\n", "line 1: write name:secret"),
        ("anna:secret\nanna:other\n", "has a secret already"),
        ("anna:abc\n", "too short"),
        ("anna:secret\nbob:secret\n", "same secret"),
        ("a\tb:secret\n", "printable"),
        (":secret\n", "1 to 40"),
        ("anna:secret\0\n", "no text"),
        ("#" * (17 << 20), "larger than"),
        ("", "names nobody"),
        ("# anna:secret\n\n", "names nobody"),
    ],
)
def test_secrets_files_that_cannot_be_used(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(ParameterError, match=complaint) as caught:
        Secrets.read(secrets_file(tmp_path, text))
    assert "secret:" not in str(caught.value)


def test_secrets_are_compared_in_constant_time_and_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    import hmac

    compared = []
    monkeypatch.setattr(hmac, "compare_digest", lambda a, b: compared.append((len(a), len(b))) or a == b)
    assert Secrets({"anna": "first secret", "bob": "2nd secret"}).owner("first secret") == "anna"
    assert compared == [(32, 32), (32, 32)]


def waiting(name: str, since: Any = 0.0, met: Any = (), last: Any = ()) -> Any:
    met = {other: number for number, other in enumerate(met)}
    return SimpleNamespace(name=name, since=since, met=met, last=frozenset(last))


@pytest.mark.parametrize(
    ("waiters", "players", "local", "expected", "now", "chosen"),
    [
        ([], 2, 9, 9, 100, None),
        ([waiting("a")], 2, 0, 0, 100, None),
        ([waiting("a")], 2, 1, 0, 0, "a"),
        ([waiting("a")], 2, 1, 3, 0, None),  # somebody may come ...
        ([waiting("a")], 2, 1, 3, 1, "a"),  # ... but nobody waits for ever
        ([waiting("a")], 3, 1, 0, 100, None),
        ([waiting("b", 2), waiting("a", 1)], 2, 1, 5, 2, "ab"),
        ([waiting("c", 3), waiting("b", 2), waiting("a", 1)], 2, 1, 5, 3, "ab"),
        ([waiting("a", 1), waiting("b", 2), waiting("c", 3)], 3, 0, 0, 3, "abc"),
        ([waiting("a", 1, met="cb"), waiting("b", 2), waiting("c", 3)], 2, 0, 0, 3, "ac"),
        ([waiting("a", 1, met="b"), waiting("b", 2), waiting("c", 3)], 2, 0, 0, 3, "ac"),
        ([waiting("a", 1, met="b", last="ab"), waiting("b", 1, last="ab")], 2, 0, 2, 1, None),
        ([waiting("a", 1, met="b", last="ab"), waiting("b", 1, last="ab")], 2, 0, 0, 1, "ab"),
        ([waiting("a", 1, met="b", last="ab"), waiting("b", 1, last="ab")], 2, 0, 2, 2, "ab"),
        ([waiting("a", 1), waiting("b", 2)], 4, 2, 0, 2, "ab"),
    ],
)
def test_who_plays_whom(
    waiters: list[Any], players: int, local: int, expected: int, now: float, chosen: str | None
) -> None:
    found = find_company(waiters, players, local, expected, now, patience=1)
    assert (None if found is None else "".join(one.name for one in found)) == chosen
