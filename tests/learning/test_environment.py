"""The learner's games: as settings have them, shaped, and going on where they were."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

from stable_baselines3.common.vec_env import VecEnvWrapper, VecMonitor, VecNormalize

import dicegym
from dicegym.envs.sb3 import SB3VecEnv
from dicegym.learning.building import new_games
from dicegym.learning.configuration import override
from dicegym.learning.training_settings import TrainingSettings
from dicegym.players.pool import Pool


def games(*overrides: str, game: str = "hog") -> Any:
    settings = override(TrainingSettings(), ["run.games=8", *overrides])
    table = dicegym.game(game)
    return new_games(table, settings, Pool.of(table, table.spec.baseline))


def legal(env: Any, rng: np.random.Generator) -> np.ndarray:
    return np.array([rng.choice(np.flatnonzero(mask)) for mask in env.env_method("action_masks")])


def play(env: Any, steps: int, seed: int = 0) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, list[Any]]]:
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        yield env.step(legal(env, rng))


def test_the_section_takes_what_batches_take() -> None:
    env = games("environment.seat=1", "environment.max_episode_steps=3")
    env.reset()
    seen = [info for step in play(env, 12) for info in step[3] if info]
    assert {info["seat"] for info in seen} == {1}
    assert max(info["episode"]["l"] for info in seen) == 3


@pytest.mark.parametrize("wrapper", [VecMonitor, lambda env: VecNormalize(env, norm_obs=False)])
def test_wrappers_of_stable_baselines3_learn_with_masks(wrapper: Any) -> None:
    from sb3_contrib import MaskablePPO

    env = wrapper(SB3VecEnv("liarsdice", 8, seed=0, on_illegal="raise"))
    assert isinstance(env, VecEnvWrapper)
    MaskablePPO("MlpPolicy", env, n_steps=8, batch_size=32, n_epochs=1, seed=0).learn(128)
