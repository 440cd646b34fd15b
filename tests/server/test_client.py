"""Joining servers: ours, and another implementation."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import dicegym
from dicegym.errors import AgentError, ParameterError
from dicegym.games.yatzy import protocol
from dicegym.play.player import FunctionPlayer, Player, RandomPlayer
from dicegym.play.turn import Turn
from dicegym.server.server import Server

pytest.importorskip("sqlalchemy")
pytest.importorskip("websockets")
from stored_results import stored_results
from talk import Bot, run, serving, with_secrets

from dicegym.server.client import Join, join, parse_address


def test_addresses() -> None:
    assert parse_address("127.0.0.1:5000") == ("127.0.0.1", 5000)
    assert parse_address("[::1]:5000") == ("::1", 5000)
    for text in ("", "host", "host:", ":5000", "host:port", "host:70000", "http://host:1", "host:1/x"):
        with pytest.raises(ParameterError, match="HOST:PORT"):
            parse_address(text)


def joining(where: str, player: Player, **options: Any) -> Any:
    """Return a Join with ``player``, and the lines that it logs."""
    lines = []
    made = Join("yatzy", where, player, options.pop("name", "anna"), log=lines.append, **options)
    return made, lines


def tcp(server: Server) -> Any:
    return f"127.0.0.1:{server.ports['tcp']}"


@run
async def test_join_plays_on_our_server_over_tcp_and_websocket(tmp_path: Path) -> None:
    async with serving(tmp_path, games=3) as server:
        first, lines = joining(tcp(server), RandomPlayer(), games=3)
        second, _ = joining(f"ws://127.0.0.1:{server.ports['ws']}", RandomPlayer(), games=3, name="bob")
        await asyncio.gather(asyncio.to_thread(first.run), asyncio.to_thread(second.run))
        await server.wait_finished()
        results = stored_results(server.store)
    assert (first.played, second.played) == (3, 3)
    assert [result.incidents for result in results] == [()] * 3
    assert all(-1 not in result.actions for result in results), "every command was legal"
    assert lines[:2] == [f"connected to 127.0.0.1:{server.ports['tcp']}", "playing as anna"]
    assert [line for line in lines if line.startswith("1. ")]


@run
async def test_join_by_right_and_wrong_secrets(tmp_path: Path) -> None:
    async with with_secrets(tmp_path, "carl:open sesame please\n") as server:
        right, lines = joining(tcp(server), RandomPlayer(), name=None, secret="open sesame please", games=1)
        other = await Bot.named(server, "bob")
        await asyncio.gather(asyncio.to_thread(right.run), other.play())
        assert "playing as carl" in lines
        wrong, _ = joining(tcp(server), RandomPlayer(), secret="open barley")
        with pytest.raises(ParameterError, match="does not let anna play: wrong secret"):
            await asyncio.to_thread(wrong.run)


@run
async def test_an_agent_that_fails_leaves_its_turn_to_the_server(tmp_path: Path) -> None:
    def fail(turn: Turn) -> None:
        raise AgentError("anna", "had no idea")

    async with serving(tmp_path) as server:
        made, _ = joining(tcp(server), FunctionPlayer(fail))
        other = await Bot.named(server, "bob")
        playing = asyncio.create_task(other.play())
        with pytest.raises(AgentError, match="had no idea"):
            await asyncio.to_thread(made.run)
        await playing
        (result,) = stored_results(server.store)[:1]
        assert {incident.reason for incident in result.incidents} == {"lost its connection", "has no connection"}


@run
async def test_an_answer_without_a_command_counts_as_one_error(tmp_path: Path) -> None:
    answers = iter([-1, 10**6, 224 + 1])

    def stutter(turn: Turn) -> Any:
        return next(answers, int(turn.mask.nonzero()[0][-1]))

    async with serving(tmp_path) as server:
        made, lines = joining(tcp(server), FunctionPlayer(stutter), games=1)
        other = await Bot.named(server, "bob")
        await asyncio.gather(asyncio.to_thread(made.run), other.play())
        (result,) = stored_results(server.store)
        assert result.actions.count(-1) == 3
        assert not result.incidents
        assert len([line for line in lines if "is not a command" in line]) == 3


class Foreign:
    """Another implementation: no WELCOME, newline or FINAL, additional fields, and commands only under "key".

    It plays "house" against anna.
    """

    def __init__(self, games: int, cut: int = 0) -> None:
        self.games, self.cut, self.connections = games, cut, 0
        self.commands = []

    async def __aenter__(self) -> Any:
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.where = f"127.0.0.1:{self.server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self.server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        assert protocol.login_of(json.loads(await reader.readline()))[0] == "anna"  # it does not answer
        for number in range(self.games):
            if not await self._play(reader, writer, dicegym.game("yatzy", players=2).new_game(5, number)):
                break
        writer.close()

    async def _play(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, states: Any) -> Any:
        game, state = dicegym.game("yatzy", players=2), states[0]
        while True:
            standing = protocol.standing_message(game, state, ["house", "anna"], [1500, 1000])
            text = json.dumps(standing | {"gameId": 17, "chat": {"text": "}{"}}).encode()
            writer.write(text[:100])
            await writer.drain()
            await asyncio.sleep(0)
            writer.write(text[100:])
            if state["over"]:
                return True
            if self.connections <= self.cut:
                await writer.drain()
                return False
            if state["player"] == 0:
                action = game.legal(state).nonzero()[0][-1]
            else:
                command = json.loads(await reader.readline())
                if command["key"] not in ("ROLL_DICE", "SCORE_BOX"):
                    return False
                self.commands.append(command)
                del command["type"]
                action = protocol.action_of(command)
            assert game.step(state, int(action)) == 0


@run
async def test_join_plays_on_a_server_of_another_make() -> None:
    async with Foreign(games=2) as server:
        made, lines = joining(server.where, RandomPlayer(), games=1)
        await asyncio.to_thread(made.run)
        assert made.played == 1
        assert sum(command["key"] == "SCORE_BOX" for command in server.commands) >= 15
        assert not [line for line in lines if "error" in line.lower()]


@run
async def test_a_server_that_hangs_up_ends_the_stay() -> None:
    async with Foreign(games=2, cut=1) as server:
        made, lines = joining(server.where, RandomPlayer())
        with pytest.raises(ParameterError, match="closed the connection before any game"):
            await asyncio.to_thread(made.run)
        made, lines = joining(server.where, RandomPlayer())
        await asyncio.to_thread(made.run)
        assert made.played == 2
        assert lines[-1] == "the server has closed the connection"


@run
@pytest.mark.parametrize("said", [b"", b'{"key": ', b"HTTP/1.1 400 Bad Request\r\n"])
async def test_other_servers_are_left_or_reported(said: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """A silent server may wait for other players, so the client waits too."""
    monkeypatch.setattr("dicegym.server.client.SILENCE", 0.1)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(said)
        await asyncio.sleep(0.5)
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as other:
        where = f"127.0.0.1:{other.sockets[0].getsockname()[1]}"
        made, told = joining(where, RandomPlayer())
        foreign = said.startswith(b"HTTP")
        words = r"is not a server of yatzy \(.*HTTP/1.1 400" if foreign else "has closed the connection before any game"
        with pytest.raises(ParameterError, match=rf"{where} {words}"):
            await asyncio.to_thread(made.run)
        assert any("no message in 0.1 s" in line for line in told) is not foreign


@run
async def test_join_loads_its_agent_before_it_connects(tmp_path: Path) -> None:
    """On the server it has only seconds to answer, so an agent that cannot be loaded never connects."""
    note, bot = tmp_path / "loaded", tmp_path / "bot.py"
    bot.write_text(f"open({str(note)!r}, 'w').close()\ndef command(standing): pass\n")
    with pytest.raises(ParameterError, match="cannot be reached"):
        await asyncio.to_thread(join, "yatzy", "127.0.0.1:1", str(bot), None, None, 0, 0, print)
    assert note.exists()
    bot.write_text("raise RuntimeError('no idea')\n")
    came: list[Any] = []
    server = await asyncio.start_server(lambda *streams: came.append(streams), "127.0.0.1", 0)
    where = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    with pytest.raises(AgentError, match="no idea"):
        await asyncio.to_thread(join, "yatzy", where, str(bot), None, None, 0, 0, print)
    assert not came
    server.close()
