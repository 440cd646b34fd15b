"""Yatzy on a page: dice that are kept are picked, and each open box is a button with what it would score."""

from __future__ import annotations

from typing import Any

from dicegym.games.controls import DiceToggles, Fields, FilledForm, Option, PickOne, PlayForm
from dicegym.games.keyboard import Place, count
from dicegym.games.yatzy.hands import HANDFULS, places_kept
from dicegym.games.yatzy.keyboard import rolling, worth
from dicegym.games.yatzy.rules import FIRST_BOX, ROLL_PLACES
from dicegym.games.yatzy.tables import BOX_NAMES, BOXES, DICE

_ROLL, _SCORE = "roll", "score"
_KEEP, _BOX = "keep", "box"


def forms(place: Place, state: Any) -> list[PlayForm]:
    """Return the forms of another roll and of a box; see `dicegym.games.controls.Controls`."""
    left = int(state["rolls_left"])
    shown = []
    if left:
        dice = DiceToggles(
            _KEEP, "Pick the dice you keep", tuple(state["dice"].tolist()), most=DICE - 1, on="keep", off="roll"
        )
        note = f"{count(left, 'roll')} left; all dice that you do not pick are rolled again."
        shown.append(PlayForm(_ROLL, "Roll the others", (dice,), note))
    points, scores = worth(state), state["scores"][place.seat].tolist()
    options = [
        Option(str(box + 1), BOX_NAMES[box], count(points[box], "point") if points[box] else "0: crossed out")
        for box in range(BOXES)
        if scores[box] < 0
    ]
    send = "Or score a box with these dice" if left else "Score a box"
    shown.append(PlayForm(_SCORE, send, (PickOne(_BOX, "Box", tuple(options)),)))
    return shown


def chosen(place: Place, state: Any, form: str, fields: Fields) -> list[int]:
    """Return the action that rolls or scores."""
    filled = FilledForm(forms(place, state), form, fields)
    if filled.form.name == _SCORE:
        return [FIRST_BOX + int(filled.one(_BOX)) - 1]
    return [_rolled(state, filled.dice(_KEEP))]


def _rolled(state: Any, kept: list[int]) -> int:
    """Return the action that rolls all dice but those in the places ``kept``, an ordinary one where that does it."""
    action = rolling(state, [int(state["dice"][at]) for at in kept])
    mask = sum(1 << at for at in kept)
    return action if int(places_kept(state["dice"], action)) == mask else ROLL_PLACES + HANDFULS - 1 - mask
