"""Wrong, late and out-of-turn messages get errors, and cost only their sender."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("websockets")
from stored_results import stored_results
from talk import Bot, first_box, game_of_two, own_scores, run, serving

ILLEGAL = [
    ({"type": "ROLL_DICE", "dice": [5]}, "bad-index"),
    ({"type": "ROLL_DICE", "dice": [-1]}, "bad-index"),
    ({"type": "ROLL_DICE", "dice": [0, 0]}, "bad-index"),
    ({"type": "ROLL_DICE", "dice": [0.0]}, "bad-index"),
    ({"type": "ROLL_DICE", "dice": [True]}, "bad-index"),
    ({"type": "ROLL_DICE", "dice": "01"}, "bad-index"),
    ({"type": "ROLL_DICE", "dice": [10**200]}, "bad-index"),
    ({"type": "ROLL_DICE", "dice": [10**3000]}, "bad-index"),
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
    (b'{"type": ' + b"[" * 1900 + b"]" * 1900 + b"}\n", "bad-json"),
]


@run
async def test_invalid_messages_get_errors_and_change_nothing(tmp_path: Path) -> None:
    for part in range(0, len(ILLEGAL), 9):  # nine errors in a turn are allowed
        (folder := tmp_path / str(part)).mkdir()
        async with game_of_two(folder) as (server, first, second, standing):
            before = next(iter(server.lobby.tables)).state.copy()
            for command, code in ILLEGAL[part : part + 9]:
                await first.send(command)
                error = await first.receive()
                assert (error["key"], error["code"]) == ("ERROR", code), command
                assert error["message"]
            state = next(iter(server.lobby.tables)).state
            assert state["dice"].tolist() == before["dice"].tolist() == standing["currentPlayer"]["dice"]
            assert (state["scores"] == before["scores"]).all()
            await first.send(first_box(standing))
            assert (await second.receive())["currentPlayer"]["playerName"] == second.name, "others receive nothing"


@run
async def test_used_boxes_missing_rolls_and_commands_out_of_turn(tmp_path: Path) -> None:
    async with game_of_two(tmp_path) as (server, first, second, standing):
        for _ in range(15):  # they do not count as errors of the turn
            await second.send(first_box(standing))
            error = await second.receive()
            assert error["code"] == "not-your-turn"
            assert first.name in error["message"]
        await second.send(b"nonsense\n")
        assert (await second.receive())["code"] == "bad-json"
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
        assert not next(iter(server.lobby.tables)).incidents


async def ten_errors(bot: Bot, message: Any, code: str) -> None:
    for _ in range(10):
        await bot.send(message)
        assert (await bot.until("ERROR"))["code"] == code


@run
async def test_ten_errors_lose_the_turn_and_the_second_time_the_game(tmp_path: Path) -> None:
    async with game_of_two(tmp_path, games=1) as (server, first, second, _):
        await ten_errors(first, {"type": "SHOUT"}, "bad-command")
        standing = await second.my_turn()
        assert own_scores(standing, first.name).count("-") == 14
        await second.send(first_box(standing))
        await first.my_turn()
        await ten_errors(first, b"{bad}\n", "bad-json")
        assert (await second.play())["key"] == "FINAL"
        mine = [message for message in first.seen if message.get("currentPlayer", {}).get("playerName") == first.name]
        assert max(message["roundNumber"] for message in mine) == 2, "the server plays all other turns at once"
        await first.send({"type": "ROLL_DICE", "dice": [0]})
        await server.wait_finished()
        (result,) = stored_results(server.store)
        assert [incident.turn for incident in result.incidents] == [1, 2]
        assert all("too many errors" in incident.reason for incident in result.incidents)


@run
async def test_no_answer_in_time(tmp_path: Path) -> None:
    async with game_of_two(tmp_path, answer=0.4, games=1) as (server, first, second, _):
        final = await second.play()
        assert final["key"] == "FINAL"
        await server.wait_finished()
        (result,) = stored_results(server.store)
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


@run
async def test_a_client_that_sleeps_through_a_game_is_disconnected(tmp_path: Path) -> None:
    async with serving(tmp_path, answer=0.3, gather=0.05) as server:
        sleeper, anna = await Bot.named(server, "sleeper"), await Bot.named(server, "anna")
        await anna.play()
        await sleeper.until("FINAL")
        assert "you did not answer" in (await sleeper.until("ERROR"))["message"]
        assert await sleeper.receive() == {}
        await Bot.named(server, "bob")
        assert {row["playerName"] for row in (await anna.until("STANDING"))["standing"]} == {"anna", "bob"}
