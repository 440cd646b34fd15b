"""Clients and servers of the original: our server and `join` use the original protocol with them."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from pathlib import Path
from typing import Any

import pytest

import dicegym
from dicegym.games.yatzy import protocol
from dicegym.play.player import FunctionPlayer, RandomPlayer

pytest.importorskip("sqlalchemy")
pytest.importorskip("websockets")
from stored_results import stored_results
from talk import Bot, eventually, first_box, own_scores, run, serving, with_secrets

from dicegym.server.client import Join


class Original:
    """A client like that of 2014, without any error handling.

    Whatever one `recv` returns is one object, all of it; whoever it shows is to move is itself. Anything else that it
    is sent ends it by an exception, as it ended the original.
    """

    def __init__(self, port: int, secret: str, rolls: bool = True, wrong: int = 0) -> None:
        self.seen: list[Any] = []
        self._rolls, self._wrong = rolls, wrong
        self._socket = socket.create_connection(("127.0.0.1", port), 20)
        self._socket.sendall(json.dumps({"key": "LOGIN", "secret": secret}).encode())

    def play(self) -> list[Any]:
        """Play until the server disconnects; return all messages."""
        with self._socket:
            while packet := self._socket.recv(4096):
                message = json.loads(packet)
                self.seen.append(message)
                turn = message["currentPlayer"]
                (own,) = [row for row in message["standing"] if row["playerName"] == turn["playerName"]]
                self._socket.sendall(json.dumps(self.move(turn, own["score"])).encode())
        return self.seen

    def move(self, turn: dict[str, Any], scores: list[int]) -> dict[str, Any]:
        if self._wrong:
            self._wrong -= 1
            return {"key": "SCORE_BOX", "box": 99, "dice": []}
        if self._rolls and turn["rollsLeft"] > 0:
            most = max(turn["dice"], key=turn["dice"].count)
            again = [place for place, face in enumerate(turn["dice"]) if face != most]
            if again:
                return {"key": "ROLL_DICE", "dice": again}
        return {"key": "SCORE_BOX", "box": 1 + scores.index(-1), "dice": [0, 1, 2, 3, 4]}


@run
async def test_original_clients_play_whole_rated_games(tmp_path: Path) -> None:
    """Against each other and a bot with the full protocol."""
    async with with_secrets(tmp_path, players=3, games=3) as server:
        originals = [
            Original(server.ports["tcp"], secret, rolls)
            for secret, rolls in (("correct horse", True), ("battery staple", False))
        ]
        playing = [asyncio.to_thread(original.play) for original in originals]
        ours = await Bot.named(server, "carl")

        async def play() -> None:
            while await ours.play():
                pass

        games = asyncio.gather(*playing, play())
        await server.wait_finished()
        results = stored_results(server.store)
        ratings = server.store.ratings()
    anna, bob, _ = await games
    assert len(results) == 3
    assert all(result.incidents == () for result in results)
    assert {name: known.games for name, known in ratings.items()} == {"anna": 3, "bob": 3, "carl": 3}
    for name, seen in (("anna", anna), ("bob", bob)):
        assert {message["key"] for message in seen} == {"STANDING"}
        assert {message["currentPlayer"]["playerName"] for message in seen} == {name}, "only when it is to move"
        begun = [message for message in seen if message["currentPlayer"]["rollsLeft"] == 2]
        assert [message["roundNumber"] for message in begun] == 3 * list(range(1, 16)), "once per turn"
        scores = [row["score"] for message in seen for row in message["standing"]]
        assert all(len(score) == 15 and all(type(points) is int for points in score) for score in scores)
        assert begun[0]["standing"][0]["score"].count(-1) >= 14
    assert len(bob) == 45
    assert len(anna) > 45
    assert any(
        message["currentPlayer"]["playerName"] == "anna" for message in ours.seen if message["key"] == "STANDING"
    )


@run
async def test_an_original_client_is_asked_again_after_an_error(tmp_path: Path) -> None:
    async with with_secrets(tmp_path, games=1) as server:
        anna = Original(server.ports["tcp"], "correct horse", wrong=9)
        playing = asyncio.create_task(asyncio.to_thread(anna.play))
        ours = await Bot.named(server, "carl")
        assert (await ours.play())["key"] == "FINAL"
        await server.wait_finished()
        (result,) = stored_results(server.store)
    seen = await playing
    assert result.incidents == ()
    assert seen[:10] == [seen[0]] * 10


@run
async def test_an_original_client_receives_only_its_turns(tmp_path: Path) -> None:
    """Not others' moves, errors, the end of a game, or the end of the server."""
    async with with_secrets(tmp_path, games=1) as server:
        anna = await Bot.connect(server)
        await anna.send({"key": "LOGIN", "secret": "correct horse"})
        ours = await Bot.named(server, "carl")
        turns = 0
        while (standing := await ours.until("STANDING", "FINAL"))["key"] == "STANDING":
            turn = standing["currentPlayer"]["playerName"]
            if turn == "carl":
                await anna.send(b"hello\n")
                await anna.send({"key": "ROLL_DICE", "dice": [0]})
                await asyncio.sleep(0.01)  # it is read while it has no turn
                await ours.send(first_box(standing))
            else:
                shown = await anna.receive()
                assert shown["currentPlayer"] == standing["currentPlayer"]
                box = 1 + own_scores(standing).index("-")
                await anna.send({"key": "SCORE_BOX", "box": box, "dice": []})
                turns += 1
        assert turns == 15
    assert await anna.receive() == {}, "the server has closed the connection without a word"
    assert [message.get("key") for message in anna.seen] == ["STANDING"] * 15 + [None]


@run
async def test_an_original_client_that_comes_back_is_shown_its_turn(tmp_path: Path) -> None:
    async with with_secrets(tmp_path, players=2, games=1, answer=20.0) as server:
        anna = Original(server.ports["tcp"], "correct horse")
        ours = await Bot.named(server, "carl")
        if (await ours.until("STANDING"))["currentPlayer"]["playerName"] == "carl":
            await ours.send(first_box(ours.seen[-1]))
            await ours.until("STANDING")
        anna._socket.close()  # during its turn, which the server plays
        mine = await ours.my_turn()
        again = Original(server.ports["tcp"], "correct horse")
        playing = asyncio.create_task(asyncio.to_thread(again.play))
        await eventually(lambda: "anna" in [one.name for one in server.lobby.named])
        await ours.send(first_box(mine))
        await ours.play()
        await server.wait_finished()
        (result,) = stored_results(server.store)
        assert len(result.incidents) == 1
    assert len(await playing) >= 14


async def serve_original(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Serve like the original: show a client only its own turns, with scores as arrays; disconnect after two games."""
    assert json.loads(await reader.readline())["secret"] == "correct horse"
    game = dicegym.game("yatzy")
    for number in range(2):
        state = game.new_game(5, number)[0]
        while not state["over"]:
            if state["player"] == 0:
                action = int(game.legal(state).nonzero()[0][-1])
            else:
                standing = protocol.standing_message(game, state, ["house", "anna"], [1500, 1000])
                writer.write(json.dumps(protocol.as_original(standing)).encode())
                action = protocol.action_of(json.loads(await reader.readline()))
            assert game.step(state, action) == 0
    writer.close()


@run
async def test_join_plays_on_an_original_server() -> None:
    lines: list[str] = []
    async with await asyncio.start_server(serve_original, "127.0.0.1", 0) as server:
        where = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        join = Join("yatzy", where, RandomPlayer(), None, "correct horse", log=lines.append)
        await asyncio.to_thread(join.run)
    assert join.played == 1, "the server ends the last game by disconnecting"
    assert not [line for line in lines if "ignored" in line]
    assert lines[-1] == "the server has closed the connection"


@run
async def test_join_does_not_send_late_answers(tmp_path: Path) -> None:
    """The agent exceeds its time once: the server plays that turn, and the late answer is not sent."""
    slept: list[int] = []

    def sleepy(turn: Any) -> int:
        if not slept:
            slept.append(1)
            time.sleep(1.2)
        return int(turn.mask.nonzero()[0][-1])

    lines: list[str] = []
    async with serving(tmp_path, answer=1.0, games=1) as server:
        where = f"127.0.0.1:{server.ports['tcp']}"
        join = Join("yatzy", where, FunctionPlayer(sleepy), "anna", games=1, log=lines.append)
        joining = asyncio.create_task(asyncio.to_thread(join.run))
        bob = await Bot.named(server, "bob")
        while (standing := await bob.my_turn())["key"] == "STANDING":
            if slept:
                await eventually(lambda: any("did not wait for the answer, which took 1." in line for line in lines))
            await bob.send(first_box(standing))
        await joining
        await server.wait_finished()
        (result,) = stored_results(server.store)
    assert not [line for line in lines if "the server says" in line], "it did not answer out of turn"
    assert [(incident.turn, incident.reason) for incident in result.incidents] == [(1, "gave no answer in 1 s")]
