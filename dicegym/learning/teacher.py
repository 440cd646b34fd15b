"""A teacher: whoever knows what actions are worth, asked in many states at once which one a learner should choose."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple, cast

import numpy as np

from dicegym.analysis.judging import action_values_of
from dicegym.analysis.marks import UNITS
from dicegym.analysis.valuers import sources, valuer
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games.parts import Replies, solver_of
from dicegym.games.worth import Valuer, ValueUnit
from dicegym.players.roster import agent as agent_of

NO_TEACHER = "rollouts"
"""Values that cannot teach: they are drawn, and take too long."""
REPLY = re.compile(r"reply\((.+)\)")
"""Names a teacher who replies best to an agent, such as "reply(always_roll(5))"."""


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
    (`Valuer.sees_all`), a learner comes to play the mean of what it should have done. So it does from a teacher who
    replies best to an agent: that one sees everything too.

    Args:
        game: what is played.
        name: of the source of values; see `dicegym.analysis.valuers`. Or "reply(AGENT)", in a game for two with exact
            values that can tell: what is best against that agent.
        softness: in win rate; of points and returns so many times as much as `dicegym.analysis.marks.UNITS` says.

    Raises:
        ParameterError: what the source needs is not solved yet, or its values are those of rollouts, or nobody knows
            how to reply in this game or to this agent.
        UnknownNameError: the game has no source or agent of this name.
    """

    def __init__(self, game: Game, name: str, softness: float) -> None:
        if (told := REPLY.fullmatch(name)) is not None:
            self._valuer: Valuer | None = None
            unit: ValueUnit = "win rate"
            self._values = _reply_values(game, told[1])
        else:
            found = _able(game, name)
            self._valuer, unit = found, found.unit
            self._values = lambda states: action_values_of(found, states).values
        self._softness = softness * UNITS[unit]

    def lesson(self, states: np.ndarray) -> Lesson:
        """Return what the player to move should do in each of the records, of which none is over."""
        if self._valuer is not None and self._valuer.kind == "equilibrium":
            policies = _mixed(self._valuer, states)
            return Lesson(policies / policies.sum(axis=1, keepdims=True), None)
        values = self._values(states)
        known = ~np.isnan(values)
        values[~known] = -np.inf
        costs = (values.max(axis=1, keepdims=True) - values).astype(np.float32)
        policies = np.exp(costs / -self._softness)
        return Lesson(policies / policies.sum(axis=1, keepdims=True), costs)


def _able(game: Game, name: str) -> Valuer:
    """Return a source of values that can teach."""
    found = valuer(game, name)
    if found.kind == NO_TEACHER:
        able = [source.name for source in sources(game) if source.name != name]
        raise ParameterError(
            f"{name!r} plays games to find out what actions are worth, which is too slow and too rough for a "
            f"teacher: for {game!r} there is {' or '.join(map(repr, able)) or 'no other'}"
        )
    return found


def _reply_values(game: Game, agent: str) -> Callable[[np.ndarray], np.ndarray]:
    """Return what tells how likely actions win against an agent, if it is replied to as well as can be."""
    opponent = agent_of(game, agent)
    exact = solver_of(game, opponent)
    if not hasattr(exact, "reply_values"):
        able = ", ".join(repr(source.name) for source in sources(game) if source.name != NO_TEACHER)
        raise ParameterError(
            f"how to reply best to {agent!r} is not known of {game!r}, so nobody can teach it: for this game there is "
            f"{able or 'no teacher'}"
        )
    return cast(Replies, exact).reply_values(opponent, game)


def _mixed(equilibrium: Valuer, states: np.ndarray) -> np.ndarray:
    """Return an equilibrium's policies: float32[n, n_actions]."""
    rows = getattr(equilibrium, "policy_rows", None)
    found = rows(states) if rows else np.array([equilibrium.policy(state) for state in states])
    policies: np.ndarray = found.astype(np.float32)
    return policies
