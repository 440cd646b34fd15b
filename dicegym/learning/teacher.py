"""A teacher: a source of values that tells a learner which action to choose, in many states at once."""

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
"""The source of values that cannot teach: it is random and too slow."""
REPLY = re.compile(r"reply\((.+)\)")
"""The name of a teacher that plays a best response to an agent, such as "reply(always_roll(5))"."""


class Lesson(NamedTuple):
    """What a learner should do in some states."""

    policies: np.ndarray
    """float32[n, n_actions]: probability of each action; 0 for illegal ones."""
    costs: np.ndarray | None
    """float32[n, n_actions]: the regret of each action, in the unit of the teacher's values; inf for illegal ones.
    None for an equilibrium: values do not tell its probabilities, so its mixed strategy is imitated."""

    def draw_actions(self, uniform: np.ndarray) -> np.ndarray:
        """Return the teacher's actions, int64[n]: its best ones, or for an equilibrium drawn by ``uniform``.

        Args:
            uniform: float64[n] in [0, 1), a draw for each state.
        """
        if self.costs is not None:
            return np.asarray(self.costs.argmin(axis=1))
        reached = self.policies.cumsum(axis=1)
        return np.asarray((reached > uniform[:, None] * reached[:, -1:]).argmax(axis=1))


class Teacher:
    """A source of values that tells how to play.

    An action that costs ``softness`` more than another is chosen e times less often; equilibria are taught as mixed
    strategies. A teacher may see hidden information, if `Valuer.sees_all` is true of its values. Its learner then
    learns the teacher's mean policy, which is not the best one without that information.

    Args:
        game: the game.
        name: the source of values; see `dicegym.analysis.valuers`. Or "reply(AGENT)", in games with ``reply_values``
            (`dicegym.games.parts.Values`): the best known response to that agent without hidden information. A
            file's agent that draws counts as the table of its answers, each asked once.
        reply_trials: further attempts at a better response.
        softness: in win rate; `dicegym.analysis.valuers.UNITS` converts it to points and returns.

    Attributes:
        game: as given.
        softness: in the unit of the teacher's values.
        replies_to: the agent that it responds to; None for a source of values.

    Raises:
        ParameterError: the source is not solved yet or uses rollouts, or there are no best responses in this game or
            to this agent.
        UnknownNameError: the game has no source or agent with this name.
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
                f"{name!r} estimates values by playing games, which is too slow and too rough for a teacher: name a "
                "source of computed values"
            )
        self._valuer = found
        self._values = lambda states: assess(found, states).values
        self.softness *= UNITS[found.unit]

    def lesson(self, states: np.ndarray) -> Lesson:
        """Return what the player to move should do in each of the records, none of which is over."""
        if self._valuer is not None and self._valuer.kind == "equilibrium":
            policies = self._valuer.policy_rows(states).astype(np.float32)
            return Lesson(policies / policies.sum(axis=1, keepdims=True), None)
        found = self._values(states)  # not to be changed: it may be a stored table
        values = np.where(np.isnan(found), -np.inf, found)
        costs = (values.max(axis=1, keepdims=True) - values).astype(np.float32)
        policies = np.exp(costs / -self.softness)
        return Lesson(policies / policies.sum(axis=1, keepdims=True), costs)


def parse_reply(name: str) -> str | None:
    """Return AGENT from a teacher's name "reply(AGENT)"; None for the name of a source of values.

    Raises ParameterError for a malformed name, or one that is not a text.
    """
    if not isinstance(name, str):
        raise ParameterError(
            f'teacher={name!r} is not a name: give a source of values, such as "exact", or "reply(AGENT)"'
        )
    if not name.startswith("reply"):
        return None
    match = REPLY.fullmatch(name)
    if match is None or match[1].count("(") != match[1].count(")"):
        raise ParameterError(
            f'teacher={name!r} names no agent to respond to: write "reply(AGENT)", such as "reply(always_roll(5))"'
        )
    return match[1]


def _reply_values(game: Game, opponent: Player, trials: int) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function from states to win rates of actions in the best known response to an agent."""
    if draws_openly(opponent):
        raise ParameterError(
            f"{opponent.name} draws its actions, so its best response cannot be computed from a table: name an agent "
            "that always plays its best action"
        )
    found = part(game, VALUES)
    values = None if found is None else found.reply_values(opponent, game, trials)
    if values is None:
        raise ParameterError(
            f"best responses to {opponent.name} are not computed in {game!r}: name a source of values, such as "
            "teacher='exact'"
        )
    return values
