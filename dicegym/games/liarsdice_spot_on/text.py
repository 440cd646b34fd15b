"""Liar's Dice with "spot on" on a screen: names of actions, and a scene of a state."""

from __future__ import annotations

from dicegym.games.bidding.text import TableText, bid_text, face_plural
from dicegym.games.liarsdice_spot_on.rules import GAIN_ONE, LARGEST, LIAR, LOSE_TWO, NO_ANSWER, WILD, bid_of, least_with

CHALLENGES = {LIAR: "Liar", LOSE_TWO: "Spot on, lose two", GAIN_ONE: "Spot on, gain one"}
"""The challenges by their action, in the words of the original interface."""


def action_name(action: int) -> str:
    """Return the name of an action."""
    if action in CHALLENGES:
        return CHALLENGES[action]
    quantity, face = bid_of(action)
    if quantity:
        return bid_text(int(quantity), int(face))
    return "no answer" if action == NO_ANSWER else f"no move ({action})"


TABLE = TableText(
    title=lambda state: f"Liar's Dice, spot on, {face_plural(int(state['faces']))} wild",
    name_call=lambda action: f'said "{action_name(action)}"',
    wild=WILD,
    least=lambda state: least_with(int(state["faces"])),
    most=lambda game: LARGEST,
)
scene, limits, impossible = TABLE.scene, TABLE.limits, TABLE.impossible
