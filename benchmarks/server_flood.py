"""What a client that floods costs the others: how long these wait for the answer to a move, with and without it.

A few bots play slowly, so that the server has time; another process floods it as fast as it can, and connects again
whenever it is disconnected. Both are on this machine, over loopback. Where that is possible the flood comes last when
processes share a core: it stands for a machine of its own, and is not to take the bots' and the server's time.
"""

from __future__ import annotations

import asyncio
import functools
import itertools
import json
import os
import select
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.server_load import Bot
from dicegym.games.yatzy.protocol import FINAL
from dicegym.server.server import Server
from dicegym.server.server_settings import ServerSettings

GAMES = 4
THINKING = 0.005
"""Seconds that the bots take for a move."""
WARM_UP = 0.5
"""Seconds that are not measured, for the flood to rise."""
CHUNK = 1 << 16
_CODE = "import json, sys; sys.path[:] = json.loads(sys.argv.pop()); from benchmarks import server_flood; "
_CODE += "getattr(server_flood, sys.argv[1])(*sys.argv[2:])"
_HANDSHAKE = (
    "GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


class Flood(NamedTuple):
    """A way to send too much."""

    title: str
    data: bytes
    """Sent again and again."""
    port: str = "tcp"
    first: str = ""
    """Sent once, before; with the port in it."""
    reads: bool = True
    """Whether the answers are read."""
    piece: int = CHUNK
    """Bytes in a packet."""
    stays: bool = True
    """Whether it sends on, instead of connecting again and again."""


FLOODS = {
    "braces": Flood("a stream of `{`", b"{"),
    "deep": Flood("deep JSON", b'{"a":' + b"[" * 4000),
    "long": Flood("long objects", b'{"a":[' + b"0," * 2000 + b"0]}"),
    "small": Flood("small messages", b"{}"),
    "unread": Flood("small messages, answers unread", b"{}", reads=False),
    "bytewise": Flood("objects byte by byte", b'{"a":[0,1,2,3,4,5,6,7,8,9],"b":"' + b"x" * 3000 + b'"}', piece=1),
    "pings": Flood("WebSocket pings", b"\x89\x80\0\0\0\0", port="ws", first=_HANDSHAKE),
    "connections": Flood("new connections", b"{}", stays=False),
}
"""By name. Whatever a flood sends is no move."""


class Latency(NamedTuple):
    """How long bots waited from a move to the table after it, in milliseconds."""

    median: float
    p99: float


def measure(game: str, flood: str | None = None, seconds: float = 2.0) -> Latency:
    """Return how long bots on a server of ``game`` wait for the answer to a move, with a flood of `FLOODS` or without.

    Raises:
        ParameterError: the game has no server protocol.
    """
    with tempfile.TemporaryDirectory() as folder:
        settings = ServerSettings(
            game, tcp=0, ws=0, store=Path(folder) / "results.sqlite", pause=0, gather=0.05, login=60, seed=0
        )
        return asyncio.run(_measure(settings, flood, seconds))


async def _measure(settings: ServerSettings, flood: str | None, seconds: float) -> Latency:
    async with Server(settings) as server:
        processes = []

        async def start(*arguments: str) -> asyncio.subprocess.Process:
            path = json.dumps([folder or os.getcwd() for folder in sys.path])
            made = await asyncio.create_subprocess_exec(
                sys.executable, "-P", "-c", _CODE, *arguments, path, stdout=asyncio.subprocess.PIPE
            )
            processes.append(made)
            return made

        try:
            if flood is not None:
                await start("pour", flood, str(server.ports[FLOODS[flood].port]))
            bots = await start("wait", settings.game, str(server.ports["tcp"]), str(2 * GAMES), str(seconds))
            told, _ = await bots.communicate()
            return Latency(*json.loads(told))
        finally:
            for process in processes:
                if process.returncode is None:
                    process.kill()
                await process.wait()


class SlowBot(Bot):
    """A bot that takes its time, and notes how long the server takes."""

    def __init__(self, name: str, waits: list[tuple[float, float]]) -> None:
        super().__init__(name)
        self._waits = waits
        self._sent = 0.0

    def data_received(self, data: bytes) -> None:
        """Note how long this took, if it is an answer."""
        if self._sent:
            now = time.perf_counter()
            if FINAL.encode() not in data:  # which is told when it is on the disk
                self._waits.append((now, now - self._sent))
            self._sent = 0.0
        super().data_received(data)

    def answer(self, command: bytes) -> None:
        """Send a command, after a while."""
        asyncio.get_running_loop().call_later(THINKING, self._send, command)

    def _send(self, command: bytes) -> None:
        self._sent = time.perf_counter()
        super().answer(command)


def wait(game: str, port: str, bots: str, seconds: str) -> None:
    """Play with so many bots for so many seconds, and print the median and the 99th percentile of their waits."""

    async def run() -> list[tuple[float, float]]:
        waits: list[tuple[float, float]] = []
        loop = asyncio.get_running_loop()
        for number in range(int(bots)):
            make = functools.partial(SlowBot, f"slow-{number}", waits)
            await loop.create_connection(make, "127.0.0.1", int(port))
        while not waits:
            await asyncio.sleep(0.01)
        await asyncio.sleep(WARM_UP + float(seconds))
        return waits

    waits = asyncio.run(run())
    began = waits[0][0] + WARM_UP
    found = sorted(1000 * wait for when, wait in waits if when >= began)
    print(json.dumps([found[len(found) // 2], found[len(found) * 99 // 100]]))


def pour(flood: str, port: str) -> None:
    """Flood until this process is ended."""
    if sys.platform == "linux":
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    if hasattr(os, "nice"):
        os.nice(10)
    for _ in itertools.count():
        try:
            _pour(FLOODS[flood], int(port))
        except OSError:  # disconnected: again
            time.sleep(0.001)


def _pour(flood: Flood, port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as raw:
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if flood.first:
            raw.sendall(flood.first.format(port=port).encode())
            raw.recv(1 << 12)
        raw.setblocking(False)
        many = flood.data * max(1, flood.piece // len(flood.data))
        for start in _starts(len(many), flood.piece):
            _, writable, _ = select.select([raw] if flood.reads else [], [raw], [])
            if flood.reads:
                _swallow(raw)
            if writable:
                raw.send(many[start : start + flood.piece])
            if not flood.stays:
                return


def _starts(size: int, piece: int) -> Iterator[int]:
    return itertools.cycle(range(0, size, piece))


def _swallow(raw: Any) -> None:
    try:
        if not raw.recv(CHUNK):
            raise ConnectionError("the server has closed the connection")
    except BlockingIOError:
        pass
