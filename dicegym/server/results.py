"""What games come to, as plain values."""

from __future__ import annotations

from typing import NamedTuple


class ForcedTurn(NamedTuple):
    """A turn that the server had to play for somebody."""

    seat: int
    turn: int
    """Number of the seat's decision in the game, from 1."""
    reason: str


class SeatResult(NamedTuple):
    """What a game came to for one seat."""

    name: str
    total: int
    place: int
    before: float
    """Rating before the game, and after it."""
    after: float


class GameResult(NamedTuple):
    """A finished game."""

    number: int
    """Within the server's run."""
    seed: int
    seconds: float
    actions: tuple[int, ...]
    places: tuple[SeatResult, ...]
    """By seat."""
    incidents: tuple[ForcedTurn, ...]


class PlayerRating(NamedTuple):
    """What is known of a name: its rating, and of how many games."""

    rating: float
    games: int
    wins: int
