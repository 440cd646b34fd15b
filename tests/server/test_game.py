"""Games over real sockets: what is said, by whom, and what becomes of it."""

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
from dicegym.errors import DicegymError
from dicegym.server.wire import Wire, wire_of

pytest.importorskip("sqlalchemy")
pytest.importorskip("websockets")
from talk import Bot, WebBot, both, eventually, first_box, game_of_two, own_scores, run, serving

from dicegym.server.load_test import measure
from dicegym.server.store import Store


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
        assert after == await second.receive(), "everybody is told of every change"
        assert after["currentPlayer"]["rollsLeft"] == 1
        assert after["currentPlayer"]["dice"][2:4] == dice[2:4], "the others keep their places"

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
        assert server.matchmaker.turns == 30
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


@run
async def test_tcp_and_websocket_at_one_table_of_three(tmp_path: Path) -> None:
    async with serving(tmp_path, players=3, games=1) as server:
        bots = [await Bot.named(server, "anna"), await WebBot.named(server, "bob"), await WebBot.named(server, "carl")]
        finals = await asyncio.gather(*(bot.play() for bot in bots))
        assert finals[0] == finals[1] == finals[2]
        assert sum(row["rating"] for row in finals[0]["standing"]) in (3599, 3600, 3601)  # each rounded
        await server.finished()


ILLEGAL = [
    ({"type": "ROLL_DICE", "dice": [5]}, "bad-index"),
    ({"type": "ROLL_DICE", "dice": [-1]}, "bad-index"),
    ({"type": "ROLL_DICE", "dice": [0, 0]}, "bad-index"),
    ({"type": "ROLL_DICE", "dice": [0.0]}, "bad-index"),
    ({"type": "ROLL_DICE", "dice": [True]}, "bad-index"),
    ({"type": "ROLL_DICE", "dice": "01"}, "bad-index"),
    ({"type": "ROLL_DICE", "dice": [10**200]}, "bad-index"),
    ({"type": "ROLL_DICE", "dice": [10**3000]}, "bad-json"),
    ({"type": "ROLL_DICE"}, "bad-index"),
    ({"type": "ROLL_DICE", "dice": []}, "no-dice"),
    ({"type": "SCORE_BOX", "box": 0, "dice": []}, "bad-box"),
    ({"type": "SCORE_BOX", "box": 16, "dice": []}, "bad-box"),
    ({"type": "SCORE_BOX", "box": "1", "dice": []}, "bad-box"),
    ({"type": "SCORE_BOX", "dice": []}, "bad-box"),
    ({"type": "SHOUT"}, "bad-command"),
    ({"type": 7}, "bad-command"),
    ({}, "bad-command"),
    (b"{bad}\n", "bad-json"),
    (b"hello\n", "bad-json"),
    (b'{"a": "' + b"x" * 5000 + b'"}\n', "too-long"),
    (b'{"type": ' + b"[" * 100 + b"]" * 100 + b"}\n", "bad-command"),
    (b'{"type": ' + b"[" * 900 + b"]" * 900 + b"}\n", "bad-json"),
]


@run
async def test_what_is_wrong_is_told_and_changes_nothing(tmp_path: Path) -> None:
    for part in range(0, len(ILLEGAL), 9):  # nine errors in a turn are forgiven
        (folder := tmp_path / str(part)).mkdir()
        async with game_of_two(folder) as (server, first, second, standing):
            before = next(iter(server.matchmaker.tables)).state.copy()
            for command, code in ILLEGAL[part : part + 9]:
                await first.send(command)
                error = await first.receive()
                assert (error["key"], error["code"]) == ("ERROR", code), command
                assert error["message"]
            state = next(iter(server.matchmaker.tables)).state
            assert state["dice"].tolist() == before["dice"].tolist() == standing["currentPlayer"]["dice"]
            assert (state["scores"] == before["scores"]).all()
            await first.send(first_box(standing))
            assert (await second.receive())["currentPlayer"]["playerName"] == second.name, "nobody else was told"


@run
async def test_a_used_box_and_rolls_that_are_not_left(tmp_path: Path) -> None:
    async with game_of_two(tmp_path) as (_, first, second, standing):
        for _ in range(2):
            await first.send({"type": "ROLL_DICE", "dice": [0]})
            await first.receive()
        await first.send({"type": "ROLL_DICE", "dice": [0]})
        assert (await first.receive())["code"] == "no-rolls-left"
        await first.send(first_box(standing))
        await second.send(first_box(await second.my_turn()))
        await first.my_turn()
        await first.send({"type": "SCORE_BOX", "box": 1, "dice": [0]})
        assert (await first.receive())["code"] == "used-box"


@run
async def test_only_the_current_player_may_act(tmp_path: Path) -> None:
    async with game_of_two(tmp_path) as (server, first, second, standing):
        for _ in range(15):  # they are no errors of the turn, which is not theirs
            await second.send(first_box(standing))
            error = await second.receive()
            assert error["code"] == "not-your-turn"
            assert first.name in error["message"]
        await second.send(b"nonsense\n")
        assert (await second.receive())["code"] == "bad-json"
        await first.send(first_box(standing))
        assert (await second.my_turn())["key"] == "STANDING"
        assert not next(iter(server.matchmaker.tables)).incidents


async def ten_errors(bot: Bot, message: Any, code: str) -> None:
    for _ in range(10):
        await bot.send(message)
        assert (await bot.until("ERROR"))["code"] == code


@run
async def test_ten_errors_lose_the_turn_and_the_second_time_the_game(tmp_path: Path) -> None:
    async with game_of_two(tmp_path, games=1) as (server, first, second, _):
        await ten_errors(first, {"type": "SHOUT"}, "bad-command")
        standing = await second.my_turn()
        scores = own_scores(standing, first.name)
        assert scores.count("-") == 14
        await second.send(first_box(standing))
        await first.my_turn()
        await ten_errors(first, b"{bad}\n", "bad-json")
        final = await second.play()
        assert final["key"] == "FINAL"
        mine = [message for message in first.seen if message.get("currentPlayer", {}).get("playerName") == first.name]
        assert max(message["roundNumber"] for message in mine) == 2, "the server plays all other turns at once"
        await first.send({"type": "ROLL_DICE", "dice": [0]})
        await server.finished()
        (result,) = server.store.results()
        assert [incident.turn for incident in result.incidents] == [1, 2]
        assert all("too many errors" in incident.reason for incident in result.incidents)


@run
async def test_each_turn_of_one_that_has_given_up_comes_with_a_standing_of_its_own(tmp_path: Path) -> None:
    async with serving(tmp_path, players=3, games=1, answer=60.0) as server:
        bots, standing = await both(server, "anna", "bob", "carl")
        lost, *others = bots
        lost.vanish()  # its turn is played, and at the next it has given up
        shown = {bot.name: [] for bot in others}

        async def play(bot: Bot) -> None:
            while (message := await bot.until("STANDING", "FINAL"))["key"] == "STANDING":
                shown[bot.name].append(message)
                if message["currentPlayer"]["playerName"] == bot.name:
                    await bot.send(first_box(message))

        await asyncio.gather(*(play(bot) for bot in others))
        await server.finished()
    assert shown[others[0].name][2:] == shown[others[1].name][2:], "both are told the same"
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
        assert filled[1] - filled[0] <= 1, "no change is told together with another"
    assert standing["roundNumber"] == 1


@run
async def test_no_answer_in_time(tmp_path: Path) -> None:
    async with game_of_two(tmp_path, answer=0.4, games=1) as (server, first, second, _):
        final = await second.play()
        assert final["key"] == "FINAL"
        await server.finished()
        (result,) = server.store.results()
        seat = [place.name for place in result.places].index(first.name)
        assert [(incident.seat, incident.turn) for incident in result.incidents] == [(seat, 1), (seat, 2)]
        assert "no answer in 0.4 s" in result.incidents[0].reason


@run
async def test_errors_do_not_win_time(tmp_path: Path) -> None:
    async with game_of_two(tmp_path, answer=0.3) as (_, first, second, __):

        async def nag() -> None:
            for _ in range(9):
                await first.send({"type": "SHOUT"})
                await asyncio.sleep(0.06)

        nagging = asyncio.create_task(nag())
        begun = asyncio.get_running_loop().time()
        await second.my_turn()
        assert asyncio.get_running_loop().time() - begun < 0.75
        await nagging


@pytest.mark.parametrize("kind", [Bot, WebBot])
@run
async def test_a_lost_connection_stops_nobody_and_loses_no_result(tmp_path: Path, kind: str) -> None:
    async with serving(tmp_path, games=1) as server:
        lost, other = await kind.named(server, "lost"), await Bot.named(server, "other")
        playing = asyncio.create_task(other.play())
        await lost.send(first_box(await lost.my_turn()))  # guests are rated when they have made a move
        await lost.my_turn()
        lost.vanish()
        final = await playing
        assert sorted(row["playerName"] for row in final["standing"]) == ["lost", "other"]
        await server.finished()
        (result,) = server.store.results()
        assert [incident.reason for incident in result.incidents] == ["lost its connection", "has no connection"]
        assert set(server.store.ratings()) == {"lost", "other"}


@run
async def test_everybody_may_vanish_and_the_game_is_rated_all_the_same(tmp_path: Path) -> None:
    async with game_of_two(tmp_path, games=1) as (server, first, second, _):
        first.vanish()
        second.vanish()
        await server.finished()
        assert server.store.finished() == 1


@run
async def test_who_comes_back_in_time_takes_its_seat_again(tmp_path: Path) -> None:
    async with game_of_two(tmp_path, games=1) as (server, first, second, _):
        first.vanish()  # the server plays its first turn
        standing = await second.my_turn()
        back = await Bot.named(server, first.name)
        shown = await back.until("STANDING")
        assert shown == standing, "it is shown the table at once"
        await second.send(first_box(standing))
        finals = await asyncio.gather(back.play(), second.play())
        assert finals[0] == finals[1]
        (result,) = server.store.results()
        assert len(result.incidents) == 1


@run
async def test_who_comes_back_too_late_waits_for_the_next_game(tmp_path: Path) -> None:
    async with game_of_two(tmp_path) as (server, first, second, _):
        first.vanish()
        await second.send(first_box(await second.my_turn()))
        await second.my_turn()  # the second turn has been played for it, and with it the game
        back = await Bot.named(server, first.name)
        await back.send({"type": "ROLL_DICE", "dice": [0]})
        assert (await back.until("ERROR"))["code"] == "not-your-turn"
        assert not [message for message in back.seen if message["key"] == "STANDING"]
        await second.send(first_box(second.seen[-1]))
        await second.play()
        assert (await back.until("STANDING"))["roundNumber"] == 1


@run
async def test_the_server_rests_while_no_remote_bot_is_there(tmp_path: Path) -> None:
    async with serving(tmp_path, agents=("thrifty", "thrifty"), pause=0.0, gather=0.0) as server:
        assert server.snapshot().resting
        assert "no remote bot is here: the server rests until one comes" in server.told[-1]
        assert "--always" in server.told[-1]
        await asyncio.sleep(0.3)
        assert not server.matchmaker.tables
        assert server.store.finished() == 0
        bot = await Bot.named(server, "anna")
        assert (await bot.play())["key"] == "FINAL"
        assert not server.snapshot().resting
        bot.close()
        await eventually(lambda: server.snapshot().resting and not server.matchmaker.tables)
        begun, lines = server.matchmaker.finished, len(server.told)
        await asyncio.sleep(0.3)
        assert server.matchmaker.finished == begun
        assert len(server.told) == lines
        assert "a remote bot is here: the server goes on" in server.told


def test_agents_that_cannot_fill_a_table_cannot_play_always(tmp_path: Path) -> None:
    from dicegym.errors import ParameterError

    with pytest.raises(ParameterError, match="1 cannot fill the 2 seats"):
        serving(tmp_path, agents=("thrifty",), always=True)


@run
async def test_the_store_holds_the_games_themselves(tmp_path: Path) -> None:
    async with serving(tmp_path, players=3, games=4, answer=0.5) as server:
        bots = [await Bot.named(server, name) for name in ("anna", "bob", "carl")]
        silent = bots[2]
        playing = [asyncio.create_task(bot.play()) for bot in bots[:2]]
        finals = (await asyncio.gather(*playing))[:1]
        await silent.send({})
        for _ in range(3):
            playing = [asyncio.create_task(bot.play()) for bot in bots]
            finals += (await asyncio.gather(*playing))[:1]
        await server.finished()
    store = Store(tmp_path / "results.sqlite", "yatzy")
    results = list(store.results())
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
        from dicegym.games.yatzy.protocol import totals_of

        assert totals_of(game, state) == [place.total for place in result.places]
    assert len({result.number for result in results}) == 4
    store.close()


@run
async def test_no_key_of_a_game_is_ever_sent(tmp_path: Path) -> None:
    async with game_of_two(tmp_path, games=1) as (server, first, second, _):
        table = next(iter(server.matchmaker.tables))
        secret = {str(table.key), str(table.seed), f"{table.key:x}", f"{table.seed:x}"}
        first_playing = asyncio.create_task(first.play())
        await first.send(first_box(_))
        await second.play()
        await first_playing
        said = json.dumps(first.seen + second.seen)
        assert not [word for word in secret if word in said]


@run
async def test_who_sleeps_through_a_game_is_not_seated_again_before_it_says_something(tmp_path: Path) -> None:
    async with serving(tmp_path, answer=0.3, gather=0.05) as server:
        sleeper, anna = await Bot.named(server, "sleeper"), await Bot.named(server, "anna")
        await anna.play()
        await sleeper.until("FINAL")
        bob = await Bot.named(server, "bob")
        assert {row["playerName"] for row in (await anna.until("STANDING"))["standing"]} == {"anna", "bob"}
        carl = await Bot.named(server, "carl")
        await sleeper.send({})
        assert {row["playerName"] for row in (await sleeper.until("STANDING"))["standing"]} == {"sleeper", "carl"}
        assert bob.name
        assert carl.name


@run
async def test_a_game_at_a_time_for_each_and_many_at_once_for_all(tmp_path: Path) -> None:
    async with serving(tmp_path, games=20) as server:
        bots = [await Bot.named(server, f"bot-{i}") for i in range(10)]

        async def play(bot: Bot) -> None:
            while await bot.play():
                pass

        playing = [asyncio.create_task(play(bot)) for bot in bots]
        await eventually(lambda: len(server.matchmaker.tables) == 5)
        await server.finished()
        assert server.store.finished() == 20
        met = Counter(frozenset(place.name for place in result.places) for result in server.store.results())
        assert len(met) > 5, "not the same pairs again and again"
        assert sum(server.matchmaker.ledger.ratings[f"bot-{i}"].rating for i in range(10)) == 12000
    for task in playing:
        await task


@run
async def test_a_result_that_cannot_be_stored_is_not_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(tmp_path) as server:
        monkeypatch.setattr(server.store, "write", lambda results: 1 / 0)
        bots, standing = await both(server, "anna", "bob")
        await bots[0].send(first_box(standing))
        playing = [asyncio.create_task(bot.play()) for bot in bots]
        with pytest.raises(DicegymError, match=r"cannot be written to .*division by zero"):
            await server.finished()
    assert [await bot for bot in playing] == [{}, {}], "no FINAL, and the connection is closed"


@run
async def test_a_server_that_stops_stores_and_tells_what_is_finished(
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
    store = Store(tmp_path / "results.sqlite", "yatzy")
    assert store.finished() == 1
    store.close()


def test_the_protocol_offers_what_the_server_needs() -> None:
    asked = {name for name in {*vars(Wire), *Wire.__annotations__} if not name.startswith("_")}
    assert len(asked) > 20
    module = wire_of("yatzy")
    assert [name for name in sorted(asked) if not hasattr(module, name)] == []


def test_the_load_that_is_measured() -> None:
    found = measure("yatzy", 0.3, games=5)
    assert found.turns > 100
    assert 0 < found.busy <= 2
    assert 4 <= found.games <= 5
