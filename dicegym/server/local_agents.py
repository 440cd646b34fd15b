"""Local agents: the server's own players. Each has one thread and plays at any number of tables.

A model plays in the server's process. A bot's file, even one that ships with the package, plays in one process per
table, isolated as in contests (`dicegym.sandbox`). If its process ends or stops, only its game at that table suffers.
After `MOST_FAILURES` such ends in a row, the agent gets no more seats.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from dicegym.bots.source import Source
from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.errors import AgentError, ParameterError, one_line
from dicegym.play.player import Player, whole
from dicegym.play.turn import Act, Turn
from dicegym.players.roster import agent, is_strangers, resolve
from dicegym.sandbox.hosts import CAN_FORK, Hosts
from dicegym.sandbox.jail import Isolation
from dicegym.sandbox.jobs import Entry
from dicegym.sandbox.limits import Limits
from dicegym.sandbox.remote import NOT_ASKED, GoneError, IsolatedPlayer

MOST_FAILURES = 3
MOST_MOVES = 1000  # upper bound of one seat's decisions in a game


@dataclass(frozen=True)
class TableLimits(Limits):
    """Limits of a bot's file at a table: wall-clock time counts, as for remote bots."""

    @staticmethod
    def wall_of(seconds: float) -> float:
        """Return ``seconds``."""
        return seconds


def plays_apart(game: Game, spec: str) -> bool:
    """Return whether an agent is a bot's file, which plays in other processes.

    On systems without fork, files that ship with the package play in the server's process.

    Raises:
        ParameterError: there is no fork, and the file does not ship with the package.
        AgentError, UnknownNameError: there is no such agent.
    """
    if not isinstance(resolve(game, spec), Source):
        return False
    if not CAN_FORK and is_strangers(game, spec):
        raise ParameterError(
            f"{spec!r} cannot play in a server on this system, which cannot isolate bots' files: use `dicegym server "
            "join` instead"
        )
    return CAN_FORK


class LocalAgent:
    """An agent of the server, given by ``spec`` as for `dicegym.agent`.

    A bot's file has ``seconds`` to load, and for each answer. It is isolated at ``level``; None: the agent plays in
    this process.

    Attributes:
        retired: whether it has failed too often to get another seat.
    """

    def __init__(
        self,
        name: str,
        spec: str,
        game: Game,
        seconds: float,
        log: Callable[[str], None],
        level: Isolation | None = None,
    ) -> None:
        self.name = name
        self.retired = False
        self._game, self._spec, self._log = game, spec, log
        limits = TableLimits(MOST_MOVES * seconds, start=seconds, move=seconds)
        self._hosts = None if level is None else Hosts(game, limits, level, "")
        self._entry = Entry(name, resolve(game, spec))
        self._failures = 0
        self._thread = ThreadPoolExecutor(1, f"agent {name}")
        self._stopping = False
        # Only the thread uses these.
        self._player: Player | None = None  # plays at all tables, unless each table has a process
        self._seats: dict[int, tuple[Player, Act | None]] = {}  # by number of the table

    async def start(self) -> None:
        """Load the agent. Raises AgentError, ModelError."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._load)

    async def stop(self) -> None:
        """End the agent and all its processes."""
        self._stopping = True
        if self._hosts is not None:
            self._hosts.kill()  # so that the thread stops waiting for it
        self._thread.submit(self._end)
        await asyncio.to_thread(self._thread.shutdown)

    def ask(self, table: int, seat: int, state: Any, seed: int, answered: Callable[[int | str], None]) -> None:
        """Request a decision at a table; ``answered`` is called later with the action, or with why it failed."""
        loop = asyncio.get_running_loop()
        if self.retired:
            loop.call_soon(answered, "has failed too often")
            return
        asked = loop.run_in_executor(self._thread, self._answer, table, seat, state, seed)
        asked.add_done_callback(lambda done: self._hear(done, answered))

    def close(self, table: int) -> None:
        """Leave a table."""
        if not self._stopping:
            self._thread.submit(self._leave, table)

    def _hear(self, done: asyncio.Future[int], answered: Callable[[int | str], None]) -> None:
        error = None if done.cancelled() else done.exception()  # read always, or asyncio would log it
        if done.cancelled() or self._stopping:
            return
        if error is None:
            self._failures = 0
            answered(done.result())
            return
        reason = error.reason if isinstance(error, AgentError) else f"{type(error).__name__}: {one_line(error)}"
        if isinstance(error, GoneError) and reason != NOT_ASKED:
            self._failures += 1
            self.retired = self._failures >= MOST_FAILURES
            self._log(f"{self.name} {reason}" + (" and is not seated any more" if self.retired else ""))
        answered(reason)

    def _load(self) -> None:
        if self._hosts is None:
            self._player = agent(self._game, self._spec)
            return
        player = self._seat_apart(0)
        player.join(self._game, 0, 0)
        self._hosts.end(self._entry, player)

    def _answer(self, number: int, seat: int, state: Any, seed: int) -> int:
        if number not in self._seats:
            self._seats[number] = (self._seat_apart(seed) if self._player is None else self._player), None
        player, act = self._seats[number]  # if its process has ended, it raises an error when asked
        if act is None:  # stored before it joins, which may fail: all stored players are ended
            # The seed contains the old word "chair". Another word would change the agents' random numbers.
            act = player.join(self._game, seat, named_seed("chair", seed, 0))
            self._seats[number] = player, act
        return whole(act(Turn(self._game, state, seat)), player)

    def _leave(self, number: int) -> None:
        player, _ = self._seats.pop(number, (None, None))
        if self._hosts is not None and isinstance(player, IsolatedPlayer):
            self._hosts.end(self._entry, player)

    def _seat_apart(self, seed: int) -> IsolatedPlayer:
        """Return a copy of a bot in another process. Raises AgentError, and StartError if the process cannot start."""
        hosts = self._hosts
        if hosts is None or self._stopping:
            raise GoneError(self.name, "is not asked any more: the server stops")
        return hosts.seat(self._entry, seed, lambda: "")

    def _end(self) -> None:
        for number in list(self._seats):
            self._leave(number)
        if self._hosts is not None:
            self._hosts.close()
