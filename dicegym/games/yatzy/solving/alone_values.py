"""What states of Yatzy for one are worth: the points so far and the most that can be had on average from there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dicegym.engine.game import Game
from dicegym.games.solved import how_to_solve
from dicegym.games.worth import ActionValues, Progress, ValueKind, ValueSource, ValueUnit
from dicegym.games.yatzy import exact_kernels as kernels
from dicegym.games.yatzy.exact_kernels import SUMS
from dicegym.games.yatzy.rules import BONUS, BONUS_FROM
from dicegym.games.yatzy.solving import alone, learned
from dicegym.games.yatzy.solving.alone_kernels import action_values_rows
from dicegym.games.yatzy.tables import BOXES


def sources(game: Game) -> Sequence[ValueSource]:
    """Return the exact values, and those that were learned in games, if one plays ``game`` alone."""
    if game.players != 1:
        return ()
    doc = "the most points that can be had on average, solved by dynamic programming within seconds"
    heard = f"what was learned in games without them: `{how_to_solve(learned.ALONE, learned.NAME)}`"
    return (
        ValueSource("exact", "exact", doc, lambda: True, lambda progress: AloneValuer(game, progress)),
        ValueSource(learned.NAME, "network", heard, learned.ready, lambda progress: LearnedValuer(game)),
    )


class AloneValuer:
    """Says what states of Yatzy for one are worth; see `dicegym.games.worth.Valuer`.

    The value is the mean of the final score. ``progress`` is told of the sweep that solves the game when it is needed
    for the first time.
    """

    name = "exact"
    kind: ValueKind = "exact"
    unit: ValueUnit = "points"
    sure = "exact"
    sees_all = False

    def __init__(self, game: Game, progress: Progress | None = None) -> None:
        self.game = game
        self._known = self._values(progress)

    def _values(self, progress: Progress | None) -> np.ndarray:
        return alone.values(progress)

    def value(self, state: Any, seat: int = 0) -> float:
        """Return the mean final score of one who plays on without a flaw; see `Valuer.value`."""
        if state["over"]:
            return _points(state)
        return _points(state) + float(self._rest(np.atleast_1d(state)).max())

    def action_values(self, state: Any) -> ActionValues:
        """Return the mean final score after each action; see `Valuer.action_values`."""
        rest = self._rest(np.atleast_1d(state))[0]
        legal = rest >= 0
        return ActionValues(np.where(legal, _points(state) + rest, np.nan), np.where(legal, 0.0, np.nan))

    def values_rows(self, states: np.ndarray) -> np.ndarray:
        """Return `value` for each of the records: float64[k, 1]."""
        points, worth = _points_rows(states), np.zeros(len(states))
        rows = np.flatnonzero(~states["over"])
        worth[rows] = self._rest(states[rows]).max(axis=1)
        return (points + worth)[:, None]

    def action_values_rows(self, states: np.ndarray) -> ActionValues:
        """Return `action_values` for each of the records, none of which is over: arrays of [k, n_actions]."""
        rest = self._rest(states)
        legal = rest >= 0
        worth = np.where(legal, _points_rows(states)[:, None] + rest, np.nan)
        return ActionValues(worth, np.where(legal, 0.0, np.nan))

    def _rest(self, states: np.ndarray) -> np.ndarray:
        out = np.empty((len(states), self.game.n_actions))
        boxes = (states["scores"][:, 0] >= 0) @ (1 << np.arange(BOXES))  # who has filled the same stands side by side
        order = np.argsort(boxes * SUMS + np.minimum(states["upper"][:, 0], BONUS_FROM), kind="stable")
        action_values_rows(self._known, states, order, out)
        return out

    def action_value(self, state: Any, action: int) -> float:
        """Return the same of one action, whatever it is; see `Valuer.action_value`.

        Of an action that makes the server play all that is left, it is the score that then follows.
        """
        played, costs = self.game.new_states(1), np.zeros(1)
        played[0] = state
        kernels.play_rows(self._known, played, np.arange(1), np.array([action]), costs)
        return self.value(state) - float(costs[0])

    def policy(self, state: Any) -> np.ndarray:
        """Return 1 for the best action (of equal ones the first), 0 for all others; see `Valuer.policy`."""
        chosen = np.zeros(self.game.n_actions)
        chosen[self._rest(np.atleast_1d(state))[0].argmax()] = 1.0
        return chosen


class LearnedValuer(AloneValuer):
    """Says what they are worth by what a learner found in its own games; the dice of a turn it knows."""

    name = learned.NAME
    kind: ValueKind = "network"
    sure = "learned in games"

    def _values(self, progress: Progress | None) -> np.ndarray:
        return learned.values()


def _points(state: Any) -> float:
    """Return the points so far, the bonus included."""
    return float(state["totals"][0] + (BONUS if state["upper"][0] >= BONUS_FROM else 0))


def _points_rows(states: np.ndarray) -> np.ndarray:
    return states["totals"][:, 0] + np.where(states["upper"][:, 0] >= BONUS_FROM, float(BONUS), 0.0)
