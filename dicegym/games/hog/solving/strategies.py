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
        """Return player 0's win rates against player 1 in the last sweep: (moving first, moving second)."""
        return float(self.values[0, 0, 0, 0, 0, 0]), 1 - float(self.values[1, 0, 0, 0, 0, 0])

    def win_rate(self, own: int = PLAY, other: int = PLAY) -> float:
        """Sweep by these rules; return player 0's win rate if a fair coin decides who moves first."""
        self.sweep(own, other)
        return sum(self.rates()) / 2

    def visits(self) -> np.ndarray:
        """Return how often player 0 moves, by what it knows: float64[goal * goal, K, P]."""
        runs, owns = self.numbers.shape[2:]
        hidden = (2, 3, 4)[: 2 if runs > 1 else 3]
        found: np.ndarray = self.reach[0].sum(axis=hidden).reshape(owns, -1, runs).transpose(1, 2, 0)
        return found

    def improve(self, table: np.ndarray) -> Iterator[tuple[float, np.ndarray]]:
        """Improve ``table`` against player 1 until a sweep changes nothing; yield (win rate, new table) after each."""
        numbers = self.numbers[0]
        numbers[:] = table.reshape(numbers.shape)
        changes = 1
        while changes:
            self.spread()
            changes = self.sweep(IMPROVE, PLAY)
            yield sum(self.rates()) / 2, numbers.reshape(table.shape).copy()

    def climb(self, table: np.ndarray, time: SearchTime | None = None) -> tuple[float, np.ndarray]:
        """Return the last result of `improve`, or the one when ``time`` is over."""
        for last in self.improve(table):  # noqa: B007 - the last one is wanted
            if time is not None and time.over:
                break
        return last

    def disturb(self, table: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        """Return ``table`` with 3 to 300 choices replaced, preferably ones that are reached often.

        Small disturbances find the next better peak, large ones other regions. A third of the new choices exchange the
        dice, because the value of an exchange depends on many choices at once.
        """
        self.numbers[0] = table.reshape(self.numbers[0].shape)
        self.spread()
        likely = np.sqrt(self.visits()).ravel()
        count = int(3 * 10 ** (2 * generator.random()))
        count = min(count, int(np.count_nonzero(likely)))
        where = generator.choice(likely.size, count, replace=False, p=likely / likely.sum())
        numbers = generator.integers(FIRST_NUMBER, MOST_DICE + 1, count)
        numbers[generator.random(count) < 1 / 3] = FIRST_NUMBER
        disturbed = table.copy()
        disturbed.flat[where] = numbers
        return disturbed


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


def map_on_cores(function: Callable[[T], R], items: Sequence[T]) -> Generator[R, None, None]:
    """Yield ``function(item)`` for each item in order, computed in threads on all cores.

    An error, Ctrl-C or ``close`` cancels all calls that have not begun.
    """
    with ThreadPoolExecutor(cores()) as pool:
        yield from pool.map(function, items)
