"""Hog on a page: a button for each number of dice, with what it brings."""

from __future__ import annotations

from typing import Any

from dicegym.games.controls import Fields, FilledForm, Option, PickOne, PlayForm
from dicegym.games.hog.keyboard import DICE_NUMBERS, certain, rolled, sides_now
from dicegym.games.hog.rules import FIRST_NUMBER
from dicegym.games.keyboard import NUMBER_WORDS, Place, count, percent

_FORM, _FIELD, _ASKED = "turn", "number", "How many dice"
_BACON, _EXCHANGE = 0, -1


def forms(place: Place, state: Any) -> list[PlayForm]:
    """Return one form: how many dice to roll, or what to do instead; see `dicegym.games.controls.Controls`."""
    options = [
        Option(str(number), f"Roll {count(number, 'die', 'dice')}", _note(place, state, number))
        for number in DICE_NUMBERS
    ]
    options += [
        Option(str(number), name, certain(place, state, number - FIRST_NUMBER))
        for number, name in ((_BACON, "Free bacon"), (_EXCHANGE, "Ham Hijinks"))
    ]
    sides = NUMBER_WORDS[sides_now(state)]
    note = f"The dice have {sides} sides. A 1 among those you roll makes the turn score 1."
    return [PlayForm(_FORM, _ASKED, (PickOne(_FIELD, _ASKED, tuple(options)),), note)]


def chosen(place: Place, state: Any, form: str, fields: Fields) -> list[int]:
    """Return the action of a number of dice."""
    return [int(FilledForm(forms(place, state), form, fields).one(_FIELD)) - FIRST_NUMBER]


def _note(place: Place, state: Any, number: int) -> str:
    lucky, mean = rolled(state, place.seat, number)
    return f"no 1: {percent(lucky)}; mean {mean:.1f}"
