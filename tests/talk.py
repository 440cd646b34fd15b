"""Talking to a server over real sockets, message by message."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from dicegym.server.server import Server
from dicegym.server.server_settings import ServerSettings

PATIENCE = 10
"""Seconds after which a test gives up waiting for something that must happen."""
_CONNECTED = list[Any]()  # the bots of the test that runs, which are disconnected at its end


def run(coroutine: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Make a test of a coroutine function."""

    @functools.wraps(coroutine)
    def test(*args: Any, **kwargs: Any) -> None:
        async def limited() -> None:
            try:
                async with asyncio.timeout(6 * PATIENCE):
                    await coroutine(*args, **kwargs)
            finally:
                while _CONNECTED:
                    _CONNECTED.pop().vanish()
                await asyncio.sleep(0)  # sockets are closed in the next round of the event loop

        asyncio.run(limited())

    return test


def settings(folder: Path, **changes: Any) -> ServerSettings:
    """Return settings for a test: free ports, a seed, and short pauses."""
    chosen = {"tcp": 0, "ws": 0, "seed": 1, "login": 60.0, "answer": 5.0, "gather": 0.05, "pause": 0.0}
    return ServerSettings("yatzy", **({"store": folder / "results.sqlite"} | chosen | changes))


def serving(folder: Path, **changes: Any) -> Server:
    """Return a server, to be entered."""
    lines = []
    server = Server(settings(folder, **changes), lines.append)
    server.told = lines
    return server


def with_secrets(folder: Path, secrets: str = "anna:correct horse\nbob:battery staple\n", **changes: Any) -> Server:
    """Return a server on which some names have secrets, by default anna and bob."""
    (path := folder / "secrets.txt").write_text(secrets)
    return serving(folder, secrets=path, **changes)


class Bot:
    """A client of which every step is written out by the test."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.name = ""
        self.seen = []
        _CONNECTED.append(self)

    @classmethod
    async def connect(cls, server: Server, **options: Any) -> Bot:
        return cls(*await asyncio.open_connection("127.0.0.1", server.ports["tcp"], **options))

    @classmethod
    async def named(cls, server: Server, name: str, **login: Any) -> Any:
        """Connect and log in."""
        bot = await cls.connect(server)
        await bot.send({"key": "LOGIN", "playerName": name, **login})
        bot.name = (await bot.until("WELCOME"))["playerName"]
        return bot

    async def send(self, message: Any) -> None:
        """Send a message, or bytes as they are."""
        self.writer.write(message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n")
        await self.writer.drain()

    async def receive(self) -> Any:
        """Return the next message; {} when the connection is gone."""
        async with asyncio.timeout(PATIENCE):
            try:
                line = await self.reader.readline()
            except ConnectionError:
                line = b""
        message = json.loads(line) if line else {}
        self.seen.append(message)
        return message

    async def until(self, *words: str) -> Any:
        """Return the next message of one of these kinds; {} if the connection ends before."""
        while (message := await self.receive()) and message["key"] not in words:
            pass
        return message

    async def my_turn(self) -> Any:
        """Return the next STANDING in which it is this bot's turn, or the FINAL before that."""
        while True:
            message = await self.until("STANDING", "FINAL")
            if not message or message["key"] == "FINAL" or message["currentPlayer"]["playerName"] == self.name:
                return message

    async def play(self, choose: Any = None) -> Any:
        """Play to the end of the game; return the FINAL."""
        while (message := await self.my_turn()) and message["key"] == "STANDING":
            await self.send((choose or first_box)(message))
        return message

    def close(self) -> None:
        self.writer.close()

    def vanish(self) -> None:
        """End the connection without a word, by a reset."""
        self.writer.transport.abort()
        self.writer.close()


class WebBot(Bot):
    """The same over WebSocket."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.name = ""
        self.seen = []
        _CONNECTED.append(self)

    @classmethod
    async def connect(cls, server: Server, **options: Any) -> Bot:
        from websockets.asyncio.client import connect

        return cls(await connect(f"ws://127.0.0.1:{server.ports['ws']}", **options))

    async def send(self, message: Any) -> None:
        """Send a message as text; text and bytes as they are."""
        await self.connection.send(json.dumps(message) if isinstance(message, dict) else message)

    async def receive(self) -> Any:
        from websockets.exceptions import ConnectionClosed

        try:
            async with asyncio.timeout(PATIENCE):
                message = json.loads(await self.connection.recv())
        except ConnectionClosed:
            message = {}
        self.seen.append(message)
        return message

    def vanish(self) -> None:
        self.connection.transport.abort()


def first_box(standing: dict[str, Any]) -> Any:
    """Return the command that scores the first open box with all dice."""
    scores = own_scores(standing)
    return {"type": "SCORE_BOX", "box": 1 + scores.index("-"), "dice": [0, 1, 2, 3, 4]}


def own_scores(standing: dict[str, Any], name: str | None = None) -> Any:
    """Return the boxes of a player, by default of who is to move."""
    name = name or standing["currentPlayer"]["playerName"]
    (row,) = (row for row in standing["standing"] if row["playerName"] == name)
    return row["score"].split(",")


async def both(server: Server, *names: str) -> Any:
    """Return bots of these names in the order in which they play, with the first STANDING of their game."""
    bots = [await Bot.named(server, name) for name in names]
    standings = [await bot.until("STANDING") for bot in bots]
    order = [row["playerName"] for row in standings[0]["standing"]]
    return sorted(bots, key=lambda bot: order.index(bot.name)), standings[0]


async def eventually(condition: Callable[[], object]) -> None:
    """Wait until ``condition()`` holds."""
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.005)


@contextlib.asynccontextmanager
async def game_of_two(folder: Path, **changes: Any) -> Any:
    """Yield (server, the bot to move, the other, the first STANDING)."""
    async with serving(folder, **changes) as server:
        (first, second), standing = await both(server, "anna", "bob")
        yield server, first, second, standing
