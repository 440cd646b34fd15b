"""Classic Liar's Dice on a screen: names of actions, and a scene of a state."""

from __future__ import annotations

from dicegym.games.bidding.text import TableText, bid_name
from dicegym.games.liarsdice.rules import LIAR, NO_ANSWER, WILD, least


def action_name(action: int) -> str:
    """Return the name of an action."""
    if 0 <= action < LIAR:
        return bid_name(action)
    return {LIAR: "liar", NO_ANSWER: "no answer"}.get(action, f"no play ({action})")


TABLE = TableText(
    title=lambda state: "Liar's Dice",
    name_call=lambda action: "called liar",
    wild=WILD,
    least=lambda state: least,
    most=lambda game: game.players * game.parameters["dice"],
)
scene, limits, impossible = TABLE.scene, TABLE.limits, TABLE.impossible
