"""A teacher: a source of the values of actions, asked in many states at once which one a learner should choose."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dicegym.analysis.valuers import UNITS, assess, valuer
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games.parts import VALUES, part
from dicegym.games.worth import Valuer
from dicegym.play.player import Player, draws_openly
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
    """float32[n, n_actions]: the regret of each action, in the unit of the teacher's values; inf for illegal ones.
    None of an equilibrium or a computed strategy, which are imitated as they are mixed: what actions are worth tells
    nothing of how often."""

    def draw_actions(self, uniform: np.ndarray) -> np.ndarray:
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

    An action that costs ``softness`` more than another is chosen e times less often; equilibria are taught as they are
    mixed. A teacher may see more than players do, if `Valuer.sees_all` is true of its values. A learner then learns the
    mean of what the teacher would do, which is not the best that can be done by what players see.

    Args:
        game: what is played.
        name: of the source of values; see `dicegym.analysis.valuers`. Or "reply(AGENT)", where the game has
            ``reply_values`` (`dicegym.games.parts.Values`): the best known response to that agent, by what players see.
            An agent in a file that draws is taken for the table of its answers, each asked once.
        reply_trials: how much longer that response is looked for.
        softness: in win rate; points and returns are converted by `dicegym.analysis.valuers.UNITS`.

    Attributes:
        game: as given.
        softness: in the unit of the teacher's values.
        replies_to: name of the agent that it replies to; None if it teaches by values of the game.

    Raises:
        ParameterError: what the source needs is not solved yet, or its values are those of rollouts, or nobody knows
            how to reply in this game or to this agent.
        UnknownNameError: the game has no source or agent of this name.
    """

    def __init__(self, game: Game, name: str, softness: float, reply_trials: int = 0) -> None:
        self.game = game
        self.replies_to: str | None = None
        self._valuer: Valuer | None = None
        self.softness = softness
        if (agent := parse_reply(name)) is not None:
            opponent = agent_of(game, agent)
            self.replies_to = opponent.name
            self._values = _reply_values(game, opponent, reply_trials)
            return
        found = valuer(game, name)
        if found.kind == NO_TEACHER:
            raise ParameterError(
                f"{name!r} plays games to find out what actions are worth, which is too slow and too rough for a "
                "teacher: name a source of computed values"
            )
        self._valuer = found
        self._values = lambda states: assess(found, states).values
        self.softness *= UNITS[found.unit]

    def lesson(self, states: np.ndarray) -> Lesson:
        """Return what the player to move should do in each of the records, of which none is over."""
        if self._valuer is not None and self._valuer.kind == "equilibrium":  # who mixes: values do not tell how often
            policies = self._valuer.policy_rows(states).astype(np.float32)
            return Lesson(policies / policies.sum(axis=1, keepdims=True), None)
        told = self._values(states)  # which may be the table that they are looked up in
        values = np.where(np.isnan(told), -np.inf, told)
        costs = (values.max(axis=1, keepdims=True) - values).astype(np.float32)
        policies = np.exp(costs / -self.softness)
        return Lesson(policies / policies.sum(axis=1, keepdims=True), costs)


def parse_reply(name: str) -> str | None:
    """Return the agent that a teacher of this name replies to; None if it is named after a source of values.

    Raises ParameterError if the name begins like one and does not end so, or is not a text.
    """
    if not isinstance(name, str):
        raise ParameterError(
            f'teacher={name!r} names nobody: give a source of values, such as "exact", or "reply(AGENT)"'
        )
    if not name.startswith("reply"):
        return None
    told = REPLY.fullmatch(name)
    if told is None or told[1].count("(") != told[1].count(")"):
        raise ParameterError(
            f'teacher={name!r} does not say whom to reply to: write "reply(AGENT)", such as "reply(always_roll(5))"'
        )
    return told[1]


def _reply_values(game: Game, opponent: Player, trials: int) -> Callable[[np.ndarray], np.ndarray]:
    """Return what tells how likely actions win against an agent, if it is replied to as well as can be."""
    if draws_openly(opponent):
        raise ParameterError(
            f"{opponent.name} draws its actions, so that no table tells how it plays and nobody can teach the best "
            f"reply to it: name an agent that always plays what it holds best"
        )
    found = part(game, VALUES)
    told = None if found is None else found.reply_values(opponent, game, trials)
    if told is None:
        raise ParameterError(
            f"what actions are worth in a reply is not computed in {game!r}, so nobody can teach how to reply to "
            f"{opponent.name}: name a source of values, such as teacher='exact'"
        )
    return told
