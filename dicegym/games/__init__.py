"""The games, a folder for each; `dicegym.games.parts` lists the files beside ``rules.py``."""

from __future__ import annotations

import importlib
import warnings
from typing import TYPE_CHECKING, Any, overload

from dicegym.errors import ConformanceError, ParameterError, one_line, unknown_name
from dicegym.registry import GAMES, is_shipped, rules_module

if TYPE_CHECKING:
    from dicegym.engine.game import Game
    from dicegym.engine.spec import GameSpec, V


def spec(name: str) -> GameSpec:
    """Return the fact sheet of game ``name``.

    Raises:
        UnknownNameError: there is no such game.
        ConformanceError: the game of another package cannot be loaded, or its rules have another name.
    """
    if name not in GAMES:
        raise unknown_name("game", name, list(GAMES))
    module = rules_module(name)
    try:
        found: Any = importlib.import_module(module).SPEC
    except Exception as error:  # another package may raise anything
        if is_shipped(name):
            raise
        reason = f"{type(error).__name__}: {one_line(error)}"
        raise ConformanceError(f"the game {name!r} of {module} cannot be loaded: {reason}") from error
    from dicegym.engine.spec import GameSpec

    if not isinstance(found, GameSpec) or found.name != name:
        seen = f"its SPEC says {found.name!r}" if isinstance(found, GameSpec) else f"its SPEC is {one_line(found)}"
        raise ConformanceError(f"{module} is registered as the game {name!r}, but {seen}: use one name in both places")
    return found


def loadable() -> list[str]:
    """Return the names of the registered games whose rules can be loaded; warn about the others."""
    names = []
    for name in GAMES:
        try:
            spec(name)
        except ConformanceError as error:
            warnings.warn(str(error), RuntimeWarning, stacklevel=2)
        else:
            names.append(name)
    return names


@overload
def game(name: Game[V] | GameSpec[V], players: int | None = None, **parameters: Any) -> Game[V]: ...
@overload
def game(name: str, players: int | None = None, **parameters: Any) -> Game: ...
def game(name: str | Game | GameSpec, players: int | None = None, **parameters: Any) -> Game:
    """Return a game with its parameters set.

    Args:
        name: a registered game's name, the fact sheet of any game, or a `Game`, which is returned unchanged.
        players: number of seats; default: the game's.
        **parameters: the game's own parameters.

    Raises:
        UnknownNameError: there is no such game or parameter.
        ParameterError: a value is out of range, or parameters were given for a `Game`.

    Example:
        >>> import dicegym
        >>> game = dicegym.game("liarsdice", players=3, dice=2)
        >>> game.players, game.all_parameters["dice"], game.n_actions
        (3, 2, 181)
    """
    from dicegym.engine.game import Game  # loads Numba, half a second that `--help` does not need
    from dicegym.engine.spec import GameSpec

    if isinstance(name, Game):
        given = [*(["players"] if players is not None else []), *parameters]
        if given:
            called = repr(name.name) if name.spec.registered else f"{name.spec.module}.SPEC"
            raise ParameterError(
                f"{name!r} has its parameters already and cannot take {', '.join(given)}: "
                f"make another game, dicegym.game({called}, {given[0]}=...)"
            )
        return name
    return Game(name if isinstance(name, GameSpec) else spec(name), players, **parameters)
