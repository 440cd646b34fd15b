"""Pig on a page: a button that rolls and one that holds, with what each brings."""

from __future__ import annotations

from typing import Any

from dicegym.games.controls import Fields, FilledForm, Option, PickOne, PlayForm
from dicegym.games.keyboard import Place, count

from .rules import HOLD, ROLL


def forms(place: Place, state: Any) -> list[PlayForm]:
    """Return what the person to move may fill in; see `dicegym.games.controls.Controls`."""
    total, score = int(state["total"]), int(state["scores"][place.seat])
    options = (
        Option(str(ROLL), "Roll", f"a 1 loses {count(total, 'point')}"),
        Option(str(HOLD), "Hold", f"{score} becomes {score + total}", "" if state["rolls"] else "roll once at least"),
    )
    return [PlayForm("turn", "Your turn", (PickOne("action", "Roll or hold", options),))]


def chosen(place: Place, state: Any, form: str, fields: Fields) -> list[int]:
    """Return the action that was chosen."""
    return [int(FilledForm(forms(place, state), form, fields).one("action"))]
