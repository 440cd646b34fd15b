"""What is in a server's file of results, for whoever asks from outside: while the server runs, and when it does not.

Nothing is ever written to the file. One of an earlier schema is copied to memory and brought to the present one there.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import sqlalchemy as sa
from filelock import Timeout

from dicegym.arena.store.opening import brought_up, engine_of
from dicegym.arena.store.schema import SCHEMA, game_held, in_words, schema_of
from dicegym.arena.store.tables import SERVER_GAMES, SERVER_RATINGS, SERVER_RESULTS, SERVER_RUNS
from dicegym.arena.store.trouble import damaged
from dicegym.errors import ParameterError, unknown_name
from dicegym.server.pending import Pending
from dicegym.server.results import PlayerRating, RunInfo, ServerState, StoredGame
from dicegym.server.store import is_stored, lock_of, rating_of, told_of, unlock


class ServerStatus(NamedTuple):
    """What can be told of a server from outside."""

    game: str
    database: str
    schema: str
    """Of the file."""
    running: bool
    games: int
    """Finished in all runs."""
    rated: int
    """Names with a rating."""
    run: RunInfo | None
    """The last; None if no server has begun one."""
    waiting: int = 0
    """Results that wait beside the file, as it was locked or full when they came. They are in none of the figures."""


class Archive:
    """A server's file of results, to be read.

    Args:
        path: the file.

    Attributes:
        game: the name of the game whose results it holds.

    Raises:
        ParameterError: there is no such file, or it is none of a server's, damaged, or has a later schema.
        BusyError: another program has locked it.

    What is asked of it raises the same, as not all damage shows at once.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = path = Path(path)
        if not path.is_file():
            raise ParameterError(
                f"{path} is no file: a server writes dicegym-GAME.sqlite where it is started; give its --database"
            )
        self._engine = engine_of(path, writes=False)
        try:
            with in_words(path):
                with self._engine.begin() as connection:
                    self._schema = schema_of(connection, path) or ""
                if not self._schema:
                    raise ParameterError(f"{path} is empty: no server has written to it")
                if self._schema != SCHEMA:
                    self._engine = brought_up(self._engine, self._schema)
            with self._reading() as connection:
                self.game = game_held(connection)
        except BaseException:
            self.close()
            raise

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sa.Connection]:
        """Yield a connection; what goes wrong with it is said in words."""
        with in_words(self.path), self._engine.begin() as connection:
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
        """Let go of the file."""
        self._engine.dispose()

    def ratings(self) -> dict[str, PlayerRating]:
        """Return what is known of each name, the best first."""
        columns = (SERVER_RATINGS.c.name, SERVER_RATINGS.c.rating, SERVER_RATINGS.c.games, SERVER_RATINGS.c.wins)
        rated = sa.select(*columns).where(SERVER_RATINGS.c.games > 0)
        best_first = rated.order_by(SERVER_RATINGS.c.rating.desc(), SERVER_RATINGS.c.name)
        with self._reading() as connection:
            return dict(rating_of(self.path, row) for row in connection.execute(best_first))

    def games(self, last: int = 0, player: str | None = None) -> list[StoredGame]:
        """Return finished games, the oldest first.

        Args:
            last: so many of the newest; 0: all.
            player: those of this player alone.

        Raises:
            UnknownNameError: nobody of that name has finished a game.
        """
        wanted = sa.select(SERVER_GAMES).order_by(SERVER_GAMES.c.id.desc())
        if player is not None:
            with self._reading() as connection:
                known = list(connection.execute(sa.select(SERVER_RATINGS.c.name)).scalars())  # those not rated too
            if player not in known:
                raise unknown_name("player", player, known[:20])
            wanted = wanted.where(
                SERVER_GAMES.c.id.in_(sa.select(SERVER_RESULTS.c.game).where(SERVER_RESULTS.c.name == player))
            )
        if last:
            wanted = wanted.limit(last)
        with self._reading() as connection:
            found = connection.execute(wanted).all()
            return [self._game(connection, game) for game in reversed(found)]

    def status(self) -> ServerStatus:
        """Return how things stand."""
        with self._reading() as connection:
            games = int(connection.execute(sa.select(sa.func.count()).select_from(SERVER_GAMES)).scalar_one())
            counted = sa.select(sa.func.count()).select_from(SERVER_RATINGS).where(SERVER_RATINGS.c.games > 0)
            rated = int(connection.execute(counted).scalar_one())
            run = connection.execute(sa.select(SERVER_RUNS).order_by(SERVER_RUNS.c.id.desc()).limit(1)).first()
            told = None if run is None else self._run(connection, run)
            waiting = sum(not is_stored(connection, one) for one in Pending(self.path).read())
        running = told is not None and told.ended is None and in_use(self.path)
        return ServerStatus(self.game, str(self.path), self._schema, running, games, rated, told, waiting)

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
            raise damaged(self.path, "what it says of its last run is nonsense") from None

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
            raise damaged(self.path, f"what it says of game {game.id} is nonsense") from None


def _date(text: str) -> str:
    """Return a stored date. Raises TypeError or ValueError if it is none."""
    datetime.fromisoformat(text)
    return text


def in_use(path: Path) -> bool:
    """Return whether a server has the file open."""
    lock = lock_of(path, 0)
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
