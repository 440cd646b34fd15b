"""Wrappers for what learners ask for: ``from dicegym.wrappers import MaskInObservation``."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from dicegym.errors import ParameterError


class MaskInObservation(gym.Wrapper[dict[str, np.ndarray], Any, np.ndarray, Any], gym.utils.RecordConstructorArgs):
    """Observations with the action mask beside them, for learners that look for it there.

    They are dicts: ``"observation"`` is the environment's own, ``"action_mask"`` int8[n_actions], which stays in
    ``info`` too. Where nothing is legal, as the game is over, the mask of the observation is all ones: a learner may
    ask its network about the last observation, whose action nobody will play, and a policy over no action at all is
    not a number. What ``info`` says stays true.

    Args:
        env: an environment with ``Discrete`` actions and ``info["action_mask"]``: those of dicegym, wrapped or not.

    Raises:
        ParameterError: the actions of ``env`` are no ``Discrete``; or, by `reset` or `step`, ``info`` has no mask.
    """

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        gym.utils.RecordConstructorArgs.__init__(self)
        super().__init__(env)
        space = env.action_space
        if not isinstance(space, gym.spaces.Discrete):
            raise ParameterError(
                f"actions of {space} have no mask of one number each: wrap an environment with Discrete actions"
            )
        self._n_actions = int(space.n)
        mask = gym.spaces.Box(0, 1, (self._n_actions,), np.int8)
        both: Any = gym.spaces.Dict({"observation": env.observation_space, "action_mask": mask})
        self.observation_space = both

    def _with_mask(self, observation: Any, info: dict[str, Any]) -> dict[str, np.ndarray]:
        mask = info.get("action_mask")
        if mask is None:
            raise ParameterError(
                f"info of {self.env} holds no 'action_mask' to put into the observation: wrap an environment of dicegym"
            )
        legal = np.array(mask, np.int8) if np.any(mask) else np.ones(self._n_actions, np.int8)
        return {"observation": observation, "action_mask": legal}

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
