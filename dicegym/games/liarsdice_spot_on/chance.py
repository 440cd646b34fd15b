"""What chance decides: who opens the first hand, and every seat's roll at the beginning of each."""

from __future__ import annotations

from typing import Any

from dicegym.games.bidding import chance

OPENER = -1
"""The draw of who opens the first hand; the others are the seats that roll."""
decisions, unseen = chance.decisions, chance.unseen


def undo(before: Any | None, after: Any) -> list[int]:
    """Take back what chance decided in a step; see `dicegym.games.bidding.chance.undo`."""
    return [*([OPENER] if before is None else []), *chance.undo(before, after)]


def outcomes(state: Any, draw: int) -> list[tuple[float, str]]:
    """Return the outcomes of a draw: their probabilities, and what they are in words."""
    if draw != OPENER:
        return chance.outcomes(state, draw)
    players = int(state["players"])
    return [(1 / players, f"seat {seat} opens") for seat in range(players)]


def settle(state: Any, draw: int, outcome: int) -> None:
    """Let the draw have had this outcome."""
    if draw == OPENER:
        state["player"] = outcome
    else:
        chance.settle(state, draw, outcome)
