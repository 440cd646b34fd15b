"""What chance decides: every seat's roll, at the beginning of each hand."""

from dicegym.games.bidding.chance import outcomes, settle, undo

__all__ = ["outcomes", "settle", "undo"]
