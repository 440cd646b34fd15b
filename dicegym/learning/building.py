"""A training's batch of games, and the model that learns there, as its settings say."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.utils import LinearSchedule
from stable_baselines3.common.vec_env import VecEnv

from dicegym.engine.game import Game
from dicegym.envs.sb3 import SB3VecEnv
from dicegym.envs.vector import BatchEnv
from dicegym.errors import ParameterError, one_line, unknown_name
from dicegym.learning.training_settings import AlgorithmSettings, NetworkSettings, TrainingSettings
from dicegym.players import sb3_models
from dicegym.players.pool import Pool
from dicegym.players.sb3_models import check_device

_OURS = ("game", "num_envs", "opponent", "autoreset_mode", "copy", "parameters")
"""What a batch is made with and ``[environment]`` does not say: other sections do, or the training itself,
whose algorithms keep the observations of earlier steps."""
_NOT_ARGUMENTS = ("name", "learning_rate", "learning_rate_end", "ent_coef_end")
"""Settings of the algorithm that its class does not take, or not as they are."""
ROLLOUT = 32_768
"""Decisions that a rollout of PPO holds where nothing is said: Stable-Baselines3's 2,048 for each game are meant for
a few games, not for a thousand."""


def new_games(game: Game, settings: TrainingSettings, opponent: Pool) -> SB3VecEnv:
    """Return a batch of games; game i has the seed ``run.seed + i``, which no evaluation has.

    Raises ParameterError or UnknownNameError if a batch cannot be made of ``[environment]``.
    """
    run = settings.run
    arguments = _environment_arguments(settings)
    arguments |= {"seed": run.seed, "reward_scale": run.reward_scale, "opponent": opponent}
    with enough_memory(f"[run] games={run.games}"):
        return SB3VecEnv(game, run.games, privileged=settings.network.privileged, **arguments)


def check_names(settings: TrainingSettings) -> None:
    """Raise what `new_games` and `new_model` raise for the names that settings hold; nothing is made."""
    _environment_arguments(settings)
    _model_arguments(settings, settings.run.games, int(settings.network.privileged))


def _environment_arguments(settings: TrainingSettings) -> dict[str, Any]:
    """Return what ``[environment]`` says. Raises UnknownNameError if a batch of games does not take it."""
    taken = [name for name in inspect.signature(BatchEnv).parameters if name not in _OURS]
    for name in settings.environment:
        if name not in taken:
            raise unknown_name("[environment] setting", name, taken)
    return dict(settings.environment)


@contextlib.contextmanager
def enough_memory(asked: str) -> Iterator[None]:
    """Raise ParameterError if what is made here cannot have its memory; ``asked`` are the settings that say how much.

    NumPy raises MemoryError, PyTorch a RuntimeError that says so in words.
    """
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "allocate" not in str(error):
            raise
        raise ParameterError(
            f"{asked} cannot be used here, as there is not enough memory ({one_line(error) or 'MemoryError'}): give "
            "smaller numbers"
        ) from None


def new_model(settings: TrainingSettings, env: VecEnv, logs: Path | None) -> BaseAlgorithm:
    """Return a model with fresh networks; TensorBoard's files go into the folder ``logs``, if there is one.

    Raises:
        UnknownNameError: there is no such algorithm, policy or argument.
        ParameterError: the algorithm does not take the settings, or there is not the memory that they ask for.
    """
    algorithm, arguments = _model_arguments(settings, env.num_envs, getattr(env, "privileged", 0))
    arguments |= {"env": env, "tensorboard_log": None if logs is None else str(logs)}
    try:
        with enough_memory("[run] games, [algorithm] and [network]"):
            return algorithm(**arguments)
    except ParameterError:
        raise
    except (TypeError, ValueError, AssertionError) as error:  # what Stable-Baselines3 raises for its arguments
        raise ParameterError(f"{algorithm.__name__} cannot be made of [algorithm] and [network]: {error}") from None


def _model_arguments(
    settings: TrainingSettings, games: int, privileged: int
) -> tuple[type[BaseAlgorithm], dict[str, Any]]:
    """Return an algorithm and what it is made with, but its games and logs; ``privileged`` is as for `_policy`."""
    algorithm: type[BaseAlgorithm] = sb3_models.algorithm(settings.algorithm.name)
    policy, policy_arguments = _policy(settings.network, algorithm, privileged)
    ours: dict[str, Any] = {
        "policy": policy,
        "env": None,
        "seed": settings.run.seed,
        "policy_kwargs": policy_arguments,
        "device": check_device(settings.run.device),
        "tensorboard_log": None,
        "verbose": 0,
    }
    return algorithm, ours | _arguments(settings.algorithm, algorithm, ours, games)


def _policy(settings: NetworkSettings, algorithm: type[BaseAlgorithm], privileged: int) -> tuple[Any, dict[str, Any]]:
    """Return the policy's class and what it is made with; ``privileged`` numbers are for its critic alone."""
    known: Mapping[str, Any] = algorithm.policy_aliases
    if settings.policy not in known:
        raise unknown_name(f"policy of {algorithm.__name__}", settings.policy, list(known))
    policy = known[settings.policy]
    activation = getattr(torch.nn, settings.activation, None)
    if activation is None:
        raise ParameterError(f"[network] activation={settings.activation!r} is not a class of torch.nn, such as ReLU")
    others = ("policy", "activation", "privileged")
    arguments = {key: value for key, value in vars(settings).items() if key not in others and value not in ("", {})}
    if privileged:
        from dicegym.players.asymmetric import AsymmetricPolicy

        if settings.policy != "MlpPolicy" or not issubclass(AsymmetricPolicy, policy):
            raise ParameterError(
                f"[network] privileged=true needs a policy whose critic sees more than its actor, and "
                f"{settings.policy!r} of {algorithm.__name__} is not one: use MlpPolicy of FastMaskablePPO"
            )
        policy, arguments["privileged"] = AsymmetricPolicy, privileged
    return policy, arguments | {"activation_fn": activation}


def _arguments(
    settings: AlgorithmSettings, algorithm: type[BaseAlgorithm], ours: Collection[str], games: int
) -> dict[str, Any]:
    """Return what the algorithm is made with beside ``ours``; what is not given is left to it."""
    arguments = {key: value for key, value in vars(settings).items() if key not in _NOT_ARGUMENTS and value is not None}
    parameters = inspect.signature(algorithm).parameters
    taken = [name for name in parameters if name not in ours and not name.startswith("_")]
    for name, value in arguments.items():
        if name not in taken:
            known = list(dict.fromkeys([*_NOT_ARGUMENTS, *taken]))  # all that may be written in the section
            wrong = unknown_name(f"argument of {algorithm.__name__}", name, known)
            raise ParameterError(f"[algorithm] does not fit {algorithm.__name__}: {wrong}")
        if isinstance(value, str) and not isinstance(parameters[name].default, str):
            raise ParameterError(f"algorithm.{name}={value!r} is a text: give a number, true or false without quotes")
    for name in ("learning_rate", "ent_coef"):
        if getattr(settings, name) is None and getattr(settings, f"{name}_end") is not None:
            raise ParameterError(f"algorithm.{name}_end says where to without where from: set algorithm.{name} too")
    if settings.learning_rate is not None:
        end = settings.learning_rate if settings.learning_rate_end is None else settings.learning_rate_end
        arguments["learning_rate"] = LinearSchedule(settings.learning_rate, end, 1.0)
    if "n_epochs" in taken:  # of PPO's kind: what it has by itself is meant for a few games
        arguments.setdefault("n_steps", max(2, ROLLOUT // games))
        arguments.setdefault("batch_size", max(2, arguments["n_steps"] * games // 4))
    return arguments
