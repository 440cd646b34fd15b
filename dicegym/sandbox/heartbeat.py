"""Which entry is acting, and since when: a few numbers in shared memory.

The process that runs trusted players writes them and the watching process reads them, so moves need no messages. The
watcher measures the time of each move. Bots in other processes are measured by their referee
(`dicegym.sandbox.remote`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

MOST_QUEUED = 10
"""Largest wall-clock time, in multiples of the limit, even if all of it was spent waiting for a processor. A program
that keeps waking up on a busy machine waits nearly all the time and uses no processor time."""
LOADING, ASKED, PLAYING = range(3)
"""Phases. They say what the number of a `Reading` counts: nothing, questions of a test, games of a match."""

_MOVE, _ACTOR, _PHASE, _NUMBER, _TURN, _WON = range(6)
MOST_ACTORS = 64


class Reading(NamedTuple):
    """The state that the watching process reads."""

    actor: int  # index of the entry that is acting in the observed process; -1: none
    phase: int
    number: int
    turn: int  # number of the actor's decision in the game, from 1; 0: none
    move: int  # differs for each move since the process started


class Heartbeat:
    """Both sides of the shared numbers.

    Args:
        cells: float64[SIZE], in shared memory or not (`Heartbeat.private`).
    """

    SIZE = _WON + MOST_ACTORS

    blamed: int
    """Index of the entry at fault if something fails now: the actor, in whatever process it acts."""

    def __init__(self, cells: Any) -> None:
        self._cells = memoryview(cells).cast("B").cast("d")
        self.reset()

    @classmethod
    def private(cls) -> Heartbeat:
        """Return a heartbeat that nobody watches."""
        return cls(bytearray(8 * cls.SIZE))

    def reset(self) -> None:
        """Start again without an actor. Moves are still counted on, as the watcher knows earlier ones."""
        self.act(-1)
        self.note(LOADING, 0)
        for i in range(_WON, self.SIZE):
            self._cells[i] = 0

    def act(self, actor: int, turn: int = 0) -> None:
        """Note that a move of entry ``actor`` begins, which lasts until the next call."""
        cells = self._cells
        cells[_MOVE] += 1  # first: a reader of an unchanged move has read its actor
        cells[_ACTOR] = self.blamed = actor
        cells[_TURN] = turn

    def hand_over(self, actor: int, turn: int = 0) -> None:
        """Note that entry ``actor`` acts in another process, where `dicegym.sandbox.remote` measures its time."""
        self.act(-1, turn)
        self.blamed = actor

    def rest(self) -> None:
        """Note that no entry acts."""
        self._cells[_ACTOR] = -1

    def note(self, phase: int, number: int) -> None:
        """Note the phase and its number, see `Reading`; another move of the actor begins."""
        cells = self._cells
        cells[_MOVE] += 1
        cells[_PHASE] = phase
        cells[_NUMBER] = number

    def count_win(self, actor: int) -> None:
        """Note that an entry has won a game of the match alone."""
        self._cells[_WON + actor] += 1

    def wins(self, actors: int) -> tuple[int, ...]:
        """Return the number of games that each of the first ``actors`` entries has won alone; from any process."""
        return tuple(int(won) for won in self._cells[_WON : _WON + actors])

    def read(self) -> Reading:
        """Return the present state; from any process."""
        return Reading(*(int(self._cells[cell]) for cell in (_ACTOR, _PHASE, _NUMBER, _TURN, _MOVE)))


def processor_time(process: int) -> float:
    """Return the processor time of a process's first thread in seconds; 0 if it has ended, or not on Linux.

    Other threads do not count, so one that an entry left behind costs the others nothing.
    """
    try:
        with open(f"/proc/{process}/task/{process}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return 0.0


def queue_time(process: int | str = "thread-self") -> float:
    """Return the seconds that a process's first thread, or this thread, has waited for a processor.

    Return 0 if the process has ended or the system does not count them.
    """
    try:
        with open(f"/proc/{process}/schedstat", "rb") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def is_late(clock: float, limit: float, queued: Callable[[], float]) -> bool:
    """Return whether ``clock`` seconds of wall-clock time, minus those waiting for a processor, exceed the limit.

    ``queued`` returns the seconds of waiting; it is called only if they matter.
    """
    return clock > limit and (clock > MOST_QUEUED * limit or clock - queued() > limit)
