"""A valuer that makes values up: whatever they are, what is made of them has to add up."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dicegym.engine.game import Game
from dicegym.games.worth import ActionValues, ValueKind, Valuer, ValueUnit


def share(state: Any, salt: int) -> float:
    """Return a number from 0 to 1 that depends on nothing but the record and ``salt``."""
    return zlib.crc32(state.tobytes(), salt) / 0xFFFFFFFF


class MadeUp(Valuer):
    """Values that are hashes of records, or for actions those that it is given."""

    name = "made up"
    kind: ValueKind = "rollouts"
    sure = "made up"
    sees_all = False

    def __init__(
        self,
        game: Game,
        actions: Callable[[Any], Sequence[float]] | None = None,
        unit: ValueUnit = "win rate",
        errors: float = 0.0,
    ) -> None:
        self.game = game
        self.unit = unit
        self._actions = actions
        self._errors = errors

    def value(self, state: Any, seat: int) -> float:
        every = [share(state, other + 1) for other in range(self.game.players)]
        return every[seat] / sum(every)

    def action_values(self, state: Any) -> ActionValues:
        legal = self.game.legal(state)
        if self._actions is None:
            values = [share(state, 100 + action) for action in range(self.game.n_actions)]
        else:
            values = list(self._actions(state))
        found = np.where(legal, values, np.nan)
        return ActionValues(found, np.where(np.isnan(found), np.nan, self._errors))

    def action_value(self, state: Any, action: int) -> float:
        inside = 0 <= action < self.game.n_actions
        return float(self.action_values(state).values[action]) if inside else share(state, 99)

    def policy(self, state: Any) -> np.ndarray:
        legal = self.game.legal(state)
        return legal / max(1, legal.sum())


class ManyMadeUp(MadeUp):
    """The same, asked about many states at once."""

    def values_rows(self, states: np.ndarray) -> np.ndarray:
        return np.array([[self.value(state, seat) for seat in range(self.game.players)] for state in states])

    def action_values_rows(self, states: np.ndarray) -> ActionValues:
        found = [self.action_values(state) for state in states]
        return ActionValues(np.array([one.values for one in found]), np.array([one.errors for one in found]))
