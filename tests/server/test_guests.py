"""Guests are rated only for games in which they have made a move of their own."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("websockets")
from stored_results import stored_results
from talk import Bot, both, eventually, first_box, run, serving

from dicegym.errors import ParameterError
from dicegym.server.admission import Secrets, fold_name, name_fault
from dicegym.server.game_results import PlayerRating
from dicegym.server.history import Archive
from dicegym.server.result_store import ResultStore
from dicegym.server.server import Server


async def silent(bot: Bot) -> None:
    """Say nothing, and hear everything."""
    while await bot.until("FINAL"):
        pass


async def wrong(bot: Bot) -> None:
    """Ask for what cannot be had, as often as one is asked."""
    while (message := await bot.my_turn()) and message["key"] == "STANDING":
        for _ in range(10):
            await bot.send({"type": "SCORE_BOX", "box": 99, "dice": []})


async def gone(bot: Bot) -> None:
    bot.vanish()


async def finished(server: Server, active: list[Bot]) -> Any:
    """Let these bots play a game to its end; return what is stored of it."""
    finals = await asyncio.gather(*(bot.play() for bot in active))
    assert finals[0]["key"] == "FINAL"
    return stored_results(server.store)[-1]


@pytest.mark.parametrize("way", [silent, wrong, gone])
@run
async def test_a_guest_that_makes_no_move_costs_nobody_rating(tmp_path: Path, way: Any) -> None:
    async with serving(tmp_path, answer=0.1) as server:
        (anna, other), standing = await both(server, "anna", "mute")
        anna, other = sorted((anna, other), key=lambda bot: bot.name)
        task = asyncio.create_task(way(other))
        if standing["currentPlayer"]["playerName"] == "anna":
            await anna.send(first_box(standing))
        result = await finished(server, [anna])
        assert [(place.after, place.rated) for place in result.places] == [(1200, False)] * 2
        assert {row["rating"] for row in anna.seen[-1]["standing"]} == {1200}
        assert server.store.ratings() == {}
        assert server.store.rating("anna").games == 0
        assert any("(1200, not rated), " in line for line in server.told)
        task.cancel()
    with Archive(tmp_path / "results.sqlite") as archive:
        assert archive.ratings() == {}
        assert [game.places for game in archive.games(player="mute")] == [result.places]


@run
async def test_one_move_of_its_own_makes_a_guest_count(tmp_path: Path) -> None:
    async with serving(tmp_path, answer=0.1) as server:
        bots, standing = await both(server, "anna", "brief")
        if standing["currentPlayer"]["playerName"] == "brief":
            await bots[0].send({"type": "ROLL_DICE", "dice": [0]})
            playing = bots[1]
        else:
            await bots[0].send(first_box(standing))
            await bots[1].send({"type": "ROLL_DICE", "dice": [0]})
            playing = bots[0]
        result = await finished(server, [playing])
        assert all(place.rated for place in result.places)
        assert {name: known.games for name, known in server.store.ratings().items()} == {"anna": 1, "brief": 1}


@run
async def test_a_silent_name_with_a_secret_counts(tmp_path: Path) -> None:
    """It is somebody, and could else avoid to lose by leaving."""
    secrets = tmp_path / "secrets.txt"
    secrets.write_text("mute:correct horse\n")
    async with serving(tmp_path, answer=0.1, secrets=secrets) as server:
        anna, mute = await Bot.named(server, "anna"), await Bot.named(server, "mute", secret="correct horse")
        task = asyncio.create_task(silent(mute))
        result = await finished(server, [anna])
        assert all(place.rated for place in result.places)
        task.cancel()


@run
async def test_others_are_rated_as_though_a_silent_guest_were_not_there(tmp_path: Path) -> None:
    async with serving(tmp_path, players=3, answer=0.1) as server:
        bots = [await Bot.named(server, name) for name in ("anna", "bob", "mute")]
        task = asyncio.create_task(silent(bots.pop()))
        result = await finished(server, bots)
        places = {place.name: place for place in result.places}
        assert (places["mute"].after, places["mute"].rated) == (1200, False)
        order = sorted((places["anna"], places["bob"]), key=lambda place: -place.total)
        tie = order[0].total == order[1].total
        assert [place.after for place in order] == ([1200, 1200] if tie else [1216, 1184])
        known = server.store.ratings()
        assert known[order[0].name] == PlayerRating(order[0].after, 1, 1), "a win, wherever the silent one came"
        assert "mute" not in known
        task.cancel()


@pytest.mark.parametrize(
    ("totals", "counts", "after", "wins"),
    [
        ([200, 100], [True, True], [1216, 1184], [1, 0]),
        ([200, 100], [True, False], [1200, 1200], [None, None]),
        ([200, 100], [False, False], [1200, 1200], [None, None]),
        ([100, 100, 300], [True, True, False], [1200, 1200, 1200], [1, 1, None]),
        ([100, 200, 300], [True, True, False], [1184, 1216, 1200], [0, 1, None]),
        ([100, 200, 300], [True, True, True], [1184, 1200, 1216], [0, 0, 1]),
    ],
)
def test_ratings_with_some_that_do_not_count(
    totals: list[int], counts: list[bool], after: list[int], wins: list[int | None], tmp_path: Path
) -> None:
    store = ResultStore(tmp_path / "results.sqlite", "yatzy")
    names = ["anna", "bob", "carl"][: len(totals)]
    places = store.rate(names, totals, counts)
    assert [place.after for place in places] == after
    assert [place.rated for place in places] == [counted and sum(counts) > 1 for counted in counts]
    ratings = {name: store.rating(name) for name in store._ratings}
    assert [ratings[name].wins if name in ratings else None for name in names] == wins
    store.close()


@pytest.mark.parametrize("guests", [True, False])
@run
async def test_the_log_names_the_login_that_a_client_has_not_sent(tmp_path: Path, guests: bool) -> None:
    (path := tmp_path / "secrets.txt").write_text("anna:correct horse\n")
    async with serving(tmp_path, login=0.05, guests=guests, secrets=path) as server:
        silent = await Bot.connect(server)
        words = 'sent no LOGIN within 0.05 s: a client begins with {"key": "LOGIN", "secret": ...}'
        await eventually(lambda: any(words in line for line in server.told))
        silent.writer.close()


SPELLINGS = (
    "anna",
    "ANNA",
    "Anna",
    "\uff41\uff4e\uff4e\uff41",
    "\uff21NNA",
    "\U0001d41a\U0001d427\U0001d427\U0001d41a",
)


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


@pytest.mark.parametrize(
    "name", ["", " anna", "an\u200bna", "an\u202ena", "an\u3164na", "\u2800", "a\nb", "\ud800", "x" * 41]
)
def test_names_that_cannot_be_seen_are_refused(name: str) -> None:
    assert name_fault(name)


@pytest.mark.parametrize("name", ["a", "x" * 40, "Zoë", "O'Neil", "Иван bot", "小明", "שלום", "50%", "a_b.c-d", "🎲"])
def test_honest_names_are_not(name: str) -> None:
    assert not name_fault(name)


@run
async def test_all_spellings_of_a_connected_name_are_one(tmp_path: Path) -> None:
    async with serving(tmp_path, players=6, agents=("thrifty",)) as server:
        bots = [await Bot.named(server, spelling) for spelling in (*SPELLINGS, "\uff34hrifty")]
        names = [bot.name for bot in bots]
        assert names == ["anna", *(f"{one}-{n}" for n, one in enumerate(SPELLINGS[1:], 2)), "\uff34hrifty-2"]
        assert len({fold_name(name) for name in names}) == len(names)


@run
async def test_a_guest_in_another_spelling_has_its_rating(tmp_path: Path) -> None:
    async with serving(tmp_path, games=1) as server:
        bots, standing = await both(server, "Anna", "bob")
        await bots[0].send(first_box(standing))
        await asyncio.gather(*(bot.play() for bot in bots))
    async with serving(tmp_path, games=1) as server:
        bots, standing = await both(server, "\uff41NNA", "BOB")
        assert sorted(bot.name for bot in bots) == ["Anna", "bob"]
        await bots[0].send(first_box(standing))
        await asyncio.gather(*(bot.play() for bot in bots))
    with Archive(tmp_path / "results.sqlite") as archive:
        assert {name: known.games for name, known in archive.ratings().items()} == {"Anna": 2, "bob": 2}
        assert len(archive.games(player="aNNa")) == 2


@run
async def test_a_guest_that_comes_back_in_another_spelling_has_its_seat(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        (first, other), _ = await both(server, "anna", "bob")
        spelled = other.name.upper()
        other.vanish()
        await eventually(lambda: server.lobby._left)
        back = await Bot.named(server, spelled)
        assert back.name == other.name
        await eventually(lambda: any("is back" in line for line in server.told))
        first.close()


@run
async def test_a_secret_guards_all_spellings_of_its_name(tmp_path: Path) -> None:
    secrets = tmp_path / "secrets.txt"
    secrets.write_text("Anna:correct horse\n")
    async with serving(tmp_path, secrets=secrets) as server:
        for spelling in SPELLINGS:
            bot = await Bot.connect(server)
            await bot.send({"key": "LOGIN", "playerName": spelling})
            assert (await bot.receive())["code"] == "secret-needed"
            bot.close()
            owner = await Bot.named(server, spelling, secret="correct horse")
            assert owner.name == "Anna"
            owner.close()
