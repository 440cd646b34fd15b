"""How classic Liar's Dice reads on a screen: names of actions, and one screen of a state."""

from __future__ import annotations

from typing import Any

from dicegym.engine.game import Game
from dicegym.games.bidding import text
from dicegym.games.bidding.text import bid_name
from dicegym.games.liarsdice.rules import LIAR, NO_ANSWER, WILD, least


def action_name(action: int) -> str:
    """Return what an action means, in words."""
    if 0 <= action < LIAR:
        return bid_name(action)
    return {LIAR: "liar", NO_ANSWER: "no answer"}.get(action, f"no play ({action})")


TABLE = text.TableText(lambda state: "Liar's Dice", lambda action: "called liar", WILD)
scene = TABLE.scene


def limits(game: Game) -> dict[str, tuple[Any, Any]]:
    """Return the least and the largest value of each field; see `dicegym.games.positions.FieldLimits`."""
    return text.limits(game, game.players * game.parameters["dice"])


def impossible(game: Game, state: Any, seat: int | None) -> str:
    """Return why nobody can have played to a record, of which ``seat`` knows its part; empty if somebody may have."""
    return text.impossible(game, state, seat, least, (LIAR,))
