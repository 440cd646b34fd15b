"""Bots that disconnect from games, come back, or never come."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("websockets")
from stored_results import stored_results
from talk import Bot, WebBot, both, eventually, first_box, game_of_two, run, serving


@run
async def test_each_turn_of_one_that_has_given_up_comes_with_a_standing_of_its_own(tmp_path: Path) -> None:
    async with serving(tmp_path, players=3, games=1, answer=60.0) as server:
        bots, standing = await both(server, "anna", "bob", "carl")
        lost, *others = bots
        lost.vanish()  # the server plays its turn, and from the next one on all turns
        shown = {bot.name: [] for bot in others}

        async def play(bot: Bot) -> None:
            while (message := await bot.until("STANDING", "FINAL"))["key"] == "STANDING":
                shown[bot.name].append(message)
                if message["currentPlayer"]["playerName"] == bot.name:
                    await bot.send(first_box(message))

        await asyncio.gather(*(play(bot) for bot in others))
        await server.wait_finished()
    assert shown[others[0].name][2:] == shown[others[1].name][2:], "both receive the same messages"
    turns = [
        (message["roundNumber"], message["currentPlayer"]["playerName"])
        for message in shown[others[1].name]
        if message["currentPlayer"]["rollsLeft"] == 2
    ]
    assert turns[-3 * 13 :] == [(number, bot.name) for number in range(3, 16) for bot in bots]
    for before, after in zip(shown[others[1].name], shown[others[1].name][1:], strict=False):
        filled = [
            sum(field != "-" for row in message["standing"] for field in row["score"].split(","))
            for message in (before, after)
        ]
        assert filled[1] - filled[0] <= 1, "each change has its own message"
    assert standing["roundNumber"] == 1


@pytest.mark.parametrize("kind", [Bot, WebBot])
@run
async def test_a_lost_connection_stops_no_game_and_loses_no_result(tmp_path: Path, kind: str) -> None:
    async with serving(tmp_path, games=1) as server:
        lost, other = await kind.named(server, "lost"), await Bot.named(server, "other")
        playing = asyncio.create_task(other.play())
        await lost.send(first_box(await lost.my_turn()))  # guests are rated after a move
        await lost.my_turn()
        lost.vanish()
        final = await playing
        assert sorted(row["playerName"] for row in final["standing"]) == ["lost", "other"]
        await server.wait_finished()
        (result,) = stored_results(server.store)
        assert [incident.reason for incident in result.incidents] == ["lost its connection", "has no connection"]
        assert set(server.store.ratings()) == {"lost", "other"}


@run
async def test_everybody_may_vanish_and_the_game_is_rated_all_the_same(tmp_path: Path) -> None:
    async with game_of_two(tmp_path, games=1) as (server, first, second, _):
        first.vanish()
        second.vanish()
        await server.wait_finished()
        assert server.store.count_games() == 1


@run
async def test_a_bot_that_returns_in_time_gets_its_seat(tmp_path: Path) -> None:
    async with game_of_two(tmp_path, games=1) as (server, first, second, _):
        first.vanish()  # the server plays its first turn
        standing = await second.my_turn()
        back = await Bot.named(server, first.name)
        shown = await back.until("STANDING")
        assert shown == standing, "it receives the table at once"
        await second.send(first_box(standing))
        finals = await asyncio.gather(back.play(), second.play())
        assert finals[0] == finals[1]
        (result,) = stored_results(server.store)
        assert len(result.incidents) == 1


@run
async def test_a_bot_that_returns_too_late_waits_for_the_next_game(tmp_path: Path) -> None:
    async with game_of_two(tmp_path) as (server, first, second, _):
        first.vanish()
        await second.send(first_box(await second.my_turn()))
        await second.my_turn()  # after its second turn the server plays the rest for it
        back = await Bot.named(server, first.name)
        await back.send({"type": "ROLL_DICE", "dice": [0]})
        assert (await back.until("ERROR"))["code"] == "not-your-turn"
        assert not [message for message in back.seen if message["key"] == "STANDING"]
        await second.send(first_box(second.seen[-1]))
        await second.play()
        assert (await back.until("STANDING"))["roundNumber"] == 1


@run
async def test_the_server_rests_without_remote_bots(tmp_path: Path) -> None:
    async with serving(tmp_path, agents=("thrifty", "thrifty"), pause=0.0, gather=0.0) as server:
        assert server.told[0] == "starting the Yatzy server", "before its agents are loaded"
        assert server.lobby.resting
        assert "no remote bot is here: the server rests until one comes" in server.told[-1]
        await asyncio.sleep(0.3)
        assert not server.lobby.tables
        assert server.store.count_games() == 0
        bot = await Bot.named(server, "anna")
        assert (await bot.play())["key"] == "FINAL"
        assert not server.lobby.resting
        bot.close()
        await eventually(lambda: server.lobby.resting and not server.lobby.tables)
        begun, lines = server.lobby.finished, len(server.told)
        await asyncio.sleep(0.3)
        assert server.lobby.finished == begun
        assert len(server.told) == lines
        assert "a remote bot is here: the server continues" in server.told
