"""How fast a server is: bots that hardly think play on it over loopback TCP, from a process of their own."""

from __future__ import annotations

import asyncio
import functools
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from dicegym.games.yatzy.protocol import login_message
from dicegym.server.server import Server
from dicegym.server.server_settings import ServerSettings
from dicegym.server.wire import encode

WARM_UP = 1.0
"""Seconds that are not measured."""
_CODE = "import json, sys; sys.path[:] = json.loads(sys.argv.pop()); from benchmarks import server_load; "
_CODE += "server_load.play(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))"


class ServerLoad(NamedTuple):
    """What was measured."""

    turns: float
    """Commands carried out a second, each told to everybody at its table."""
    busy: float
    """Share of one core that the server's process used."""
    games: int
    """Games in progress on average, rounded."""


def measure(game: str, seconds: float = 5.0, games: int = 50, players: int = 2) -> ServerLoad:
    """Return how many turns a second a server of ``game`` plays with ``games`` games at once.

    The server runs in this process, the bots in another one: a machine with one core shares it between both.
    Results are stored as always, in a temporary folder.

    Raises:
        ParameterError: the game has no server protocol.
    """
    with tempfile.TemporaryDirectory() as folder:
        settings = ServerSettings(
            game,
            tcp=0,
            players=players,
            store=Path(folder) / "results.sqlite",
            pause=0,
            gather=0.05,
            seed=0,
            connections=games * players + 8,
        )
        return asyncio.run(_measure(settings, seconds, games * players))


async def _measure(settings: ServerSettings, seconds: float, bots: int) -> ServerLoad:
    path = json.dumps([folder or os.getcwd() for folder in sys.path])
    async with Server(settings) as server:
        arguments = (settings.game, str(server.ports["tcp"]), str(bots), path)
        process = await asyncio.create_subprocess_exec(sys.executable, "-P", "-c", _CODE, *arguments)
        try:
            while len(server.lobby.named) < bots or not server.lobby.turns:
                await asyncio.sleep(0.05)
            await asyncio.sleep(WARM_UP)
            began, used, before, tables = time.perf_counter(), time.process_time(), server.lobby.turns, []
            while (spent := time.perf_counter() - began) < seconds:
                tables.append(len(server.lobby.tables))
                await asyncio.sleep(min(0.1, seconds - spent))
            turns, cpu = server.lobby.turns - before, time.process_time() - used
            return ServerLoad(turns / spent, cpu / spent, round(sum(tables) / len(tables)))
        finally:
            process.kill()
            await process.wait()


class Bot(asyncio.Protocol):
    """A client that reads no more than it must."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._rest = b""
        self._transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Log in."""
        self._transport = transport
        self._transport.write(encode(login_message(None, self._name)))

    def data_received(self, data: bytes) -> None:
        """Answer the last standing that has come; the ones before are outdated."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        if lines and (command := cheap_command(lines[-1], self._name)) is not None:
            self.answer(command)

    def answer(self, command: bytes) -> None:
        """Send a command."""
        self._transport.write(command)


def cheap_command(standing: bytes, name: str) -> bytes | None:
    """Return a legal command of ``name`` as JSON, None if it is not its turn: for measuring servers.

    It rolls all dice while it can, and then scores the first open box with them. Both sides of the exchange are text,
    and the standing is one that the server wrote, without spaces: a client should cost a measurement little.
    """
    before, _, now = standing.rpartition(b'"currentPlayer":')
    own = b'{"playerName":' + json.dumps(name).encode() + b","
    if not now.startswith(own):
        return None
    if b'"rollsLeft":0' not in now:
        return b'{"type":"ROLL_DICE","dice":[0,1,2,3,4]}'
    scores = before.partition(own)[2].partition(b'"score":"')[2].partition(b'"')[0].split(b",")
    return b'{"type":"SCORE_BOX","box":%d,"dice":[0,1,2,3,4]}' % (1 + scores.index(b"-"))


def play(game: str, port: int, bots: int) -> None:
    """Play with so many bots until this process is ended."""

    async def run() -> None:
        loop = asyncio.get_running_loop()
        for number in range(bots):
            await loop.create_connection(functools.partial(Bot, f"load-{number}"), "127.0.0.1", port)
        await asyncio.Event().wait()

    asyncio.run(run())
