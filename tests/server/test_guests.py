"""Guests are rated only for games in which they made a move."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("websockets")
from stored_results import stored_results
from talk import Bot, both, eventually, first_box, run, serving, with_secrets

from dicegym.server.game_results import PlayerRating
from dicegym.server.history import Archive
from dicegym.server.result_store import ResultStore
from dicegym.server.server import Server


async def silent(bot: Bot) -> None:
    """Send nothing, and read everything."""
    while await bot.until("FINAL"):
        pass


async def wrong(bot: Bot) -> None:
    """Send only illegal commands."""
    while (message := await bot.my_turn()) and message["key"] == "STANDING":
        for _ in range(10):
            await bot.send({"type": "SCORE_BOX", "box": 99, "dice": []})


async def gone(bot: Bot) -> None:
    bot.vanish()


async def one_roll(bot: Bot) -> None:
    """Make one move, then send nothing."""
    await bot.my_turn()
    await bot.send({"type": "ROLL_DICE", "dice": [0]})
    await silent(bot)


async def finished(server: Server, active: list[Bot]) -> Any:
    """Play a game of these bots to its end; return the stored result."""
    finals = await asyncio.gather(*(bot.play() for bot in active))
    assert finals[0]["key"] == "FINAL"
    return stored_results(server.store)[-1]


@pytest.mark.parametrize("way", [silent, wrong, gone])
@run
async def test_a_guest_without_a_move_changes_no_rating(tmp_path: Path, way: Any) -> None:
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


@pytest.mark.parametrize("owner", [False, True])
@run
async def test_one_move_of_its_own_or_a_secret_makes_a_name_count(tmp_path: Path, owner: bool) -> None:
    """Otherwise owners of secrets could avoid a loss by leaving."""
    async with with_secrets(tmp_path, "mute:correct horse\n", answer=0.1) as server:
        anna, mute = (
            await Bot.named(server, "anna"),
            await Bot.named(server, "mute" if owner else "brief", **({"secret": "correct horse"} if owner else {})),
        )
        task = asyncio.create_task(silent(mute) if owner else one_roll(mute))
        result = await finished(server, [anna])
        assert all(place.rated for place in result.places)
        assert {known.games for known in server.store.ratings().values()} == {1}
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
        assert known[order[0].name] == PlayerRating(order[0].after, 1, 1), "a win, whatever place the silent guest has"
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
    async with with_secrets(tmp_path, login=0.05, guests=guests) as server:
        silent = await Bot.connect(server)
        words = 'sent no LOGIN within 0.05 s: a client begins with {"key": "LOGIN", "secret": ...}'
        await eventually(lambda: any(words in line for line in server.told))
        silent.writer.close()


@run
async def test_a_guest_in_another_spelling_has_its_rating_and_its_seat(tmp_path: Path) -> None:
    async with serving(tmp_path, games=1) as server:
        bots, standing = await both(server, "Anna", "bob")
        await bots[0].send(first_box(standing))
        await asyncio.gather(*(bot.play() for bot in bots))
    async with serving(tmp_path, games=1) as server:
        (first, other), standing = await both(server, "\uff41NNA", "BOB")
        assert sorted((first.name, other.name)) == ["Anna", "bob"]
        other.vanish()
        await eventually(lambda: server.lobby._left)
        back = await Bot.named(server, other.name.upper())
        assert back.name == other.name
        await eventually(lambda: any("is back" in line for line in server.told))
        await first.send(first_box(standing))
        await asyncio.gather(first.play(), back.play())
    with Archive(tmp_path / "results.sqlite") as archive:
        assert {name: known.games for name, known in archive.ratings().items()} == {"Anna": 2, "bob": 2}
        assert len(archive.games(player="aNNa")) == 2
