"""Names, secrets and opponents."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dicegym.errors import ParameterError
from dicegym.server.admission import Secrets, fold_name, name_fault
from dicegym.server.game_table import find_company

pytest.importorskip("sqlalchemy")
pytest.importorskip("websockets")
from talk import Bot, first_box, run, serving, with_secrets

ANNAS = {"secret": "correct horse"}
SPELLINGS = (
    "anna",
    "ANNA",
    "Anna",
    "\uff41\uff4e\uff4e\uff41",
    "\uff21NNA",
    "\U0001d41a\U0001d427\U0001d427\U0001d41a",
)


def secrets_file(folder: Path, text: str = "anna:correct horse\nbob:battery staple\n") -> Any:
    path = folder / "secrets.txt"
    path.write_text(text)
    return path


@run
async def test_logging_in_again_with_the_secret_takes_over(tmp_path: Path) -> None:
    """Its old connection may be dead unnoticed."""
    async with with_secrets(tmp_path) as server:
        old, bob = await Bot.named(server, "anna", **ANNAS), await Bot.named(server, "bob", **BOBS)
        standing = await old.until("STANDING")
        await bob.until("STANDING")
        new = await Bot.named(server, "anna", **ANNAS)
        assert (await old.until("ERROR"))["code"] == "replaced"
        assert await old.receive() == {}
        shown = await new.until("STANDING")
        assert [row["playerName"] for row in shown["standing"]] == [row["playerName"] for row in standing["standing"]]
        if standing["currentPlayer"]["playerName"] == "bob":
            await bob.send(first_box(standing))
            assert (await new.my_turn())["key"] == "STANDING"


def login(**said: Any) -> dict[str, Any]:
    return {"key": "LOGIN", **said}


BAD_NAMES = ("", " anna", "a" * 41, "a\nb", "\x1b[31mred", "\u202eevil", "\ud800")
NO_LOGINS = (login(playerName=7), login(secret=[]), {"key": "HELLO"}, {"type": "ROLL_DICE", "dice": [0]})
BOBS = {"secret": "battery staple"}
LOGINS: dict[str, tuple[dict[str, Any], list[tuple[Any, str]]]] = {
    "after the third wrong secret the connection is closed": (
        {},
        [
            (login(secret="battery"), "wrong-secret"),
            (login(secret="correct horse", playerName="bob"), "wrong-secret"),
            (login(secret=""), "wrong-secret"),
            (None, ""),
        ],
    ),
    "other names are free where guests play": (
        {},
        [(login(playerName="anna"), "secret-needed"), (login(playerName="carl"), "carl")],
    ),
    "without guests everybody needs a secret, and the time to log in is over": (
        {"guests": False, "login": 0.3},
        [(login(playerName="carl"), "secret-needed"), (None, "secret-needed"), (None, "")],
    ),
    "names of guests": (
        {},
        [
            *((login(playerName=name), "bad-name") for name in BAD_NAMES),
            *((message, "bad-login") for message in NO_LOGINS),
            (login(), "guest-1"),
        ],
    ),
    "who starts slowly may log in, but once": (
        {"login": 0.05},
        [(None, "guest-1"), (login(playerName="anna"), "not-your-turn")],
    ),
    "any name": ({}, [(login(playerName="Zoë 🎲"), "Zoë 🎲")]),
    "a secret guards all spellings of its name": (
        {},
        [
            *((login(playerName=name), "secret-needed") for name in SPELLINGS),
            (login(playerName="\uff21NNA", **ANNAS), "anna"),
        ],
    ),
    # a login with more keys than the original gets the full protocol
    "a name": ({}, [(login(playerName="bob", **BOBS), "bob")]),
    "a client": ({}, [(login(client="mine 1.0", **BOBS), "bob")]),
    "a type": ({}, [({"type": "LOGIN", **BOBS}, "bob")]),
}


@pytest.mark.parametrize("case", LOGINS)
@run
async def test_logins(tmp_path: Path, case: str) -> None:
    changes, steps = LOGINS[case]
    async with with_secrets(tmp_path, **changes) as server:
        bot = await Bot.connect(server)
        for message, expected in steps:
            if message is not None:
                await bot.send(message)
            answer = await bot.receive()
            assert answer.get("code", answer.get("playerName", "")) == expected, message
        wrong = [line for line in server.told if "wrong secret from 127.0.0.1" in line]
        assert bool(wrong) == (steps[0][1] == "wrong-secret")
        assert not [line for line in server.told if "battery" in line]
        if not changes:
            assert (await Bot.named(server, "anna", **ANNAS)).name == "anna"


def test_secrets_files(tmp_path: Path) -> None:
    read = Secrets.read(secrets_file(tmp_path, "# mine\n\nanna : a:b c and more \nbob:twelve chars\n"))
    assert read.owner("a:b c and more") == "anna"
    assert read.owner("twelve chars") == "bob"
    assert read.owner("Twelve chars") is None
    assert "anna" in read
    assert "carl" not in read
    read = Secrets.read(secrets_file(tmp_path, "anna:pässword that is long"))
    assert read.owner("pässword that is long") == "anna"
    assert read.owner("\ud800") is None


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("anna\n", "line 1: write name:secret"),
        ("anna:secret\nanna:other\n", "has a secret already"),
        ("anna:eleven char\n", "too short, so that others could guess it: give at least 12"),
        ("anna:correct horse\nbob:correct horse\n", "same secret"),
        ("a\tb:secret\n", "printable"),
        (":secret\n", "1 to 40"),
        ("anna:secret\0\n", "is not text"),
        ("#" * (17 << 20), "larger than"),
        ("", "names nobody"),
        ("# anna:secret\n\n", "names nobody"),
    ],
)
def test_secrets_files_that_cannot_be_used(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(ParameterError, match=complaint) as caught:
        Secrets.read(secrets_file(tmp_path, text))
    assert "secret:" not in str(caught.value)
    assert "eleven char" not in str(caught.value)


def test_secrets_are_compared_in_constant_time_and_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    import hmac

    compared = []
    monkeypatch.setattr(hmac, "compare_digest", lambda a, b: compared.append((len(a), len(b))) or a == b)
    assert Secrets({"anna": "first secret", "bob": "second secret"}).owner("first secret") == "anna"
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
        ([waiting("a")], 2, 1, 3, 0, None),  # another bot may come ...
        ([waiting("a")], 2, 1, 3, 1, "a"),  # ... but no bot waits forever
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
def test_choice_of_opponents(
    waiters: list[Any], players: int, local: int, expected: int, now: float, chosen: str | None
) -> None:
    found = find_company(waiters, players, local, expected, now, patience=1)
    assert (None if found is None else "".join(one.name for one in found)) == chosen


@pytest.mark.parametrize(
    ("name", "other", "same"),
    [
        *(("anna", spelling, True) for spelling in SPELLINGS),
        ("Strasse", "Straße", True),
        ("fiona", "\ufb01ona", True),  # a ligature
        ("Zoë", "Zoe\u0308", True),  # composed or not
        ("anna", "hanna", False),
        ("anna", "ann\u0430", False),  # Cyrillic: another letter
        ("Zoë", "Zoe", False),
        ("bot-1", "bot-2", False),
    ],
)
def test_spellings_of_one_name(name: str, other: str, same: bool) -> None:
    assert (fold_name(name) == fold_name(other)) is same
    assert fold_name(fold_name(name)) == fold_name(name)
    if same and name != other:
        with pytest.raises(ParameterError, match="are one name"):
            Secrets({name: "correct horse", other: "battery staple"})
    else:
        assert (other in Secrets({name: "correct horse"})) is same


def test_names_that_cannot_be_seen_are_refused_and_honest_ones_are_not() -> None:
    bad = ("", " anna", "an\u200bna", "an\u202ena", "an\u3164na", "\u2800", "a\nb", "\ud800", "x" * 41)
    good = ("a", "x" * 40, "Zoë", "O'Neil", "Иван bot", "小明", "שלום", "50%", "a_b.c-d", "🎲")
    assert [name for name in bad if not name_fault(name)] == []
    assert [name for name in good if name_fault(name)] == []


@run
async def test_all_spellings_of_a_connected_name_are_one(tmp_path: Path) -> None:
    async with serving(tmp_path, players=6, agents=("thrifty",)) as server:
        bots = [await Bot.named(server, spelling) for spelling in (*SPELLINGS, "\uff34hrifty")]
        names = [bot.name for bot in bots]
        assert names == ["anna", *(f"{one}-{n}" for n, one in enumerate(SPELLINGS[1:], 2)), "\uff34hrifty-2"]
        assert len({fold_name(name) for name in names}) == len(names)
