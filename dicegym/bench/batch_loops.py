"""Loops over batches: random legal actions in every game of one, each function returning a loop."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

import dicegym
from dicegym.bench.modes import BATCH, SB3_BATCH
from dicegym.bench.timing import Work
from dicegym.engine import loops
from dicegym.engine.batch import Batch
from dicegym.registry import Environment

SEED = np.uint64(0)


class RandomLegal:
    """Chooses for every game of a batch, each time anew.

    Args:
        n: number of games.
    """

    def __init__(self, n: int) -> None:
        self._actions = np.zeros(n, np.int64)
        self._clock = 0

    def __call__(self, masks: np.ndarray) -> np.ndarray:
        """Return a random legal action of each row of ``masks`` (int64[n], overwritten by the next call).

        ``masks`` is bool[n, n_actions], or int8 as in ``info``.
        """
        self._clock += 1
        loops.random_legal(masks.view(np.bool_), SEED, self._clock, 0, self._actions)
        return self._actions


def bare_batch(environment: Environment, n: int = BATCH, threads: int = 1) -> Work:
    """Every seat of ``n`` games; counts decisions."""
    batch = Batch(dicegym.game(environment.game, **environment.settings), n, threads=threads)
    clock = iter(range(1 << 62))

    def work() -> int:
        batch.step(batch.random_actions(next(clock)))
        return n

    return work


def make_vec(environment: Environment, n: int = BATCH, threads: int = 1) -> Work:
    """One seat of ``n`` games against the default opponent; counts the learner's steps."""
    settings: dict[str, Any] = {"autoreset_mode": "SameStep", "copy": False, "threads": threads}
    env: Any = gym.make_vec(environment.full_id, num_envs=n, **settings)
    env.reset(seed=0)
    clock = iter(range(1 << 62))

    def work() -> int:
        env.step(env.random_actions(next(clock)))
        return n

    return work


def sb3(environment: Environment, n: int = SB3_BATCH, threads: int = 1) -> Work:
    """As `make_vec`, through Stable-Baselines3's interface, masks asked for as sb3-contrib asks.

    Raises DependencyError without the extra ``train``.
    """
    from dicegym.envs.sb3 import SB3VecEnv

    env = SB3VecEnv(environment.game, n, seed=0, threads=threads, **environment.settings)
    env.reset()
    choose = RandomLegal(n)

    def work() -> int:
        env.step(choose(np.stack(env.env_method("action_masks"))))
        return n

    return work
