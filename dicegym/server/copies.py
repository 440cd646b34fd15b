"""The players of a local agent, one for each of its tables: in the process that asks them, or apart from it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from dicegym.bots.source import Source
from dicegym.engine.game import Game
from dicegym.errors import one_line
from dicegym.play.player import Player
from dicegym.players.roster import agent, resolve
from dicegym.sandbox.hosts import HostProcess
from dicegym.sandbox.isolated import IsolatedPlayer
from dicegym.sandbox.jail import Isolation
from dicegym.sandbox.jobs import Entry
from dicegym.sandbox.limits import Limits, give_up_kernels
from dicegym.sandbox.remote import GoneError
from dicegym.sandbox.worker import CAN_FORK

MOST_MOVES = 1000
"""No game of a table has more decisions of one seat."""


@dataclass(frozen=True)
class TableLimits(Limits):
    """What a bot's file may use at a table: the clock on the server's wall counts, as for remote bots."""

    @staticmethod
    def wall_of(seconds: float) -> float:
        """Return the same."""
        return seconds


class Copies(Protocol):
    """The players of an agent, one for each of its tables."""

    def player(self, game: Game, seed: int) -> Player:
        """Return the player of a new table. Raises AgentError."""

    def close(self, player: Player) -> None:
        """Let go of one."""


class Here:
    """One player in this process for all tables: they are trusted, and keep what belongs to a game with that."""

    def __init__(self, player: Player) -> None:
        self._player = player

    def player(self, game: Game, seed: int) -> Player:
        """See `Copies`."""
        return self._player

    def close(self, player: Player) -> None:
        """See `Copies`."""


class Apart:
    """A process of its own for each table, all of them made by one host.

    Args:
        game: the game.
        name: of the bot.
        source: where it is.
        seconds: to answer, and to load.
        level: how it is kept apart.
        folder: where its temporary folders are made, where it is not jailed.
    """

    def __init__(self, game: Game, name: str, source: Source, seconds: float, level: Isolation, folder: str) -> None:
        self._game = game
        self._name = name
        self._limits = TableLimits(MOST_MOVES * seconds, start=seconds, move=seconds)
        self._host: Callable[[], HostProcess] = lambda: HostProcess(game, name, source, self._limits, level, folder)
        self._running: HostProcess | None = self._host()

    def player(self, game: Game, seed: int) -> Player:
        """See `Copies`."""
        if self._running is None:
            self._running = self._host()
        try:
            remote = self._running.child(lambda together: "")
            return IsolatedPlayer(remote, self._name, game, seed)
        except (OSError, EOFError, ValueError) as error:
            self._end_host()
            raise GoneError(self._name, f"its process could not be started ({one_line(error)})") from error

    def close(self, player: Player) -> None:
        """See `Copies`: if something is left of it, all that its host has started ends."""
        clean = False
        with contextlib.suppress(OSError, EOFError, ValueError):
            clean = isinstance(player, IsolatedPlayer) and player.close()
        if not clean:
            self._end_host()

    def _end_host(self) -> None:
        if self._running is not None:
            self._running.close()
        self._running = None


def copies_of(game: Game, spec: str, seconds: float, level: Isolation, folder: str) -> Copies:
    """Return what plays as the agent ``spec``; see `Apart` for the rest. Raises what `dicegym.agent` does."""
    origin = resolve(game, spec)
    if Entry(spec, origin).trusted:
        return Here(agent(game, spec))
    if CAN_FORK and isinstance(origin, Source):
        return Apart(game, spec, origin, seconds, level, folder)
    give_up_kernels()
    return Here(agent(game, spec))
