"""What the server remembers: every finished game and every rating, in a store, where contests may be too.

A game and the ratings that it changed are one transaction, and it is on the disk before anybody is told the result: a
server that is killed has lost no game that it announced and holds none by half. Games in progress are not stored.

There is one server of a game at a time in a store, which a lock tells others. Who only wants to know what is in it
opens an `dicegym.server.history.Archive`.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from filelock import FileLock, Timeout

from dicegym.arena.provenance import package_version
from dicegym.arena.ratings.elo import START, update_ratings
from dicegym.arena.storage import make_default_folder
from dicegym.arena.store.opening import (
    ELSEWHERE,
    WRITES,
    HeldError,
    call_store,
    create_tables,
    engine_at,
    in_words,
    is_new,
    location_of,
    make_damage_error,
    trouble_of,
)
from dicegym.arena.store.schema import SERVER_GAMES, SERVER_INCIDENTS, SERVER_RATINGS, SERVER_RESULTS, SERVER_RUNS
from dicegym.arena.store.store import now_in_words, number_of_rules, upsert, write_alone
from dicegym.engine.game import Game
from dicegym.errors import DamagedFileError, DicegymError
from dicegym.server.admission import fold_name
from dicegym.server.game_results import ForcedTurn, GameResult, PlayerRating, SeatResult, winners

UNKNOWN = PlayerRating(START, 0, 0)
_ADD_PLACE, _ADD_INCIDENT = SERVER_RESULTS.insert(), SERVER_INCIDENTS.insert()
CACHE_KIB = 128
"""Of the file in memory."""
PATIENCE = 0.5
"""Seconds for which a write waits for another program's lock, before it is tried again."""
RETRY = 0.5
"""Seconds between two attempts at a store that could not be written."""
LONGEST_TROUBLE = 300.0
"""Seconds for which the store may be locked, full or out of reach; then the server stops."""


class ResultStore:
    """An open store, the ratings as they are now, and a thread that writes results in the order in which they came.

    Results that come while others are being written are stored together, in one transaction. While the store is locked,
    full or out of reach they wait, and so do their players; other games continue.

    Args:
        where: path of a file, made if it does not exist, or the URL of a PostgreSQL database. Contests may be in it
            too, and the games of servers of other games.
        game: the name of the game whose results are meant.
        log: takes lines for the operator.

    Attributes:
        name: where it is, for people.
        path: of its file; None: it is on a server.
        failed: called with the error when nothing can be written any more.

    Raises:
        BusyError: another program has locked the file.
        HeldError: another server of the game has the store.
        ParameterError: the store cannot be used: it is something else, damaged, has another schema, cannot be written
            or is out of reach. A file is then as it was, and nothing lies beside it.
        DependencyError: it is on a server, and what speaks to that is not installed.
    """

    def __init__(
        self, where: str | os.PathLike[str], game: str, log: Callable[[str], None] = lambda text: None
    ) -> None:
        location = location_of(where)
        self.name, self.path, self._game, self._log = location.name, location.path, game, log
        self.failed: Callable[[Exception], None] = lambda error: None
        self._run: int | None = None
        self._lock: FileLock | None = None
        # One connection, which is set up below: a thread that asks waits until another one has written.
        alone: dict[str, Any] = {"pool_size": 1, "max_overflow": 0}
        if self.path is not None:
            self._lock = _locked(self.path, game)
        self._engine = engine_at(location, busy=PATIENCE, **alone)
        if self.path is None:
            sa.event.listen(self._engine, "connect", self._hold_on_server)
        try:
            with in_words(self.name):
                self._open()
            self._ratings = self.ratings()
        except BaseException:
            self.close()
            raise
        self._spellings = {fold_name(name): name for name in self._ratings}
        self._thread = ThreadPoolExecutor(1, "results")
        self._waiting: list[tuple[GameResult, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()

    def _hold_on_server(self, connection: Any, _: object) -> None:
        """Have the store for this process, as long as a connection lasts, each of whose commits is on the disk.

        There is one at a time. Raises HeldError if another process has it.
        """
        with connection.cursor() as cursor:
            cursor.execute("SET synchronous_commit = on")
            cursor.execute(
                "SELECT pg_try_advisory_lock(%s)",
                (int.from_bytes(hashlib.sha256(f"dicegym server {self._game}".encode()).digest()[:7], "big"),),
            )
            (taken,) = cursor.fetchone()
        connection.commit()
        if not taken:
            connection.close()
            raise HeldError(_in_use(call_store(self.name)))

    def _open(self) -> None:
        if self.path is not None:
            with self._engine.begin() as connection:
                whole = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar()
                if whole != "ok":
                    raise make_damage_error(self.name, str(whole).splitlines()[-1])
        with self._transaction() as connection:
            if is_new(connection, self.name):
                create_tables(connection)
            # Made once: to write a statement takes longer than to carry it out
            new = upsert(connection, SERVER_GAMES).on_conflict_do_nothing(index_elements=["run", "number"])
            self._add_game = new.returning(SERVER_GAMES.c.id)
            rating, old = upsert(connection, SERVER_RATINGS), SERVER_RATINGS.c
            more = {name: old[name] + rating.excluded[name] for name in ("games", "wins")}
            more["rating"] = rating.excluded.rating
            self._rate = rating.on_conflict_do_update(index_elements=["game", "name"], set_=more)
        if self.path is not None:
            with contextlib.closing(self._engine.raw_connection()) as raw:  # not before: others' files are not touched
                # Each commit is on the disk when it returns. SQLite would keep 2 MB of what it has written, which looks
                # like a leak for thousands of games; a server writes at the ends of tables and reads nothing back.
                for setting in ("journal_mode=WAL", "synchronous=FULL", f"cache_size=-{CACHE_KIB}"):
                    raw.cursor().execute(f"PRAGMA {setting}")
                # To be told now if it is not writable
                for order in ("BEGIN IMMEDIATE", "PRAGMA user_version=0", "ROLLBACK"):
                    raw.cursor().execute(order)

    @contextlib.contextmanager
    def _transaction(self, alone: bool = True) -> Iterator[sa.Connection]:
        """Yield a connection in a transaction that is kept unless something is raised; ``alone``: nobody else writes.

        Only tables of the server's own game are written without being alone.
        """
        connected = self._engine.connect
        with connected().execution_options(**{WRITES: True}) as connection, connection.begin():
            if alone and self.path is None:
                write_alone(connection)
            yield connection

    def close(self) -> None:
        """Let go of the store."""
        if hasattr(self, "_thread"):
            self._thread.shutdown()
        self._engine.dispose()
        if self._lock is not None:
            _unlock(self._lock)

    def begin_run(self, seed: int, table: Game | None = None) -> int:
        """Take note that a server has started; return the number of its run: of all in the store, from 1.

        Args:
            seed: of all its dice.
            table: the game as it is played, whose rules are noted; None: nobody knows.

        Raises:
            ParameterError: the store cannot be written.
        """
        row = {"game": self._game, "began": now_in_words(), "seed": str(seed), "version": package_version()}
        with in_words(self.name), self._transaction() as connection:
            rules = None if table is None else number_of_rules(connection, table)
            new = connection.execute(SERVER_RUNS.insert().values(row | {"rules": rules})).inserted_primary_key
        self._run = int(new[0])  # type: ignore[index]  # an insert of one row has one
        return self._run

    def ratings(self) -> dict[str, PlayerRating]:
        """Return what is stored of each name."""
        with in_words(self.name), self._engine.connect() as connection:
            return ratings_of(connection, self._game)

    def count_games(self) -> int:
        """Return the number of games stored."""
        with in_words(self.name), self._engine.connect() as connection:
            return int(connection.execute(games_of(self._game, sa.func.count())).scalar_one())

    def write(self, results: Sequence[GameResult]) -> None:
        """Store games, all or none, with the ratings they led to; later ones count."""
        ended = now_in_words()
        ratings, places, incidents = list[dict[str, Any]](), list[dict[str, Any]](), list[dict[str, Any]]()
        with self._transaction(alone=False) as connection:
            for result in results:
                row = {
                    "run": self._running,
                    "number": result.number,
                    "seed": str(result.seed),
                    "ended": ended,
                    "seconds": round(result.seconds, 3),
                    "actions": json.dumps(result.actions, separators=(",", ":")),
                }
                game = connection.execute(self._add_game, row).scalar()
                if game is None:  # it was stored, and the connection broke before a server said so
                    continue
                for seat, (place, won) in enumerate(zip(result.places, winners(result.places), strict=True)):
                    counts = {"rating": place.after, "games": int(place.rated), "wins": int(won)}
                    ratings.append({"game": self._game, "name": place.name} | counts)
                    places.append({"game": game, "seat": seat} | place._asdict())
                incidents += [{"game": game} | one._asdict() for one in result.incidents]
            for statement, rows in ((self._rate, ratings), (_ADD_PLACE, places), (_ADD_INCIDENT, incidents)):
                if rows:
                    connection.execute(statement, rows)

    @property
    def _running(self) -> int:
        """The number of the run."""
        if self._run is None:
            raise RuntimeError("no run has begun")
        return self._run

    # While a server runs, in its event loop

    def rating(self, name: str) -> PlayerRating:
        """Return the rating of a name, as it is after all games that have ended."""
        return self._ratings.get(name, UNKNOWN)

    def spelling(self, name: str) -> str | None:
        """Return how a name is spelled that has a rating; None if it has none."""
        return name if name in self._ratings else self._spellings.get(fold_name(name))

    def rate(self, names: Sequence[str], totals: Sequence[int], counts: Sequence[bool]) -> tuple[SeatResult, ...]:
        """Return the result of a game for each seat, and let it count.

        It does not for those whom ``counts`` leaves out, and for nobody where that leaves but one: ratings are what
        they would be if these had not been there.
        """
        seats = [seat for seat, one in enumerate(counts) if one]
        if len(seats) == 1:
            seats = []
        before = [self.rating(name) for name in names]
        after = [known.rating for known in before]
        new = update_ratings([after[seat] for seat in seats], [totals[seat] for seat in seats])
        for seat, rating in zip(seats, new, strict=True):
            after[seat] = rating
        places = tuple(
            SeatResult(
                names[seat],
                total,
                1 + sum(other > total for other in totals),
                before[seat].rating,
                after[seat],
                seat in seats,
            )
            for seat, total in enumerate(totals)
        )
        for place, old, won in zip(places, before, winners(places), strict=True):
            if place.rated:
                self._ratings[place.name] = PlayerRating(place.after, old.games + 1, old.wins + won)
                self._spellings.setdefault(fold_name(place.name), place.name)
        return places

    def keep(self, result: GameResult) -> asyncio.Future[None]:
        """Store a game soon; return what is done when it is stored."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        self._waiting.append((result, done))
        if self._writing is None:
            self._writing = loop.create_task(self._write_waiting())
        return done

    def end_run(self) -> None:
        """Take note that the run has ended."""
        with self._transaction(alone=False) as connection:
            changed = SERVER_RUNS.update().where(SERVER_RUNS.c.id == self._running).values(ended=now_in_words())
            connection.execute(changed)

    async def drain(self) -> None:
        """Wait until everything is stored that can be; from then on nothing waits."""
        self._closing.set()
        while self._writing is not None:
            await self._writing

    async def _write_waiting(self) -> None:
        """Store what waits, until nothing does. While the store is out of reach it is tried again and again."""
        since: float | None = None
        try:
            while self._waiting:
                batch = list(self._waiting)
                try:
                    await asyncio.get_running_loop().run_in_executor(
                        self._thread, self.write, [result for result, _ in batch]
                    )
                except Exception as error:
                    since = self._meet(error, since)
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(self._closing.wait(), RETRY)
                    continue
                if since is not None:
                    self._log(f"{call_store(self.name)} can be written again: {len(batch)} results are stored")
                    since = None
                del self._waiting[: len(batch)]
                for _, done in batch:
                    done.set_result(None)
        except Exception as error:
            self._fail(error)
        finally:
            self._writing = None

    def _meet(self, error: Exception, since: float | None) -> float:
        """Take note that results cannot be stored; return since when. Raises if it is in vain to wait longer."""
        found, now = trouble_of(error), time.monotonic()
        if found is None:
            raise error
        name, way_out = call_store(self.name), found.instead.replace("FILE", str(self.name))
        if not found.passes or self._closing.is_set() or (since is not None and now - since >= LONGEST_TROUBLE):
            lost = f"{len(self._waiting)} unannounced results are lost"
            raise DicegymError(f"{name} {found.reason}, and the server stops: {way_out}; {lost}")
        if since is None:
            waits = f"results wait for at most {LONGEST_TROUBLE:g} s until they are told, and other games go on"
            self._log(f"{name} {found.reason}: {waits}; {way_out}")
        return now if since is None else since

    def _fail(self, error: Exception) -> None:
        """Give up: whose results wait learn of it, and the server."""
        if not isinstance(error, DicegymError):
            error = DicegymError(f"results cannot be written to {self.name} ({error}): the server stops")
        if self._closing.is_set():
            self._log(str(error))
        waiting, self._waiting = self._waiting, []
        for _, done in waiting:
            done.set_exception(error)
        self.failed(error)


def games_of(game: str, *what: Any) -> sa.Select[Any]:
    """Return the query for columns of all games of the servers of ``game``."""
    joined = sa.select(*what).select_from(SERVER_GAMES).join(SERVER_RUNS, SERVER_RUNS.c.id == SERVER_GAMES.c.run)
    return joined.where(SERVER_RUNS.c.game == game)


def ratings_of(connection: sa.Connection, game: str) -> dict[str, PlayerRating]:
    """Return what is stored of each name that has a rating in a game."""
    own = SERVER_RATINGS.c
    asked = sa.select(own.name, own.rating, own.games, own.wins).where(own.game == game, own.games > 0)
    return {row.name: PlayerRating(row.rating, row.games, row.wins) for row in connection.execute(asked)}


def places_and_incidents(connection: sa.Connection, game: int) -> tuple[tuple[SeatResult, ...], tuple[ForcedTurn, ...]]:
    """Return the result of a stored game for each seat, and what went wrong in it."""
    own, forced = SERVER_RESULTS.c, SERVER_INCIDENTS.c
    places = sa.select(*(own[field] for field in SeatResult._fields)).where(own.game == game).order_by(own.seat)
    incidents = (
        sa.select(*(forced[field] for field in ForcedTurn._fields)).where(forced.game == game).order_by(forced.id)
    )
    return (
        tuple(SeatResult(*row) for row in connection.execute(places)),
        tuple(ForcedTurn(*row) for row in connection.execute(incidents)),
    )


def _unlock(lock: FileLock) -> None:
    """Release a lock, and remove its file; a process that waits for it notices that."""
    with contextlib.suppress(OSError):  # Windows removes no open file: filelock does it there when it is closed
        Path(lock.lock_file).unlink()
    lock.release()


def _in_use(what: str) -> str:
    return f"{what} is in use by another server: stop that, or {ELSEWHERE}"


def _locked(path: Path, game: str) -> FileLock:
    lock = FileLock(path.with_name(f"{path.name}-{game}-lock"), timeout=0)
    try:
        make_default_folder(path)
        path.parent.stat()  # the lock would make a folder that is missing, and so hide a slip of the pen
        lock.acquire()
    except Timeout:
        raise HeldError(_in_use(str(path))) from None
    except OSError as error:
        raise DamagedFileError(path, f"cannot be used for results ({error.strerror})", ELSEWHERE) from None
    if path.exists() and not path.is_file():
        _unlock(lock)
        raise DamagedFileError(path, "is a folder, a pipe or a device, and cannot store results", ELSEWHERE)
    return lock
