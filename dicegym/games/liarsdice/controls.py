"""Classic Liar's Dice on a page: a bid by stepper and face, and a button that calls the last bidder a liar."""

from __future__ import annotations

from typing import Any

from dicegym.games.bidding import controls
from dicegym.games.controls import Fields, Option, PlayForm
from dicegym.games.keyboard import Place
from dicegym.games.liarsdice.rules import LIAR, WILD, least, most


def forms(place: Place, state: Any) -> list[PlayForm]:
    """Return the forms of a bid and of a call; see `dicegym.games.controls.Controls`."""
    view: Any = place.game.view(state, place.seat)
    calls = (
        [Option(str(LIAR), "Liar", f"there are fewer: {controls.likely(view, lambda true, exact: 1 - true, WILD)}")]
        if view.bids
        else []
    )
    return [*controls.bid_form(view, least, int(most(state)), WILD), *controls.challenge_form(view, calls)]


def chosen(place: Place, state: Any, form: str, fields: Fields) -> list[int]:
    """Return the action that bids or calls."""
    return [controls.chosen(forms(place, state), form, fields)]
