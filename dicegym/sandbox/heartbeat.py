"""Who is acting, and since when: a few numbers in shared memory.

The process that runs bots writes them, the one that watches reads them, so nothing is sent for each move.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

LOADING, ASKED, PLAYING = range(3)
"""What the number of a `Reading` counts: nothing, questions of a test, games of a match."""

_ACTOR, _SINCE, _PHASE, _NUMBER, _TURN, _SPENT = range(6)
MOST_ACTORS = 64


class Reading(NamedTuple):
    """What the watching process sees."""

    actor: int
    """Index of the entry that is acting or acted last; -1: nobody has."""
    spent: float
    """Seconds that it has spent so far, the present move included."""
    phase: int
    number: int
    turn: int
    """Number of the actor's decision in a game, from 1; 0: none."""


class Heartbeat:
    """Both sides of the shared numbers.

    Args:
        cells: float64[_SPENT + MOST_ACTORS] in memory, shared or not (`Heartbeat.private`).
    """

    SIZE = _SPENT + MOST_ACTORS

    def __init__(self, cells: Any) -> None:
        self._cells = memoryview(cells).cast("B").cast("d")
        self.reset()

    @classmethod
    def private(cls) -> Heartbeat:
        """Return one that nobody watches."""
        return cls(bytearray(8 * cls.SIZE))

    def reset(self) -> None:
        """Begin anew: nobody has acted."""
        for i in range(self.SIZE):
            self._cells[i] = 0
        self._cells[_ACTOR] = self.actor = -1
        self._since = 0.0

    def act(self, actor: int, turn: int = 0) -> None:
        """Say that entry ``actor`` is asked from now on; the time until the next call is its own."""
        cells, now = self._cells, time.monotonic()
        if self.actor >= 0:
            cells[_SPENT + self.actor] += now - self._since
        self._since = cells[_SINCE] = now
        cells[_ACTOR] = self.actor = actor
        cells[_TURN] = turn

    def note(self, phase: int, number: int) -> None:
        """Say what is going on: see `Reading`."""
        self._cells[_PHASE] = phase
        self._cells[_NUMBER] = number

    def forgive(self, actor: int) -> None:
        """Count the time of ``actor`` from now on."""
        self.act(actor)
        self._cells[_SPENT + actor] = 0

    def read(self) -> Reading:
        """Return the present state, from any process."""
        cells = self._cells
        actor = int(cells[_ACTOR])
        spent = cells[_SPENT + actor] + time.monotonic() - cells[_SINCE] if actor >= 0 else 0.0
        return Reading(actor, spent, int(cells[_PHASE]), int(cells[_NUMBER]), int(cells[_TURN]))
