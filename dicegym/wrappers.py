"""A wrapper that puts the action mask into observations, for libraries that expect it there."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from dicegym.errors import ParameterError

MASK = "action_mask"


class MaskInObservation(gym.Wrapper[dict[str, np.ndarray], Any, np.ndarray, Any], gym.utils.RecordConstructorArgs):
    """Make observations dicts of the environment's observation and ``"action_mask"``, int8[n_actions].

    At the end of a game, where no action is legal, the mask in the observation is all ones, so that a policy's
    probabilities are not NaN; the mask in ``info`` stays all zeros.

    Args:
        env: an environment with ``Discrete`` actions and ``info["action_mask"]``.
        key: the key of the environment's observation. RLlib's ``ActionMaskingTorchRLModule`` needs
            ``"observations"``.

    Raises:
        ParameterError: the actions of ``env`` are not ``Discrete``, or ``key`` is empty or ``"action_mask"``; `reset`
            and `step` raise it if ``info`` lacks the mask.

    Example:
        >>> import gymnasium as gym
        >>> import dicegym
        >>> from dicegym.wrappers import MaskInObservation
        >>> env = MaskInObservation(gym.make("dicegym/Hog-v0"))
        >>> observation, info = env.reset(seed=0)
        >>> sorted(observation)
        ['action_mask', 'observation']
    """

    def __init__(self, env: gym.Env[Any, Any], key: str = "observation") -> None:
        if key in ("", MASK) or not isinstance(key, str):
            raise ParameterError(
                f"key={key!r} cannot be the observation's key next to {MASK!r}: give another word, such as "
                "'observations'"
            )
        actions = env.action_space
        if not isinstance(actions, gym.spaces.Discrete):
            raise ParameterError(
                f"the action space {actions} has no action mask: wrap an environment with Discrete actions"
            )
        gym.utils.RecordConstructorArgs.__init__(self, key=key)
        super().__init__(env)
        self._key = key
        mask = gym.spaces.Box(0, 1, (int(actions.n),), np.int8)
        both: Any = gym.spaces.Dict({key: env.observation_space, MASK: mask})
        self.observation_space = both

    def _with_mask(self, observation: Any, info: dict[str, Any]) -> dict[str, np.ndarray]:
        if MASK not in info:
            raise ParameterError(f"info of {self.env} has no {MASK!r}: wrap an environment of dicegym")
        legal = np.array(info[MASK], np.int8)
        if not legal.any():
            legal[:] = 1
        return {self._key: observation, MASK: legal}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Begin a game; see `dicegym.envs.single.SingleAgentEnv.reset`."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._with_mask(observation, info), info

    def step(self, action: Any) -> tuple[dict[str, np.ndarray], float, bool, bool, dict[str, Any]]:
        """Play ``action``; see `dicegym.envs.single.SingleAgentEnv.step`."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._with_mask(observation, info), float(reward), terminated, truncated, info
