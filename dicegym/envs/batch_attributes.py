"""Attributes of the games of a batch by name, as ``gymnasium.vector`` asks for them: mostly one value for all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np

from dicegym.engine.game import Game
from dicegym.envs.options import check_cap, check_illegal_reward, check_on_illegal, check_render_mode
from dicegym.errors import ParameterError

SETTINGS: dict[str, Callable[[Any], Any]] = {
    "on_illegal": check_on_illegal,
    "illegal_reward": check_illegal_reward,
    "max_episode_steps": lambda value: check_cap("max_episode_steps", value),
    "render_mode": check_render_mode,
}
"""What may be set after a batch was made, and what checks it."""
FIXED = {"game", "num_envs", "seating", "autoreset_mode", "seat", "state", "spec"} | {
    f"{single}{space}" for single in ("", "single_") for space in ("observation_space", "action_space")
}
"""What cannot be set, as arrays, or the games themselves, depend on it."""
WHOLE = frozenset(("reset", "step", "close"))
"""Methods of the batch that mean another thing than the same method of each game."""


class PerGame:
    """What `dicegym.envs.vector.BatchEnv` has of Gymnasium's synchronous vector environment: its games' attributes."""

    num_envs: int
    game: Game
    single_observation_space: gym.Space[Any]
    single_action_space: gym.Space[Any]
    _rows: np.ndarray
    _states: np.ndarray

    @property
    def states(self) -> np.ndarray:
        """A copy of the records of all games: an array of the game's record, [num_envs]."""
        return self._states.copy()

    @property
    def seats(self) -> np.ndarray:
        """The learner's seat in each game: int64[num_envs]."""
        seats: np.ndarray = self._rows["seat"].copy()
        return seats

    def attributes(self, name: str) -> tuple[Any, ...]:
        """Return the attribute ``name`` of each game, methods as they are.

        ``"seat"`` and ``"state"`` (a copy of the record) are each game's own; a space is that of one game. All else
        the games of a batch share.

        Raises AttributeError if they have no such attribute.
        """
        if name == "seat":
            return tuple(self._rows["seat"].tolist())
        if name == "state":
            return tuple(self._states.copy())
        if name in ("observation_space", "action_space"):
            name = f"single_{name}"
        return (getattr(self, name),) * self.num_envs

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Return what the attribute ``name`` of each game is, or returns if it is a method; see `attributes`."""
        return self.call(name)

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Return what the method ``name`` returns for each game; of anything else, its value.

        ``action_masks`` and ``render`` answer for each game; any other method is called once for all.

        Raises:
            AttributeError: they have no such attribute.
            ParameterError: the method acts on the whole batch.
        """
        if name in WHOLE:
            raise ParameterError(
                f"call({name!r}) would {name} each game by itself: call {name}() of the batch"
                + (", with options={'reset_mask': ...} for some of its games" if name == "reset" else "")
            )
        found = self.attributes(name)
        if not callable(found[0]):
            return found
        answer = found[0](*args, **kwargs)
        return tuple(answer) if name in ("action_masks", "render") and answer is not None else (answer,) * self.num_envs

    def set_attr(self, name: str, values: Any) -> None:
        """Set an attribute of all games: ``values`` is one value, or a list or tuple of the same one for each.

        Raises ParameterError if they differ, if it cannot be set any more, or if it cannot be that value.
        """
        given = list(values) if isinstance(values, list | tuple) else [values] * self.num_envs
        if len(given) != self.num_envs:
            raise ParameterError(f"{len(given)} values were given for {name} of {self.num_envs} games: give one a game")
        if name in FIXED:
            raise ParameterError(f"{name} cannot be set once games were made: make others with it")
        if any(value is not given[0] and value != given[0] for value in given):
            raise ParameterError(f"{name} cannot differ between games: a batch shares its settings, so give one value")
        setattr(self, name, SETTINGS[name](given[0]) if name in SETTINGS else given[0])
