"""Lucky & Co on a page: a basket of dice, and rounds in which nothing is ordered."""

from __future__ import annotations

from typing import Any

from dicegym.games.controls import Basket, Fields, FilledForm, Item, PlayForm, Stepper
from dicegym.games.keyboard import Place
from dicegym.games.lucky.catalogue import N_DICE, PRICES
from dicegym.games.lucky.keyboard import FAST, MOST_FAST, amount, gains, income
from dicegym.games.lucky.orders import DONE, order_actions
from dicegym.games.lucky.text import EFFECTS

_ORDER, _NOTHING, _FAST = "order", "nothing", "fast"
_DICE, _ROUNDS = "die", "rounds"


def forms(place: Place, state: Any) -> list[PlayForm]:
    """Return the forms of an order, of none, and of none for some rounds; see `dicegym.games.controls.Controls`."""
    seat = place.seat
    ordered = state["order"][seat]
    left = (state["shop"] - ordered).tolist()
    budget = int(state["money"][seat] - (ordered * PRICES).sum())
    more = gains(place, state)
    items = tuple(
        Item(
            str(kind),
            f"Die {kind}: {EFFECTS[kind]}",
            f"{amount(more[kind])} more points a round",
            int(PRICES[kind]),
            max(0, left[kind]),
        )
        for kind in range(N_DICE)
    )
    note = (
        f"Your dice make about {amount(income(place, state))} points a round. "
        "If all orders together ask for more of a die than are left, nobody gets it."
    )
    rounds = Stepper(_ROUNDS, "Rounds", 1, MOST_FAST, FAST)
    nothing = PlayForm(_NOTHING, "Order nothing and save")
    return [
        *(
            [PlayForm(_ORDER, "Order", (Basket(_DICE, "Your order", items, budget, "money"),), note)]
            if any(kind.most and kind.price <= budget for kind in items)
            else []
        ),
        nothing,
        PlayForm(_FAST, "Order nothing for so many rounds", (rounds,)),
    ]


def chosen(place: Place, state: Any, form: str, fields: Fields) -> list[int]:
    """Return the actions of a whole order, or of empty ones for some rounds."""
    filled = FilledForm(forms(place, state), form, fields)
    if filled.form.name == _NOTHING:
        return [DONE]
    if filled.form.name == _FAST:
        return [DONE] * filled.number(_ROUNDS)
    wanted = filled.basket(_DICE)
    return order_actions([wanted.get(str(kind), 0) for kind in range(N_DICE)])
