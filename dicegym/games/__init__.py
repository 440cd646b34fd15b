"""The games. Each folder holds one: ``rules.py``, ``text.py``, ``adapter.py``."""

from __future__ import annotations

import importlib
from typing import Any

from dicegym.engine.game import Game
from dicegym.engine.spec import GameSpec
from dicegym.errors import ParameterError, unknown_name
from dicegym.registry import GAMES


def spec(name: str) -> GameSpec:
    """Return the fact sheet of game ``name``. Raises UnknownNameError."""
    if name not in GAMES:
        raise unknown_name("game", name, list(GAMES))
    found: GameSpec = importlib.import_module(f"dicegym.games.{name}.rules").SPEC
    return found


def game(name: str | Game, players: int | None = None, **parameters: Any) -> Game:
    """Return the game ``name`` with its parameters set; a `Game` is returned as it is.

    Raises:
        UnknownNameError: there is no such game or parameter.
        ParameterError: a value is out of range, or a `Game` is to be set anew.
    """
    if isinstance(name, Game):
        given = [*(["players"] if players is not None else []), *parameters]
        if given:
            raise ParameterError(
                f"{name!r} is set already and cannot take {', '.join(given)} again: "
                f"make another by the game's name, dicegym.game({name.name!r}, {given[0]}=...)"
            )
        return name
    return Game(spec(name), players, **parameters)
