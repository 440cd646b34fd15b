"""Strategies of Hog against each other: what they win, and what beats them.

*Choices* are one strategy, float64[goal * goal, K, P, N_ACTIONS], and a *table* is one that leaves nothing to chance:
int8[goal, goal] numbers of dice by both scores, or int8[goal, goal, RUNS, 2] by what is remembered too. The other
arrays are those of `dicegym.games.hog.solving.sweeps`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from dicegym.games.hog.rules import FIRST_NUMBER, MOST_DICE, N_ACTIONS
from dicegym.games.hog.solving import sweeps
from dicegym.games.hog.solving.sweeps import IMPROVE, PLAY, RUNS, SEE_ALL, roll_chances
from dicegym.games.worth import SearchTime

REMEMBERED = (RUNS, 2)
"""The further axes of a table that chooses by the own run and the parity of the own exchanges too."""
MARGIN = 1e-12
"""By how much a choice must be better to replace another: above rounding, so that every search ends."""


def choices_of(table: np.ndarray) -> np.ndarray:
    """Return a table as choices."""
    runs, owns = table.shape[2:] or (1, 1)
    every_number = np.arange(FIRST_NUMBER, MOST_DICE + 1)
    return np.array(table.reshape(-1, runs, owns, 1) == every_number, np.float64)


def table_of(choices: np.ndarray) -> np.ndarray:
    """Return the likeliest of choices as a table."""
    goal = math.isqrt(len(choices))
    numbers = np.array(choices.argmax(axis=-1) + FIRST_NUMBER, np.int8)
    return numbers.reshape(goal, goal, *(REMEMBERED if choices.shape[1:3] == REMEMBERED else ()))


class Duel:
    """One strategy against another, or against itself: room for sweeps, and what they found.

    Attributes:
        choices: float64[players, goal * goal, K, P, N_ACTIONS], of the strategies, which are alike in what they know;
            may be written to.
        values: of the last `sweep`.
        reach: of the last `spread`.
        gains: float64[goal * goal, K, P, N_ACTIONS]: what player 0 wins by what it knows and by its choice, as often as
            a game comes there by ``reach``. Of the last sweep with `WEIGH` or `IMPROVE`.
        policy: int8[P, goal * goal, 2, RUNS, RUNS], numbers of dice of the last sweep with `SEE_ALL`.
    """

    def __init__(self, *strategies: np.ndarray) -> None:
        self.choices = np.stack(strategies)
        players, pairs, runs, owns, _ = self.choices.shape
        self.goal = math.isqrt(pairs)
        shape = players, owns, pairs, 2, RUNS, RUNS
        self.values, self.reach = np.empty(shape), np.empty(shape)  # what is never written to takes no memory
        self.gains, self.policy = np.empty((pairs, runs, owns, N_ACTIONS)), np.empty(shape[1:], np.int8)

    def spread(self) -> None:
        """Find how often games come through each state."""
        sweeps.spread(self.goal, self.choices, roll_chances(), self.reach)

    def sweep(self, *rules: int) -> int:
        """Find what states are worth while each player follows its rule; return how many choices changed.

        `WEIGH` and `IMPROVE` come after `spread`. Odd parities are left out if nobody exchanges the dice.
        """
        even = set(rules) == {PLAY} and not self.choices[..., 0].any()
        rooms = self.reach, MARGIN, self.values, self.gains, self.policy
        return int(sweeps.sweep(self.goal, np.array(rules), self.choices, roll_chances(), 1 if even else 2, *rooms))

    def rates(self) -> tuple[float, float]:
        """Return player 0's win rates (as first, as second to move) against player 1 at the start of a game."""
        return float(self.values[0, 0, 0, 0, 0, 0]), 1 - float(self.values[1, 0, 0, 0, 0, 0])

    def visits(self) -> np.ndarray:
        """Return float64[goal * goal, K, P]: how often player 0 moves, by what it knows."""
        runs, owns = self.choices.shape[2:4]
        hidden = (2, 3, 4)[: 2 if runs > 1 else 3]
        found: np.ndarray = self.reach[0].sum(axis=hidden).reshape(owns, -1, runs).transpose(1, 2, 0)
        return found


def best_response(opponent: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the win rate of the best response to choices that sees everything, and its `Duel.policy`."""
    duel = Duel(opponent, opponent)
    duel.sweep(SEE_ALL, PLAY)
    return sum(duel.rates()) / 2, duel.policy


@functools.lru_cache(maxsize=2)
def full_sight(goal: int) -> np.ndarray:
    """Return how likely the player to move wins if both see everything, computed once: nobody may write to it.

    Float64[goal * goal, 2, RUNS, RUNS], as both players are alike. To 100 that takes 0.03 s and 2.6 MB, to 999 five
    seconds and 256 MB.
    """
    duel = Duel(np.empty((goal * goal, 1, 1, 0)))  # a player that sees everything has no choices by what is known
    duel.sweep(SEE_ALL)
    found: np.ndarray = duel.values[0, 0]
    return found


class Climber:
    """Improves tables against one opponent, given as choices, until no single choice can be bettered."""

    def __init__(self, opponent: np.ndarray) -> None:
        self._duel = Duel(opponent, opponent)

    def sweeps(self, table: np.ndarray) -> Iterator[tuple[float, np.ndarray]]:
        """Yield (win rate, a new table) after each sweep over all pairs, up to the one that changes nothing."""
        self._duel.choices[0] = choices_of(table)
        changes = 1
        while changes:
            self._duel.spread()
            changes = self._duel.sweep(IMPROVE, PLAY)
            yield sum(self._duel.rates()) / 2, table_of(self._duel.choices[0])

    def climb(self, table: np.ndarray, time: SearchTime | None = None) -> tuple[float, np.ndarray]:
        """Return the last of `sweeps`, or the one after which ``time`` is over."""
        for last in self.sweeps(table):  # noqa: B007 - the last one is wanted
            if time is not None and time.over:
                break
        return last

    def disturb(self, table: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        """Return ``table`` with 3 to 300 choices replaced, rather those that are often met.

        Small disturbances find the next better peak and large ones other regions. A third of the new choices exchange
        the dice, as what that is worth depends on many choices at once.
        """
        self._duel.choices[0] = choices_of(table)
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
    opponent: np.ndarray, starts: Sequence[np.ndarray], threads: int, time: SearchTime | None = None
) -> Iterator[tuple[float, np.ndarray]]:
    """Yield where each of the tables ``starts`` leads, climbing from several at once; none is begun after ``time``."""

    def climb(start: np.ndarray) -> tuple[float, np.ndarray]:
        if time is not None and time.over:
            return 0.0, start
        return Climber(opponent).climb(start, time)

    with ThreadPoolExecutor(threads) as pool:
        try:
            yield from pool.map(climb, starts)
        except BaseException:  # Ctrl-C: stop after what is being climbed
            pool.shutdown(wait=False, cancel_futures=True)
            raise
