"""How a person plays Liar's Dice with "spot on": ``3 4``, ``liar``, ``lose two`` and ``gain one``, or buttons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dicegym.errors import ParameterError
from dicegym.games.bidding import controls
from dicegym.games.bidding.table import MOST_QUANTITY
from dicegym.games.controls import Fields, Option, PlayForm
from dicegym.games.keyboard import Place
from dicegym.games.liarsdice_spot_on.rules import GAIN_ONE, LIAR, LOSE_TWO, WILD, bid_of, least_with
from dicegym.games.liarsdice_spot_on.text import CHALLENGES

SEATS, OPEN, ending, board = controls.SEATS, controls.OPEN, controls.ending, controls.board
list_facts = controls.list_facts
OPPONENTS = {"easy": "timid", "normal": "even", "hard": "bayes"}
HELP = """\
Everybody has dice that nobody else sees. In turn, bid how many dice of a face
there are on the whole table; sixes are wild and count as any face. A bid is
worth its quantity, of sixes twice that, and must be worth more than the last.
Or challenge the last bid: whoever does so wrongly loses a die. The last player
with dice wins.
  3 4          bid three fours; also `three fours`, `3 fours`, `3x4` and `34`
  liar         there are fewer: the bidder loses a die; also `call`
  lose two     spot on, there are just as many: the bidder loses two dice
  gain one     spot on as well: you gain a die, if you have lost one"""
RULES = HELP
_WORDS = (
    dict.fromkeys(controls.CHALLENGES, LIAR)
    | dict.fromkeys(("spot on lose two", "spot on lose 2", "lose two", "lose 2", "lose"), LOSE_TWO)
    | dict.fromkeys(("spot on gain one", "spot on gain 1", "gain one", "gain 1", "gain"), GAIN_ONE)
)
_SPOT_ON = ("spot on", "spot", "exact", "exactly")


def may_gain(state: Any, seat: int) -> bool:
    """Return whether ``seat`` has lost a die that it could gain."""
    return bool(state["left"][seat] < state["dice"])


def table(place: Place, state: Any, full: bool) -> str:
    """Return cups, bids and chances; see `dicegym.games.keyboard.Keyboard`."""
    view: Any = place.game.view(state, place.seat)
    challenges = [("liar", lambda true, exact: 1 - true), ("spot on", lambda true, exact: exact)]
    return controls.table(place, view, least_with(view.faces), MOST_QUANTITY, WILD, challenges)


def read(place: Place, state: Any, text: str) -> list[int]:
    """Return the action that bids or challenges; see `dicegym.games.keyboard.Keyboard`."""
    view: Any = place.game.view(state, place.seat)
    gaining = may_gain(state, place.seat)
    plain = " ".join(text.replace(",", " ").replace("-", " ").replace(":", " ").strip(" .!").split())
    if plain in _SPOT_ON and view.bids:
        if gaining:
            raise ParameterError(
                "spot on for what? Type `lose two` (the bidder loses two) or `gain one` (you gain one)"
            )
        plain = "lose two"
    named = "`liar`, `lose two` or `gain one`" if gaining else "`liar` or `spot on`"
    words = _WORDS | (dict.fromkeys(_SPOT_ON, LOSE_TWO) if not view.bids else {})
    action = controls.read(plain if plain in words else text, view, least_with(view.faces), MOST_QUANTITY, words, named)
    if action == GAIN_ONE and not gaining:
        raise ParameterError("you have lost no die that you could gain: type `liar` or `spot on lose two`")
    return [action]


def write_actions(place: Place, state: Any, actions: Sequence[int]) -> str:
    """Return the bid or the challenge in words; see `dicegym.games.keyboard.Keyboard`."""
    return controls.write_action(actions[0], {LIAR: "liar", LOSE_TWO: "lose two", GAIN_ONE: "gain one"})


def told(place: Place, before: Any, action: int, after: Any, fault: str, brief: bool) -> list[str]:
    """Return what was bid, or all that a challenge brought to light."""
    quantity, face = (int(number) for number in bid_of(action))
    bid = None if fault or not quantity else (quantity, face)
    said = f'say "{CHALLENGES.get(action, "")}" to'
    return controls.told(place, before, after, said, fault, WILD, brief, bid)


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
    full = "" if may_gain(state, place.seat) else "you have all your dice"
    return [
        Option(str(LIAR), "Liar", f"fewer: {false} likely", key="l"),
        Option(str(LOSE_TWO), "Spot on: lose two", f"exact: {exact} likely", key="s"),
        Option(str(GAIN_ONE), "Spot on: gain one", f"exact: {exact} likely", full, key="g"),
    ]


def chosen(place: Place, state: Any, form: str, fields: Fields) -> list[int]:
    """Return the action that bids or challenges."""
    return [controls.chosen(forms(place, state), form, fields)]
