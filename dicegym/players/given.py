"""Players that Python code hands over: a model in memory, a function or a class."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any

from dicegym.bots.bot_player import LiveBot
from dicegym.engine.game import Game
from dicegym.errors import AgentError, ParameterError
from dicegym.escape import describe_raised
from dicegym.games.parts import ADAPTER, part
from dicegym.play.player import FunctionPlayer, Player
from dicegym.play.turn import Turn
from dicegym.players.model import PolicyPlayer, temperature_for

OBSERVATION, MASK = ("observation", "obs"), ("mask", "action_mask")
"""What a function calls its two arguments that is to be asked as a learner is."""


def _ask_as_learners(function: Callable[..., Any], name: str, turn: Turn) -> int:
    """Return what a function says that gets what a seat knows and what is legal. Raises AgentError if it fails."""
    try:
        action: int = function(turn.observation, turn.mask)
    except Exception as error:
        raise AgentError(name, describe_raised(error)) from error
    return action


def is_given(spec: object) -> bool:
    """Return whether ``spec`` is a model in memory, a function or a class, and no `Player`."""
    return not isinstance(spec, Player) and (_is_model(spec) or callable(spec))


def name_of(spec: Any) -> str:
    """Return what reports call it: a function's or class's name, or that of a model's class."""
    named = spec if inspect.isroutine(spec) or inspect.isclass(spec) else type(spec)
    return str(getattr(named, "__name__", "function")).strip("<>")


def player_of(game: Game, spec: Any) -> Player:
    """Return the player of what Python code handed over.

    Args:
        game: the game.
        spec: one of

            * a Stable-Baselines3 model, or a ``torch.nn.Module`` from observations to a score for each action; it plays
              as its file would (`dicegym.players.model.temperature_for`);
            * a function ``(observation, mask)`` -> action, its arguments called so (or ``obs``, ``action_mask``);
              it gets what the seat knows, float32[observation size], and what is legal, bool[n_actions];
            * a function ``(turn)`` -> action, its argument called so (`dicegym.Turn`);
            * a function, or class, of the game's original interface, whatever its arguments are called.

    Raises:
        ModelError: the model does not fit the game.
        ParameterError: a class of `Player` where one of its objects is wanted, a game without an original interface, or
            one that is not the original game.
    """
    name = name_of(spec)
    if _is_model(spec):
        return PolicyPlayer(spec, game, name, temperature=temperature_for(spec, game))
    if inspect.isclass(spec) and issubclass(spec, Player):
        raise ParameterError(f"{name} is a class of players: give one of its objects, {name}()")
    arguments, is_pure = _needed_arguments(spec), getattr(spec, "PURE", False) is True
    if len(arguments) == 2 and arguments[0] in OBSERVATION and arguments[1] in MASK:
        return FunctionPlayer(functools.partial(_ask_as_learners, spec, name), name, is_pure)
    if arguments == ["turn"]:
        return FunctionPlayer(spec, name, is_pure)
    if part(game, ADAPTER) is None:
        raise ParameterError(
            f"{game.spec.title} has no bots of an original interface that {name}({', '.join(arguments)}) could be: "
            "write a function of (observation, mask), with these names, that returns an action"
        )
    game.check_original(name)
    return LiveBot(spec, name, game)


def _is_model(spec: object) -> bool:
    """Return whether this is a model of Stable-Baselines3 or PyTorch, without loading either."""
    if hasattr(spec, "policy") and hasattr(spec, "predict"):
        return True
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(spec, torch.nn.Module)


def _needed_arguments(function: Any) -> list[str]:
    """Return what a function or class calls its arguments without defaults; nothing if that is not known."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [one.name for one in parameters if one.default is one.empty and one.kind is not one.VAR_KEYWORD]
