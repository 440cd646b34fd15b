"""The chance outcomes: every seat's roll at the beginning of each hand."""

from __future__ import annotations

from dicegym.games.bidding.chance import decisions, outcomes, settle, undo, unseen

__all__ = ["decisions", "outcomes", "settle", "undo", "unseen"]
