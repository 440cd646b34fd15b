"""Which entry is acting, and since when: a few numbers in shared memory.

The process that runs bots writes them, the one that watches reads them, so nothing is sent for each move.

What an entry has spent is processor time, so that other load on the machine costs nobody anything. To ask the
system for that takes longer than most moves, so a short move counts as long as the clock says, which is hardly more;
only what takes `SHORT` or longer, as a move does that was interrupted, is measured.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any, NamedTuple

MOST_QUEUED = 10
"""How many times its limit a clock may show, however long a processor was waited for: a program that wakes up all the
time while others work waits nearly all of it, and uses nothing."""
LOADING, ASKED, PLAYING = range(3)
"""What the number of a `Reading` counts: nothing, questions of a test, games of a match."""

SHORT = 0.001
"""Seconds. A scheduler that takes a processor away gives it back later than that."""

_ACTOR, _SINCE, _PHASE, _NUMBER, _TURN, _PROCESS, _MEASURED, _COUNTED, _SPENT = range(9)
MOST_ACTORS = 64
_WAITED = _SPENT + MOST_ACTORS
_WON = _WAITED + MOST_ACTORS


class Reading(NamedTuple):
    """What the watching process sees."""

    actor: int
    """Index of the entry that is acting or acted last; -1: nobody has."""
    spent: float
    """Seconds of processor time that it has spent so far, the present move included where the system tells."""
    waited: float
    """Seconds on the clock beyond these, the present move included: it slept, or had to wait for a processor."""
    phase: int
    number: int
    turn: int
    """Number of the actor's decision in a game, from 1; 0: none."""


class Heartbeat:
    """Both sides of the shared numbers.

    What counts is the processor time of the thread that asks the entries, so that a thread which one of them has left
    behind costs no other one. What threads and processes of an entry's own use is seen by the clock alone.

    Args:
        cells: float64[SIZE] in memory, shared or not (`Heartbeat.private`).
    """

    SIZE = _WON + MOST_ACTORS

    blamed: int
    """The entry at fault if something fails now: the actor, wherever it acts."""

    def __init__(self, cells: Any) -> None:
        self._cells = memoryview(cells).cast("B").cast("d")
        self.reset()

    @classmethod
    def private(cls) -> Heartbeat:
        """Return one that nobody watches."""
        return cls(bytearray(8 * cls.SIZE))

    def reset(self) -> None:
        """Begin anew, in the process and thread that will act: nobody has acted."""
        self._cells[_ACTOR] = self.actor = self.blamed = -1  # first: a reader must not see entry 0 act meanwhile
        for i in range(self.SIZE):
            if i != _ACTOR:
                self._cells[i] = 0
        self._since = 0.0
        self._cells[_PROCESS] = os.getpid()
        self._cells[_MEASURED] = time.thread_time()

    def act(self, actor: int, turn: int = 0) -> None:
        """Say that entry ``actor`` is asked from now on; the time until the next call is its own."""
        cells, now = self._cells, time.monotonic()
        if self.actor >= 0:
            passed = now - self._since
            if passed < SHORT:
                cells[_SPENT + self.actor] += passed
            else:
                self._measure(passed)
        self._since = cells[_SINCE] = now
        cells[_ACTOR] = self.actor = self.blamed = actor
        cells[_TURN] = turn

    def hand_over(self, actor: int, turn: int = 0) -> None:
        """Say that entry ``actor`` is asked in another process, where its referee takes its time."""
        if self.actor >= 0:
            self.act(-1, turn)
        self._cells[_TURN] = turn
        self.blamed = actor

    def rest(self) -> None:
        """Say that nobody is asked."""
        self._cells[_ACTOR] = self.actor = -1

    def _measure(self, passed: float) -> None:
        """Count a move that took ``passed`` on the clock by its processor time."""
        cells, used = self._cells, time.thread_time()
        spent = _of_this_move(cells, used, passed)
        cells[_SPENT + self.actor] += spent
        cells[_WAITED + self.actor] += passed - spent
        cells[_MEASURED], cells[_COUNTED] = used, sum(cells[_SPENT:_WAITED])

    def note(self, phase: int, number: int) -> None:
        """Say what is going on: see `Reading`."""
        self._cells[_PHASE] = phase
        self._cells[_NUMBER] = number

    def count_win(self, actor: int) -> None:
        """Say that an entry has won a game of the match alone."""
        self._cells[_WON + actor] += 1

    def wins(self, actors: int) -> tuple[int, ...]:
        """Return how many games each of the first ``actors`` entries has won alone so far, from any process."""
        return tuple(int(won) for won in self._cells[_WON : _WON + actors])

    def forgive(self, actor: int) -> None:
        """Count the time of ``actor`` from now on."""
        self.act(actor)
        self._measure(0)
        cells = self._cells
        cells[_COUNTED] -= cells[_SPENT + actor]
        cells[_SPENT + actor] = cells[_WAITED + actor] = 0

    def read(self, used: Callable[[int], float | None] | None = None) -> Reading:
        """Return the present state, from any process.

        Args:
            used: from the process that acts to the processor time of its first thread, None where nobody knows: then
                the present move is all waiting until it ends. Default: this thread acts.
        """
        cells = self._cells
        actor = int(cells[_ACTOR])
        spent = waited = 0.0
        if actor >= 0:
            passed = time.monotonic() - cells[_SINCE]
            now = time.thread_time() if used is None else used(int(cells[_PROCESS]))
            move = 0.0 if now is None else _of_this_move(cells, now, passed)
            spent, waited = cells[_SPENT + actor] + move, cells[_WAITED + actor] + passed - move
        return Reading(actor, spent, waited, int(cells[_PHASE]), int(cells[_NUMBER]), int(cells[_TURN]))


def _of_this_move(cells: Any, used: float, passed: float) -> float:
    """Return what the present move has spent: all ``used`` since the last measuring, less the moves since then."""
    return float(min(max(used - cells[_MEASURED] - sum(cells[_SPENT:_WAITED]) + cells[_COUNTED], 0.0), passed))


def processor_time(process: int) -> float | None:
    """Return the seconds that the first thread of a process has run; None if it is gone, or the system is not Linux."""
    try:
        with open(f"/proc/{process}/task/{process}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return None


def queue_time(process: int | str = "thread-self") -> float:
    """Return the seconds that the first thread of a process, or this thread, has waited for a processor.

    It is 0 where nobody knows: the process is gone, or the system does not count it.
    """
    try:
        with open(f"/proc/{process}/schedstat", "rb") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def is_late(clock: float, limit: float, queued: Callable[[], float]) -> bool:
    """Return whether seconds on a clock pass a limit, less those in which others had the processor.

    ``queued`` returns the latter, and is called only where they matter.
    """
    return clock > limit and (clock > MOST_QUEUED * limit or clock - queued() > limit)
