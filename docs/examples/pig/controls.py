"""Pig on a page: a button to roll, and one to hold that shows the new score."""

from __future__ import annotations

from typing import Any

from dicegym.games.keyboard import Place
from dicegym.games.web_controls import Fields, FilledForm, Option, PickOne, PlayForm

from .rules import HOLD, ROLL

FORM, FIELD = "turn", "choice"


def forms(place: Place, state: Any) -> list[PlayForm]:
    """Return the only form. Before the turn's first roll, the option to hold says why it is refused."""
    score, total = int(state["scores"][place.seat]), int(state["total"])
    options = (
        Option(str(ROLL), "Roll", "a 1 loses the turn total" if total else ""),
        Option(str(HOLD), "Hold", f"{score} + {total} = {score + total}", "" if state["rolls"] else "before a roll"),
    )
    return [PlayForm(FORM, "Roll or hold", (PickOne(FIELD, "Roll or hold", options),))]


def read_form(place: Place, state: Any, form: str, fields: Fields) -> list[int]:
    """Return the action of a filled form."""
    return [int(FilledForm(forms(place, state), form, fields).one(FIELD))]
