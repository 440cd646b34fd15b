"""Wrappers for what learners ask for: ``from dicegym.wrappers import MaskInObservation``."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from dicegym.errors import ParameterError

MASK = "action_mask"


class MaskInObservation(gym.Wrapper[dict[str, np.ndarray], Any, np.ndarray, Any], gym.utils.RecordConstructorArgs):
    """Observations with the action mask beside them, for learners that look for it there.

    They are dicts: ``key`` is the environment's own, ``"action_mask"`` int8[n_actions], which stays in
    ``info`` too. Where nothing is legal, as the game is over, the mask of the observation is all ones: a learner may
    ask its network about the last observation, whose action nobody will play, and a policy over no action at all is
    not a number. What ``info`` says stays true.

    Args:
        env: an environment with ``Discrete`` actions and ``info["action_mask"]``: those of dicegym, wrapped or not.
        key: what the environment's own observation is called. RLlib's ``ActionMaskingTorchRLModule`` looks for
            ``"observations"``.

    Raises:
        ParameterError: the actions of ``env`` are no ``Discrete``, or ``key`` is no name for an observation; or, by
            `reset` or `step`, ``info`` has no mask.
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
            f"key={key!r} cannot name the observation beside {MASK!r}: give another word, such as 'observations'"
        )
    return key


def _n_actions(space: gym.Space[Any]) -> int:
    if not isinstance(space, gym.spaces.Discrete):
        raise ParameterError(
            f"actions of {space} have no mask of one number each: wrap an environment with Discrete actions"
        )
    return int(space.n)


def _mask_in(info: dict[str, Any], env: object) -> Any:
    if MASK not in info:
        raise ParameterError(
            f"info of {env} holds no {MASK!r} to put into the observation: wrap an environment of dicegym"
        )
    return info[MASK]


def _ones_where_over(mask: Any) -> np.ndarray:
    """Return a copy of a mask, or of several, in which all is legal where nothing was."""
    legal = np.array(mask, np.int8)
    legal[~legal.any(axis=-1)] = 1
    return legal
