"""The games and ratings of servers in a store, read from outside, whether a server runs or not.

Nothing is ever written to the store.
"""

from __future__ import annotations

import json
import os
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import sqlalchemy as sa
from filelock import Timeout

from dicegym.arena.store.opening import SCHEMA, call_store, location_of
from dicegym.arena.store.reading import StoreReader
from dicegym.arena.store.schema import SERVER_GAMES, SERVER_RATINGS, SERVER_RESULTS, SERVER_RUNS
from dicegym.errors import ParameterError, unknown_name
from dicegym.server.admission import fold_name
from dicegym.server.game_results import PlayerRating, RunInfo, ServerState, StoredGame
from dicegym.server.result_store import advisory_key, games_of, lock_of, places_and_incidents, ratings_of, unlock


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
    """The games and ratings of a game's servers in a store, to be read.

    Args:
        where: path of a file, or URL of a PostgreSQL database.
        game: the game's name; None: the only one there is.

    Attributes:
        name: where it is, for people.
        path: of its file; None: it is on a server.
        game: the game's name.

    Raises:
        ParameterError: the store does not exist, or no server has written to it, or those of several games have and no
            game is named; it is damaged, out of reach, or has another schema.
        UnknownNameError: no server of this game has written to it.
        BusyError: another program has locked it.
        DependencyError: it is on a server, and what speaks to that is not installed.

    What is asked of it raises the same, as not all damage shows at once.
    """

    def __init__(self, where: str | os.PathLike[str], game: str | None = None) -> None:
        path = location_of(where).path
        if path is not None and not path.is_file():
            raise ParameterError(f"{path} is not a file: a server makes one where it is started; give its --store")
        self._reader = StoreReader(where)
        self.name, self.path = self._reader.name, self._reader.path
        try:
            self.game = self._found(game)
        except BaseException:
            self.close()
            raise

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
        self._reader.close()

    def _found(self, game: str | None) -> str:
        there = self.games_held()
        if game is not None:
            if there and game not in there:
                raise unknown_name(
                    "game", game, there, f"Of servers in {call_store(self.name)} there are others alone."
                )
            return game
        if not there:
            raise ParameterError(
                f"no server has written to {call_store(self.name)}: give its --store, or name the game"
            )
        if len(there) > 1:
            raise ParameterError(f"{call_store(self.name)} holds what servers of {', '.join(there)} did: name the game")
        return there[0]

    def games_held(self) -> list[str]:
        """Return the names of the games whose servers have written to the store."""
        with self._reader.connection() as connection:
            return sorted(connection.execute(sa.select(SERVER_RUNS.c.game).distinct()).scalars())

    def ratings(self) -> dict[str, PlayerRating]:
        """Return what is known of each name, the best first."""
        with self._reader.connection() as connection:
            found = ratings_of(connection, self.game)
        return dict(sorted(found.items(), key=lambda one: (-one[1].rating, one[0])))

    def games(self, last: int = 0, player: str | None = None) -> list[StoredGame]:
        """Return finished games, the oldest first.

        Args:
            last: how many of the newest; 0: all.
            player: those of this player alone, however its name is spelled.

        Raises:
            UnknownNameError: nobody of that name has finished a game.
        """
        wanted = games_of(self.game, SERVER_GAMES).order_by(SERVER_GAMES.c.id.desc())
        with self._reader.connection() as connection:
            if player is not None:
                own = sa.select(SERVER_RATINGS.c.name).where(SERVER_RATINGS.c.game == self.game)
                known = list(connection.execute(own).scalars())  # those not rated too
                spellings = [name for name in known if fold_name(name) == fold_name(player)]
                if not spellings:
                    raise unknown_name("player", player, known[:20])
                played = sa.select(SERVER_RESULTS.c.game).where(SERVER_RESULTS.c.name.in_(spellings))
                wanted = wanted.where(SERVER_GAMES.c.id.in_(played))
            found = connection.execute(wanted.limit(last) if last else wanted).all()
            return [_game(connection, game) for game in reversed(found)]

    def status(self) -> ServerStatus:
        """Return how things stand."""
        own = SERVER_RATINGS.c
        counted = sa.select(sa.func.count()).where(own.game == self.game, own.games > 0)
        last = sa.select(SERVER_RUNS).where(SERVER_RUNS.c.game == self.game).order_by(SERVER_RUNS.c.id.desc()).limit(1)
        with self._reader.connection() as connection:
            games = int(connection.execute(games_of(self.game, sa.func.count())).scalar_one())
            rated = int(connection.execute(counted).scalar_one())
            row = connection.execute(last).first()
            run = None if row is None else _run(connection, row)
            running = run is not None and run.ended is None and self._in_use(connection)
        return ServerStatus(self.game, self.name, SCHEMA, running, games, rated, run)

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


def _run(connection: sa.Connection, run: sa.Row[Any]) -> RunInfo:
    """Return what a row of the runs says. Raises TypeError or ValueError if it is nonsense, as `_game` does."""
    finished = sa.select(sa.func.count()).select_from(SERVER_GAMES).where(SERVER_GAMES.c.run == run.id)
    state = None
    if run.state is not None:
        told = json.loads(run.state)
        state = ServerState(**told)._replace(
            addresses=tuple(map(str, told["addresses"])), agents=tuple(map(str, told["agents"]))
        )
        if any(type(number) is not int for number in (state.process, state.connections, state.waiting, state.tables)):
            raise ValueError("the state of the last run contains an invalid number")
    ended = None if run.ended is None else _date(run.ended)
    games = int(connection.execute(finished).scalar_one())
    return RunInfo(int(run.id), _date(run.began), ended, str(run.version), games, state)


def _game(connection: sa.Connection, game: sa.Row[Any]) -> StoredGame:
    """Return what a row of the games says, with what belongs to it."""
    places, incidents = places_and_incidents(connection, game.id)
    if not places or not all(0 <= incident.seat < len(places) for incident in incidents):
        raise ValueError(f"game {game.id} has other seats than are played")
    return StoredGame(int(game.id), int(game.run), _date(game.ended), float(game.seconds), places, incidents)


def _date(text: str) -> str:
    """Return a stored date. Raises TypeError or ValueError if it is damaged."""
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
