"""The chance outcomes: who opens the first hand, and every seat's roll at the beginning of each hand."""

from __future__ import annotations

from typing import Any

from dicegym.games.bidding import chance

OPENER = -1
"""The number of the draw that decides who opens the first hand; a roll has the number of its seat."""
decisions, unseen = chance.decisions, chance.unseen


def undo(before: Any | None, after: Any) -> list[int]:
    """Take back the draws of a step; see `dicegym.games.bidding.chance.undo`."""
    return [*([OPENER] if before is None else []), *chance.undo(before, after)]


def outcomes(state: Any, draw: int) -> list[tuple[float, str]]:
    """Return the outcomes of a draw: their probabilities and names."""
    if draw != OPENER:
        return chance.outcomes(state, draw)
    players = int(state["players"])
    return [(1 / players, f"seat {seat} opens") for seat in range(players)]


def settle(state: Any, draw: int, outcome: int) -> None:
    """Write the outcome of a draw."""
    if draw == OPENER:
        state["player"] = outcome
    else:
        chance.settle(state, draw, outcome)
