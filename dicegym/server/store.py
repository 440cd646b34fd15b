"""What the server remembers: every finished game and every rating, in a store, where contests may be too.

A game and the ratings that it changed are one transaction, and it is on the disk before anybody is told the result: a
server that is killed has lost no game that it announced and holds none by half. Games in progress are not stored.

There is one server of a game at a time in a store, which a lock tells others. Who only wants to know what is in it
opens an `dicegym.server.archive.Archive`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from filelock import FileLock, Timeout

import dicegym
from dicegym.arena.storage import make_default_folder
from dicegym.arena.store.opening import WRITES, engine_at, engine_of, location_of
from dicegym.arena.store.schema import create_tables, in_words, is_new
from dicegym.arena.store.store import number_of_rules, upsert, write_alone
from dicegym.arena.store.tables import (
    CONTESTS,
    SERVER_GAMES,
    SERVER_INCIDENTS,
    SERVER_RATINGS,
    SERVER_RESULTS,
    SERVER_RUNS,
)
from dicegym.arena.store.trouble import ELSEWHERE, HeldError, called, damaged
from dicegym.engine.game import Game
from dicegym.errors import DamagedFileError
from dicegym.server.results import ForcedTurn, GameResult, PlayerRating, SeatResult, ServerState, winners

WAIT_FOR_LOCK = 0.5
"""Seconds: who asks whether a server runs holds the lock for a moment."""
CACHE_KIB = 128
"""Of the file in memory."""
PATIENCE = 0.5
"""Seconds for which a server that writes waits for another program's lock, before it does something else meanwhile."""


class Store:
    """An open store.

    Args:
        where: path of a file, made if it does not exist, or the URL of a PostgreSQL database. Contests may be in it
            too, and what servers of other games have held.
        game: the name of the game whose results are meant.

    Attributes:
        name: where it is, for people.
        path: of its file; None: it is on a server.

    Raises:
        BusyError: another program has locked the file.
        HeldError: another server of the game has the store.
        ParameterError: the store cannot be used: it is something else, damaged, has another schema, cannot be written
            or is out of reach. A file is then as it was, and nothing lies beside it.
        DependencyError: it is on a server, and what speaks to that is not installed.
    """

    def __init__(self, where: str | os.PathLike[str], game: str) -> None:
        location = location_of(where)
        self.name, self.path, self._game = location.name, location.path, game
        self._run: int | None = None
        self._made, self._lock = False, None
        # One connection, which is set up below: a thread that asks waits until another one has written.
        alone: dict[str, Any] = {"pool_size": 1, "max_overflow": 0}
        if self.path is None:
            self._engine = engine_at(location, **alone)
            sa.event.listen(self._engine, "connect", self._hold_server)
        else:
            self._lock = _locked(self.path, game)
            self._made = not self.path.exists()
            self._engine = engine_of(self.path, busy=PATIENCE, shared=False, **alone)
        try:
            with in_words(self.name):
                self._open()
        except BaseException:
            self.discard()
            raise

    def _hold_server(self, connection: Any, _: object) -> None:
        """Have the store for this process, as long as a connection lasts, each of whose commits is on the disk.

        There is one at a time. Raises HeldError if another process has it.
        """
        with connection.cursor() as cursor:
            cursor.execute("SET synchronous_commit = on")
            cursor.execute("SELECT pg_try_advisory_lock(%s)", (advisory_key(self._game),))
            (taken,) = cursor.fetchone()
        connection.commit()
        if not taken:
            connection.close()
            raise HeldError(_in_use(called(self.name)))

    def _open(self) -> None:
        if self.path is not None:
            with self._engine.begin() as connection:
                whole = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar()
                if whole != "ok":
                    raise damaged(self.name, str(whole).splitlines()[-1])
        with self._writing() as connection:
            if self.path is None:
                write_alone(connection)
            if is_new(connection, self.name):
                create_tables(connection)
        if self.path is not None:
            with contextlib.closing(self._engine.raw_connection()) as raw:  # not before: others' files are not touched
                # Each commit is on the disk when it returns. SQLite would keep 2 MB of what it has written, which looks
                # like a leak for thousands of games; a server writes at the ends of tables and reads nothing back.
                for setting in ("journal_mode=WAL", "synchronous=FULL", f"cache_size=-{CACHE_KIB}"):
                    raw.cursor().execute(f"PRAGMA {setting}")
                for order in (
                    "BEGIN IMMEDIATE",
                    "PRAGMA user_version=0",
                    "ROLLBACK",
                ):  # to be told now if it is not writable
                    raw.cursor().execute(order)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sa.Connection]:
        """Yield a connection in a transaction that waits for its turn, and is kept unless something is raised."""
        connected = self._engine.connect
        with connected().execution_options(**{WRITES: True}) as connection, connection.begin():
            yield connection

    def close(self) -> None:
        """Let go of the store."""
        self._engine.dispose()
        self._unlock()

    def discard(self) -> None:
        """Let go of the store, and remove its file if it was made here and holds nothing: no server has run."""
        empty = False
        if self._made:
            with contextlib.suppress(sa.exc.DBAPIError):
                empty = not sa.inspect(self._engine).get_table_names() or self._is_bare()
        self._engine.dispose()
        if empty and self.path is not None:
            for end in ("", "-wal", "-shm", "-journal"):
                with contextlib.suppress(OSError):
                    self.path.with_name(self.path.name + end).unlink()
        self._unlock()

    def _is_bare(self) -> bool:
        """Return whether there is neither a game of a server nor a contest in it."""
        with self._engine.connect() as connection:
            tables = (SERVER_GAMES, CONTESTS)
            return all(connection.execute(sa.select(table.c.id).limit(1)).first() is None for table in tables)

    def _unlock(self) -> None:
        if self._lock is not None:
            unlock(self._lock)

    def begin_run(self, seed: int, table: Game | None = None) -> int:
        """Take note that a server has started; return the number of its run: of all in the store, from 1.

        Args:
            seed: of all its dice.
            table: the game as it is played, whose rules are noted; None: nobody knows.

        Raises:
            ParameterError: the store cannot be written.
        """
        row = {"began": _now(), "seed": str(seed), "version": dicegym.__version__}
        with in_words(self.name), self._writing() as connection:
            if self.path is None:
                write_alone(connection)
            rules = None if table is None else number_of_rules(connection, table)
            values = {**row, "game": self._game, "rules": rules}
            number = int(connection.execute(SERVER_RUNS.insert().values(values)).inserted_primary_key[0])  # type: ignore[index]  # an insert of one row has one
        self._run = number
        return number

    def note(self, state: ServerState, ended: bool = False) -> None:
        """Keep what the run is doing, for who asks from outside, and whether that was the last."""
        changed = {"state": json.dumps(state._asdict()), **({"ended": _now()} if ended else {})}
        with self._writing() as connection:
            connection.execute(SERVER_RUNS.update().where(SERVER_RUNS.c.id == self._running).values(changed))

    def ratings(self) -> dict[str, PlayerRating]:
        """Return what is known of each name."""
        columns = (SERVER_RATINGS.c.name, SERVER_RATINGS.c.rating, SERVER_RATINGS.c.games, SERVER_RATINGS.c.wins)
        own = (SERVER_RATINGS.c.game == self._game) & (SERVER_RATINGS.c.games > 0)
        with in_words(self.name), self._engine.connect() as connection:
            return dict(rating_of(self.name, row) for row in connection.execute(sa.select(*columns).where(own)))

    def finished(self) -> int:
        """Return the number of games stored."""
        with in_words(self.name), self._engine.connect() as connection:
            return int(connection.execute(games_of(self._game, sa.func.count())).scalar_one())

    def results(self) -> Iterator[GameResult]:
        """Yield every game, in the order in which they were stored."""
        with self._engine.connect() as connection:
            games = connection.execute(games_of(self._game, SERVER_GAMES).order_by(SERVER_GAMES.c.id)).all()
            for game in games:
                places, incidents = told_of(connection, game.id)
                actions = tuple(json.loads(game.actions))
                yield GameResult(game.number, int(game.seed), game.seconds, actions, places, incidents)

    def write(self, results: Sequence[GameResult]) -> None:
        """Store games, all or none, with the ratings they led to; later ones count."""
        now = _now()
        with self._writing() as connection:
            for result in results:
                self._write(connection, result, now)

    def _write(self, connection: sa.Connection, result: GameResult, ended: str) -> None:
        row = {
            "run": self._running,
            "number": result.number,
            "seed": str(result.seed),
            "ended": ended,
            "seconds": round(result.seconds, 3),
            "actions": json.dumps(result.actions, separators=(",", ":")),
        }
        new = upsert(connection, SERVER_GAMES).values(row).on_conflict_do_nothing(index_elements=["run", "number"])
        game = connection.execute(new.returning(SERVER_GAMES.c.id)).scalar()
        if game is None:  # it was stored, and the connection broke before a server said so
            return
        for place, won in zip(result.places, winners(result.places), strict=True):
            counts = int(place.rated)
            rating = {"game": self._game, "name": place.name, "rating": place.after, "games": counts, "wins": int(won)}
            games, wins = SERVER_RATINGS.c.games + 1, SERVER_RATINGS.c.wins + int(won)
            known = upsert(connection, SERVER_RATINGS).values(rating)
            key = ["game", "name"]
            connection.execute(
                known.on_conflict_do_update(
                    index_elements=key, set_={"rating": place.after, "games": games, "wins": wins}
                )
                if counts
                else known.on_conflict_do_nothing(index_elements=key)
            )
        places = [{"game": game, "seat": seat} | place._asdict() for seat, place in enumerate(result.places)]
        connection.execute(SERVER_RESULTS.insert(), places)
        if result.incidents:
            connection.execute(
                SERVER_INCIDENTS.insert(), [{"game": game} | found._asdict() for found in result.incidents]
            )

    @property
    def _running(self) -> int:
        """The number of the run."""
        if self._run is None:
            raise RuntimeError("no run has begun")
        return self._run


def games_of(game: str, *what: Any) -> sa.Select[Any]:
    """Return the question for something of all games that servers of ``game`` have held."""
    return (
        sa.select(*what)
        .select_from(SERVER_GAMES)
        .join(SERVER_RUNS, SERVER_RUNS.c.id == SERVER_GAMES.c.run)
        .where(SERVER_RUNS.c.game == game)
    )


def rating_of(name_of_store: str, row: Sequence[Any]) -> tuple[str, PlayerRating]:
    """Return what a row of ratings says. Raises ParameterError if that is nonsense."""
    name, rating, games, wins = row
    if not isinstance(name, str) or not all(isinstance(one, int) for one in (games, wins)):
        raise damaged(name_of_store, "a name or number in its ratings is none")
    if not isinstance(rating, int | float) or not math.isfinite(rating):
        raise damaged(name_of_store, "a rating in it is no number")
    return name, PlayerRating(rating, games, wins)


def told_of(connection: sa.Connection, game: int) -> tuple[tuple[SeatResult, ...], tuple[ForcedTurn, ...]]:
    """Return what a stored game came to for each seat, and what went wrong in it."""
    places = connection.execute(
        sa.select(
            SERVER_RESULTS.c.name,
            SERVER_RESULTS.c.total,
            SERVER_RESULTS.c.place,
            SERVER_RESULTS.c.before,
            SERVER_RESULTS.c.after,
            SERVER_RESULTS.c.rated,
        )
        .where(SERVER_RESULTS.c.game == game)
        .order_by(SERVER_RESULTS.c.seat)
    )
    incidents = connection.execute(
        sa.select(SERVER_INCIDENTS.c.seat, SERVER_INCIDENTS.c.turn, SERVER_INCIDENTS.c.reason)
        .where(SERVER_INCIDENTS.c.game == game)
        .order_by(SERVER_INCIDENTS.c.id)
    )
    return tuple(SeatResult(*row) for row in places), tuple(ForcedTurn(*row) for row in incidents)


def lock_of(path: Path, game: str, wait: float) -> FileLock:
    """Return the lock on a file beside ``path`` that says until it is released that a server of a game uses it."""
    return FileLock(path.with_name(f"{path.name}-{game}-lock"), timeout=wait)


def advisory_key(game: str) -> int:
    """Return the number of the lock on a PostgreSQL server that says that a server of a game uses the store."""
    return int.from_bytes(hashlib.sha256(f"dicegym server {game}".encode()).digest()[:7], "big")


def unlock(lock: FileLock) -> None:
    """Release a lock, and remove its file: who waits for it takes note of that."""
    with contextlib.suppress(OSError):  # Windows removes no open file: filelock does it there when it is closed
        Path(lock.lock_file).unlink()
    lock.release()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _in_use(what: str) -> str:
    return f"{what} is in use by another server: stop that, or {ELSEWHERE}"


def _locked(path: Path, game: str) -> FileLock:
    lock = lock_of(path, game, WAIT_FOR_LOCK)
    try:
        make_default_folder(path)
        path.parent.stat()  # the lock would make a folder that is missing, and so hide a slip of the pen
        lock.acquire()
    except Timeout:
        raise HeldError(_in_use(str(path))) from None
    except OSError as error:
        raise DamagedFileError(path, f"cannot be used for results ({error.strerror})", ELSEWHERE) from None
    if path.exists() and not path.is_file():
        unlock(lock)
        raise DamagedFileError(path, "is no file of results, but a folder, a pipe or a device", ELSEWHERE)
    return lock
