"""FastMaskablePPO beside MaskablePPO on environments of anybody: how fast each learns, and whether both learn alike.

Each trains with the same settings and seeds; a curve is the mean return of the episodes that ended in each tenth of the
training. Two curves are alike where the intervals of their means over the seeds meet.
"""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import torch
from gymnasium.spaces import Box, Dict, Discrete
from pettingzoo.classic import connect_four_v3
from sb3_contrib import MaskablePPO
from scipy import stats
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv

from dicegym.envs.sb3 import SB3VecEnv
from dicegym.learning.fast_ppo import FastMaskablePPO
from dicegym.learning.fast_ppo.environments import with_masks
from dicegym.registry import GAMES

PARTS = 10
"""Points of a curve."""


class ConnectFour(gymnasium.Env[Any, Any]):
    """PettingZoo's connect four against an opponent that drops into any open column; it rewards 1, 0 or -1."""

    observation_space = Dict({"observation": Box(0, 1, (6, 7, 2), np.int8), "action_mask": Box(0, 1, (7,), np.int8)})
    action_space = Discrete(7)

    def __init__(self) -> None:
        self._game = connect_four_v3.env()

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Begin a game, first or second."""
        super().reset(seed=seed)
        self._game.reset()
        self._seat = self._game.agents[int(self.np_random.integers(2))]
        return self._after()[0], {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Drop into a column, and let the opponent do so."""
        self._game.step(int(action))
        observation, over = self._after()
        return observation, float(self._game._cumulative_rewards[self._seat]) if over else 0.0, over, False, {}

    def _after(self) -> tuple[Any, bool]:
        """Let the opponent play until it is the learner's turn or the game is over."""
        game = self._game
        while not any(game.terminations.values()) and game.agent_selection != self._seat:
            mask = game.observe(game.agent_selection)["action_mask"]
            game.step(int(self.np_random.choice(np.flatnonzero(mask))))
        return game.observe(self._seat), any(game.terminations.values())


class Lesson(NamedTuple):
    """What both learn, and with which settings."""

    title: str
    make: Callable[[int], VecEnv]
    """From a seed."""
    steps: int
    settings: dict[str, Any]


def lessons() -> Iterator[Lesson]:
    """Yield everything that is learned."""
    usual = {"n_steps": 128, "batch_size": 256, "n_epochs": 4}
    yield Lesson("CartPole-v1, 8 environments", lambda seed: make_vec_env("CartPole-v1", 8, seed=seed), 60_000, usual)
    yield Lesson("connect four of PettingZoo, 8 environments", _connect_four, 60_000, usual)
    for game in GAMES:
        settings = {"n_steps": 64, "batch_size": 512, "n_epochs": 4}
        yield Lesson(f"{game}, 64 games", partial(_batch, game), 120_000, settings)


def _batch(game: str, seed: int) -> VecEnv:
    return SB3VecEnv(game, 64, seed=seed)


def _connect_four(seed: int) -> VecEnv:
    env = DummyVecEnv([ConnectFour] * 8)
    env.seed(seed)
    return env


class _Episodes(BaseCallback):
    """Notes when each episode ended, and with which return."""

    def __init__(self) -> None:
        super().__init__()
        self.ended: list[tuple[int, float]] = []
        self._returns: np.ndarray = np.zeros(0)

    def _on_training_start(self) -> None:
        self._returns = np.zeros(self.training_env.num_envs)

    def _on_step(self) -> bool:
        self._returns += self.locals["rewards"]
        for row in np.flatnonzero(self.locals["dones"]).tolist():
            self.ended.append((self.num_timesteps, float(self._returns[row])))
            self._returns[row] = 0.0
        return True


class Learned(NamedTuple):
    """One training."""

    speed: float
    """Steps a second of processor time."""
    curve: list[float]


def train(kind: type[MaskablePPO], lesson: Lesson, seed: int) -> Learned:
    """Train once, on one thread."""
    env = with_masks(lesson.make(seed))
    model = kind("MlpPolicy", env, seed=seed, device="cpu", **lesson.settings)
    episodes = _Episodes()
    began = time.process_time()
    model.learn(lesson.steps, callback=episodes)
    speed = lesson.steps / (time.process_time() - began)
    bounds = np.linspace(0, model.num_timesteps, PARTS + 1)
    when, returns = (np.array(one) for one in zip(*episodes.ended, strict=True))
    parts = [returns[(when > low) & (when <= high)] for low, high in itertools.pairwise(bounds)]
    return Learned(speed, [float(part.mean()) if len(part) else float("nan") for part in parts])


def compare(lesson: Lesson, seeds: int, said: Callable[[str], None]) -> dict[str, Any]:
    """Train both in turn with each seed; return what came of it as plain values."""
    found: dict[str, list[Learned]] = {"FastMaskablePPO": [], "MaskablePPO": []}
    for seed in range(seeds):
        for kind in (FastMaskablePPO, MaskablePPO) if seed % 2 else (MaskablePPO, FastMaskablePPO):
            found[kind.__name__].append(train(kind, lesson, seed))
        said(
            f"{lesson.title}: seed {seed} of {seeds}: "
            + ", ".join(f"{n} {r[-1].speed:,.0f}/s" for n, r in found.items())
        )
    speeds = {name: float(np.median([run.speed for run in runs])) for name, runs in found.items()}
    means = {name: np.array([run.curve for run in runs]) for name, runs in found.items()}
    half = {
        name: stats.t.ppf(0.975, seeds - 1) * curves.std(axis=0, ddof=1) / np.sqrt(seeds)
        for name, curves in means.items()
    }
    apart = np.abs(means["FastMaskablePPO"].mean(0) - means["MaskablePPO"].mean(0))
    meets = apart <= half["FastMaskablePPO"] + half["MaskablePPO"]
    return {
        "lesson": lesson.title,
        "steps": lesson.steps,
        "speeds": speeds,
        "ratio": float(np.median([a.speed / b.speed for a, b in zip(*found.values(), strict=True)])),
        "last": {name: (float(curves[:, -1].mean()), float(half[name][-1])) for name, curves in means.items()},
        "points_that_meet": int(meets.sum()),
        "curves": {name: curves.tolist() for name, curves in means.items()},
    }


def table(rows: list[dict[str, Any]]) -> str:
    """Return comparisons as a Markdown table."""
    lines = [
        "| environment | steps | FastMaskablePPO, steps/s | MaskablePPO, steps/s | ratio | last tenth, fast "
        f"| last tenth | points of {PARTS} that meet |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for row in rows:
        speeds, last = row["speeds"], row["last"]
        ends = [f"{mean:.2f} ± {half:.2f}" for mean, half in (last["FastMaskablePPO"], last["MaskablePPO"])]
        rates = [f"{speeds[name]:,.0f}" for name in ("FastMaskablePPO", "MaskablePPO")]
        cells = [row["lesson"], f"{row['steps']:,}", *rates, f"{row['ratio']:.1f}", *ends, str(row["points_that_meet"])]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def compare_all(seeds: int, said: Callable[[str], None]) -> list[dict[str, Any]]:
    """Compare both on every lesson, on one thread."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", UserWarning)
    return [compare(lesson, seeds, said) for lesson in lessons()]
