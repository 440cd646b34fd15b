"""Strategies of Hog against each other: what they win, what beats them, and the search for an equilibrium.

*Choices* are one strategy, float64[goal * goal, K, P, N_ACTIONS], and a *table* is one that leaves nothing to chance:
int8[goal, goal] numbers of dice by both scores, or int8[goal, goal, RUNS, 2] by what is remembered too. The other
arrays are those of `dicegym.games.hog.solving.sweeps`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from dicegym.games.hog.rules import FIRST_NUMBER, MOST_DICE, N_ACTIONS
from dicegym.games.hog.solving import sweeps
from dicegym.games.hog.solving.sweeps import IMPROVE, PLAY, RUNS, SEE_ALL, WEIGH, roll_chances
from dicegym.games.worth import SearchTime

REMEMBERED = (RUNS, 2)
"""What a table has besides both scores if it chooses by the own run and the parity of the own exchanges: its axes."""
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

    Args:
        strategies: choices of one player or of two, alike in what they know.

    Attributes:
        choices: float64[players, goal * goal, K, P, N_ACTIONS], of the strategies; may be written to.
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
        self._shape = players, owns, pairs, 2, RUNS, RUNS
        self.values = np.empty(self._shape)
        self.reach = np.empty((players, owns, 0, 2, RUNS, RUNS))
        self.gains = np.empty((0, runs, owns, N_ACTIONS))
        self.policy = np.empty((owns, 0, 2, RUNS, RUNS), np.int8)

    def spread(self) -> None:
        """Find how often games come through each state."""
        if not self.reach.size:
            self.reach = np.empty(self._shape)
        sweeps.spread(self.goal, self.choices, roll_chances(), self.reach)

    def sweep(self, *rules: int, every_state: bool = False) -> int:
        """Find what states are worth while each player follows its rule; return how many choices changed.

        `WEIGH` and `IMPROVE` come after `spread`. States with an odd parity are left out if nobody exchanges the dice,
        unless ``every_state``.
        """
        if WEIGH in rules or IMPROVE in rules:
            self.gains = self.gains if self.gains.size else np.empty(self.choices.shape[1:])
        if SEE_ALL in rules and not self.policy.size:
            self.policy = np.empty(self._shape[1:], np.int8)
        even = not every_state and set(rules) == {PLAY} and not self.choices[..., 0].any()
        rooms = self.reach, MARGIN, self.values, self.gains, self.policy
        parities = 1 if even else 2
        return int(sweeps.sweep(self.goal, np.array(rules), self.choices, roll_chances(), parities, *rooms))

    def rates(self) -> tuple[float, float]:
        """Return player 0's win rates (as first, as second to move) against player 1 at the start of a game."""
        return float(self.values[0, 0, 0, 0, 0, 0]), 1 - float(self.values[1, 0, 0, 0, 0, 0])

    def visits(self) -> np.ndarray:
        """Return float64[goal * goal, K, P]: how often a game comes to player 0 by what it knows."""
        runs, owns = self.choices.shape[2:4]
        hidden = (2, 3, 4)[: 2 if runs > 1 else 3]
        found: np.ndarray = self.reach[0].sum(axis=hidden).reshape(owns, -1, runs).transpose(1, 2, 0)
        return found


def win_rates(one: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    """Return how often choices win against others: (moving first, moving second), exactly."""
    duel = Duel(one, other)
    duel.sweep(PLAY, PLAY)
    return duel.rates()


def best_response(opponent: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the win rate of the best reply to choices that sees everything, and its `Duel.policy`."""
    duel = Duel(opponent, opponent)
    duel.sweep(SEE_ALL, PLAY)
    return sum(duel.rates()) / 2, duel.policy


class Climber:
    """Improves tables against one opponent until no single choice can be bettered.

    Args:
        opponent: choices.
    """

    def __init__(self, opponent: np.ndarray) -> None:
        self.opponent = opponent
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
        """Return ``table`` with some choices replaced, rather those that are often met.

        3 to 300 of them, since small disturbances find the next better peak and large ones other regions; a
        third of the new choices exchange the dice, as what that is worth depends on many choices at once.
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


def best_table_against(mix: np.ndarray, starts: int, seed: int = 0) -> tuple[float, np.ndarray]:
    """Return (win rate, int8[goal, goal]): the best table by scores that was found against choices by scores.

    Climbs as `dicegym.games.hog.exact.best_table` does: from the likeliest choices of ``mix``, from 5 dice
    everywhere, and from ``starts`` tables drawn from ``mix``.
    """
    climber, generator = Climber(mix), np.random.default_rng(seed)
    likeliest = table_of(mix)
    begun = [likeliest, np.full_like(likeliest, 5)]
    chances = np.cumsum(mix, axis=-1)
    for _ in range(starts):
        drawn = generator.random((len(mix), 1)).reshape(-1, 1, 1, 1) < chances
        begun.append(np.where(drawn.any(axis=-1).reshape(likeliest.shape), table_of(drawn), likeliest))
    return max(map(climber.climb, begun), key=lambda found: found[0])


def new_mix(goal: int) -> np.ndarray:
    """Return the choices by scores of one who chooses every number alike everywhere."""
    return np.full((goal * goal, 1, 1, N_ACTIONS), 1 / N_ACTIONS)


def mix_against_itself(mix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what states are worth if both play choices by scores, and what actions are to whom knows no more.

    Returns:
        float64[1, goal * goal, 2, RUNS, RUNS], how likely the player to move wins; and float64[goal * goal, N_ACTIONS],
        the same of each action, over the hidden states as likely as they are there; nan where no game comes.
    """
    duel = Duel(mix)
    duel.spread()
    duel.sweep(WEIGH)
    met, actions = duel.visits(), np.full_like(mix, np.nan)
    np.divide(duel.gains, met[..., np.newaxis], out=actions, where=met[..., np.newaxis] > 0)
    return duel.values[:, 0], actions[:, 0, 0]


class Search:
    """Two players who know both scores alone learn against each other: one strategy, which both play.

    Each step adds to the regrets of all choices what they would have gained, weighted by how often a game comes there
    (regret matching+). Players of the contest forget how they came where they are, so that nothing is proved of where
    this leads; what comes of it is measured instead.

    Args:
        mix: choices by scores, of an earlier search or of `new_mix`.
        regrets: of the same shape, of an earlier search; None: none yet.
        steps: done so far.
    """

    def __init__(self, mix: np.ndarray, regrets: np.ndarray | None = None, steps: int = 0) -> None:
        self.mix, self.steps = mix, steps
        self.regrets = np.zeros_like(mix) if regrets is None else regrets
        self._duel = Duel(mix)

    def step(self) -> None:
        """Learn from all games at once."""
        self._duel.choices[0] = self.mix
        self._duel.spread()
        self._duel.sweep(WEIGH)
        gains = self._duel.gains
        mean = sum(self.mix[..., action] * gains[..., action] for action in range(N_ACTIONS))
        np.maximum(self.regrets + (gains - np.asarray(mean)[..., np.newaxis]), 0, out=self.regrets)
        total = self.regrets.sum(axis=-1, keepdims=True)
        np.divide(self.regrets, total, out=self.mix, where=total > 0)
        self.steps += 1
