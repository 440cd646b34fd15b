"""How Liar's Dice with "spot on" reads on a screen: names of actions, and one screen of a state."""

from __future__ import annotations

from typing import Any

from dicegym.engine.game import Game
from dicegym.games.bidding import text
from dicegym.games.bidding.text import bid_text, face_plural
from dicegym.games.liarsdice_spot_on.rules import GAIN_ONE, LARGEST, LIAR, LOSE_TWO, NO_ANSWER, WILD, bid_of, least_with

CHALLENGES = {LIAR: "Liar", LOSE_TWO: "Spot on, lose two", GAIN_ONE: "Spot on, gain one"}
"""The challenges by their action, in the words of the original interface."""


def action_name(action: int) -> str:
    """Return what an action means, in words."""
    if action in CHALLENGES:
        return CHALLENGES[action]
    quantity, face = bid_of(action)
    if quantity:
        return bid_text(int(quantity), int(face))
    return "no answer" if action == NO_ANSWER else f"no move ({action})"


TABLE = text.TableText(
    lambda state: f"Liar's Dice, spot on, {face_plural(int(state['faces']))} wild",
    lambda action: f'said "{CHALLENGES[action]}"',
    WILD,
)
scene = TABLE.scene


def limits(game: Game) -> dict[str, tuple[Any, Any]]:
    """Return the least and the largest value of each field; see `dicegym.games.positions.FieldLimits`."""
    return text.limits(game, LARGEST)


def impossible(game: Game, state: Any, seat: int | None) -> str:
    """Return why nobody can have played to a record, of which ``seat`` knows its part; empty if somebody may have."""
    return text.impossible(game, state, seat, least_with(int(state["faces"])), tuple(CHALLENGES))
