"""What is known of a server: live from a process that was started here, else from what it tells the store."""

from __future__ import annotations

import contextlib
from datetime import datetime
from typing import Any, NamedTuple

from dicegym.errors import ParameterError, UnknownNameError
from dicegym.games.parts import WIRE, part
from dicegym.registry import GAMES
from dicegym.server.game_results import PlayerRating, StoredGame
from dicegym.server.history import Archive, ServerStatus
from dicegym.web.server.processes import ProcessState, StartedServers

LAST_GAMES = 15
MOST_RATED = 100


class Rated(NamedTuple):
    """A row of the ratings."""

    name: str
    rating: float
    games: int
    wins: int

    @property
    def shown(self) -> str:
        """The rating with its interval."""
        return PlayerRating(self.rating, self.games, self.wins).shown


class ServedRow(NamedTuple):
    """A finished game."""

    id: int
    ended: str
    places: str
    """The places of all players, in words."""
    incidents: int


class ServerBoard(NamedTuple):
    """What a page shows of a server."""

    game: str
    held: ProcessState | None
    """As it was started here."""
    status: ServerStatus | None
    """As it tells the store."""
    ratings: list[Rated]
    rated: int
    games: list[ServedRow]

    @property
    def running(self) -> bool:
        """Whether it runs, here or in another process."""
        here = self.held is not None and self.held.running
        return here or (self.status is not None and self.status.running)

    @property
    def live(self) -> dict[str, Any] | None:
        """What its scoreboard shows now, if that is known here."""
        return self.held.board if self.held is not None and self.held.running else None

    @property
    def here(self) -> bool:
        """Whether it was started from the pages and runs."""
        return self.held is not None and self.held.running

    @property
    def error(self) -> str:
        """Why it could not be started from the pages."""
        return self.held.error if self.held is not None else ""

    @property
    def finished(self) -> int:
        """Games in all runs."""
        return self.status.games if self.status else 0

    @property
    def turns_per_second(self) -> float | None:
        """How fast it is now; None: not known here."""
        return (self.live or {}).get("speed")

    @property
    def tables(self) -> list[dict[str, Any]]:
        """Its games in progress, as far as they are known here."""
        return [
            {"number": number, "seats": [{"name": who, "points": has} for who, has in seats], "to_move": mover}
            for number, seats, mover in (self.live or {}).get("tables", ())
        ]

    @property
    def lines(self) -> list[str]:
        """What has happened, the newest last."""
        return list((self.live or {}).get("lines", ()))

    @property
    def addresses(self) -> list[str]:
        """Where it listens."""
        return list(self._told("addresses", ()))

    @property
    def connections(self) -> int:
        """How many bots are connected."""
        return int(self._told("connections", 0))

    @property
    def waiting(self) -> int:
        """How many remote bots wait for a game."""
        return int(self._told("waiting", 0))

    def _told(self, name: str, default: Any) -> Any:
        """Return what it tells here, if it was started here."""
        return (self.live or {}).get(name, default)


def list_served() -> list[str]:
    """Return the games that have a server."""
    return [game for game in GAMES if part(game, WIRE) is not None]


def need_served(game: str) -> None:
    """Raise UnknownNameError for a game that has no server."""
    if game not in list_served():
        raise UnknownNameError(f"{game!r} has no server: use one of {', '.join(list_served())}")


def board(store: str, servers: StartedServers, game: str) -> ServerBoard:
    """Return what is known of the server of a game."""
    held = servers.look(game)
    status: ServerStatus | None = None
    games: list[StoredGame] = []
    ratings: dict[str, PlayerRating] = {}
    with contextlib.suppress(ParameterError, UnknownNameError), Archive(store, game) as archive:  # none has run yet
        status, ratings, games = archive.status(), archive.ratings(), archive.games(LAST_GAMES)
    rows = [Rated(name, *one) for name, one in list(ratings.items())[:MOST_RATED]]
    return ServerBoard(game, held, status, rows, len(ratings), [_row(one) for one in reversed(games)])


def _row(game: StoredGame) -> ServedRow:
    best_first = sorted(game.places, key=lambda place: place.place)
    places = ", ".join(f"{place.place}. {place.name} {place.total}" for place in best_first)
    ended = f"{datetime.fromisoformat(game.ended).astimezone():%Y-%m-%d %H:%M}"
    return ServedRow(game.id, ended, places, len(game.incidents))
