"""A game server in a process of its own: reads what it is told from standard input, and says how things stand.

It is told settings as a line of JSON, and runs until standard input ends, as it does when its parent is gone.
It says a line of JSON at a time: what the scoreboard shows, or why it could not run.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys
import warnings
from typing import Any

from dicegym.errors import DicegymError
from dicegym.server.server import Server
from dicegym.server.server_settings import ServerSettings

EVERY = 0.5
"""Seconds between two looks."""


def main() -> None:
    """Serve, as a program."""
    for number in (signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGINT)):
        signal.signal(number, signal.SIG_IGN)  # the parent ends it, in order
    told = json.loads(sys.stdin.readline())
    warnings.simplefilter("ignore")
    try:
        asyncio.run(_serve(ServerSettings(**{**told, "agents": tuple(told["agents"])})))
    except DicegymError as error:
        _say({"error": str(error)})


async def _serve(settings: ServerSettings) -> None:
    ended = asyncio.create_task(asyncio.to_thread(sys.stdin.read))
    async with contextlib.AsyncExitStack() as stack:
        starting = asyncio.create_task(stack.enter_async_context(Server(settings)))
        await asyncio.wait([starting, ended], return_when=asyncio.FIRST_COMPLETED)
        if not starting.done():
            starting.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await starting
            return
        server, speed = starting.result(), Speed()
        finished = asyncio.create_task(server.wait_finished())
        while not (ended.done() or finished.done()):
            _say({"board": board_of(server, speed)})
            await asyncio.wait([ended, finished], timeout=EVERY, return_when=asyncio.FIRST_COMPLETED)
        if finished.done():
            finished.result()
        finished.cancel()


class Speed:
    """Turns a second, over the last few looks."""

    def __init__(self) -> None:
        self._seen: list[tuple[float, int]] = []

    def after(self, seconds: float, turns: int) -> float:
        """Return the mean since about five seconds ago, given all turns so far."""
        self._seen = [*self._seen[-10:], (seconds, turns)]
        (first, before), (last, after) = self._seen[0], self._seen[-1]
        return (after - before) / (last - first) if last > first else 0.0


def board_of(server: Server, speed: Speed) -> dict[str, Any]:
    """Return what pages show of a running server, as plain values."""
    lobby, tables = server.lobby, []
    for table in sorted(lobby.tables, key=lambda table: table.number):
        names = [seat.name for seat in table.seats]
        mover = "" if table.over else names[table.mover]
        tables.append((table.number + 1, list(zip(names, table.totals, strict=True)), mover))
    return {
        "addresses": server.addresses,
        "connections": len(lobby.clients),
        "waiting": len(lobby.waiting),
        "finished": lobby.finished,
        "resting": lobby.resting,
        "tables": tables,
        "lines": list(server.lines),
        "speed": speed.after(server.seconds, lobby.turns),
    }


def _say(what: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):
        print(json.dumps(what), flush=True)


if __name__ == "__main__":
    main()
