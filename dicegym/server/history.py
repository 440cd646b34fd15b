"""Read the games and ratings of servers in a store, from a running server or from outside."""

from __future__ import annotations

import os
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from dicegym.arena.store.opening import Database, call_store, location_of
from dicegym.arena.store.reading import StoreReader
from dicegym.arena.store.schema import SERVER_GAMES, SERVER_INCIDENTS, SERVER_RATINGS, SERVER_RESULTS, SERVER_RUNS
from dicegym.errors import ParameterError, UnknownNameError, unknown_name
from dicegym.registry import GAMES
from dicegym.server.admission import fold_name
from dicegym.server.game_results import ForcedTurn, PlayerRating, SeatResult, StoredGame


class ServedResults(Database):
    """A store, as a source of the games and ratings of one game's servers.

    Attributes:
        game: the game's name.
    """

    game: str

    def ratings(self) -> dict[str, PlayerRating]:
        """Return name -> rating of all rated players, the best first."""
        own = SERVER_RATINGS.c
        asked = sa.select(own.name, own.rating, own.games, own.wins).where(own.game == self.game, own.games > 0)
        with self.connection() as connection:
            found = [(row.name, PlayerRating(row.rating, row.games, row.wins)) for row in connection.execute(asked)]
        return dict(sorted(found, key=lambda one: (-one[1].rating, one[0])))

    def games(self, last: int = 0, player: str | None = None) -> list[StoredGame]:
        """Return finished games, the oldest first.

        Args:
            last: number of newest games; 0: all.
            player: only games of this player, in any spelling of the name.

        Raises:
            UnknownNameError: no player of that name has finished a game.
        """
        wanted = games_of(self.game, SERVER_GAMES).order_by(SERVER_GAMES.c.id.desc())
        with self.connection() as connection:
            if player is not None:
                own = sa.select(SERVER_RATINGS.c.name).where(SERVER_RATINGS.c.game == self.game)
                known = list(connection.execute(own).scalars())  # including unrated players
                spellings = [name for name in known if fold_name(name) == fold_name(player)]
                if not spellings:
                    raise unknown_name("player", player, known[:20])
                played = sa.select(SERVER_RESULTS.c.game).where(SERVER_RESULTS.c.name.in_(spellings))
                wanted = wanted.where(SERVER_GAMES.c.id.in_(played))
            found = connection.execute(wanted.limit(min(last, (1 << 63) - 1)) if last else wanted).all()
            return [_game(connection, game) for game in reversed(found)]

    def count_games(self) -> int:
        """Return the number of finished games."""
        with self.connection() as connection:
            return int(connection.execute(games_of(self.game, sa.func.count())).scalar_one())


class Archive(ServedResults, StoreReader):
    """The games and ratings of a game's servers in a store, read-only; a server may be running.

    Args:
        where: path of a file, or URL of a PostgreSQL database.
        game: the game's name; None: the only game in the store.

    Raises:
        ParameterError: no server has written to the store, or servers of several games have and ``game`` is None; and
            the errors of `StoreReader`.
        UnknownNameError: no server of this game has written to it.
    """

    def __init__(self, where: str | os.PathLike[str], game: str | None = None) -> None:
        path = location_of(where).path
        if path is not None and not path.is_file():
            raise ParameterError(f"{path} is not a file: a server makes one where it is started; give its --store")
        super().__init__(where)
        try:
            self.game = self._find_game(game)
        except BaseException:
            self.close()
            raise

    def _find_game(self, game: str | None) -> str:
        with self.connection() as connection:
            there = sorted(connection.execute(sa.select(SERVER_RUNS.c.game).distinct()).scalars())
        store = call_store(self.name)
        if game is not None:
            if there and game not in there:
                if game not in GAMES:
                    raise unknown_name("game", game, there)
                stored = ", ".join(there)
                raise UnknownNameError(f"no server of {game} has stored games in {store}; stored: {stored}")
            return game
        if len(there) != 1:
            found = f"servers of {', '.join(there)} have" if there else "no server has"
            raise ParameterError(f"{found} written to {store}: name the game, or give another --store")
        return str(there[0])


def games_of(game: str, *what: Any) -> sa.Select[Any]:
    """Return a query for columns of all games of the servers of ``game``."""
    joined = sa.select(*what).select_from(SERVER_GAMES).join(SERVER_RUNS, SERVER_RUNS.c.id == SERVER_GAMES.c.run)
    return joined.where(SERVER_RUNS.c.game == game)


def places_and_incidents(connection: sa.Connection, game: int) -> tuple[tuple[SeatResult, ...], tuple[ForcedTurn, ...]]:
    """Return the results of a stored game by seat, and the turns that the server played."""

    def rows(kind: Any, table: sa.Table, order: str) -> tuple[Any, ...]:
        fields = sa.select(*(table.c[field] for field in kind._fields))
        found = connection.execute(fields.where(table.c.game == game).order_by(table.c[order]))
        return tuple(kind(*row) for row in found)

    return rows(SeatResult, SERVER_RESULTS, "seat"), rows(ForcedTurn, SERVER_INCIDENTS, "id")


def _game(connection: sa.Connection, game: sa.Row[Any]) -> StoredGame:
    """Return the game in a row. Raises TypeError or ValueError if the row is damaged."""
    places, incidents = places_and_incidents(connection, game.id)
    if not places or not all(0 <= incident.seat < len(places) for incident in incidents):
        raise ValueError(f"game {game.id} has no results, or a turn of a missing seat")
    datetime.fromisoformat(game.ended)
    return StoredGame(int(game.id), int(game.run), game.ended, float(game.seconds), places, incidents)
