"""Games over real sockets: messages, results and ratings."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import dicegym
from dicegym.errors import ParameterError
from dicegym.games.yatzy.protocol import totals_of

pytest.importorskip("sqlalchemy")
pytest.importorskip("websockets")
from stored_results import stored_results
from talk import Bot, both, eventually, first_box, game_of_two, own_scores, run, serving

from benchmarks.server_load import measure
from dicegym.server.result_store import ResultStore


@run
async def test_a_game_goes_by_the_text(tmp_path: Path) -> None:
    async with game_of_two(tmp_path) as (_, first, second, standing):
        assert set(standing) == {"key", "roundNumber", "standing", "currentPlayer"}
        assert standing["roundNumber"] == 1
        empty = ",".join("-" * 15)
        assert standing["standing"] == [
            {"playerName": first.name, "rating": 1200, "score": empty},
            {"playerName": second.name, "rating": 1200, "score": empty},
        ]
        assert set(standing["currentPlayer"]) == {"playerName", "rollsLeft", "dice"}
        assert standing["currentPlayer"]["rollsLeft"] == 2
        dice = standing["currentPlayer"]["dice"]
        assert len(dice) == 5
        assert all(1 <= face <= 6 for face in dice)

        await first.send({"type": "ROLL_DICE", "dice": [0, 1, 4]})
        after = await first.receive()
        assert after == await second.receive(), "all clients receive every change"
        assert after["currentPlayer"]["rollsLeft"] == 1
        assert after["currentPlayer"]["dice"][2:4] == dice[2:4], "the other dice keep their places"

        await first.send({"key": "SCORE_BOX", "box": 14, "dice": [4, 3, 2, 1, 0]})
        after = await second.receive()
        total = sum(first.seen[-1]["currentPlayer"]["dice"])
        assert own_scores(after, first.name)[13] == str(total)
        assert after["currentPlayer"]["playerName"] == second.name
        assert after["currentPlayer"]["rollsLeft"] == 2


@run
async def test_a_game_to_the_end_and_the_next_begins_by_itself(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        bots, _ = await both(server, "anna", "bob")
        for bot in bots:
            bot.seen.clear()
        await bots[0].send(first_box(_))
        finals = await asyncio.gather(*(bot.play() for bot in bots))
        assert finals[0] == finals[1]
        seen = [message for message in bots[1].seen if message["key"] == "STANDING"]
        assert Counter(message["roundNumber"] for message in seen) == Counter({1: 1} | dict.fromkeys(range(2, 16), 2))
        assert server.lobby.turns == 30
        for row in finals[0]["standing"]:
            upper = sum(map(int, row["score"].split(",")[:6]))
            assert row["total"] == sum(map(int, row["score"].split(","))) + 50 * (upper >= 63)
        best, worst = finals[0]["standing"]
        assert [best["place"], worst["place"]] == [1, 1 if best["total"] == worst["total"] else 2]
        assert [best["rating"], worst["rating"]] == ([1200, 1200] if worst["place"] == 1 else [1216, 1184])
        again = await bots[0].until("STANDING")
        assert again["roundNumber"] == 1
        ratings = {row["playerName"]: row["rating"] for row in again["standing"]}
        assert ratings == {row["playerName"]: row["rating"] for row in finals[0]["standing"]}


def test_agents_that_cannot_fill_a_table_cannot_play_always(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="1 cannot fill the 2 seats"):
        serving(tmp_path, agents=("thrifty",), always=True)


@run
async def test_the_store_contains_the_games_themselves(tmp_path: Path) -> None:
    async with serving(tmp_path, players=3, games=4, answer=0.5) as server:
        bots = [await Bot.named(server, name) for name in ("anna", "bob", "carl")]
        playing = [asyncio.create_task(bot.play()) for bot in bots[:2]]
        finals = (await asyncio.gather(*playing))[:1]
        bots[2] = await Bot.named(server, "carl")
        for _ in range(3):
            playing = [asyncio.create_task(bot.play()) for bot in bots]
            finals += (await asyncio.gather(*playing))[:1]
        await server.wait_finished()
        results = stored_results(server.store)
    assert len(results) == len(finals) == 4
    for result, final in zip(results, finals, strict=True):
        game = dicegym.game("yatzy", players=3)
        state = game.new_game(result.seed, result.number)[0]
        for action in result.actions:
            assert not state["over"]
            game.step(state, action)
        assert state["over"]
        totals = {place.name: place.total for place in result.places}
        assert totals == {row["playerName"]: row["total"] for row in final["standing"]}
        assert totals_of(game, state) == [place.total for place in result.places]
    assert len({result.number for result in results}) == 4


@run
async def test_no_key_of_a_game_is_ever_sent(tmp_path: Path) -> None:
    async with game_of_two(tmp_path, games=1) as (server, first, second, _):
        table = next(iter(server.lobby.tables))
        secret = {str(table.key), str(table.seed), f"{table.key:x}", f"{table.seed:x}"}
        first_playing = asyncio.create_task(first.play())
        await first.send(first_box(_))
        await second.play()
        await first_playing
        said = json.dumps(first.seen + second.seen)
        assert not [word for word in secret if word in said]


@run
async def test_a_game_at_a_time_for_each_and_many_at_once_for_all(tmp_path: Path) -> None:
    async with serving(tmp_path, games=20) as server:
        bots = [await Bot.named(server, f"bot-{i}") for i in range(10)]

        async def play(bot: Bot) -> None:
            while await bot.play():
                pass

        playing = [asyncio.create_task(play(bot)) for bot in bots]
        await eventually(lambda: len(server.lobby.tables) == 5)
        await server.wait_finished()
        assert server.store.count_games() == 20
        met = Counter(frozenset(place.name for place in result.places) for result in stored_results(server.store))
        assert len(met) > 5, "pairs vary"
        assert sum(server.store.rating(f"bot-{i}").rating for i in range(10)) == 12000
    for task in playing:
        await task


@run
async def test_a_stopping_server_stores_and_announces_finished_games(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(tmp_path) as server:
        begun, write = threading.Event(), server.store.write

        def slowly(results: Any) -> None:
            begun.set()
            time.sleep(0.2)
            write(results)

        monkeypatch.setattr(server.store, "write", slowly)
        bots, standing = await both(server, "anna", "bob")
        await bots[0].send(first_box(standing))
        playing = [asyncio.create_task(bot.play()) for bot in bots]
        await eventually(begun.is_set)
    assert [final["key"] for final in await asyncio.gather(*playing)] == ["FINAL"] * 2
    store = ResultStore(tmp_path / "results.sqlite", "yatzy")
    assert store.count_games() == 1
    store.close()


@pytest.mark.slow
def test_the_load_that_is_measured() -> None:
    found = measure("yatzy", 0.2, games=2)
    assert found.turns > 50
    assert 0 < found.busy <= 2
    assert 1 <= found.games <= 2
