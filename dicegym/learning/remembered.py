"""What a model of Stable-Baselines3 knows of its training, beside its networks and its settings."""

from __future__ import annotations

import copy
import math
from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.vec_env import VecEnv

from dicegym.errors import one_line

_IN_FLIGHT = ("num_timesteps", "_last_obs", "_last_episode_starts")
"""What a model changes while it plays, before its networks learn from that."""
_ANCHOR = "kl_anchor"
"""Parameters that a policy is kept near, as one vector, if its algorithm has them."""
_REMEMBERED = (
    "_n_updates",
    "_n_calls",
    "_episode_num",
    "_num_timesteps_at_start",
    "_total_timesteps",
    "_current_progress_remaining",
    "_last_original_obs",
    "start_time",
    "exploration_rate",
    "ent_coef",
    _ANCHOR,
    "ep_info_buffer",
    "ep_success_buffer",
)
"""What else a model knows of its training, beside networks and settings, if it is of an algorithm that does."""
_OBSERVATIONS = ("_last_obs", "_last_original_obs")
_EPISODES = ("ep_info_buffer", "ep_success_buffer")
_KNOWN_NUMBERS = frozenset(_REMEMBERED) - {*_OBSERVATIONS, *_EPISODES, _ANCHOR} | {"num_timesteps"}
_DRAWN = "drawn"
"""The state of the generator from which actions are drawn when a learner explores."""
_REMEMBERED_EPISODES = 100
"""How many ended games Stable-Baselines3 takes means of for its logs, where nothing else is said."""


def in_flight(model: BaseAlgorithm) -> dict[str, Any]:
    """Return a copy of what changes while a model plays, before its networks learn from that."""
    return {name: copy.copy(getattr(model, name)) for name in _IN_FLIGHT}


def remembered(model: BaseAlgorithm) -> dict[str, Any]:
    """Return the rest of what it knows."""
    found = {name: getattr(model, name) for name in _REMEMBERED if hasattr(model, name)}
    return found | {_DRAWN: model.action_space.np_random.bit_generator.state}


def remember(model: BaseAlgorithm, known: Mapping[str, Any], games: bool = True) -> None:
    """Let ``model`` know what `in_flight` and `remembered` told; without ``games``, new ones are to begin."""
    for name, value in known.items():
        if name == _DRAWN:
            model.action_space.np_random.bit_generator.state = value
        else:
            setattr(model, name, None if name in _OBSERVATIONS and not games else value)


def checked(plain: dict[str, Any], env: VecEnv) -> dict[str, Any]:
    """Return what a checkpoint says of a model that plays ``env``. Raises ValueError for a value of another kind."""
    shape = (env.num_envs, *(env.observation_space.shape or ()))
    for name, value in plain.items():
        if name in _OBSERVATIONS:
            fits = value is None or (
                isinstance(value, np.ndarray) and value.shape == shape and value.dtype == np.float32
            )
        elif name == _IN_FLIGHT[2]:
            fits = value is None or (
                isinstance(value, np.ndarray) and value.shape == shape[:1] and value.dtype == np.bool_
            )
        elif name == _ANCHOR:
            fits = value is None or (isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype == np.float32)
        elif name in _EPISODES:
            fits = value is None or (isinstance(value, list) and all(map(_is_episode, value)))
        elif name == _DRAWN:
            fits = isinstance(value, dict)  # NumPy looks at it itself
        else:
            fits = name in _KNOWN_NUMBERS and isinstance(value, int | float) and math.isfinite(value)
        if not fits:
            raise ValueError(f"its {one_line(name, 40)} is {one_line(value, 60)}")
    episodes = {name: deque(plain[name] or (), maxlen=_REMEMBERED_EPISODES) for name in _EPISODES if name in plain}
    return plain | episodes


def _is_episode(value: Any) -> bool:
    """Return whether this is what is remembered of an ended game."""
    numbers = [*value.values()] if isinstance(value, dict) else [value]
    return all(isinstance(number, int | float) for number in numbers)
