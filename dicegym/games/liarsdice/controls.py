"""How a person plays classic Liar's Dice: ``3 4`` or ``three fours``, and ``liar``; on a page by stepper and face."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dicegym.errors import ParameterError
from dicegym.games.bidding import controls
from dicegym.games.bidding.table import FACES
from dicegym.games.controls import Fields, Option, PlayForm
from dicegym.games.keyboard import Place
from dicegym.games.liarsdice.rules import LIAR, WILD, least, most

SEATS, OPEN, ending, board = controls.SEATS, controls.OPEN, controls.ending, controls.board
list_facts = controls.list_facts
OPPONENTS = {"easy": "timid", "normal": "honest", "hard": "bayes"}
HELP = """\
Everybody has dice that nobody else sees. In turn, bid how many dice of a face
there are on the whole table, higher than the last bid: more dice of any face,
or as many of a higher one. Or call the last bidder a liar: all dice are shown,
and if there are fewer than were bid the bidder loses a die, else you do. The
last player with dice wins.
  3 4            bid three fours; also `three fours`, `3 fours`, `3x4` and `34`
  liar           doubt the last bid; also `call`"""
RULES = HELP
_WORDS = dict.fromkeys((*controls.CHALLENGES, "0"), LIAR)
_NAMED = "`liar`"


def table(place: Place, state: Any, full: bool) -> str:
    """Return cups, bids and chances; see `dicegym.games.keyboard.Keyboard`."""
    view: Any = place.game.view(state, place.seat)
    return controls.table(place, view, least, int(most(state)), WILD, [("liar", lambda true, exact: 1 - true)])


def read(place: Place, state: Any, text: str) -> list[int]:
    """Return the action that bids or calls; see `dicegym.games.keyboard.Keyboard`."""
    if text.startswith("spot"):
        raise ParameterError("there is no spot on in this game: type a bid such as `3 4`, or `liar`")
    view: Any = place.game.view(state, place.seat)
    return [controls.read(text, view, least, int(most(state)), _WORDS, _NAMED)]


def write_actions(place: Place, state: Any, actions: Sequence[int]) -> str:
    """Return the bid or ``liar``; see `dicegym.games.keyboard.Keyboard`."""
    return controls.write_action(actions[0], {LIAR: "liar"})


def told(place: Place, before: Any, action: int, after: Any, fault: str, brief: bool) -> list[str]:
    """Return what was bid, or all that a call brought to light."""
    bid = None if fault or action == LIAR else (action // FACES + 1, action % FACES + 1)
    said = "call liar on" if not fault else "are taken to call liar on"
    return controls.told(place, before, after, said, fault, WILD, brief, bid)


def forms(place: Place, state: Any) -> list[PlayForm]:
    """Return the forms of a bid and of a call; see `dicegym.games.controls.Controls`."""
    view: Any = place.game.view(state, place.seat)
    calls = (
        [
            Option(
                str(LIAR), "Liar", f"fewer: {controls.likely(view, lambda true, exact: 1 - true, WILD)} likely", key="l"
            )
        ]
        if view.bids
        else []
    )
    return [*controls.bid_form(view, least, int(most(state)), WILD), *controls.challenge_form(view, calls)]


def chosen(place: Place, state: Any, form: str, fields: Fields) -> list[int]:
    """Return the action that bids or calls."""
    return [controls.chosen(forms(place, state), form, fields)]
