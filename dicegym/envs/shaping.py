"""Rewards on the way that leave the best play what it is. Needs the extra ``train``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dicegym.engine.validate import finite_number
from dicegym.errors import DependencyError, ParameterError

try:
    from stable_baselines3.common.vec_env import VecEnv, VecEnvWrapper
    from stable_baselines3.common.vec_env.base_vec_env import VecEnvObs, VecEnvStepReturn
except ImportError as error:
    raise DependencyError.for_extra("stable-baselines3", "train", "dicegym.envs.shaping") from error

Potential = Callable[[np.ndarray], np.ndarray]
"""How good it is to see something: observations float32[n, size] -> float[n]."""


class PotentialReward(VecEnvWrapper):
    """Adds to each reward what a potential gained: ``gamma * potential(next) - potential(before)``.

    Ng, Harada and Russell ("Policy invariance under reward transformations", ICML 1999) show that of all bonuses this
    form alone leaves every best policy the best one. At the end of an episode the next potential is 0, so that the
    bonuses of an episode sum, without discount, to minus the potential of its first observation. What ``infos`` tell
    of episodes stays in the game's own units.

    Args:
        venv: the games, such as `SB3VecEnv`.
        potential: see `Potential`; in the units of the rewards that the learner gets.
        gamma: the learner's discount.

    Raises:
        ParameterError: ``gamma`` is not a number, or (at reset) ``potential`` does not return n numbers.

    Example:
        >>> from dicegym.envs import PotentialReward, SB3VecEnv
        >>> games = PotentialReward(SB3VecEnv("hog", 4, seed=0), lambda observations: observations[:, 0])
        >>> games.reset().shape[0]
        4
    """

    def __init__(self, venv: VecEnv, potential: Potential, gamma: float = 1.0) -> None:
        super().__init__(venv)
        self.potential = potential
        self.gamma = finite_number("gamma", gamma, "a discount")
        self._before = np.zeros(self.num_envs)

    def reset(self) -> VecEnvObs:
        """Begin all games; the potentials of what is seen count from here."""
        observations = self.venv.reset()
        self._before = self._of(observations)
        return observations

    def step_wait(self) -> VecEnvStepReturn:
        """Return what the games do, with the bonus in the rewards (float32[num_envs])."""
        observations, rewards, dones, infos = self.venv.step_wait()
        now = self._of(observations)  # of ended games it is the next one's
        bonus = np.where(dones, 0.0, self.gamma * now) - self._before
        cut = [row for row in np.flatnonzero(dones) if infos[row].get("TimeLimit.truncated")]
        if cut:  # that game is not over: the learner estimates what would come
            last = np.stack([infos[row]["terminal_observation"] for row in cut])
            bonus[cut] += self.gamma * self._of(last)
        self._before = now
        return observations, (rewards + bonus).astype(np.float32), dones, infos

    def _of(self, observations: Any) -> np.ndarray:
        found = np.asarray(self.potential(observations), np.float64)
        if found.shape != (len(observations),) or not np.isfinite(found).all():
            raise ParameterError(
                f"the potential of observations {observations.shape} has the shape {found.shape} or is not finite: "
                "return one number for each observation, such as observations[:, 0]"
            )
        return found

    def state_dict(self) -> dict[str, Any]:
        """Return all that going on later needs."""
        return {"before": self._before.copy()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state_dict` was taken."""
        self._before = state["before"].copy()
