"""The games that a learner plays: a batch, in the wrappers that the settings put around it."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator
from typing import Any, cast

from stable_baselines3.common.vec_env import VecEnv, VecEnvWrapper

from dicegym.engine.game import Game
from dicegym.envs.sb3 import SB3VecEnv
from dicegym.envs.sb3_tables import MixedTablesVecEnv
from dicegym.envs.vector import BatchEnv
from dicegym.errors import ParameterError, one_line, unknown_name
from dicegym.learning.configuration import load_named
from dicegym.learning.settings import TrainingSettings
from dicegym.players.model import PolicyPlayer
from dicegym.players.pool import Pool

Games = SB3VecEnv | MixedTablesVecEnv
"""Games of a training, before anything is put around them."""
_OURS = ("game", "num_envs", "opponent", "autoreset_mode", "parameters")
"""What a batch is made with and ``[environment]`` does not say: other sections do, or the training itself."""
_WRAP = "environment.wrap"


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
    return wrapped(games, settings.environment.wrap) if settings.environment.wrap else games


def wrapped(games: Games, wrap: str) -> VecEnv:
    """Return ``games`` in what the function or class that ``wrap`` names makes of them.

    Raises:
        ParameterError: that is no wrapper around them, or shows a learner other observations or actions: the model
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
            f"{asked} cannot be used here, as there is not so much memory ({one_line(error) or 'MemoryError'}): give "
            "smaller numbers"
        ) from None
