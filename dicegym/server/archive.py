"""What servers have held in a store, for whoever asks from outside: while a server runs, and when it does not.

Nothing is ever written to the store.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import sqlalchemy as sa
from filelock import Timeout

from dicegym.arena.store.opening import engine_at, location_of
from dicegym.arena.store.schema import SCHEMA, in_words, is_new
from dicegym.arena.store.tables import SERVER_GAMES, SERVER_RATINGS, SERVER_RESULTS, SERVER_RUNS
from dicegym.arena.store.trouble import called, damaged
from dicegym.errors import ParameterError, unknown_name
from dicegym.server.names import fold_name
from dicegym.server.results import PlayerRating, RunInfo, ServerState, StoredGame
from dicegym.server.store import advisory_key, games_of, lock_of, rating_of, told_of, unlock


class ServerStatus(NamedTuple):
    """What can be told of a server from outside."""

    game: str
    store: str
    """Where it is: path of its file, or URL without a password."""
    schema: str
    """Of the store."""
    running: bool
    games: int
    """Finished in all runs."""
    rated: int
    """Names with a rating."""
    run: RunInfo | None
    """The last; None if no server has begun one."""


class Archive:
    """What servers of a game have held in a store, to be read.

    Args:
        where: path of a file, or URL of a PostgreSQL database.
        game: the game's name; None: the only one there is.

    Attributes:
        name: where it is, for people.
        path: of its file; None: it is on a server.
        game: the game's name.

    Raises:
        ParameterError: there is no such store, or no server has written to it, or those of several games have and none
            is named; it is damaged, out of reach, or has another schema.
        UnknownNameError: no server of this game has written to it.
        BusyError: another program has locked it.
        DependencyError: it is on a server, and what speaks to that is not installed.

    What is asked of it raises the same, as not all damage shows at once.
    """

    def __init__(self, where: str | os.PathLike[str], game: str | None = None, waits: bool = False) -> None:
        location = location_of(where)
        self.name, self.path = location.name, location.path
        if self.path is not None and not self.path.is_file():
            raise ParameterError(f"{self.path} is no file: a server makes one where it is started; give its --store")
        self._engine = engine_at(location, writes=False, waits=waits)
        try:
            self._open()
            self.game = game if game is not None else self._only_game()
            if game is not None and game not in (there := self.games_held()) and there:
                raise unknown_name("game", game, there, f"Of servers in {called(self.name)} there are others alone.")
        except BaseException:
            self.close()
            raise

    def _open(self) -> None:
        with self._reading() as connection:
            if is_new(connection, self.name):
                raise ParameterError(f"{called(self.name)} is empty: no server has written to it")

    def _only_game(self) -> str:
        found = self.games_held()
        if not found:
            raise ParameterError(f"no server has written to {called(self.name)}: give its --store, or name the game")
        if len(found) > 1:
            raise ParameterError(f"{called(self.name)} holds what servers of {', '.join(found)} did: name the game")
        return found[0]

    def games_held(self) -> list[str]:
        """Return the names of the games whose servers have written to the store."""
        with self._reading() as connection:
            return sorted(connection.execute(sa.select(SERVER_RUNS.c.game).distinct()).scalars())

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sa.Connection]:
        """Yield a connection; what goes wrong with it is said in words."""
        with in_words(self.name), self._engine.begin() as connection:
            yield connection

    def __enter__(self) -> Archive:
        """Return it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Let go of the store."""
        self._engine.dispose()

    def ratings(self) -> dict[str, PlayerRating]:
        """Return what is known of each name, the best first."""
        columns = (SERVER_RATINGS.c.name, SERVER_RATINGS.c.rating, SERVER_RATINGS.c.games, SERVER_RATINGS.c.wins)
        rated = sa.select(*columns).where(SERVER_RATINGS.c.game == self.game, SERVER_RATINGS.c.games > 0)
        with self._reading() as connection:
            found = [rating_of(self.name, row) for row in connection.execute(rated)]
        return dict(sorted(found, key=lambda one: (-one[1].rating, one[0])))  # a server may sort names by a language

    def games(self, last: int = 0, player: str | None = None) -> list[StoredGame]:
        """Return finished games, the oldest first.

        Args:
            last: so many of the newest; 0: all.
            player: those of this player alone, however its name is spelled.

        Raises:
            UnknownNameError: nobody of that name has finished a game.
        """
        wanted = games_of(self.game, SERVER_GAMES).order_by(SERVER_GAMES.c.id.desc())
        if player is not None:
            with self._reading() as connection:
                own = sa.select(SERVER_RATINGS.c.name).where(SERVER_RATINGS.c.game == self.game)
                known = list(connection.execute(own).scalars())  # those not rated too
            spellings = [name for name in known if fold_name(name) == fold_name(player)]
            if not spellings:
                raise unknown_name("player", player, known[:20])
            wanted = wanted.where(
                SERVER_GAMES.c.id.in_(sa.select(SERVER_RESULTS.c.game).where(SERVER_RESULTS.c.name.in_(spellings)))
            )
        if last:
            wanted = wanted.limit(last)
        with self._reading() as connection:
            found = connection.execute(wanted).all()
            return [self._game(connection, game) for game in reversed(found)]

    def status(self) -> ServerStatus:
        """Return how things stand."""
        with self._reading() as connection:
            games = int(connection.execute(games_of(self.game, sa.func.count())).scalar_one())
            counted = sa.select(sa.func.count()).select_from(SERVER_RATINGS)
            counted = counted.where(SERVER_RATINGS.c.game == self.game, SERVER_RATINGS.c.games > 0)
            rated = int(connection.execute(counted).scalar_one())
            own = sa.select(SERVER_RUNS).where(SERVER_RUNS.c.game == self.game)
            run = connection.execute(own.order_by(SERVER_RUNS.c.id.desc()).limit(1)).first()
            told = None if run is None else self._run(connection, run)
            running = told is not None and told.ended is None and self._in_use(connection)
        return ServerStatus(self.game, self.name, SCHEMA, running, games, rated, told)

    def _in_use(self, connection: sa.Connection) -> bool:
        if self.path is not None:
            return in_use(self.path, self.game)
        key = advisory_key(self.game)
        taken = sa.text(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND granted "
            "AND classid = :high AND objid = :low "
            "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        )
        return bool(connection.execute(taken, {"high": key >> 32, "low": key & 0xFFFFFFFF}).scalar())

    def _run(self, connection: sa.Connection, run: sa.Row[Any]) -> RunInfo:
        own = sa.select(sa.func.count()).select_from(SERVER_GAMES).where(SERVER_GAMES.c.run == run.id)
        try:
            state = None
            if run.state is not None:
                told = json.loads(run.state)
                state = ServerState(
                    int(told["process"]),
                    tuple(map(str, told["addresses"])),
                    int(told["players"]),
                    tuple(map(str, told["agents"])),
                    int(told["connections"]),
                    int(told["waiting"]),
                    int(told["tables"]),
                    bool(told["resting"]),
                )
            ended = None if run.ended is None else _date(run.ended)
            games = int(connection.execute(own).scalar_one())
            return RunInfo(int(run.id), _date(run.began), ended, str(run.version), games, state)
        except (KeyError, TypeError, ValueError, RecursionError):
            raise damaged(self.name, "what it says of its last run is nonsense") from None

    def _game(self, connection: sa.Connection, game: sa.Row[Any]) -> StoredGame:
        """Return what a row of the games says, with what belongs to it."""
        places, incidents = told_of(connection, game.id)
        try:
            for place in places:
                int(place.total), int(place.place), float(place.before), float(place.after), place.name.encode
            if not places or not all(0 <= incident.seat < len(places) for incident in incidents):
                raise ValueError
            return StoredGame(int(game.id), int(game.run), _date(game.ended), float(game.seconds), places, incidents)
        except (AttributeError, TypeError, ValueError):
            raise damaged(self.name, f"what it says of game {game.id} is nonsense") from None


def _date(text: str) -> str:
    """Return a stored date. Raises TypeError or ValueError if it is none."""
    datetime.fromisoformat(text)
    return text


def in_use(path: Path, game: str) -> bool:
    """Return whether a server of a game has the file open."""
    lock = lock_of(path, game, 0)
    if not Path(lock.lock_file).exists():
        return False
    try:
        lock.acquire()
    except Timeout:
        return True
    except OSError:  # somebody else's, who alone may open it
        return True
    unlock(lock)  # a server that was killed has left it
    return False
