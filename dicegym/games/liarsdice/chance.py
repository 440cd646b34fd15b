"""What chance decides: every seat's roll, at the beginning of each hand."""

from __future__ import annotations

from dicegym.engine.game import Game
from dicegym.games.bidding.chance import decisions, outcomes, settle, undo, unseen
from dicegym.games.bidding.recall import HandsRecall
from dicegym.games.bidding.table import FACES

__all__ = ["decisions", "outcomes", "recall", "settle", "undo", "unseen"]


def recall(game: Game) -> HandsRecall:
    """Return what writes all that a seat has seen: each hand costs a die, and bids end at the dice of all."""
    dice = game.players * game.parameters["dice"]
    return HandsRecall(game.players, dice - 1, dice * FACES, calls=1)
