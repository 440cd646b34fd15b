"""Environments with text, for language models: `TextEnv` and the wrapper `TextInfo`.

`dicegym.players.prompts` writes observations and reads answers; its public names are here, too.

Example:
    >>> from dicegym.text import TextEnv
    >>> env = TextEnv("hog", opponent="bacon")
    >>> text, info = env.reset(seed=1)
    >>> text, reward, terminated, truncated, info = env.step('{"action": "roll 5"}')
"""

from __future__ import annotations

import string
from typing import Any, NamedTuple, get_args

import gymnasium as gym

from dicegym.analysis.valuers import MARKS, UNITS, assess_state, valuer
from dicegym.engine.game import Game
from dicegym.engine.scene import FACES
from dicegym.engine.validate import one_of
from dicegym.envs.options import Reward, SeatRule
from dicegym.envs.single import SingleAgentEnv
from dicegym.errors import ParameterError, StepError
from dicegym.games.keyboard import HIDDEN
from dicegym.players.prompts import (
    ANSWER_SCHEMA,
    ANSWER_TOOL,
    INSTRUCTION,
    MOST_CHARACTERS,
    RESPONSE_FORMAT,
    AnswerError,
    IllegalAnswerError,
    UnreadableAnswerError,
    observation_text,
    read_answer,
    rules_text,
    write_answer,
)

__all__ = [
    "ANSWER_SCHEMA",
    "ANSWER_TOOL",
    "RESPONSE_FORMAT",
    "AnswerError",
    "IllegalAnswerError",
    "TextEnv",
    "TextInfo",
    "TextTurn",
    "UnreadableAnswerError",
    "observation_text",
    "read_answer",
    "rules_text",
    "write_answer",
]

MOST_TEXT = 100_000
"""Characters of an observation at most."""
_CHARACTERS = frozenset(string.printable + FACES + HIDDEN)


class TextTurn(NamedTuple):
    """The result of an answer."""

    text: str
    """The seat's next observation."""
    reward: float
    over: bool
    error: str
    """Why the answer was not played; empty if it was."""


class TextEnv(gym.Env[str, str]):
    """Play one seat of a game against other players, in text.

    Observations are `dicegym.players.prompts.observation_text`. An action is a JSON object, ``{"action": "..."}``, for
    a whole decision: in Lucky & Co for a whole order. `prompt` has the rules, which observations do not repeat.
    ``info`` and rewards are those of `dicegym.envs.single.SingleAgentEnv`.

    Args:
        game: a game's name or a `dicegym.Game`.
        opponent: plays the other seats, as for that environment.
        seat: the seat to play: a number, "random" or "alternate", as for that environment.
        reward: "win", "margin" or "first", as for that environment, or "regret": after each decision minus its regret,
            by the best values that are ready (`dicegym.values.valuer`).
        **parameters: of the game.

    Attributes:
        env: the environment on numbers.

    Raises: as that environment does.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - Gymnasium's form

    def __init__(
        self, game: str | Game, opponent: Any = None, seat: SeatRule = "random", reward: str = "win", **parameters: Any
    ) -> None:
        by_regret = one_of("reward", reward, [*get_args(Reward), "regret"]) == "regret"
        self.env = SingleAgentEnv(game, opponent, seat, reward="win" if by_regret else reward, **parameters)
        self._valuer = valuer(self.env.game) if by_regret else None
        self.observation_space = gym.spaces.Text(MOST_TEXT, charset=_CHARACTERS)
        self.action_space = gym.spaces.Text(MOST_CHARACTERS, charset=_CHARACTERS)
        self._playing = False

    @property
    def prompt(self) -> str:
        """The rules and the form of an answer: a system prompt."""
        return f"{self.rules}\n{INSTRUCTION}"

    @property
    def rules(self) -> str:
        """The rules in a few lines, and how actions are written."""
        return rules_text(self.env.game)

    @property
    def text(self) -> str:
        """The seat's present observation."""
        return observation_text(self.env.game, self.env.state, self.env.seat)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Begin a game and return the observation; see `SingleAgentEnv.reset`."""
        _, info = self.env.reset(seed=seed, options=options)
        self._playing = True
        return self.text, info

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Play the action of an answer, then the other players' turns.

        Raises:
            UnreadableAnswerError, IllegalAnswerError: the answer is not a legal action. Nothing was played: give
                another answer.
            StepError, AgentError: as `SingleAgentEnv.step`.
        """
        if not self._playing:
            raise StepError("step() was called with no game going on: call reset() first")
        gained, over = 0.0, False
        info: dict[str, Any] = {}
        for number in read_answer(self.env.game, self.env.state, action):
            before = self.env.state
            _, reward, over, _, info = self.env.step(number)
            if self._valuer is not None:
                reward = -float(assess_state(self._valuer, before).judge([number]).costs[0])
            gained += reward
        self._playing = not over
        return self.text, gained, over, False, info

    def answer(self, action: str) -> TextTurn:
        """Play an answer as `step` does; an invalid one changes nothing and costs as much as a blunder.

        That is the cost of the last of `dicegym.analysis.valuers.MARKS`: a tenth of a game won.

        Raises StepError and AgentError as `step` does.
        """
        try:
            text, reward, over, _, _ = self.step(action)
        except AnswerError as error:
            unit = "points" if self.env.game.players == 1 else "return" if self._valuer is None else self._valuer.unit
            return TextTurn(self.text, -MARKS[-1].cost * UNITS[unit], False, str(error))
        return TextTurn(text, float(reward), over, "")


class TextInfo(gym.Wrapper[Any, Any, Any, Any], gym.utils.RecordConstructorArgs):
    """A wrapper that adds the observation as text, ``info["text"]``, which takes time to write.

    Args:
        env: a single-agent environment of dicegym, wrapped or not.

    Raises ParameterError for any other.
    """

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        gym.utils.RecordConstructorArgs.__init__(self)
        super().__init__(env)
        if not isinstance(env.unwrapped, SingleAgentEnv):
            raise ParameterError(f"{env} has no text: give a single-agent environment of dicegym, wrapped or not")

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin a game, as the environment does."""
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, self._with_text(info)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Play ``action``, as the environment does."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, reward, terminated, truncated, self._with_text(info)

    def _with_text(self, info: dict[str, Any]) -> dict[str, Any]:
        env: Any = self.env.unwrapped
        return info | {"text": observation_text(env.game, env.state, env.seat)}
