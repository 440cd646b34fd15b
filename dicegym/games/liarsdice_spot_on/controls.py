"""How a person plays Liar's Dice with "spot on": ``3 4``, ``liar``, ``lose two`` and ``gain one``, or buttons."""

from __future__ import annotations

from typing import Any

from dicegym.errors import ParameterError
from dicegym.games.bidding import controls
from dicegym.games.bidding.table import MOST_QUANTITY
from dicegym.games.keyboard import Place
from dicegym.games.liarsdice_spot_on.rules import GAIN_ONE, LIAR, LOSE_TWO, bid_of
from dicegym.games.liarsdice_spot_on.text import CHALLENGES, TABLE


def may_gain(state: Any, seat: int) -> bool:
    """Return whether ``seat`` has lost a die that it could gain."""
    return bool(state["left"][seat] < state["dice"])


def _refuse(action: int, state: Any, seat: int) -> str:
    return "you have all your dice" if action == GAIN_ONE and not may_gain(state, seat) else ""


_CONTROLS = controls.BidControls(
    TABLE,
    lambda state: MOST_QUANTITY,
    (
        controls.Challenge(LIAR, "liar", "Liar", "l"),
        controls.Challenge(LOSE_TWO, "lose two", "Spot on: lose two", "s", "spot on", exact=True),
        controls.Challenge(GAIN_ONE, "gain one", "Spot on: gain one", "g", "spot on", exact=True),
    ),
    _refuse,
)
SEATS, OPEN, ending, board = controls.SEATS, controls.OPEN, controls.ending, controls.board
list_facts, table, write_actions = controls.list_facts, _CONTROLS.table, _CONTROLS.write_actions
forms, read_form = _CONTROLS.forms, _CONTROLS.read_form
OPPONENTS = {"easy": "timid", "normal": "even", "hard": "bayes"}
HELP = """\
Every player has dice that the others do not see. In turn, bid how many dice
of a face there are on the whole table; sixes are wild and count as any face. A
bid is worth its quantity, doubled for sixes, and must be worth more than the
last one. Or challenge the last bid: a wrong challenge costs you a die. The
last player with dice wins.
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


def read(place: Place, state: Any, text: str) -> list[int]:
    """Return the action that bids or challenges; see `dicegym.games.controls.Controls`."""
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
    action = _CONTROLS.read(place, state, plain if plain in words else text, words, named)
    if action == GAIN_ONE and not gaining:
        raise ParameterError("you have lost no die that you could gain: type `liar` or `spot on lose two`")
    return [action]


def tell(place: Place, before: Any, action: int, after: Any, fault: str, brief: bool) -> list[str]:
    """Return the text of a bid, or of a challenge with all dice; see `dicegym.games.controls.Controls`."""
    quantity, face = (int(number) for number in bid_of(action))
    bid = None if fault or not quantity else (quantity, face)
    said = f'say "{CHALLENGES.get(action, "")}" to'
    return _CONTROLS.tell(place, before, after, said, fault, bid)
