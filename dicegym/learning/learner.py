"""The learner: its networks and algorithm as the settings want them, begun with another's, seen as a player."""

from __future__ import annotations

import inspect
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.utils import LinearSchedule

from dicegym.engine.game import Game
from dicegym.envs.sb3 import SB3VecEnv
from dicegym.errors import ParameterError, unknown_name
from dicegym.learning.settings import AlgorithmSettings, RunSettings, TrainingSettings
from dicegym.players import model as models
from dicegym.players.model import PolicyPlayer
from dicegym.players.pool import Pool

_NOT_ARGUMENTS = ("name", "learning_rate", "learning_rate_end", "ent_coef_end")
"""Settings of the algorithm that its class does not take, or not as they are."""
STAGE = ("command", "timesteps", "seconds", "began_with")
"""What a model says of the one whose networks it began with."""


def new_games(game: Game, run: RunSettings, seed: int, opponent: Pool | PolicyPlayer) -> SB3VecEnv:
    """Return a batch of games; game i has the seed ``seed + i``, which no evaluation has."""
    return SB3VecEnv(game, run.games, seed=seed, reward_scale=run.reward_scale, opponent=opponent)


def new_model(settings: TrainingSettings, env: SB3VecEnv, seed: int, logs: Path | None) -> BaseAlgorithm:
    """Return a model with fresh networks.

    Args:
        settings: of the training.
        env: the games that it learns from.
        seed: of networks, and of whatever the algorithm draws.
        logs: the folder for TensorBoard's files.

    Raises:
        UnknownNameError: there is no such algorithm.
        ParameterError: the algorithm does not take the settings.
    """
    algorithm: type[BaseAlgorithm] = models.algorithm(settings.algorithm.name)
    activation = getattr(torch.nn, settings.network.activation, None)
    if activation is None:
        raise ParameterError(
            f"[network] activation={settings.network.activation!r} is no class of torch.nn, such as ReLU"
        )
    ours: dict[str, Any] = {
        "policy": "MlpPolicy",
        "env": env,
        "seed": seed,
        "policy_kwargs": {"net_arch": settings.network.net_arch, "activation_fn": activation},
        "device": "cpu",
        "tensorboard_log": None if logs is None else str(logs),
        "verbose": 0,
    }
    try:
        return algorithm(**ours, **_arguments(settings.algorithm, algorithm, ours))
    except (TypeError, AssertionError) as error:  # what Stable-Baselines3 raises for its arguments
        raise ParameterError(f"[algorithm] does not fit {algorithm.__name__}: {error}") from None


def _arguments(settings: AlgorithmSettings, algorithm: type[BaseAlgorithm], ours: Collection[str]) -> dict[str, Any]:
    """Return what the algorithm is made with beside ``ours``; what is not given is left to it."""
    arguments = {key: value for key, value in vars(settings).items() if key not in _NOT_ARGUMENTS and value is not None}
    taken = [name for name in inspect.signature(algorithm).parameters if name not in ours]
    for name in arguments:
        if name not in taken:
            known = list(dict.fromkeys([*_NOT_ARGUMENTS, *taken]))  # all that may be written in the section
            wrong = unknown_name(f"argument of {algorithm.__name__}", name, known)
            raise ParameterError(f"[algorithm] does not fit {algorithm.__name__}: {wrong}")
    for name in ("learning_rate", "ent_coef"):
        if getattr(settings, name) is None and getattr(settings, f"{name}_end") is not None:
            raise ParameterError(f"algorithm.{name}_end says where to without where from: set algorithm.{name} too")
    if settings.learning_rate is not None:
        end = settings.learning_rate if settings.learning_rate_end is None else settings.learning_rate_end
        arguments["learning_rate"] = LinearSchedule(settings.learning_rate, end, 1.0)
    return arguments


def anneal(model: BaseAlgorithm, settings: AlgorithmSettings, done: float) -> None:
    """Let the entropy bonus change linearly, which the algorithms themselves do for the learning rate alone.

    Args:
        model: the learner, whose bonus is set.
        settings: with the bonus at the beginning and at the end; without the latter it stays.
        done: the part of the training that is over, from 0 to 1.
    """
    if settings.ent_coef is not None and settings.ent_coef_end is not None:
        model.__dict__["ent_coef"] = (1 - done) * settings.ent_coef + done * settings.ent_coef_end


def start_from(model: BaseAlgorithm, path: str, game: Game) -> tuple[dict[str, Any], np.ndarray]:
    """Let ``model`` take over the networks of a model file.

    Returns:
        What the file says of its training, for the facts of what becomes of it; and the inputs that its networks
        do not ignore (bool[observation_size]).

    Raises:
        ModelError: the file is no model of the game.
        ParameterError: its networks do not fit.
    """
    other, _ = models.load_model(path, game)
    facts = models.facts(path)
    try:
        model.policy.load_state_dict(other.policy.state_dict())
    except (RuntimeError, AttributeError) as error:
        wanted = facts.get("settings", {}).get("network", "those of that model")
        raise ParameterError(
            f"run.start_from={path!r} has other networks than [network] says: set [network] to {wanted}"
        ) from error
    return {name: facts[name] for name in STAGE if name in facts} | {"path": path}, models.heeded(other)


def as_player(model: BaseAlgorithm, game: Game, met: np.ndarray, name: str = "learner") -> PolicyPlayer:
    """Return the learner as it is now (a copy), ignoring inputs that it never ``met`` (bool[observation_size])."""
    with models.ignoring(model, ~met):
        return PolicyPlayer(model, game, name)
