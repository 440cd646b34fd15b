"""The controls of games that have none of their own: a button for each legal action.

What it offers is that of a game's ``controls.py`` (`dicegym.games.controls.Controls`), for any game.
"""

from __future__ import annotations

from typing import Any

from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.escape import one_line
from dicegym.games.controls import Controls, Fields, Option, PickOne, PlayForm
from dicegym.games.keyboard import Place
from dicegym.games.parts import CONTROLS, part
from dicegym.players import numbered

FORM, FIELD = "actions", "action"


def controls_of(game: Game) -> Controls:
    """Return how a person plays a game on a page: its own part, or a button for each legal action."""
    own = part(game, CONTROLS)
    return offered if own is None else own


class _Offered:
    """Whatever is legal, by name."""

    def forms(self, place: Place, state: Any) -> list[PlayForm]:
        names = numbered.legal_names(place, state)
        options = tuple(Option(str(action), name) for action, name in names.items())
        return [PlayForm(FORM, "Your move", (PickOne(FIELD, "What you may do", options),))]

    def chosen(self, place: Place, state: Any, form: str, fields: Fields) -> list[int]:
        given = [*fields.get(FIELD, ())]
        names = {str(action): action for action in numbered.legal_names(place, state)}
        if form != FORM or len(given) != 1:
            raise ParameterError("that is no move: choose one of the actions that are shown")
        if given[0] not in names:
            raise ParameterError(f"{one_line(given[0], 40)!r} is no action that is allowed here: choose one shown")
        return [names[given[0]]]


offered: Controls = _Offered()
"""A button for each legal action, for any game."""
