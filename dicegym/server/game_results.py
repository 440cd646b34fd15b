"""Results of a server's games, as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dicegym.arena.ratings.elo import margin

RATED_GAMES = 10
"""Number of games from which on a rating is no longer provisional."""


class ForcedTurn(NamedTuple):
    """A turn that the server played for a player."""

    seat: int
    turn: int
    """Number of the seat's decision in the game, from 1."""
    reason: str


class SeatResult(NamedTuple):
    """The result of a game for one seat."""

    name: str
    total: int
    place: int
    before: float
    """Rating before the game, and after it."""
    after: float
    rated: bool = True
    """Whether the game counts for this seat's rating, games and wins."""


def winners(places: Sequence[SeatResult]) -> list[bool]:
    """Return for each seat whether it came first or tied for first among the rated seats."""
    best = max((place.total for place in places if place.rated), default=0)
    return [place.rated and place.total == best for place in places]


class GameResult(NamedTuple):
    """A finished game."""

    number: int
    """Index in the server's run, from 0."""
    seed: int
    seconds: float
    actions: tuple[int, ...]
    places: tuple[SeatResult, ...]
    """By seat."""
    incidents: tuple[ForcedTurn, ...]


class PlayerRating(NamedTuple):
    """A player's rating, and its numbers of games and wins."""

    rating: float
    games: int
    wins: int

    @property
    def margin(self) -> float:
        """Half the width of the 95% interval in points; see `dicegym.arena.ratings.elo.margin`."""
        return margin(self.games)

    @property
    def provisional(self) -> bool:
        """Whether it is based on fewer than `RATED_GAMES` games."""
        return self.games < RATED_GAMES

    @property
    def text(self) -> str:
        """The rating with its interval as text."""
        return f"{self.rating:.0f} ± {self.margin:.0f}{' provisional' if self.provisional else ''}"


class StoredGame(NamedTuple):
    """A finished game, for lists."""

    id: int
    """Number in the store, from 1."""
    run: int
    ended: str
    """Time in UTC, ISO format."""
    seconds: float
    places: tuple[SeatResult, ...]
    """By seat."""
    incidents: tuple[ForcedTurn, ...]
