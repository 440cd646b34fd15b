"""Floods, idle crowds and web pages, over real sockets, do not affect players."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("websockets")
from talk import Bot, WebBot, both, eventually, first_box, run, serving, with_secrets
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from benchmarks import server_flood
from dicegym.errors import ParameterError
from dicegym.server import client_connections, client_limits
from dicegym.server.client import open_channel
from dicegym.server.server import Server

# --- web pages


async def browser(server: Server, host: str, origin: str | None) -> Any:
    """Connect like a page of ``origin`` that calls the server ``host``."""
    port = server.ports["ws"]
    return await connect(f"ws://{host}:{port}", host="127.0.0.1", port=port, origin=origin, proxy=None)


@run
async def test_pages_of_others_cannot_play(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        for host, origin in (
            ("127.0.0.1", "https://evil.example"),
            ("127.0.0.1", "null"),
            ("127.0.0.1", "http://localhost:8000"),
            ("evil.example", None),
            ("evil.example", "http://evil.example"),
        ):
            with pytest.raises(InvalidStatus) as caught:
                await browser(server, host, origin)
            response = caught.value.response
            assert response.status_code == 403
            assert "--allow-" in response.body.decode(), "the message says what the operator can do"
        assert [line for line in server.told if "a WebSocket from 127.0.0.1" in line and "was refused" in line]
        await eventually(lambda: not server.lobby.clients)


@run
async def test_pages_that_the_operator_allows_can(tmp_path: Path) -> None:
    allowed = {"hosts": ("yatzy.example.org",), "origins": ("https://bots.example",)}
    async with serving(tmp_path, **allowed) as server:
        bot = WebBot(await browser(server, "yatzy.example.org", "https://bots.example"))
        await bot.send({"key": "LOGIN", "playerName": "anna"})
        assert (await bot.until("WELCOME"))["playerName"] == "anna"
        await (await browser(server, "localhost", f"http://localhost:{server.ports['ws']}")).close()


NO_CLIENTS = [
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200),
    b"\xff\xfd\x03\xff\xfb\x18\xff\xfb\x1f",
    bytes(range(128, 256)) * 100,
    b"SSH-2.0-OpenSSH_9.2\r\n",
    b'POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n{"key": "LOGIN", "playerName": "anna"}\n',
    b"\r\n\r\nhello\r\n",
    b"[" * 5000,
    b"\x00",
]


@run
async def test_programs_of_other_protocols_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_connections, "CLOSING", 0.1)
    async with serving(tmp_path) as server:
        for data in NO_CLIENTS:
            bot = await Bot.connect(server)
            await bot.send(data)
            error = await bot.receive()
            assert (error["key"], error["code"]) == ("ERROR", "bad-json"), data
            assert "this port speaks JSON" in error["message"]
            assert await bot.receive() == {}
            await eventually(lambda: not server.lobby.clients)  # although it keeps its side open
            bot.close()
        assert [line for line in server.told if "reached the TCP port" in line]


@run
async def test_broken_handshakes_free_their_places_at_once(tmp_path: Path) -> None:
    async with serving(tmp_path, connections=1) as server:
        for data in (*NO_CLIENTS, b"GET / HTTP/1.1\r\n" + b"x" * 20_000, b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"):
            if b"\n" in data:
                reader, writer = await asyncio.open_connection("127.0.0.1", server.ports["ws"])
                writer.write(data)
                with contextlib.suppress(ConnectionError):
                    assert b"101" not in await asyncio.wait_for(reader.read(), 5)
                await eventually(lambda: not server.lobby.clients)
                writer.close()
        assert (await WebBot.named(server, "anna")).name == "anna"


# --- capacity


@contextlib.asynccontextmanager
async def crowd(server: Server, many: int) -> AsyncIterator[list[Any]]:
    """Yield ``many`` silent connections."""
    bots = [await Bot.connect(server) for _ in range(many)]
    try:
        yield bots
    finally:
        for bot in bots:
            bot.vanish()


@run
async def test_a_full_server_refuses_in_words_and_its_players_play_on(tmp_path: Path) -> None:
    async with serving(tmp_path, connections=2) as server:
        playing, standing = await both(server, "carl", "dora")
        await playing[0].send(first_box(standing))
        late = await Bot.connect(server)
        error = await late.receive()
        assert (error["code"], await late.receive()) == ("full", {})
        assert "the server is full with 2 connections" in error["message"]
        with pytest.raises(InvalidStatus) as caught:
            await WebBot.connect(server)
        assert caught.value.response.status_code == 503
        assert json.loads(caught.value.response.body) == error
        address = f"ws://127.0.0.1:{server.ports['ws']}"
        with pytest.raises(ParameterError, match=r"HTTP 503 .*the server is full with 2 connections"):
            await asyncio.to_thread(open_channel(address).__enter__)
        await playing[1].send(first_box(await playing[1].my_turn()))
        assert (await playing[0].my_turn())["roundNumber"] == 2
        assert [line for line in server.told if "was sent away: the server is full" in line]
        playing[0].vanish()
        await eventually(lambda: len(server.lobby.clients) == 1)
        assert (await WebBot.named(server, "anna")).name == "anna", "refused clients take no place"


@run
async def test_refused_clients_may_read_why_until_files_run_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_connections, "BESIDE", 4 * 2)
    monkeypatch.setattr(client_connections, "CLOSING", 60.0)
    async with serving(tmp_path, connections=1) as server, crowd(server, 1):
        await eventually(lambda: len(server.lobby.clients) == 1)
        async with crowd(server, 6) as bots:
            await eventually(lambda: len(server._ports.alive) == 3)
            assert (await bots[0].until("ERROR"))["code"] == "full"


@pytest.mark.parametrize("port", ["tcp", "ws"])
@run
async def test_clients_without_a_login_lose_their_places(tmp_path: Path, port: str) -> None:
    """Those on the WebSocket port do not end their handshake; these do not become guests either."""
    async with with_secrets(tmp_path, guests=port == "ws", connections=2, login=0.3) as server:
        silent = [await asyncio.open_connection("127.0.0.1", server.ports[port]) for _ in range(2)]
        for _, writer in silent:
            writer.write(b"GET / HTTP/1.1\r\nHost: 127." if port == "ws" else b" ")
        await eventually(lambda: len(server.lobby.clients) == 2)
        assert (await (await Bot.connect(server)).receive())["code"] == "full"
        for reader, writer in silent:
            assert b"no login within 0.3 s" in await asyncio.wait_for(reader.read(), 5)
            writer.close()
        assert (await Bot.named(server, "anna", secret="correct horse")).name == "anna"
        assert list(server.lobby.named) == list(server.lobby.clients.values())


# --- floods


@pytest.mark.slow
@pytest.mark.parametrize("kind", server_flood.FLOODS)
def test_a_flood_costs_the_others_no_more_than_milliseconds(kind: str) -> None:
    """The bound allows for busy machines; `python -m benchmarks measure server` measures the wait."""
    assert server_flood.measure("yatzy", kind, 0.25).median < 50


@pytest.mark.parametrize("data", [b'{"type":"SHOUT"}' * 100, b"x\n" * 800])
@run
async def test_a_flooding_client_is_slowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(client_connections, "REFILL", 0.02)
    async with serving(tmp_path, rate=12_800) as server:
        flooder = await Bot.named(server, "flooder")

        async def flood() -> None:
            with contextlib.suppress(ConnectionError):
                while True:
                    await flooder.send(data)

        flooding = asyncio.create_task(flood())
        began = time.perf_counter()
        answers = 0
        while time.perf_counter() - began < 2:
            answers += bool(await flooder.receive())
        spent = time.perf_counter() - began
        flooding.cancel()
        assert answers < 20 * (client_limits.AT_ONCE + spent) + client_connections.IN_A_ROW * 4
        flooder.vanish()
        await eventually(lambda: not server.lobby.clients)


@run
async def test_a_websocket_that_keeps_pinging_is_slowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_connections, "REFILL", 0.02)
    async with serving(tmp_path, rate=6_400) as server:
        bot = await WebBot.named(server, "pinger")
        pongs = []

        async def ping() -> None:
            with contextlib.suppress(Exception):
                for number in range(8_000):
                    pongs.append(await bot.connection.ping(str(number)))

        pinging = asyncio.create_task(ping())
        await eventually(lambda: any(pong.done() for pong in pongs))
        await asyncio.sleep(1)
        assert sum(pong.done() for pong in pongs) < 4_000, "after the first packet, it is paused for long"
        pinging.cancel()
        bot.vanish()
        await eventually(lambda: not server.lobby.clients)


@run
async def test_fast_players_spend_nothing(tmp_path: Path) -> None:
    """Hundreds of moves per second, with a budget of one message."""
    async with serving(tmp_path, rate=4096, games=8) as server:
        bots, standing = await both(server, "anna", "bob")
        await bots[0].send(first_box(standing))
        for _ in range(8):
            finals = await asyncio.gather(*(bot.play() for bot in bots))
            assert [final["key"] for final in finals] == ["FINAL"] * 2
        assert server.store.count_games() == 8


@run
async def test_half_messages_that_come_slowly_cost_nothing(tmp_path: Path) -> None:
    async with serving(tmp_path) as server, crowd(server, 100) as slow:
        text = json.dumps({"key": "LOGIN", "playerName": "x" * 3000})
        for start in range(0, 60, 3):
            for bot in slow:
                await bot.send(text[start : start + 3].encode())
        assert not server.lobby.named
        bots, standing = await both(server, "anna", "bob")
        began = time.perf_counter()
        await bots[0].send(first_box(standing))
        await asyncio.gather(*(bot.play() for bot in bots))
        assert time.perf_counter() - began < 5


@run
async def test_a_crowd_of_floods_does_not_grow_memory(tmp_path: Path) -> None:
    """Unread data stays in the system's buffers and at the clients."""
    async with serving(tmp_path) as server, crowd(server, 50) as bots:
        for bot in bots:
            bot.writer.write(b'{"a": "' + b"x" * (1 << 20))
        await asyncio.sleep(0.3)
        held = [len(link.objects._text) for link in server.lobby.clients]
        assert len(held) == 50
        assert max(held) <= 2 * 4096
