"""The search for an equilibrium of Hog by scores alone, and what the best found reply wins against a strategy.

Strategies are those of `dicegym.games.hog.solving.by_scores`.
"""

from __future__ import annotations

import math

import numpy as np

from dicegym.games.hog.exact_kernels import RUNS
from dicegym.games.hog.rules import FIRST_NUMBER, N_ACTIONS
from dicegym.games.hog.solving.by_scores import gain, improve_against_mix, respond_to_mix, spread_mixes
from dicegym.games.hog.solving.full_sight import rolls

MARGIN = 1e-12
"""By how much a choice must be better to replace another: above rounding, so that every search ends."""


def new_mix(goal: int) -> np.ndarray:
    """Return the strategy that chooses every number alike everywhere."""
    return np.full((goal * goal, N_ACTIONS), 1 / N_ACTIONS)


def mix_of(table: np.ndarray) -> np.ndarray:
    """Return a table (int8[goal, goal]) as a strategy that leaves nothing to chance."""
    mix = np.zeros((table.size, N_ACTIONS))
    mix[np.arange(table.size), table.ravel().astype(np.int64) - FIRST_NUMBER] = 1
    return mix


def room_for(goal: int, players: int) -> np.ndarray:
    """Return an array for values or reach, its content undefined."""
    return np.empty((players, goal * goal, 2, RUNS, RUNS))


def rate_of(values: np.ndarray) -> float:
    """Return player 0's win rate, of values with two parts."""
    return float(values[0, 0, 0, 0, 0] + 1 - values[1, 0, 0, 0, 0]) / 2


def best_with_full_sight(mix: np.ndarray) -> float:
    """Return how often one wins against ``mix`` who sees everything and plays best: exact, nobody wins more often."""
    goal = math.isqrt(len(mix))
    values = room_for(goal, 2)
    respond_to_mix(mix, rolls(), goal, values)
    return rate_of(values)


def best_table_against(mix: np.ndarray, starts: int, seed: int = 0) -> tuple[float, np.ndarray]:
    """Return (win rate, int8[goal, goal]): the best table that was found against ``mix``.

    Climbs as `dicegym.games.hog.exact.best_table` does: from the likeliest choices of ``mix``, from 5 dice
    everywhere, and from ``starts`` tables drawn from ``mix``.
    """
    goal = math.isqrt(len(mix))
    generator, shape = np.random.default_rng(seed), (goal, goal)
    likeliest = mix.argmax(axis=1)
    begun = [likeliest, np.full_like(likeliest, 5 - FIRST_NUMBER)]
    for _ in range(starts):
        drawn = generator.random((len(mix), 1)) < np.cumsum(mix, axis=1)
        begun.append(np.where(drawn.any(axis=1), drawn.argmax(axis=1), likeliest))
    reach, values = room_for(goal, 2), room_for(goal, 2)
    best, found = -1.0, np.empty(shape, np.int8)
    for start in begun:
        table = (start + FIRST_NUMBER).astype(np.int8).reshape(shape)
        changes = 1
        while changes:
            spread_mixes(np.stack([mix_of(table), mix]), rolls(), goal, reach)
            changes = improve_against_mix(table, mix, rolls(), reach, MARGIN, values)
        if (rate := rate_of(values)) > best:
            best, found = rate, table
    return best, found


def mix_against_itself(mix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what states are worth if both play ``mix``, and what choices are to whom knows the scores alone.

    Returns:
        float64[1, goal * goal, 2, RUNS, RUNS], how likely the player to move wins; and float64[goal * goal, N_ACTIONS],
        the same of each choice, over the hidden states as likely as they are there; nan where no game comes.
    """
    goal = math.isqrt(len(mix))
    reach, values, gains = room_for(goal, 1), room_for(goal, 1), np.empty_like(mix)
    spread_mixes(mix[np.newaxis], rolls(), goal, reach)
    gain(mix, rolls(), goal, reach, gains, values)
    mass = reach[0].sum(axis=(1, 2, 3))[:, np.newaxis]
    mean = (reach[0] * values[0]).sum(axis=(1, 2, 3))[:, np.newaxis]
    choices = np.full_like(mix, np.nan)
    np.divide(gains + mean, mass, out=choices, where=mass > 0)
    return values, choices


class Search:
    """Two players who know both scores alone learn against each other: one strategy, which both play.

    Each step adds to the regrets of all choices what they would have gained, weighted by how often a game comes there
    (regret matching+). Players of the contest forget how they came where they are, so that nothing is proved of where
    this leads; what comes of it is measured instead.

    Args:
        goal: of the game.
        regrets: float64[goal * goal, N_ACTIONS], of an earlier search.
        mix: likewise.
        steps: done so far.
    """

    def __init__(
        self, goal: int, regrets: np.ndarray | None = None, mix: np.ndarray | None = None, steps: int = 0
    ) -> None:
        self.goal, self.steps = goal, steps
        self.regrets = np.zeros((goal * goal, N_ACTIONS)) if regrets is None else regrets
        self.mix = new_mix(goal) if mix is None else mix
        self._reach, self._values = room_for(goal, 1), room_for(goal, 1)
        self._gains = np.empty_like(self.regrets)

    def step(self) -> None:
        """Learn from all games at once."""
        spread_mixes(self.mix[np.newaxis], rolls(), self.goal, self._reach)
        gain(self.mix, rolls(), self.goal, self._reach, self._gains, self._values)
        np.maximum(self.regrets + self._gains, 0, out=self.regrets)
        total = self.regrets.sum(axis=1, keepdims=True)
        np.divide(self.regrets, total, out=self.mix, where=total > 0)
        self.steps += 1
