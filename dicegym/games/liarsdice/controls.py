"""How a person plays classic Liar's Dice: ``3 4`` or ``three fours``, and ``liar``; on a page by stepper and face."""

from __future__ import annotations

from typing import Any

from dicegym.errors import ParameterError
from dicegym.games.bidding import controls
from dicegym.games.bidding.table import FACES
from dicegym.games.keyboard import Place
from dicegym.games.liarsdice.rules import LIAR, most
from dicegym.games.liarsdice.text import TABLE

_CONTROLS = controls.BidControls(
    TABLE, lambda state: int(most(state)), (controls.Challenge(LIAR, "liar", "Liar", "l"),)
)
SEATS, OPEN, ending, board = controls.SEATS, controls.OPEN, controls.ending, controls.board
list_facts, table, write_actions = controls.list_facts, _CONTROLS.table, _CONTROLS.write_actions
forms, read_form = _CONTROLS.forms, _CONTROLS.read_form
OPPONENTS = {"easy": "timid", "normal": "honest", "hard": "bayes"}
HELP = """\
Every player has dice that the others do not see. In turn, bid how many dice
of a face there are on the whole table. A bid must be higher than the last one:
more dice of any face, or as many of a higher face. Or call the last bidder a
liar: all dice are shown. If there are fewer than were bid, the bidder loses a
die, otherwise you do. The last player with dice wins.
  3 4            bid three fours; also `three fours`, `3 fours`, `3x4` and `34`
  liar           doubt the last bid; also `call`"""
RULES = HELP
_WORDS = dict.fromkeys((*controls.CHALLENGES, "0"), LIAR)
_NAMED = "`liar`"


def read(place: Place, state: Any, text: str) -> list[int]:
    """Return the action that bids or calls; see `dicegym.games.controls.Controls`."""
    if text.startswith("spot"):
        raise ParameterError("there is no spot on in this game: type a bid such as `3 4`, or `liar`")
    return [_CONTROLS.read(place, state, text, _WORDS, _NAMED)]


def tell(place: Place, before: Any, action: int, after: Any, fault: str, brief: bool) -> list[str]:
    """Return the text of a bid, or of a call with all dice; see `dicegym.games.controls.Controls`."""
    bid = None if fault or action == LIAR else (action // FACES + 1, action % FACES + 1)
    said = "call liar on" if not fault else "are taken to call liar on"
    return _CONTROLS.tell(place, before, after, said, fault, bid)
