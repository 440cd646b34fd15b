"""Environments as `FastMaskablePPO` takes them: any of Stable-Baselines3's and Gymnasium's kinds, masked or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, VectorEnv
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import VecEnv, VecEnvWrapper, VecMonitor
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvObs, VecEnvStepReturn

from dicegym.errors import ParameterError

METHOD, KEY = "action_masks", "action_mask"
"""What an environment's method, and the entry of an observation or an info dict, with legal actions is called."""


class GymnasiumVecEnv(VecEnv):
    """A Gymnasium `VectorEnv` as Stable-Baselines3 takes it.

    Args:
        env: resets ended episodes in the same step.

    Raises:
        ParameterError: it resets them in the next step, which would be learned from as if it had been played.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        mode = env.metadata.get("autoreset_mode")
        if mode is not AutoresetMode.SAME_STEP:
            raise ParameterError(
                f"a Gymnasium vector environment whose autoreset_mode is {mode} cannot be trained on: make it with "
                "gymnasium.make_vec(..., vector_kwargs={'autoreset_mode': 'SameStep'})"
            )
        self.env, self.render_mode = env, env.render_mode  # VecEnv asks for the mode while it is constructed
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)
        self._actions = np.zeros(0)

    def reset(self) -> VecEnvObs:
        """Reset all episodes; return their first observations."""
        seeds = list(self._seeds) if any(seed is not None for seed in self._seeds) else None
        observations, infos = self.env.reset(seed=seeds)
        self._reset_seeds()
        self.reset_infos = self._split(infos)
        return observations  # type: ignore[no-any-return]  # of whatever space the environment has

    def step_async(self, actions: np.ndarray) -> None:
        """Note what is played in the next `step_wait`."""
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        """Step all episodes; where one ends, ``infos`` has its last observation, as Stable-Baselines3 wants it."""
        observations, rewards, terminated, truncated, batched = self.env.step(self._actions)
        done = terminated | truncated
        after = self._split({key: value for key, value in batched.items() if "final" not in key})
        infos = after
        if done.any():
            last = self._split(batched.get("final_info", {}))
            infos = [last[row] if done[row] else after[row] for row in range(self.num_envs)]
            for row in np.flatnonzero(done).tolist():
                self.reset_infos[row] = after[row]
                infos[row]["terminal_observation"] = batched["final_obs"][row]
                infos[row]["TimeLimit.truncated"] = bool(truncated[row] and not terminated[row])
        return observations, np.asarray(rewards, np.float32), done, infos

    def _split(self, batched: dict[str, Any]) -> list[dict[str, Any]]:
        """Return Gymnasium's dict of arrays as a dict for each episode; ``_key`` says who has the entry ``key``."""
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        everyone = np.ones(self.num_envs, np.bool_)
        for key, found in batched.items():
            values = self._split(found) if isinstance(found, dict) else found
            if key.startswith("_") or np.ndim(values) == 0 or len(values) != self.num_envs:
                continue
            for row in np.flatnonzero(batched.get(f"_{key}", everyone)).tolist():
                infos[row][key] = values[row]
        return infos

    def close(self) -> None:
        """Close the environment."""
        self.env.close()

    def has_attr(self, attr_name: str) -> bool:
        """Return whether each episode's environment has an attribute; one that asks ends an `AsyncVectorEnv`."""
        return not isinstance(self.env.unwrapped, AsyncVectorEnv) and super().has_attr(attr_name)

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return an attribute of each episode's environment. Raises AttributeError."""
        found = self.env.get_attr(attr_name) if hasattr(self.env, "get_attr") else None
        if found is None:
            raise AttributeError(attr_name)
        return [found[row] for row in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Set an attribute of each episode's environment."""
        self.env.set_attr(attr_name, value)  # type: ignore[attr-defined]  # of what holds environments

    def env_method(
        self, method_name: str, *method_args: Any, indices: VecEnvIndices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Return what a method of each episode's environment returns."""
        found = self.env.call(method_name, *method_args, **method_kwargs)  # type: ignore[attr-defined]  # as above
        return [found[row] for row in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: Any, indices: VecEnvIndices = None) -> list[bool]:
        """Return False for each episode: Gymnasium does not tell."""
        return [False for _ in self._get_indices(indices)]


class MaskedVecEnv(VecEnvWrapper):
    """Gives any environment the method ``action_masks``, and takes masks out of its observations.

    Masks are, in this order: the entry ``action_mask`` of Dict observations, that of ``infos``, or all actions. What
    is left of a Dict with one more entry is that entry's space.

    Args:
        env: has no method ``action_masks``.
    """

    def __init__(self, env: VecEnv) -> None:
        super().__init__(env, unmasked_space(env.observation_space))
        self._strip = self.observation_space is not env.observation_space
        actions = env.action_space
        self._masks = np.ones((env.num_envs, int(actions.n) if isinstance(actions, spaces.Discrete) else 0), np.bool_)

    def reset(self) -> VecEnvObs:
        """Reset all episodes."""
        return self._take(self.venv.reset(), self.venv.unwrapped.reset_infos)

    def step_wait(self) -> VecEnvStepReturn:
        """Step all episodes."""
        observations, rewards, dones, infos = self.venv.step_wait()
        if self._strip:
            for row in np.flatnonzero(dones).tolist():
                if "terminal_observation" in infos[row]:
                    infos[row]["terminal_observation"] = split_masks(infos[row]["terminal_observation"])[0]
        resets = self.venv.unwrapped.reset_infos  # wrappers have lists of their own, which stay empty
        now = [resets[row] if dones[row] else infos[row] for row in range(self.num_envs)]
        return self._take(observations, now), rewards, dones, infos

    def _take(self, observations: Any, infos: list[dict[str, Any]]) -> VecEnvObs:
        """Note the masks of the present decisions; return the observations without them."""
        if self._strip:
            observations, masks = split_masks(observations)
            self._masks[:] = masks
        else:
            for row, info in enumerate(infos):
                self._masks[row] = info.get(KEY, True)
        return observations  # type: ignore[no-any-return]  # of whatever space the environment has

    def action_masks(self) -> np.ndarray:
        """Return the masks of all episodes, bool[episodes, n_actions]."""
        return self._masks.copy()

    def has_attr(self, attr_name: str) -> bool:
        """Return whether each episode has an attribute; all have ``action_masks``."""
        return attr_name == METHOD or super().has_attr(attr_name)

    def env_method(
        self, method_name: str, *method_args: Any, indices: VecEnvIndices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Return what a method of each episode returns."""
        if method_name == METHOD:
            return [self._masks[row].copy() for row in self._get_indices(indices)]
        return super().env_method(method_name, *method_args, indices=indices, **method_kwargs)


def as_vec_env(env: Any) -> Any:
    """Return a Gymnasium vector environment as Stable-Baselines3's kind; anything else as it is."""
    return VecMonitor(GymnasiumVecEnv(env)) if isinstance(env, VectorEnv) else env


def with_masks(env: VecEnv) -> VecEnv:
    """Return an environment that has a method ``action_masks``."""
    if callable(getattr(env, METHOD, None)) or (not _is_masked(env.observation_space) and is_masking_supported(env)):
        return env
    return MaskedVecEnv(env)


def masks_of(env: VecEnv) -> Callable[[], np.ndarray]:
    """Return what gives the masks of all episodes (bool[episodes, n_actions]), in one call where the episodes can."""
    whole = getattr(env, METHOD, None)
    if callable(whole):
        return whole  # type: ignore[no-any-return]  # of a VecEnv it can be nothing else
    return lambda: np.asarray(get_action_masks(env), np.bool_)


def _is_masked(space: spaces.Space[Any]) -> bool:
    return isinstance(space, spaces.Dict) and KEY in space.spaces and len(space.spaces) > 1


def unmasked_space(space: spaces.Space[Any]) -> spaces.Space[Any]:
    """Return a space of observations without their masks; the space itself if it has none."""
    if not isinstance(space, spaces.Dict) or not _is_masked(space):
        return space
    others = {key: one for key, one in space.spaces.items() if key != KEY}
    return next(iter(others.values())) if len(others) == 1 else spaces.Dict(others)


def split_masks(observation: dict[str, Any]) -> tuple[Any, np.ndarray]:
    """Return an observation of a masked Dict space as `unmasked_space` has it, and its mask (bool)."""
    others = {key: one for key, one in observation.items() if key != KEY}
    rest = next(iter(others.values())) if len(others) == 1 else others
    return rest, np.asarray(observation[KEY], np.bool_)
