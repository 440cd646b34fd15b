"""The ways in which environments are learned with nothing tuned, Stable-Baselines3's own among them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.utils import set_random_seed

from dicegym.envs.sb3 import SB3VecEnv
from dicegym.errors import unknown_name
from dicegym.players import model_file, sb3_models
from dicegym.registration import register_gymnasium
from dicegym.registry import Environment

_WARM = {"n_steps": 16, "batch_size": 16, "n_epochs": 1}
"""Of a model that is thrown away: what is compiled or loaded the first time is no part of a curve."""


class Way(NamedTuple):
    """A way to learn any environment with nothing chosen but its identifier."""

    name: str
    """By which it is asked for."""
    title: str
    """For people."""
    algorithm: str
    """One of `dicegym.players.model_file.ALGORITHMS`; of those that are not there the way is left out."""
    games: int
    """Of an `SB3VecEnv`; 0: the identifier is given to the algorithm, which calls ``gymnasium.make``."""
    arguments: dict[str, Any] = {}  # noqa: RUF012 - read only: shared by no caller that writes
    """Of the algorithm."""

    def model(self, environment: Environment, seed: int, **changes: Any) -> BaseAlgorithm:
        """Return a new learner in its environment; ``changes`` are other arguments of the algorithm."""
        register_gymnasium()
        set_random_seed(seed)
        games = SB3VecEnv(environment.game, self.games, seed=seed, **environment.settings) if self.games else None
        algorithm: Any = sb3_models.algorithm(self.algorithm)
        arguments = self.arguments | changes
        found: BaseAlgorithm = algorithm(
            "MlpPolicy", games or environment.full_id, seed=seed, device="cpu", **arguments
        )
        return found

    def warm(self, environment: Environment) -> None:
        """Have all compiled and loaded that learning the environment needs."""
        self.model(environment, 0, **_WARM).learn(1)


_BATCH = {"n_steps": 128, "batch_size": 512}
_ALL = (
    Way("single", "MaskablePPO in gymnasium.make, its own defaults", "MaskablePPO", 0),
    Way("batch", "MaskablePPO in 64 games at once", "MaskablePPO", 64, _BATCH),
    Way("fast", "FastMaskablePPO in 64 games at once", "FastMaskablePPO", 64, _BATCH),
)
WAYS = tuple(way for way in _ALL if way.algorithm in model_file.ALGORITHMS)
"""All ways, what Stable-Baselines3 does by itself first."""


def way_named(name: str) -> Way:
    """Return a way by its name. Raises UnknownNameError."""
    for way in WAYS:
        if way.name == name:
            return way
    raise unknown_name("way", name, [way.name for way in WAYS])


def random_play(environment: Environment, episodes: int = 2_000, games: int = 64, seed: int = 0) -> float:
    """Return the mean result of an episode in which the learner draws its actions evenly from the legal ones."""
    env = SB3VecEnv(environment.game, games, seed=seed, **environment.settings)
    env.reset()
    generator = np.random.default_rng(seed)
    results: list[float] = []
    while len(results) < episodes:
        masks = env.action_masks()
        _, _, _, infos = env.step(np.where(masks, generator.random(masks.shape), -1.0).argmax(axis=1))
        results += [info["episode"]["r"] for info in infos if "episode" in info]
    return float(np.mean(results))
