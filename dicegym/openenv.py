"""The games for OpenEnv: `DiceEnvironment`, and `make_app`, its server.

A client sends ``{"action": "roll 5"}`` and reads what its seat may know (`dicegym.text.TextEnv`). By default a
decision's reward is minus its regret.

Example:
    >>> from dicegym.openenv import make_app
    >>> app = make_app("hog", opponent="bacon")
"""

from __future__ import annotations

import json
from typing import Any

from dicegym.errors import DependencyError
from dicegym.players.prompts import ACTION
from dicegym.text import TextEnv

try:
    from openenv.core.env_server.http_server import create_app
    from openenv.core.env_server.interfaces import Environment
    from openenv.core.env_server.types import Action, Observation, State
except ImportError as error:
    raise DependencyError(
        "an environment of OpenEnv needs the package openenv, which is not installed: pip install openenv, in an "
        "environment of its own"
    ) from error


class DiceAction(Action):  # type: ignore[misc]  # the library is untyped
    """One decision, written like the legal actions."""

    action: str


class DiceObservation(Observation):  # type: ignore[misc]
    """What the seat may know, with ``reward`` and ``done``."""

    text: str
    prompt: str = ""
    """The rules and the form of an answer, with the first observation."""
    error: str = ""
    """Why the last action was not played; empty if it was."""


class DiceEnvironment(Environment):  # type: ignore[misc]
    """One seat of a game against other players.

    Args:
        game: its name.
        opponent: plays the other seats, as for `TextEnv`.
        reward: "regret", "win" or "margin", as for `TextEnv`.
        **parameters: of the game.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, game: str = "hog", opponent: Any = None, reward: str = "regret", **parameters: int) -> None:
        super().__init__()
        self._env = TextEnv(game, opponent, reward=reward, **parameters)
        self._state = State()

    def reset(self, seed: int | None = None, episode_id: str | None = None, **_: Any) -> DiceObservation:
        """Begin a game; the same seed rolls the same dice."""
        text, _info = self._env.reset(seed=seed)
        self._state = State(episode_id=episode_id, step_count=0)
        return DiceObservation(text=text, prompt=self._env.prompt)

    def step(self, action: DiceAction, timeout_s: float | None = None, **_: Any) -> DiceObservation:
        """Play an action, then the other players' turns; see `TextEnv.answer` for one that cannot be played."""
        text, reward, over, error = self._env.answer(json.dumps({ACTION: action.action}))
        self._state.step_count += 1
        return DiceObservation(text=text, reward=reward, done=over, error=error)

    @property
    def state(self) -> State:
        """Number of steps of the episode, and its id."""
        return self._state


def make_app(game: str = "hog", opponent: Any = None, reward: str = "regret", sessions: int = 64) -> Any:
    """Return a FastAPI application that serves a game, for ``uvicorn``.

    Args:
        game: its name.
        opponent: plays the other seats, as for `DiceEnvironment`.
        reward: as for `DiceEnvironment`.
        sessions: number of clients that may play at the same time, each in its own WebSocket session.
    """

    def make() -> DiceEnvironment:
        return DiceEnvironment(game, opponent, reward)

    return create_app(make, DiceAction, DiceObservation, env_name=f"dicegym-{game}", max_concurrent_envs=sessions)
