"""Wrappers that put the action mask into observations, for libraries that expect it there."""

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
        gym.utils.RecordConstructorArgs.__init__(self, key=key)
        super().__init__(env)
        self._key, self._n_actions = _check_key(key), _n_actions(env.action_space)
        mask = gym.spaces.Box(0, 1, (self._n_actions,), np.int8)
        both: Any = gym.spaces.Dict({key: env.observation_space, MASK: mask})
        self.observation_space = both

    def _with_mask(self, observation: Any, info: dict[str, Any]) -> dict[str, np.ndarray]:
        return {self._key: observation, MASK: _ones_where_over(_mask_in(info, self.env))}

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


class VectorMaskInObservation(gym.vector.VectorWrapper):
    """`MaskInObservation` for a batch: dicts of observations [num_envs, ...] and masks int8[num_envs, n_actions].

    In same-step mode each of ``info["final_obs"]`` is a dict too, as in Gymnasium's own batch of wrapped environments.

    Args:
        env: a batch with ``Discrete`` actions and ``info["action_mask"]``, such as ``gymnasium.make_vec`` makes.
        key: as for `MaskInObservation`.

    Raises:
        ParameterError: as by `MaskInObservation`.

    Example:
        >>> import gymnasium as gym
        >>> import dicegym
        >>> from dicegym.wrappers import VectorMaskInObservation
        >>> envs = VectorMaskInObservation(gym.make_vec("dicegym/Hog-v0", num_envs=4))
        >>> envs.reset(seed=0)[0]["action_mask"].shape
        (4, 12)
    """

    def __init__(self, env: gym.vector.VectorEnv[Any, Any, Any], key: str = "observation") -> None:
        super().__init__(env)
        self._key, n = _check_key(key), _n_actions(env.single_action_space)
        masks = (gym.spaces.Box(0, 1, shape, np.int8) for shape in ((n,), (env.num_envs, n)))
        seen = (env.single_observation_space, env.observation_space)
        self.single_observation_space, self.observation_space = (
            gym.spaces.Dict({key: space, MASK: mask}) for space, mask in zip(seen, masks, strict=True)
        )

    def _with_masks(self, observations: Any, info: dict[str, Any]) -> dict[str, np.ndarray]:
        return {self._key: observations, MASK: _ones_where_over(_mask_in(info, self.env))}

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Begin games; see `dicegym.envs.vector.BatchEnv.reset`."""
        observations, info = self.env.reset(seed=seed, options=options)  # type: ignore[arg-type]  # lists too
        return self._with_masks(observations, info), info

    def step(self, actions: Any) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Play ``actions``; see `dicegym.envs.vector.BatchEnv.step`."""
        observations, rewards, terminated, truncated, info = self.env.step(actions)
        for row in np.flatnonzero(info["_final_obs"]) if "final_obs" in info else ():
            mask = _ones_where_over(info["final_info"][MASK][row])
            info["final_obs"][row] = {self._key: info["final_obs"][row], MASK: mask}
        return self._with_masks(observations, info), rewards, terminated, truncated, info


def _check_key(key: Any) -> str:
    if not isinstance(key, str) or key in ("", MASK):
        raise ParameterError(
            f"key={key!r} cannot be the observation's key next to {MASK!r}: give another word, such as 'observations'"
        )
    return key


def _n_actions(space: gym.Space[Any]) -> int:
    if not isinstance(space, gym.spaces.Discrete):
        raise ParameterError(f"the action space {space} has no action mask: wrap an environment with Discrete actions")
    return int(space.n)


def _mask_in(info: dict[str, Any], env: object) -> Any:
    if MASK not in info:
        raise ParameterError(f"info of {env} has no {MASK!r}: wrap an environment of dicegym")
    return info[MASK]


def _ones_where_over(mask: Any) -> np.ndarray:
    """Return a copy of one or more masks, with all ones where nothing was legal."""
    legal = np.array(mask, np.int8)
    legal[~legal.any(axis=-1)] = 1
    return legal
