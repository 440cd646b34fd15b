"""A teacher: whoever knows what actions are worth, asked in many states at once which one a learner should choose."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dicegym.analysis.judging import action_values_of
from dicegym.analysis.marks import UNITS
from dicegym.analysis.valuers import sources, valuer
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games.worth import Valuer

NO_TEACHER = "rollouts"
"""Values that cannot teach: they are drawn, and take too long."""


class Lesson(NamedTuple):
    """What a teacher says of some states."""

    policies: np.ndarray
    """float32[n, n_actions]: how likely a learner should choose each action; 0 for illegal ones."""
    costs: np.ndarray | None
    """float32[n, n_actions]: what each action gives away, in the unit of the teacher's values; inf for illegal ones.
    None of an equilibrium, which is imitated as it is mixed: what its actions are worth tells nothing of how often."""

    def played(self, uniform: np.ndarray) -> np.ndarray:
        """Return what the teacher plays: int64[n], its best action, or of an equilibrium one drawn by ``uniform``.

        Args:
            uniform: float64[n] in [0, 1), a draw for each state.
        """
        if self.costs is not None:
            return np.asarray(self.costs.argmin(axis=1))
        reached = self.policies.cumsum(axis=1)
        return np.asarray((reached > uniform[:, None] * reached[:, -1:]).argmax(axis=1))


class Teacher:
    """Says how to play by values.

    An action that costs ``softness`` more than another is chosen e times less often, so that a learner is told what
    hardly matters from what does; equilibria are taught as they are mixed. Where values see more than players do
    (`Valuer.sees_all`), a learner comes to play the mean of what it should have done.

    Args:
        game: what is played.
        name: of the source of values; see `dicegym.analysis.valuers`.
        softness: in win rate; of points and returns so many times as much as `dicegym.analysis.marks.UNITS` says.

    Raises:
        ParameterError: what the source needs is not solved yet, or its values are those of rollouts.
        UnknownNameError: the game has no source of this name.
    """

    def __init__(self, game: Game, name: str, softness: float) -> None:
        found = valuer(game, name)
        if found.kind == NO_TEACHER:
            able = [source.name for source in sources(game) if source.name != name]
            raise ParameterError(
                f"{name!r} plays games to find out what actions are worth, which is too slow and too rough for a "
                f"teacher: for {game!r} there is {' or '.join(map(repr, able)) or 'no other'}"
            )
        self._valuer: Valuer = found
        self._softness = softness * UNITS[found.unit]

    def lesson(self, states: np.ndarray) -> Lesson:
        """Return what the player to move should do in each of the records, of which none is over."""
        if self._valuer.kind == "equilibrium":
            policies = self._mixed(states)
            return Lesson(policies / policies.sum(axis=1, keepdims=True), None)
        values = action_values_of(self._valuer, states).values
        known = ~np.isnan(values)
        values[~known] = -np.inf
        costs = (values.max(axis=1, keepdims=True) - values).astype(np.float32)
        policies = np.exp(costs / -self._softness)
        return Lesson(policies / policies.sum(axis=1, keepdims=True), costs)

    def _mixed(self, states: np.ndarray) -> np.ndarray:
        """Return an equilibrium's policies: float32[n, n_actions]."""
        rows = getattr(self._valuer, "policy_rows", None)
        found = rows(states) if rows else np.array([self._valuer.policy(state) for state in states])
        policies: np.ndarray = found.astype(np.float32)
        return policies
