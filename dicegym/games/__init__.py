"""The games. Each folder holds one; `dicegym.games.parts` lists what may stand in it beside ``rules.py``."""

from __future__ import annotations

import importlib
from typing import Any

from dicegym.engine.game import Game
from dicegym.engine.spec import GameSpec
from dicegym.errors import ParameterError, unknown_name
from dicegym.registry import GAMES, rules_module


def spec(name: str) -> GameSpec:
    """Return the fact sheet of game ``name``. Raises UnknownNameError."""
    if name not in GAMES:
        raise unknown_name("game", name, list(GAMES))
    found: GameSpec = importlib.import_module(rules_module(name)).SPEC
    return found


def game(name: str | Game | GameSpec, players: int | None = None, **parameters: Any) -> Game:
    """Return a game with its parameters set.

    Args:
        name: a registered game's name, the fact sheet of any game, or a `Game`, which is returned as it is.
        players: number of seats; default: the game's.
        **parameters: the game's own parameters.

    Raises:
        UnknownNameError: there is no such game or parameter.
        ParameterError: a value is out of range, or a `Game` is to be set anew.
    """
    if isinstance(name, Game):
        given = [*(["players"] if players is not None else []), *parameters]
        if given:
            raise ParameterError(
                f"{name!r} is set already and cannot take {', '.join(given)} again: "
                f"make another of the game, dicegym.game({_called(name.spec)}, {given[0]}=...)"
            )
        return name
    return Game(name if isinstance(name, GameSpec) else spec(name), players, **parameters)


def _called(spec: GameSpec) -> str:
    """Return what stands for a game in a call."""
    return repr(spec.name) if spec.registered else f"{spec.module}.SPEC"
