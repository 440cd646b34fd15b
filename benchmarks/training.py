"""What training waits for: MaskablePPO on our batch, on single environments, and on one that costs nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import dicegym
from benchmarks.figures import Figure, Measure
from benchmarks.training_setup import TrainingSetup
from dicegym.errors import DependencyError
from dicegym.registry import ENVIRONMENTS

try:
    import gymnasium as gym
    import torch
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv, VecEnvWrapper

    from dicegym.envs.sb3 import SB3VecEnv
except ImportError as error:
    raise DependencyError.for_extra(str(error.name), "train", "dicegym doctor --bench training") from error

MOST_OF_TIME = 5.0
"""Per cent of training time that the environment may take."""
OVER_SINGLE = 3.0
"""How many times as fast as on single environments training is to be."""
OF_CEILING = 95.0
"""Per cent of the speed with a free environment that training is to reach."""


class Stopwatch(VecEnvWrapper):
    """Times what an environment takes: steps, resets and masks."""

    def __init__(self, env: VecEnv) -> None:
        super().__init__(env)
        self.seconds = 0.0

    def _timed(self, work: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        began = time.perf_counter()
        try:
            return work(*arguments, **named)
        finally:
            self.seconds += time.perf_counter() - began

    def reset(self) -> Any:
        """Reset all environments."""
        return self._timed(self.venv.reset)

    def step_async(self, actions: np.ndarray) -> None:
        """Hand over the actions."""
        self._timed(self.venv.step_async, actions)

    def step_wait(self) -> Any:
        """Play them."""
        return self._timed(self.venv.step_wait)

    def env_method(self, method_name: str, *arguments: Any, indices: Any = None, **named: Any) -> list[Any]:
        """Call a method, such as the one that gives masks."""
        found: list[Any] = self._timed(self.venv.env_method, method_name, *arguments, indices=indices, **named)
        return found


class FreeVecEnv(VecEnv):
    """Costs nothing: every step returns the same arrays; all actions are legal, and no episode ends.

    Args:
        num_envs: number of environments.
        observation_size: numbers in an observation.
        n_actions: number of actions.
    """

    def __init__(self, num_envs: int, observation_size: int, n_actions: int) -> None:
        self.render_mode = None
        space = gym.spaces.Box(0.0, 1.0, (observation_size,), np.float32)
        super().__init__(num_envs, space, gym.spaces.Discrete(n_actions))
        generator = np.random.default_rng(0)
        self._observations = generator.random((num_envs, observation_size), np.float32)
        self._rewards = generator.random(num_envs, np.float32)
        self._dones = np.zeros(num_envs, np.bool_)
        self._infos: list[dict[str, Any]] = [{} for _ in range(num_envs)]
        self._masks = list(np.ones((num_envs, n_actions), np.bool_))

    def reset(self) -> Any:
        """Return the observations."""
        return self._observations

    def step_async(self, actions: np.ndarray) -> None:
        """Do nothing."""

    def step_wait(self) -> Any:
        """Return the same as ever."""
        return self._observations, self._rewards, self._dones, self._infos

    def close(self) -> None:
        """Do nothing."""

    def has_attr(self, attr_name: str) -> bool:
        """Return whether it is the one method that there is."""
        return attr_name == "action_masks"

    def env_method(self, method_name: str, *arguments: Any, indices: Any = None, **named: Any) -> list[Any]:
        """Return the masks."""
        return self._masks

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return None for each environment."""
        return [None] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Do nothing."""

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """Return False for each environment."""
        return [False] * self.num_envs


class Trainer:
    """A training that goes on by one rollout and its update at a time."""

    def __init__(self, env: VecEnv, setup: TrainingSetup) -> None:
        self.env = Stopwatch(env)
        self._setup = setup
        self._model = MaskablePPO(
            "MlpPolicy",
            self.env,
            n_steps=setup.rollout // env.num_envs,
            batch_size=setup.batch_size,
            n_epochs=setup.epochs,
            seed=0,
            device="cpu",
        )

    def round(self) -> tuple[float, float]:
        """Train on one more rollout; return (steps a second, per cent of the time spent in the environment)."""
        threads = torch.get_num_threads()
        torch.set_num_threads(self._setup.torch_threads)
        self.env.seconds, began = 0.0, time.perf_counter()
        try:
            self._model.learn(self._setup.rollout, reset_num_timesteps=False)
        finally:
            torch.set_num_threads(threads)
        spent = time.perf_counter() - began
        return self._setup.rollout / spent, 100 * self.env.seconds / spent


def trainers(game: str, setup: TrainingSetup, threads: int = 1) -> list[Trainer]:
    """Return the three trainings of a game against its default opponent: on our batch, on single environments, free."""
    table = dicegym.game(game)
    ours = SB3VecEnv(game, setup.games, seed=0, threads=threads)
    env_id = next(environment.full_id for environment in ENVIRONMENTS if environment.game == game)
    singles = DummyVecEnv([lambda: gym.make(env_id)] * setup.single)
    free = FreeVecEnv(setup.games, table.observation_size, table.n_actions)
    return [Trainer(env, setup) for env in (ours, singles, free)]


def measures(game: str, setup: TrainingSetup, threads: int = 1) -> Iterator[Measure]:
    """Yield the measure of a game's training; each run trains each of the three on one rollout, in turn."""

    def figure(what: str, unit: str, goal: tuple[str, float] | None = None) -> Figure:
        return Figure("training", game, what, unit, goal=goal)

    batch = f"SB3VecEnv of {setup.games} games" + (f" on {threads} threads" if threads > 1 else "")
    single = f"DummyVecEnv of {setup.single} gymnasium.make"
    figures = (
        figure(batch, "steps/s"),
        figure(single, "steps/s"),
        figure("an environment that costs nothing: the ceiling", "steps/s"),
        figure(f"time in the environment, {batch}", "%", ("at most", MOST_OF_TIME)),
        figure(f"time in the environment, {single}", "%"),
        figure(f"{batch} beside {single}", "x", ("at least", OVER_SINGLE)),
        figure(f"{batch}, share of the ceiling", "%", ("at least", OF_CEILING)),
    )
    three: list[Trainer] = []

    def run() -> Sequence[float]:
        if not three:
            three.extend(trainers(game, setup, threads))
        (ours, our_share), (singles, single_share), (free, _) = (trainer.round() for trainer in three)
        return ours, singles, free, our_share, single_share, ours / singles, 100 * ours / free

    yield Measure(figures, run, run)
