"""Misbehaving clients, over real sockets, do not affect other games."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("websockets")
from stored_results import stored_results
from talk import PATIENCE, Bot, WebBot, both, eventually, first_box, game_of_two, run, serving

from dicegym.errors import ParameterError
from dicegym.server import client_connections
from dicegym.server.client_limits import ThrottledLog
from dicegym.server.server import Server
from dicegym.server.server_settings import ServerSettings

BOUNDLESS = {"rate": 1 << 30}
"""A budget that no client exhausts."""


async def a_game_is_played(server: Server) -> None:
    """Play a whole game of two new bots; no other bots may wait."""
    bots, standing = await both(server, "good-1", "good-2")
    await bots[0].send(first_box(standing))
    finals = await asyncio.gather(*(bot.play() for bot in bots))
    assert finals[0]["key"] == "FINAL"
    for bot in bots:
        bot.close()


@run
async def test_byte_by_byte_half_and_interleaved(tmp_path: Path) -> None:
    async with game_of_two(tmp_path) as (_, first, second, standing):
        text = json.dumps(first_box(standing)).encode()
        half = json.dumps(first_box(standing)).encode()[:20]
        for byte in text[:-1]:
            await first.send(bytes([byte]))
            await second.send(half[:1])  # bytes of two clients are never mixed
            await asyncio.sleep(0)
        await first.send(text[-1:])
        own = await second.my_turn()
        await second.send(b"\n" + json.dumps(first_box(own)).encode())  # a new line ends the incomplete object
        assert [message["code"] for message in second.seen if message["key"] == "ERROR"] == ["bad-json"]
        assert (await first.my_turn())["roundNumber"] == 2


@run
async def test_many_commands_in_one_packet(tmp_path: Path) -> None:
    async with game_of_two(tmp_path) as (_, first, second, standing):
        roll = b'{"type":"ROLL_DICE","dice":[0]}'
        await first.send(roll + roll + json.dumps(first_box(standing)).encode() + roll)
        assert (await second.my_turn())["roundNumber"] == 1
        assert (await first.until("ERROR"))["code"] == "not-your-turn", "the fourth command is too late"


@run
async def test_silent_guests_are_seated_and_their_games_end(tmp_path: Path) -> None:
    async with serving(tmp_path, login=0.05, answer=0.2, games=30, gather=0.05) as server:
        silent = [await Bot.connect(server) for _ in range(60)]
        await server.wait_finished()
        assert server.store.count_games() == 30
        assert {len(result.incidents) for result in stored_results(server.store)} == {4}
        assert len({place.name for result in stored_results(server.store) for place in result.places}) == 60
        assert server.store.ratings() == {}, "none of them made a move"
        assert silent


@run
async def test_a_client_that_never_reads_is_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_connections, "MOST_UNREAD", 1 << 14)
    async with serving(tmp_path, **BOUNDLESS) as server:
        raw = socket.socket()
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        raw.connect(("127.0.0.1", server.ports["tcp"]))
        raw.setblocking(False)
        loop = asyncio.get_running_loop()

        async def shout(heard: Callable[[], bool]) -> None:
            with contextlib.suppress(OSError):
                while heard():
                    await asyncio.wait_for(loop.sock_sendall(raw, b'{"type":"SHOUT"}' * 1000), 1)

        await is_dropped(server, shout)
        raw.close()


async def is_dropped(server: Server, shout: Callable[[Callable[[], bool]], Coroutine[Any, Any, None]]) -> None:
    """Let the only client shout until it is dropped, while others play."""
    await eventually(lambda: server.lobby.clients)
    (link,) = server.lobby.clients
    # Otherwise the kernel would buffer megabytes before the server notices.
    link.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    shouting = asyncio.create_task(shout(lambda: link in server.lobby.clients))
    await a_game_is_played(server)
    await eventually(lambda: link not in server.lobby.clients)
    shouting.cancel()


@run
async def test_a_websocket_that_never_reads_is_dropped_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_connections, "MOST_UNREAD", 1 << 14)
    async with serving(tmp_path, **BOUNDLESS) as server:
        bot = await WebBot.connect(server, max_queue=1)
        bot.connection.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        bot.connection.transport.pause_reading()

        async def shout(heard: Callable[[], bool]) -> None:
            while heard():
                await bot.connection.send('{"type":"SHOUT"}')
                await asyncio.sleep(0)  # sending does not suspend while there is room

        await is_dropped(server, shout)
        bot.vanish()


@run
async def test_a_websocket_that_pings_and_never_reads_is_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library's answers are output too."""
    monkeypatch.setattr(client_connections, "MOST_UNREAD", 1 << 14)
    async with serving(tmp_path, **BOUNDLESS) as server:
        bot = await WebBot.connect(server, max_queue=1)
        bot.connection.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        bot.connection.transport.pause_reading()

        async def ping(heard: Callable[[], bool]) -> None:
            number = 0
            while heard():
                await bot.connection.ping(f"{number:100}")
                number += 1
                await asyncio.sleep(0)

        await is_dropped(server, ping)
        bot.vanish()


@run
async def test_a_websocket_that_answers_no_pings_is_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_connections, "PING", 0.1)
    async with serving(tmp_path) as server:
        bot = await WebBot.named(server, "anna")
        await asyncio.sleep(0.5)
        assert server.lobby.named, "its library answers"
        bot.connection.transport.pause_reading()
        await eventually(lambda: not server.lobby.clients)


@contextlib.asynccontextmanager
async def listening(enter: Callable[[Any], None], **ports: int) -> AsyncIterator[client_connections.Ports]:
    """Yield open ports without a lobby."""
    opened = client_connections.Ports(enter, ServerSettings("yatzy", **ports), ThrottledLog(lambda line: None))
    await opened.take()
    await opened.accept()
    yield opened
    await opened.close()


async def most_at_once(count: Callable[[], int], wanted: int) -> int:
    """Return the largest growth of a count in one round of the event loop, until it reaches ``wanted``."""
    counts = [0]
    while counts[-1] < wanted:
        await asyncio.sleep(0)
        counts.append(count())
    return max(after - before for before, after in itertools.pairwise(counts))


@run
async def test_a_client_that_sends_much_at_once_is_read_a_little_at_a_time(tmp_path: Path) -> None:
    """Other clients take their turn between two portions."""
    seen: list[Any] = []
    async with listening(lambda connection: setattr(connection, "hear", seen.append), tcp=0) as ports:
        _, writer = await asyncio.open_connection("127.0.0.1", ports.numbers["tcp"])
        writer.write(b"{}" * 100)
        assert await most_at_once(lambda: len(seen), 100) <= client_connections.IN_A_ROW
        writer.close()


@run
@pytest.mark.parametrize("kind", ["tcp", "ws"])
async def test_connections_that_come_at_once_are_taken_a_few_at_a_time(kind: str) -> None:
    """Other clients take their turn between a few connections; the system queues the rest.

    It also looks for connections that are dead without a word.
    """
    async with listening(lambda connection: None, **{kind: 0}) as ports:
        crowd = [socket.create_connection(("127.0.0.1", ports.numbers[kind]), PATIENCE) for _ in range(100)]
        assert await most_at_once(lambda: len(ports.alive), 100) <= client_connections.ACCEPTED_AT_ONCE
        sockets = [transport.get_extra_info("socket") for transport in ports.alive]
        assert all(one.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) for one in sockets)
        for each in crowd:
            each.close()


@run
async def test_login_floods(tmp_path: Path) -> None:
    async with serving(tmp_path, connections=50) as server:
        bot = await Bot.connect(server)
        await bot.send(b'{"key":"LOGIN","playerName":"anna"}' * 500)
        bot.name = (await bot.receive())["playerName"]
        assert bot.name == "anna"
        for _ in range(499):
            assert (await bot.receive())["code"] == "not-your-turn"
        crowd = [await Bot.connect(server) for _ in range(80)]
        for other in crowd:
            await other.send({"key": "LOGIN", "playerName": "anna"})
        answers = [await other.receive() for other in crowd]
        assert sum(answer.get("code") == "full" for answer in answers) == 31
        names = {answer["playerName"] for answer in answers if answer["key"] == "WELCOME"}
        assert names == {f"anna-{i}" for i in range(2, 51)}
        assert await crowd[-1].until("never") == {}, "refused clients are disconnected"
        for other in crowd:
            other.vanish()
        await eventually(lambda: len(server.lobby.clients) == 1)
        assert (await bot.play())["key"] == "FINAL"


@run
async def test_binary_and_oversized_frames(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        bots = [await WebBot.named(server, "anna"), await WebBot.named(server, "bob")]
        standings = [await bot.until("STANDING") for bot in bots]
        turn = standings[0]["currentPlayer"]["playerName"]
        mover, other = sorted(bots, key=lambda bot: bot.name != turn)
        await mover.send(json.dumps(first_box(standings[0])).encode())
        error = await mover.until("ERROR")
        assert error["code"] == "bad-json"
        assert "text" in error["message"]
        await mover.send("x" * 4097)
        assert (await mover.until("ERROR"))["code"] == "too-long"
        await mover.send(json.dumps(first_box(standings[0])) * 2)
        assert (await mover.until("ERROR"))["code"] == "bad-json"
        await mover.connection.send([json.dumps(first_box(standings[0]))[:9], json.dumps(first_box(standings[0]))[9:]])
        await other.my_turn()
        await other.send("x" * (client_connections.LARGEST_FRAME + 1))
        while await other.receive():
            pass
        assert other.connection.close_code == 1009
        assert (await mover.my_turn())["roundNumber"] == 2, "it counts as a lost connection"


@run
async def test_requests_without_websocket(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.ports["ws"])
        writer.write(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
        assert b"426" in await reader.readline()
        writer.close()
        reader, writer = await asyncio.open_connection("127.0.0.1", server.ports["ws"])
        writer.write(b'{"key": "LOGIN"}\n' * 10)
        assert await reader.readline() == b""
        writer.close()
        await a_game_is_played(server)


@run
async def test_connections_that_come_and_go_leave_nothing_behind(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        for _ in range(100):
            bot = await Bot.connect(server)
            await bot.send(b'{"key": "LOG')
            bot.vanish()
        await eventually(lambda: not server.lobby.clients)
        assert not server.lobby.named
        assert not server.lobby.tables


@run
async def test_a_port_in_use_is_explained(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        for name in ("tcp", "ws"):
            (folder := tmp_path / name).mkdir()
            with pytest.raises(ParameterError, match=rf"--{name} {server.ports['tcp']}: cannot listen .*in use"):
                await serving(folder, **{name: server.ports["tcp"]}).__aenter__()
