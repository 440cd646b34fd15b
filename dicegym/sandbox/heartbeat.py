"""Which entry is acting, and since when: a few numbers in shared memory.

The process that runs bots writes them and the watching process reads them, so moves need no messages.

Entries are charged for processor time, so other load on the machine does not count. Asking the system for it takes
longer than most moves. So a short move is charged its wall-clock time, which is hardly more. Only moves of `SHORT` or
longer, which includes every interrupted move, are measured.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any, NamedTuple

MOST_QUEUED = 10
"""Largest wall-clock time, in multiples of the limit, even if all of it was spent waiting for a processor. A program
that keeps waking up on a busy machine waits nearly all the time and uses no processor time."""
LOADING, ASKED, PLAYING = range(3)
"""Phases. They say what the number of a `Reading` counts: nothing, questions of a test, games of a match."""

SHORT = 0.001
"""Seconds. A scheduler that interrupts a thread resumes it later than that."""

_ACTOR, _SINCE, _PHASE, _NUMBER, _TURN, _PROCESS, _MEASURED, _COUNTED, _SPENT = range(9)
MOST_ACTORS = 64
_WAITED = _SPENT + MOST_ACTORS
_WON = _WAITED + MOST_ACTORS


class Reading(NamedTuple):
    """The state that the watching process reads."""

    actor: int  # index of the entry that is acting or acted last; -1: none
    spent: float
    """Seconds of processor time so far; they include the present move if the system reports it."""
    waited: float
    """Seconds of wall-clock time beyond ``spent``: the entry slept or waited for a processor."""
    phase: int
    number: int
    turn: int  # number of the actor's decision in the game, from 1; 0: none


class Heartbeat:
    """Both sides of the shared numbers.

    It counts the processor time of the thread that asks the entries. So a thread that one entry left behind costs the
    others nothing. Time used by an entry's own threads and processes shows only in wall-clock time.

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
        """Start again without an actor; call it in the process and thread that will act."""
        self._cells[_ACTOR] = self.actor = self.blamed = -1  # first, or a reader could see entry 0 act
        for i in range(self.SIZE):
            if i != _ACTOR:
                self._cells[i] = 0
        self._since = 0.0
        self._cells[_PROCESS] = os.getpid()
        self._cells[_MEASURED] = time.thread_time()

    def act(self, actor: int, turn: int = 0) -> None:
        """Charge the time from now until the next call to entry ``actor``."""
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
        """Note that entry ``actor`` acts in another process, where `dicegym.sandbox.remote` measures its time."""
        if self.actor >= 0:
            self.act(-1, turn)
        self._cells[_TURN] = turn
        self.blamed = actor

    def rest(self) -> None:
        """Note that no entry acts."""
        self._cells[_ACTOR] = self.actor = -1

    def _measure(self, passed: float) -> None:
        """Charge a move of ``passed`` seconds of wall-clock time by its processor time."""
        cells, used = self._cells, time.thread_time()
        spent = _of_this_move(cells, used, passed)
        cells[_SPENT + self.actor] += spent
        cells[_WAITED + self.actor] += passed - spent
        cells[_MEASURED], cells[_COUNTED] = used, sum(cells[_SPENT:_WAITED])

    def note(self, phase: int, number: int) -> None:
        """Note the phase and its number; see `Reading`."""
        self._cells[_PHASE] = phase
        self._cells[_NUMBER] = number

    def count_win(self, actor: int) -> None:
        """Note that an entry has won a game of the match alone."""
        self._cells[_WON + actor] += 1

    def wins(self, actors: int) -> tuple[int, ...]:
        """Return the number of games that each of the first ``actors`` entries has won alone; from any process."""
        return tuple(int(won) for won in self._cells[_WON : _WON + actors])

    def forgive(self, actor: int) -> None:
        """Forget the time of ``actor`` so far."""
        self.act(actor)
        self._measure(0)
        cells = self._cells
        cells[_COUNTED] -= cells[_SPENT + actor]
        cells[_SPENT + actor] = cells[_WAITED + actor] = 0

    def read(self, used: Callable[[int], float | None] | None = None) -> Reading:
        """Return the present state; from any process.

        Args:
            used: function from a process id to the processor time of its first thread. If it returns None, the present
                move counts as waiting until it ends. Default: this thread acts.
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
    """Return the present move's processor time: all since the last measurement, minus the moves since then."""
    return float(min(max(used - cells[_MEASURED] - sum(cells[_SPENT:_WAITED]) + cells[_COUNTED], 0.0), passed))


def processor_time(process: int) -> float | None:
    """Return the processor time of a process's first thread in seconds; None if it has ended, or not on Linux."""
    try:
        with open(f"/proc/{process}/task/{process}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return None


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
