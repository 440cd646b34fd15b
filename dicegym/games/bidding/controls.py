"""Games of hidden dice and rising bids on a page: what both Liar's Dice games share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dicegym.games.bidding.keyboard import bid_chance, lowest
from dicegym.games.bidding.table import bid_index
from dicegym.games.bidding.text import bid_text, dice_text, face_plural
from dicegym.games.bidding.view import View
from dicegym.games.controls import FilledForm, Option, PickOne, PlayForm, Stepper
from dicegym.games.keyboard import percent

BID, CHALLENGE = "bid", "challenge"
"""Forms."""
_QUANTITY, _FACE, _CALL = "quantity", "face", "call"


def bid_form(view: View, least: Callable[[int, int, int], int], most: int, wild: bool) -> list[PlayForm]:
    """Return the form of a bid, which begins as the likeliest of the lowest ones; nothing where none is left."""
    low = {face: quantity for quantity, face in lowest(view, least, most)}
    if not low:
        return []
    chances = {face: bid_chance(view, quantity, face, wild)[0] for face, quantity in low.items()}
    first = max(low, key=lambda face: (chances[face], -low[face], -face))
    options = tuple(
        Option(
            str(face),
            face_plural(face),
            f"from {low[face]}: {percent(chances[face])} likely" if face in low else "",
            "" if face in low else "no higher bid is left",
            face,
            low.get(face, 0),
        )
        for face in range(1, view.faces + 1)
    )
    widgets = (
        Stepper(_QUANTITY, "How many", min(low.values()), most, low[first]),
        PickOne(_FACE, "Of which face", options, str(first)),
    )
    total = sum(view.rolled)
    last = (
        f"The bid to beat is {bid_text(view.bids[-1].quantity, view.bids[-1].face)}."
        if view.bids
        else "You open this hand."
    )
    return [
        PlayForm(
            BID, "Bid", widgets, f"{last} {dice_text(total)} are on the table; your own are counted in what is likely."
        )
    ]


def challenge_form(view: View, calls: Sequence[Option]) -> list[PlayForm]:
    """Return the form of a challenge: a button for each of ``calls``; nothing before the first bid."""
    if not view.bids:
        return []
    last = view.bids[-1]
    return [
        PlayForm(
            CHALLENGE, f"Or challenge {bid_text(last.quantity, last.face)}", (PickOne(_CALL, "Call", tuple(calls)),)
        )
    ]


def likely(view: View, chance: Callable[[float, float], float], wild: bool) -> str:
    """Return how likely a challenge of the last bid is right, given the chances that it is true and exact."""
    last = view.bids[-1]
    return f"{percent(chance(*bid_chance(view, last.quantity, last.face, wild)))} likely right"


def chosen(offered: Sequence[PlayForm], form: str, fields: Any) -> int:
    """Return the action of a bid or of a challenge, whose options have actions as values. Raises ParameterError."""
    filled = FilledForm(offered, form, fields)
    if filled.form.name == CHALLENGE:
        return int(filled.one(_CALL))
    face = int(filled.one(_FACE))
    return int(bid_index(filled.number(_QUANTITY), face))
