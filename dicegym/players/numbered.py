"""Keyboard and controls of games that have none of their own: a numbered list of actions and scenes, and buttons.

The module offers a game's `dicegym.games.keyboard.Keyboard`, and `offered` its `dicegym.games.controls.Controls`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np

from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.escape import one_line
from dicegym.games.controls import Controls, Fields, Option, PickOne, PlayForm
from dicegym.games.keyboard import Place, listed, unread, winners, won
from dicegym.games.parts import CONTROLS, part

MOST_LISTED = 24
"""Actions that are shown unasked; where more are legal, ``list`` shows them all."""

GLUE = "\N{NO-BREAK SPACE}"
"""Stands for spaces at which lines do not end."""

OPPONENTS: Mapping[str, str] = {}
SEATS = 0
OPEN: frozenset[str] = frozenset()
HELP = "Type the number in brackets of an action, its name, or how its name begins."


def legal_names(place: Place, state: Any) -> dict[int, str]:
    """Return the name of each legal action, by its number."""
    return {int(action): place.game.action_name(int(action)) for action in np.flatnonzero(place.game.legal(state))}


def list_of(names: Mapping[int, str], most: int | None = None) -> str:
    """Return actions as a numbered list, the middle left out if there are more than ``most``."""
    shown = [f"[{action}] {name}" for action, name in names.items()]
    if most is not None and len(shown) > most:
        left_out = len(shown) - most
        shown[most // 2 : len(shown) - most // 2] = [f"... {left_out} more (`list` shows all) ..."]
    return "\n".join(textwrap.wrap("  ".join(one.replace(" ", GLUE) for one in shown), 79)).replace(GLUE, " ")


def meant(answer: str, names: Mapping[int, str], bare: bool = True) -> int | None:
    """Return the action whose number or name ``answer`` is, or the only one whose name begins so; else None.

    A number counts in brackets, and if ``bare`` without them too.
    """
    number = answer[1:-1] if answer.startswith("[") and answer.endswith("]") else answer if bare else ""
    if number.isdecimal() and int(number) in names:
        return int(number)
    words = " ".join(answer.lower().split())
    exact = [action for action, name in names.items() if name.lower() == words]
    begun = [action for action, name in names.items() if words and name.lower().startswith(words)]
    found = exact or begun
    return found[0] if len(found) == 1 else None


def table(place: Place, state: Any, full: bool) -> str:
    """Return the scene as the person sees it, and what it may do."""
    names = legal_names(place, state)
    return f"{place.game.scene(state, place.seat).text()}\n{list_of(names, MOST_LISTED)}"


def read(place: Place, state: Any, text: str) -> list[int]:
    """Return the action whose number or name ``text`` is."""
    names = legal_names(place, state)
    action = meant(text, names)
    if action is not None:
        return [action]
    begun = [name for name in names.values() if name.lower().startswith(text)] if text else []
    if len(begun) > 1:
        raise ParameterError(f"{text!r} is the beginning of {listed(begun[:4])}: type more of it, or its number")
    raise unread(text, "a number in brackets or a name; `list` shows all of them")


def told(place: Place, before: Any, action: int, after: Any, fault: str, brief: bool) -> list[str]:
    """Return who did what."""
    mover = int(before["player"])
    return [f"{place.does(mover, 'play')}: {place.game.action_name(action)}{f' ({fault})' if fault else ''}"]


def ending(place: Place, state: Any) -> str:
    """Return the last scene, and who has won."""
    return f"{place.game.scene(state, place.seat).text()}\n{won(place, winners(place, state))}."


FORM, FIELD = "actions", "action"


def controls_of(game: Game) -> Controls:
    """Return how a person plays a game on a page: its own part, or a button for each legal action."""
    own = part(game, CONTROLS)
    return offered if own is None else own


class _Offered:
    """Whatever is legal, by name."""

    def forms(self, place: Place, state: Any) -> list[PlayForm]:
        names = legal_names(place, state)
        options = tuple(Option(str(action), name) for action, name in names.items())
        return [PlayForm(FORM, "Your move", (PickOne(FIELD, "What you may do", options),))]

    def chosen(self, place: Place, state: Any, form: str, fields: Fields) -> list[int]:
        given = [*fields.get(FIELD, ())]
        names = {str(action): action for action in legal_names(place, state)}
        if form != FORM or len(given) != 1:
            raise ParameterError("that is no move: choose one of the actions that are shown")
        if given[0] not in names:
            raise ParameterError(f"{one_line(given[0], 40)!r} is no action that is allowed here: choose one shown")
        return [names[given[0]]]


offered: Controls = _Offered()
"""A button for each legal action, for any game."""
