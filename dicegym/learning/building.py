"""What a training consists of, as its settings want it: a batch of games in wrappers, and a model that learns there."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.utils import LinearSchedule
from stable_baselines3.common.vec_env import VecEnv, VecEnvWrapper

from dicegym.engine.game import Game
from dicegym.envs.sb3 import SB3VecEnv
from dicegym.envs.sb3_tables import MixedTablesVecEnv
from dicegym.envs.vector import BatchEnv
from dicegym.errors import ParameterError, one_line, unknown_name
from dicegym.learning.configuration import load_if_named, load_named
from dicegym.learning.training_settings import AlgorithmSettings, NetworkSettings, TrainingSettings
from dicegym.players import model as models
from dicegym.players.model import PolicyPlayer
from dicegym.players.pool import Pool
from dicegym.players.torch_policy import check_device

Games = SB3VecEnv | MixedTablesVecEnv
"""Games of a training, before anything is put around them."""
_OURS = ("game", "num_envs", "opponent", "autoreset_mode", "parameters")
"""What a batch is made with and ``[environment]`` does not say: other sections do, or the training itself."""
_WRAP = "environment.wrap"
_NOT_ARGUMENTS = ("name", "learning_rate", "learning_rate_end", "ent_coef_end")
"""Settings of the algorithm that its class does not take, or not as they are."""
_NOT_FOR_NETWORKS = ("observation_space", "action_space", "lr_schedule", "activation_fn")
"""Arguments of a policy's class that it is given otherwise."""
ROLLOUT = 32_768
"""Decisions that a rollout of PPO holds where nothing is said: Stable-Baselines3's 2,048 for each game are meant for
a few games, not for a thousand."""


def new_games(game: Game, settings: TrainingSettings, seed: int, opponent: Pool | PolicyPlayer) -> VecEnv:
    """Return a batch of games, wrapped as the settings say; game i has the seed ``seed + i``, which no evaluation has.

    They are at the tables that ``run.tables`` names, or all at that of ``game``.

    Raises:
        ParameterError, UnknownNameError: a batch cannot be made of ``[environment]``, or what it names does not wrap.
    """
    run = settings.run
    arguments = {key: value for key, value in vars(settings.environment).items() if key != "wrap"}
    taken = [name for name in inspect.signature(BatchEnv).parameters if name not in _OURS]
    for name in arguments:
        if name not in taken:
            raise unknown_name("[environment] setting", name, ["wrap", *taken])
    with enough_memory(f"[run] games={run.games}"):
        arguments |= {"seed": seed, "reward_scale": run.reward_scale, "opponent": opponent}
        arguments["privileged"] = settings.network.privileged
        games: Games = (
            MixedTablesVecEnv(game, run.games, run.tables, **arguments)
            if run.tables
            else SB3VecEnv(game, run.games, **arguments)
        )
    return wrap_games(games, settings.environment.wrap) if settings.environment.wrap else games


def wrap_games(games: Games, wrap: str) -> VecEnv:
    """Return ``games`` in what the function or class that ``wrap`` names makes of them.

    Raises:
        ParameterError: that is not a wrapper around them, or shows a learner other observations or actions: the model
            would not fit its game.
        UnknownNameError: ``wrap`` names nothing.
    """
    found = load_named(_WRAP, wrap)(games)
    if not isinstance(found, VecEnv) or found.unwrapped is not games:
        raise ParameterError(
            f"{_WRAP}={wrap!r} returned {found!r}, which does not wrap the games it was given: return a VecEnvWrapper "
            "of stable_baselines3.common.vec_env that is made of them"
        )
    if any(
        getattr(wrapper, "norm_obs", False) for wrapper in _wrappers(found)
    ):  # VecNormalize keeps the space's bounds
        raise ParameterError(
            f"{_WRAP}={wrap!r} normalises observations, which no table does where the model plays later: return "
            "VecNormalize(games, norm_obs=False)"
        )
    for space in ("observation_space", "action_space"):
        if getattr(found, space) != getattr(games, space):
            raise ParameterError(
                f"{_WRAP}={wrap!r} makes the {space} {getattr(found, space)}, where the game has "
                f"{getattr(games, space)}: wrappers may change rewards; a model sees and does, at every table, what is "
                "the game's own (network.features_extractor_class may prepare what it sees)"
            )
    return found


def _wrappers(env: VecEnv) -> Iterator[VecEnvWrapper]:
    """Yield the wrappers around a batch of games, outermost first."""
    while isinstance(env, VecEnvWrapper):
        yield env
        env = env.venv


def games_of(env: VecEnv) -> Games:
    """Return the batch of games inside its wrappers."""
    return cast(Games, env.unwrapped)


def state_of(env: VecEnv) -> dict[str, Any]:
    """Return all that going on later needs: of the games, and of each wrapper that has a ``state_dict``."""
    remembered = [one.state_dict() if hasattr(type(one), "state_dict") else None for one in _wrappers(env)]
    return games_of(env).state_dict() | {"wrappers": remembered}


def continue_games(env: VecEnv, state: dict[str, Any]) -> None:
    """Go on where `state_of` was taken; a wrapper without ``load_state_dict`` begins anew."""
    games_of(env).load_state_dict(state)
    for one, remembered in zip(_wrappers(env), state["wrappers"], strict=True):
        if remembered is not None:
            one.load_state_dict(remembered)


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


# The model


def new_model(settings: TrainingSettings, env: VecEnv, seed: int, logs: Path | None) -> BaseAlgorithm:
    """Return a model with fresh networks.

    Args:
        settings: of the training.
        env: the games that it learns from.
        seed: of networks, and of whatever the algorithm draws.
        logs: the folder for TensorBoard's files; None: it gets none.

    Raises:
        UnknownNameError: there is no such algorithm, policy or argument.
        ParameterError: the algorithm does not take the settings, or there is not the memory that they ask for.
    """
    algorithm: type[BaseAlgorithm] = models.algorithm(settings.algorithm.name)
    policy, policy_arguments = _policy(settings.network, algorithm, getattr(games_of(env), "privileged", 0))
    ours: dict[str, Any] = {
        "policy": policy,
        "env": env,
        "seed": seed,
        "policy_kwargs": policy_arguments,
        "device": check_device(settings.run.device),
        "tensorboard_log": None if logs is None else str(logs),
        "verbose": 0,
    }
    try:
        with enough_memory("[run] games, [algorithm] and [network]"):
            return algorithm(**ours, **_arguments(settings.algorithm, algorithm, ours, env.num_envs))
    except (TypeError, AssertionError) as error:  # what Stable-Baselines3 raises for its arguments
        raise ParameterError(f"{algorithm.__name__} cannot be made of [algorithm] and [network]: {error}") from None


def _policy(settings: NetworkSettings, algorithm: type[BaseAlgorithm], privileged: int) -> tuple[Any, dict[str, Any]]:
    """Return the policy's class and what it is made with; ``privileged`` numbers are for its critic alone."""
    known = algorithm.policy_aliases
    if ":" not in settings.policy and settings.policy not in known:
        raise unknown_name(f"policy of {algorithm.__name__}", settings.policy, list(known))
    policy = load_named("network.policy", settings.policy) if ":" in settings.policy else known[settings.policy]
    if privileged:
        policy = _with_privileged_critic(policy, settings.policy, known)
    activation = getattr(torch.nn, settings.activation, None)
    if activation is None:
        raise ParameterError(f"[network] activation={settings.activation!r} is not a class of torch.nn, such as ReLU")
    arguments: dict[str, Any] = {
        key: load_if_named(f"network.{key}", value)
        for key, value in vars(settings).items()
        if key not in ("policy", "activation", "privileged") and value not in ("", {})
    }
    if privileged:
        arguments["privileged"] = privileged
    parameters = inspect.signature(policy).parameters
    open_ended = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values())
    taken = [name for name in parameters if name not in _NOT_FOR_NETWORKS]
    for name in arguments:
        if name not in taken and not open_ended:
            raise unknown_name(
                f"[network] setting for {policy.__name__}", name, ["policy", "activation", "privileged", *taken]
            )
    return policy, arguments | {"activation_fn": activation}


def _with_privileged_critic(policy: type, asked: str, known: Mapping[str, Any]) -> type:
    """Return the policy's class with a critic that sees more. Raises ParameterError if there is none."""
    from dicegym.players.asymmetric import AsymmetricPolicy

    if issubclass(policy, AsymmetricPolicy):
        return policy
    if asked == "MlpPolicy" and issubclass(AsymmetricPolicy, known["MlpPolicy"]):
        return AsymmetricPolicy
    raise ParameterError(
        f"[network] privileged=true needs a policy whose critic sees more than its actor, and policy={asked!r} of this "
        'algorithm is not one: leave policy at "MlpPolicy" with the algorithm MaskablePPO, or derive yours from '
        "dicegym.players.asymmetric.AsymmetricPolicy"
    )


def _arguments(
    settings: AlgorithmSettings, algorithm: type[BaseAlgorithm], ours: Collection[str], games: int
) -> dict[str, Any]:
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
    if "n_epochs" in taken:  # of PPO's kind: what it has by itself is meant for a few games
        arguments.setdefault("n_steps", max(2, ROLLOUT // games))
        arguments.setdefault("batch_size", max(2, arguments["n_steps"] * games // 4))
    return arguments
