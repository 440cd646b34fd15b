"""Values of Liar's Dice that are asked of many records, and found for one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from dicegym.engine.game import Game
from dicegym.games.worth import ActionValues


class OneByOne:
    """The part of a `dicegym.games.worth.BatchValuer` that goes through its records; see there."""

    game: Game

    def value(self, state: Any, seat: int) -> float:
        """Return what a record is worth to a seat."""
        raise NotImplementedError(f"{type(self).__name__} must define value(state, seat)")

    def between(self, state: Any, seat: int) -> float:
        """Return what a record at the beginning of a hand is worth before anybody has rolled."""
        raise NotImplementedError(f"{type(self).__name__} must define between(state, seat)")

    def action_values(self, state: Any) -> ActionValues:
        """Return what each action is worth to the player to move."""
        raise NotImplementedError(f"{type(self).__name__} must define action_values(state)")

    def policy(self, state: Any) -> np.ndarray:
        """Return the probability of each action: float64[n_actions]."""
        raise NotImplementedError(f"{type(self).__name__} must define policy(state)")

    def values_rows(self, states: np.ndarray) -> np.ndarray:
        """Return `value` of every record for both seats: float64[states, 2]."""
        first = np.array([self.value(state, 0) for state in states])
        return np.column_stack([first, 1 - first])

    def between_rows(self, states: np.ndarray) -> np.ndarray:
        """Return `between` of every record for both seats: float64[states, 2]."""
        first = np.array([self.between(state, 0) for state in states])
        return np.column_stack([first, 1 - first])

    def action_values_rows(self, states: np.ndarray) -> ActionValues:
        """Return `action_values` of every record: arrays of float64[states, n_actions]."""
        values = np.array([self.action_values(state).values for state in states]).reshape(-1, self.game.n_actions)
        return ActionValues(values, np.where(np.isnan(values), np.nan, 0.0))

    def policy_rows(self, states: np.ndarray) -> np.ndarray:
        """Return `policy` of every record: float64[states, n_actions]."""
        return np.array([self.policy(state) for state in states]).reshape(-1, self.game.n_actions)
