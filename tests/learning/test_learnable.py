"""Plain PPO learns in every environment with default settings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from dicegym.envs.sb3 import SB3VecEnv
from dicegym.registry import ENVIRONMENTS, Environment

pytestmark = pytest.mark.slow
"""That learners rise at all is always tried by test_fast_ppo_anywhere, and what rewards sum to by test_rewards."""

RISES = {"LiarsDiceSpotOn-v0": 4}
"""By how many standard errors more steps raise results, if less than ten: this game is won or lost, mostly by its dice,
so that a rise from 0.155 to 0.227 in 640,000 steps is 6.2 of them."""

each_environment = pytest.mark.parametrize("environment", ENVIRONMENTS, ids=lambda environment: environment.id)


class Results(BaseCallback):
    """Keeps the result of each episode."""

    def __init__(self) -> None:
        super().__init__()
        self.results: list[float] = []

    def _on_step(self) -> bool:
        self.results += [info["episode"]["r"] for info in self.locals["infos"] if "episode" in info]
        return True


def results(environment: Environment, steps: int, **settings: Any) -> np.ndarray:
    """Train with default settings; return the results of all episodes in order."""
    env = SB3VecEnv(environment.game, 64, seed=1, **environment.settings)
    found, threads = Results(), torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        MaskablePPO("MlpPolicy", env, seed=1, device="cpu", **settings).learn(steps, callback=found)
    finally:
        torch.set_num_threads(threads)
    return np.array(found.results)


def rise(found: np.ndarray) -> float:
    """Return by how many standard errors the last fifth of the episodes is better than the first."""
    n = len(found) // 5
    first, last = found[:n], found[-n:]
    return float((last.mean() - first.mean()) / np.sqrt((first.var() + last.var()) / n))


@each_environment
def test_five_minutes_are_enough(environment: Environment) -> None:
    """With the algorithm's defaults except the rollout; these steps take less than five minutes."""
    found = results(environment, 320_000, n_steps=128, batch_size=512)
    assert rise(found) > RISES.get(environment.id, 10)
