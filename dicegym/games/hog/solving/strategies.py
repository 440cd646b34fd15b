"""Strategies of Hog against each other: win rates, best responses, hill climbing.

A *table* is a strategy: int8[goal, goal] numbers of dice by both scores, or int8[goal, goal, RUNS, 2] by what the
player remembers too. The other arrays are those of `dicegym.games.hog.solving.sweeps`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from dicegym.engine.threads import cores
from dicegym.games.hog.rules import FIRST_NUMBER, MOST_DICE, N_ACTIONS
from dicegym.games.hog.solving import sweeps
from dicegym.games.hog.solving.sweeps import IMPROVE, PLAY, RUNS, SEE_ALL, roll_chances
from dicegym.games.worth import SearchTime

T = TypeVar("T")
R = TypeVar("R")
REMEMBERED = (RUNS, 2)
"""Further axes of a table by what a player remembers: its own run, and the parity of its own exchanges."""
MARGIN = 1e-12
"""How much better a choice must be to replace another: above rounding, so that every search ends."""


class Duel:
    """One strategy against another, or against itself: arrays for sweeps, and their results.

    Args:
        *tables: one or two, of the same shape.

    Attributes:
        numbers: int8[players, goal * goal, K, P], the tables; may be written to.
        values: from the last `sweep`.
        reach: from the last `spread`.
        gains: float64[goal * goal, K, P, N_ACTIONS], player 0's wins by what it knows and by its choice, weighted by
            ``reach``; from the last sweep with `WEIGH` or `IMPROVE`.
        policy: int8[P, goal * goal, 2, RUNS, RUNS], numbers of dice from the last sweep with `SEE_ALL`.
    """

    def __init__(self, *tables: np.ndarray) -> None:
        self.numbers = np.stack([table.reshape(-1, *(table.shape[2:] or (1, 1))) for table in tables])
        players, pairs, runs, owns = self.numbers.shape
        self.goal = math.isqrt(pairs)
        shape = players, owns, pairs, 2, RUNS, RUNS
        self.values, self.reach = np.empty(shape), np.empty(shape)  # unused arrays take no memory
        self.gains, self.policy = np.empty((pairs, runs, owns, N_ACTIONS)), np.empty(shape[1:], np.int8)

    def spread(self) -> None:
        """Compute how often games reach each state."""
        sweeps.spread(self.goal, self.numbers, roll_chances(), self.reach)

    def sweep(self, *rules: int) -> int:
        """Compute the values of states while each player follows its rule; return how many choices changed.

        `WEIGH` and `IMPROVE` need a `spread` before. Odd parities are left out if nobody exchanges the dice.
        """
        even = set(rules) == {PLAY} and not (self.numbers == FIRST_NUMBER).any()
        rooms = self.reach, MARGIN, self.values, self.gains, self.policy
        return int(sweeps.sweep(self.goal, np.array(rules), self.numbers, roll_chances(), 1 if even else 2, *rooms))

    def rates(self) -> tuple[float, float]:
        """Return player 0's win rates against player 1: (moving first, moving second)."""
        return float(self.values[0, 0, 0, 0, 0, 0]), 1 - float(self.values[1, 0, 0, 0, 0, 0])

    def visits(self) -> np.ndarray:
        """Return how often player 0 moves, by what it knows: float64[goal * goal, K, P]."""
        runs, owns = self.numbers.shape[2:]
        hidden = (2, 3, 4)[: 2 if runs > 1 else 3]
        found: np.ndarray = self.reach[0].sum(axis=hidden).reshape(owns, -1, runs).transpose(1, 2, 0)
        return found


def best_response(opponent: np.ndarray) -> tuple[float, np.ndarray]:
    """Return (win rate, `Duel.policy`) of the best response that sees everything."""
    duel = Duel(opponent, opponent)
    duel.sweep(SEE_ALL, PLAY)
    return sum(duel.rates()) / 2, duel.policy


@functools.lru_cache(maxsize=2)
def full_sight(goal: int) -> np.ndarray:
    """Return how likely the player to move wins if both see everything: float64[goal * goal, 2, RUNS, RUNS].

    It is the same for both players, computed once, and shared: do not write to it. Goal 100 takes 0.03 s and 2.6 MB,
    goal 999 five seconds and 256 MB.
    """
    duel = Duel(np.empty((goal, goal), np.int8))  # its numbers are not read
    duel.sweep(SEE_ALL)
    found: np.ndarray = duel.values[0, 0]
    return found


class Climber:
    """Improves tables against one opponent until no single change helps."""

    def __init__(self, opponent: np.ndarray) -> None:
        self._duel = Duel(opponent, opponent)

    def sweeps(self, table: np.ndarray) -> Iterator[tuple[float, np.ndarray]]:
        """Yield (win rate, new table) after each sweep over all pairs, until a sweep changes nothing."""
        numbers = self._duel.numbers[0]
        numbers[:] = table.reshape(numbers.shape)
        changes = 1
        while changes:
            self._duel.spread()
            changes = self._duel.sweep(IMPROVE, PLAY)
            yield sum(self._duel.rates()) / 2, numbers.reshape(table.shape).copy()

    def climb(self, table: np.ndarray, time: SearchTime | None = None) -> tuple[float, np.ndarray]:
        """Return the last result of `sweeps`, or the one when ``time`` is over."""
        for last in self.sweeps(table):  # noqa: B007 - the last one is wanted
            if time is not None and time.over:
                break
        return last

    def disturb(self, table: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        """Return ``table`` with 3 to 300 choices replaced, preferably ones that are reached often.

        Small disturbances find the next better peak, large ones other regions. A third of the new choices exchange the
        dice, because the value of an exchange depends on many choices at once.
        """
        self._duel.numbers[0] = table.reshape(self._duel.numbers[0].shape)
        self._duel.spread()
        likely = np.sqrt(self._duel.visits()).ravel()
        count = int(3 * 10 ** (2 * generator.random()))
        count = min(count, int(np.count_nonzero(likely)))
        where = generator.choice(likely.size, count, replace=False, p=likely / likely.sum())
        numbers = generator.integers(FIRST_NUMBER, MOST_DICE + 1, count)
        numbers[generator.random(count) < 1 / 3] = FIRST_NUMBER
        disturbed = table.copy()
        disturbed.flat[where] = numbers
        return disturbed


def climb_all(
    opponent: np.ndarray, starts: Sequence[np.ndarray], time: SearchTime | None
) -> Iterator[tuple[float, np.ndarray]]:
    """Yield the result of climbing from each table of ``starts``, on all cores; no climb begins after ``time``."""

    def climb(start: np.ndarray) -> tuple[float, np.ndarray]:
        if time is not None and time.over:
            return 0.0, start
        return Climber(opponent).climb(start, time)

    return map_on_cores(climb, starts)


def map_on_cores(function: Callable[[T], R], items: Sequence[T]) -> Generator[R, None, None]:
    """Yield ``function(item)`` for each item in order, computed in threads on all cores.

    An error, Ctrl-C or ``close`` cancels all calls that have not begun.
    """
    with ThreadPoolExecutor(cores()) as pool:
        yield from pool.map(function, items)
