"""Adapters for `FastMaskablePPO`: any environment of Stable-Baselines3 or Gymnasium, with or without masks."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, VectorEnv
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import VecEnv, VecEnvWrapper
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvObs, VecEnvStepReturn

from dicegym.errors import ParameterError

METHOD, KEY = "action_masks", "action_mask"
"""The method with legal actions, and the entry for them in observations or info dicts."""
FINAL = ("final_obs", "final_info", "_final_obs", "_final_info")
"""Gymnasium's entries of ``infos`` at the end of an episode."""


class GymnasiumVecEnv(VecEnv):
    """A Gymnasium `VectorEnv` as a VecEnv of Stable-Baselines3.

    Raises ParameterError unless ``env`` resets ended episodes in the same step: a reset in the next step would be
    learned from like a decision.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        mode = env.metadata.get("autoreset_mode")
        if mode is not AutoresetMode.SAME_STEP:
            raise ParameterError(
                f"a Gymnasium vector environment whose autoreset_mode is {mode} cannot be trained on: make it with "
                "gymnasium.make_vec(ID, vectorization_mode='sync', vector_kwargs={'autoreset_mode': 'SameStep'}), or "
                "a batch of ours with gymnasium.make_vec(ID, autoreset_mode='SameStep')"
            )
        self.env, self.render_mode = env, env.render_mode  # VecEnv asks for the mode while it is constructed
        self._inner: Any = env.unwrapped
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)
        self._actions = np.zeros(0)

    def reset(self) -> VecEnvObs:
        """Reset all episodes; return the first observations."""
        seeds: Any = list(self._seeds) if any(seed is not None for seed in self._seeds) else None
        observations, infos = self.env.reset(seed=seeds)
        self._reset_seeds()
        self.reset_infos = self._split(infos)
        return observations  # type: ignore[no-any-return]  # typed by its space

    def step_async(self, actions: np.ndarray) -> None:
        """Keep the actions for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        """Step all episodes; ``infos`` has the last observation of an ended one, as in Stable-Baselines3."""
        observations, rewards, terminated, truncated, batched = self.env.step(self._actions)
        done = terminated | truncated
        after = self._split({key: value for key, value in batched.items() if key not in FINAL})
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
        """Split Gymnasium's dict of arrays into one for each episode; ``_key`` tells which have the entry ``key``."""
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        everyone = np.ones(self.num_envs, np.bool_)
        for key, found in batched.items():
            values: Any = self._split(found) if isinstance(found, dict) else found
            if key.startswith("_") or np.ndim(values) == 0 or len(values) != self.num_envs:
                continue
            for row in np.flatnonzero(batched.get(f"_{key}", everyone)).tolist():
                infos[row][key] = values[row]
        return infos

    def close(self) -> None:
        """Close the environment."""
        self.env.close()

    def has_attr(self, attr_name: str) -> bool:
        """Return whether each environment has an attribute.

        Asking an `AsyncVectorEnv` for a missing attribute would end it, so a new environment of its kind is asked.
        """
        if not isinstance(self._inner, AsyncVectorEnv):
            return super().has_attr(attr_name)
        one = self._inner.env_fns[0]()
        try:
            return bool(one.has_wrapper_attr(attr_name))
        finally:
            one.close()

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return an attribute of each environment. Raises AttributeError."""
        if not hasattr(self._inner, "get_attr"):
            raise AttributeError(attr_name)
        found = self._inner.get_attr(attr_name)
        return [found[row] for row in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Set an attribute of each environment."""
        self._inner.set_attr(attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: VecEnvIndices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method of each environment."""
        found = self._inner.call(method_name, *method_args, **method_kwargs)
        return [found[row] for row in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: Any, indices: VecEnvIndices = None) -> list[bool]:
        """Return False for each environment, as Gymnasium does not tell."""
        return [False for _ in self._get_indices(indices)]


class MaskedVecEnv(VecEnvWrapper):
    """Adds the method ``action_masks`` to any environment, and removes masks from its observations.

    Masks come from the first of these: the environments' own method, the entry ``action_mask`` of Dict observations, or
    that entry of ``infos`` (``reset_infos`` for a new episode); otherwise all actions are legal. A Dict with one other
    entry becomes that entry.

    Raises ParameterError if observations consist only of masks; later if a mask has a wrong shape or numbers other than
    0 and 1, or ``infos`` have masks in some steps only.
    """

    def __init__(self, env: VecEnv) -> None:
        super().__init__(env, drop_mask(env.observation_space))
        self._strip = self.observation_space is not env.observation_space
        self._asks = is_masking_supported(env)
        self._masks = np.ones((env.num_envs, _width(env.action_space)), np.bool_)
        self._in_infos: bool | None = None
        """Whether ``infos`` have masks; None before the first."""

    def __getstate__(self) -> dict[str, Any]:
        """Leave out `VecEnvWrapper.class_attributes`, which cannot be copied."""
        return {name: value for name, value in vars(self).items() if name != "class_attributes"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a copy."""
        vars(self).update(state, class_attributes=dict(inspect.getmembers(type(self))))

    def reset(self) -> VecEnvObs:
        """Reset all episodes."""
        return self._take(self.venv.reset(), self.venv.unwrapped.reset_infos)

    def step_wait(self) -> VecEnvStepReturn:
        """Step all episodes."""
        observations, rewards, dones, infos = self.venv.step_wait()
        if self._strip:
            for row in np.flatnonzero(dones).tolist():
                if "terminal_observation" in infos[row]:
                    infos[row]["terminal_observation"] = _split(infos[row]["terminal_observation"])[0]
        resets = self.venv.unwrapped.reset_infos  # the lists of wrappers stay empty
        now = [resets[row] if dones[row] else infos[row] for row in range(self.num_envs)]
        return self._take(observations, now), rewards, dones, infos

    def _take(self, observations: Any, infos: list[dict[str, Any]]) -> VecEnvObs:
        """Store the current masks; return the observations without them."""
        if self._strip:
            observations, masks = _split(observations)
        if self._asks:
            self._masks[:] = get_action_masks(self.venv)
        elif self._strip:
            self._masks[:] = check_masks(masks, self._masks.shape)
        else:
            self._read(infos)
        return observations  # type: ignore[no-any-return]  # typed by its space

    def _read(self, infos: list[dict[str, Any]]) -> None:
        """Store the masks in ``infos``. Raises ParameterError if only some have one."""
        there = [KEY in info for info in infos]
        self._in_infos = there[0] if self._in_infos is None else self._in_infos
        if set(there) != {self._in_infos}:
            row = there.index(not self._in_infos)
            raise ParameterError(
                f"info of environment {row} has {'no' if self._in_infos else 'an'} {KEY!r}, and others "
                f"{'had' if self._in_infos else 'had none'}: give a mask at every reset and step, or never"
            )
        if self._in_infos:
            for row, info in enumerate(infos):
                self._masks[row] = check_masks(np.reshape(info[KEY], -1), self._masks[row].shape)

    def action_masks(self) -> np.ndarray:
        """Return the masks of all episodes, bool[episodes, n_actions]."""
        return self._masks.copy()

    def has_attr(self, attr_name: str) -> bool:
        """Return whether each environment has an attribute; all have ``action_masks``."""
        return attr_name == METHOD or super().has_attr(attr_name)

    def env_method(
        self, method_name: str, *method_args: Any, indices: VecEnvIndices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method of each environment."""
        if method_name == METHOD:
            return [self._masks[row].copy() for row in self._get_indices(indices)]
        return super().env_method(method_name, *method_args, indices=indices, **method_kwargs)


def with_masks(env: VecEnv) -> VecEnv:
    """Return an environment with the method ``action_masks``."""
    own = callable(getattr(env, METHOD, None)) or is_masking_supported(env)
    return env if own and not _is_masked(env.observation_space) else MaskedVecEnv(env)


def masks_of(env: VecEnv) -> Callable[[], np.ndarray]:
    """Return a function for the masks of all episodes, bool[episodes, n_actions]."""
    whole = getattr(env, METHOD, None)
    if callable(whole):
        return whole  # type: ignore[no-any-return]  # of a VecEnv it can be nothing else
    return lambda: np.asarray(get_action_masks(env), np.bool_)


def _is_masked(space: spaces.Space[Any]) -> bool:
    return isinstance(space, spaces.Dict) and KEY in space.spaces


def _width(actions: spaces.Space[Any]) -> int:
    """Return the length of a mask, as in sb3-contrib."""
    if isinstance(actions, spaces.MultiDiscrete):
        return int(np.sum(actions.nvec))
    if isinstance(actions, spaces.MultiBinary):
        return 2 * int(np.prod(actions.shape))
    return int(actions.n) if isinstance(actions, spaces.Discrete) else 0


def drop_mask(space: spaces.Space[Any]) -> spaces.Space[Any]:
    """Return an observation space without its masks. Raises ParameterError if nothing else is in it."""
    if not isinstance(space, spaces.Dict) or not _is_masked(space):
        return space
    others = {key: one for key, one in space.spaces.items() if key != KEY}
    if not others:
        raise ParameterError(f"observations of {space} consist only of masks: add an entry to observe")
    return next(iter(others.values())) if len(others) == 1 else spaces.Dict(others)


def _split(observation: dict[str, Any]) -> tuple[Any, np.ndarray]:
    """Return an observation without its mask, as in `drop_mask`, and the mask."""
    others = {key: one for key, one in observation.items() if key != KEY}
    return next(iter(others.values())) if len(others) == 1 else others, np.asarray(observation[KEY])


def check_masks(masks: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Return masks as bool. Raises ParameterError for a wrong shape, or for numbers other than 0 and 1."""
    found = np.asarray(masks)
    if found.shape != shape:
        raise ParameterError(
            f"masks of shape {found.shape} cannot be used for {shape[-1]} actions: give one number for each action; "
            "stacked frames need masks in info, or from the method action_masks"
        )
    if not np.isin(found, (0, 1)).all():
        raise ParameterError(
            "masks contain numbers other than 0 and 1: do not normalise them; use "
            "VecNormalize(env, norm_obs_keys=['observation'])"
        )
    return found.astype(np.bool_)


def split_masks(observation: dict[str, Any], given: Any, actions: spaces.Space[Any]) -> tuple[Any, Any]:
    """Return a masked Dict observation without its mask, and ``given`` masks or else its own, checked."""
    rest, masks = _split(observation)
    return rest, check_masks(masks, (*masks.shape[:-1], _width(actions))) if given is None else given
