"""What states of Pig are worth: exactly, as both play it who play their best.

A win rate depends on those of larger scores and on itself: rolling may bring a 1, and then the other one moves from the
same scores. So each pair of scores is repeated until nothing changes any more.
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
"""A round that changes win rates by no more is the last one."""


@kernel
def rolled(wins, goal, score, other, total):
    """Return how likely the player to move wins who rolls."""
    chance = 1.0 - wins[other, score, 0]
    for face in range(2, 7):
        reached = total + face
        chance += 1.0 if score + reached >= goal else wins[score, other, reached]
    return chance / 6.0


@kernel
def held(wins, goal, score, other, total):
    """Return the same of one who holds, which nobody can before the turn's first roll."""
    return 1.0 - wins[other, score + total, 0] if total > 0 else 0.0


@kernel
def improve(wins, goal, score, other):
    """Reckon a pair of scores anew, from the largest turn total down; return by how much anything has changed."""
    change = 0.0
    for total in range(goal - score - 1, -1, -1):
        best = max(rolled(wins, goal, score, other, total), held(wins, goal, score, other, total))
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
    """Return what `solve` fills in."""
    wins = np.zeros((goal, goal, goal))
    solve(wins, goal)
    return wins


class Exact(Valuer):
    """The win rate of the player to move who plays its best against one who does."""

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
        """Return how likely ``seat`` wins."""
        if state["over"]:
            return float(state["winner"] == seat)
        mover = float(np.nanmax(self.action_values(state).values))
        return mover if state["player"] == seat else 1 - mover

    def action_values(self, state: Any) -> ActionValues:
        """Return how likely the player to move wins who holds, and who rolls."""
        values = np.array([self.action_value(state, action) for action in range(N_ACTIONS)])
        return ActionValues(np.where(self.game.legal(state), values, np.nan), np.zeros(N_ACTIONS))

    def action_value(self, state: Any, action: int) -> float:
        """Return the same of one action; what is none loses at once."""
        mover = int(state["player"])
        at = self._wins, self._goal, int(state["scores"][mover]), int(state["scores"][1 - mover]), int(state["total"])
        if action == ROLL:
            return float(rolled(*at))
        return float(held(*at)) if action == HOLD and state["rolls"] else 0.0


def sources(game: Game) -> Sequence[ValueSource]:
    """Return where values of ``game`` come from, the best first."""

    def load(progress: Progress | None) -> Valuer:
        return Exact(game)

    return [ValueSource("exact", "exact", "how likely one wins if both play their best", lambda: True, load)]
