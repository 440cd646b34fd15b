"""The exact values of Pig: win rates under optimal play of both players, by value iteration.

A win rate depends on those of larger scores, and on itself: after a 1, the other player moves from the same scores. So
each pair of scores is repeated until its values converge.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from dicegym.engine.game import Game
from dicegym.engine.jit import kernel
from dicegym.games.worth import ActionValues, Progress, ValueKind, Valuer, ValueSource, ValueUnit

from .rules import HOLD, N_ACTIONS, ROLL

CLOSE = 1e-15
"""The largest change of a win rate that counts as converged."""


@kernel
def roll_value(wins, goal, score, other, total):
    """Return the win rate of the player to move after a roll."""
    chance = 1.0 - wins[other, score, 0]
    for face in range(2, 7):
        reached = total + face
        chance += 1.0 if score + reached >= goal else wins[score, other, reached]
    return chance / 6.0


@kernel
def hold_value(wins, goal, score, other, total):
    """Return the win rate of the player to move after a hold, which is illegal before the turn's first roll."""
    return 1.0 - wins[other, score + total, 0] if total > 0 else 0.0


@kernel
def improve(wins, goal, score, other):
    """Update a pair of scores, from the largest turn total down; return the largest change."""
    change = 0.0
    for total in range(goal - score - 1, -1, -1):
        best = max(roll_value(wins, goal, score, other, total), hold_value(wins, goal, score, other, total))
        change = max(change, abs(best - wins[score, other, total]))
        wins[score, other, total] = best
    return change


@kernel
def solve(wins, goal):
    """Fill in float64[goal, goal, goal]: win rates of the player to move, by own score, other score and turn total."""
    for both in range(2 * goal - 2, -1, -1):
        for score in range(max(0, both - goal + 1), min(goal - 1, both) + 1):
            other = both - score
            if score <= other:  # the other way round it is the same two pairs
                while max(improve(wins, goal, score, other), improve(wins, goal, other, score)) > CLOSE:
                    pass


@cache
def solved(goal: int) -> np.ndarray:
    """Return the win rates that `solve` computes."""
    wins = np.zeros((goal, goal, goal))
    solve(wins, goal)
    return wins


class Exact(Valuer):
    """Exact win rates under optimal play of both players."""

    name = "exact"
    kind: ValueKind = "exact"
    unit: ValueUnit = "win rate"
    sure = "exact"
    sees_all = False

    def __init__(self, game: Game) -> None:
        self.game = game
        self._goal = game.parameters["goal"]
        self._wins = solved(self._goal)

    def value(self, state: Any, seat: int) -> float:
        """Return the win rate of ``seat``."""
        if state["over"]:
            return float(state["winner"] == seat)
        mover = float(np.nanmax(self.action_values(state).values))
        return mover if state["player"] == seat else 1 - mover

    def action_values(self, state: Any) -> ActionValues:
        """Return the win rate of the player to move for each action."""
        values = np.array([self.action_value(state, action) for action in range(N_ACTIONS)])
        return ActionValues(np.where(self.game.legal(state), values, np.nan), np.zeros(N_ACTIONS))

    def action_value(self, state: Any, action: int) -> float:
        """Return the win rate of the player to move for one action; an illegal one loses at once."""
        mover = int(state["player"])
        at = self._wins, self._goal, int(state["scores"][mover]), int(state["scores"][1 - mover]), int(state["total"])
        if action == ROLL:
            return float(roll_value(*at))
        return float(hold_value(*at)) if action == HOLD and state["rolls"] else 0.0


def sources(game: Game) -> Sequence[ValueSource]:
    """Return the sources of values of ``game``, the best first."""

    def load(progress: Progress | None) -> Valuer:
        return Exact(game)

    return [ValueSource("exact", "exact", "how likely one wins if both play their best", lambda: True, load)]
