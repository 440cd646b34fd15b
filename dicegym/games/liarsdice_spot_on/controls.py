"""Liar's Dice with "spot on" on a page: a bid by stepper and face, and a button for each challenge."""

from __future__ import annotations

from typing import Any

from dicegym.games.bidding import controls
from dicegym.games.bidding.table import MOST_QUANTITY
from dicegym.games.controls import Fields, Option, PlayForm
from dicegym.games.keyboard import Place
from dicegym.games.liarsdice_spot_on.keyboard import may_gain
from dicegym.games.liarsdice_spot_on.rules import GAIN_ONE, LIAR, LOSE_TWO, WILD, least_with


def forms(place: Place, state: Any) -> list[PlayForm]:
    """Return the forms of a bid and of a challenge; see `dicegym.games.controls.Controls`."""
    view: Any = place.game.view(state, place.seat)
    return [
        *controls.bid_form(view, least_with(view.faces), MOST_QUANTITY, WILD),
        *controls.challenge_form(view, _calls(place, state, view)),
    ]


def _calls(place: Place, state: Any, view: Any) -> list[Option]:
    if not view.bids:
        return []
    false = controls.likely(view, lambda true, exact: 1 - true, WILD)
    exact = controls.likely(view, lambda true, exact: exact, WILD)
    full = "" if may_gain(state, place.seat) else "you have lost no die that you could gain"
    return [
        Option(str(LIAR), "Liar", f"there are fewer: {false}"),
        Option(str(LOSE_TWO), "Spot on: lose two", f"just as many, the bidder loses two dice: {exact}"),
        Option(str(GAIN_ONE), "Spot on: gain one", f"just as many, you gain a die: {exact}", full),
    ]


def chosen(place: Place, state: Any, form: str, fields: Fields) -> list[int]:
    """Return the action that bids or challenges."""
    return [controls.chosen(forms(place, state), form, fields)]
