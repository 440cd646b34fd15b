"""The batch of games and the model of a training, made from its settings."""

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
from dicegym.learning.training_settings import AlgorithmSettings, NetworkSettings, TrainingSettings, as_whole
from dicegym.players import sb3_models
from dicegym.players.pool import Pool
from dicegym.players.sb3_models import check_device

_OURS = ("game", "num_envs", "opponent", "autoreset_mode", "copy", "parameters")
"""Arguments of a batch that ``[environment]`` does not set: other sections do, or the training itself, whose algorithms
keep the observations of earlier steps."""
_NOT_ARGUMENTS = ("name", "learning_rate", "learning_rate_end", "ent_coef_end")
"""Settings in ``[algorithm]`` that are not passed to the algorithm's class, or not unchanged."""
ROLLOUT = 32_768
"""Decisions in PPO's rollout by default. Stable-Baselines3's 2,048 for each game suit a few games, not a thousand."""


def new_games(game: Game, settings: TrainingSettings, opponent: Pool) -> SB3VecEnv:
    """Return a batch of games; game i has the seed ``run.seed + i``, which no evaluation uses.

    Raises ParameterError or UnknownNameError for an invalid ``[environment]``.
    """
    run = settings.run
    arguments = _environment_arguments(settings)
    arguments |= {"seed": run.seed, "reward_scale": run.reward_scale, "opponent": opponent}
    with enough_memory(f"[run] games={run.games}"):
        return SB3VecEnv(game, run.games, privileged=settings.network.privileged, **arguments)


def check_names(settings: TrainingSettings) -> None:
    """Raise the errors of `new_games` and `new_model` about names in the settings; make nothing."""
    _environment_arguments(settings)
    _model_arguments(settings, settings.run.games, int(settings.network.privileged))


def _environment_arguments(settings: TrainingSettings) -> dict[str, Any]:
    """Return a copy of ``[environment]``. Raises UnknownNameError for an argument that a batch does not take."""
    taken = [name for name in inspect.signature(BatchEnv).parameters if name not in _OURS]
    for name in settings.environment:
        if name not in taken:
            raise unknown_name("[environment] setting", name, taken)
    return dict(settings.environment)


@contextlib.contextmanager
def enough_memory(settings: str) -> Iterator[None]:
    """Raise ParameterError if memory runs out inside; ``settings`` names those that determine how much is needed.

    NumPy raises MemoryError, PyTorch a RuntimeError with a message about it.
    """
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "allocate" not in str(error):
            raise
        raise ParameterError(
            f"{settings} cannot be used here, as there is not enough memory ({one_line(error) or 'MemoryError'}): give "
            "smaller numbers"
        ) from None


def new_model(settings: TrainingSettings, env: VecEnv, logs: Path | None) -> BaseAlgorithm:
    """Return a model with fresh networks that logs to TensorBoard in the folder ``logs``; None: no logs.

    Raises:
        UnknownNameError: there is no such algorithm, policy or argument.
        ParameterError: the algorithm rejects the settings, or they need more memory than there is.
    """
    algorithm, arguments = _model_arguments(settings, env.num_envs, getattr(env, "privileged", 0))
    arguments |= {"env": env, "tensorboard_log": None if logs is None else str(logs)}
    try:
        with enough_memory("[run] games, [algorithm] and [network]"):
            return algorithm(**arguments)
    except ParameterError:
        raise
    except (TypeError, ValueError, AssertionError) as error:  # Stable-Baselines3 rejects arguments with these
        raise ParameterError(f"{algorithm.__name__} cannot be made of [algorithm] and [network]: {error}") from None


def _model_arguments(
    settings: TrainingSettings, games: int, privileged: int
) -> tuple[type[BaseAlgorithm], dict[str, Any]]:
    """Return an algorithm and its arguments, except its games and logs; ``privileged`` is as for `_policy`."""
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
    """Return the policy's class and its arguments; only the critic sees the last ``privileged`` inputs."""
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
    """Return the algorithm's arguments in addition to ``ours``; the algorithm has defaults for the others."""
    arguments = {key: value for key, value in vars(settings).items() if key not in _NOT_ARGUMENTS and value is not None}
    parameters = inspect.signature(algorithm).parameters
    taken = [name for name in parameters if name not in ours and not name.startswith("_")]
    for name, value in arguments.items():
        if name not in taken:
            known = list(dict.fromkeys([*_NOT_ARGUMENTS, *taken]))  # all that may be written in the section
            wrong = unknown_name(f"argument of {algorithm.__name__}", name, known)
            raise ParameterError(f"[algorithm] does not fit {algorithm.__name__}: {wrong}")
        default, kind = parameters[name].default, parameters[name].annotation
        if isinstance(value, str) and not isinstance(default, str):
            raise ParameterError(f"algorithm.{name}={value!r} is a text: give a number, true or false without quotes")
        if isinstance(value, float) and type(default) is int and kind is not float:  # DQN's max_grad_norm: float = 10
            arguments[name] = as_whole(value)
            if isinstance(arguments[name], float):
                raise ParameterError(f"algorithm.{name}={value!r} cannot be used: give a whole number")
    for name in ("learning_rate", "ent_coef"):
        if getattr(settings, name) is None and getattr(settings, f"{name}_end") is not None:
            raise ParameterError(f"algorithm.{name}_end has no start to change from: set algorithm.{name} too")
    if settings.learning_rate is not None:
        end = settings.learning_rate if settings.learning_rate_end is None else settings.learning_rate_end
        arguments["learning_rate"] = LinearSchedule(settings.learning_rate, end, 1.0)
    if "n_epochs" in taken:  # PPO and its kind, whose defaults are meant for a few games
        arguments.setdefault("n_steps", max(2, ROLLOUT // games))
        arguments.setdefault("batch_size", max(2, arguments["n_steps"] * games // 4))
    return arguments
