"""Results of games and runs of a server, as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dicegym.arena.ratings.elo import margin

RATED_GAMES = 10
"""Games from which on a rating is not provisional any more."""


class ForcedTurn(NamedTuple):
    """A turn that the server had to play for somebody."""

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
    """Whether the game counts for this seat: for its rating, its games and its wins."""


def winners(places: Sequence[SeatResult]) -> list[bool]:
    """Return for each seat whether it came first, alone or with others, among the rated seats."""
    best = max((place.total for place in places if place.rated), default=0)
    return [place.rated and place.total == best for place in places]


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

    @property
    def margin(self) -> float:
        """Half of the rating's 95% interval, in points; see `dicegym.arena.ratings.elo.margin`."""
        return margin(self.games)

    @property
    def provisional(self) -> bool:
        """Whether it rests on too few games to say much."""
        return self.games < RATED_GAMES

    @property
    def text(self) -> str:
        """The rating with its interval, as people see it."""
        return f"{self.rating:.0f} ± {self.margin:.0f}{' provisional' if self.provisional else ''}"


class StoredGame(NamedTuple):
    """A finished game, as it is listed."""

    id: int
    """In the store, from 1."""
    run: int
    ended: str
    """When, in UTC."""
    seconds: float
    places: tuple[SeatResult, ...]
    """By seat."""
    incidents: tuple[ForcedTurn, ...]
