"""The server's store of finished games and ratings, which may also contain contests.

A game and its changes of ratings are one transaction, which is on disk before the result is announced. So a server that
is killed loses no announced game, and no game is stored in part. Games in progress are not stored.

A lock keeps a second server of the same game from the store. To read a store, use `dicegym.server.history.Archive`.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from filelock import FileLock, Timeout

from dicegym.arena.provenance import package_version
from dicegym.arena.ratings.elo import START, update_ratings
from dicegym.arena.storage import make_default_folder
from dicegym.arena.store.opening import ELSEWHERE, WRITES, HeldError, call_store, make_damage_error, trouble_of
from dicegym.arena.store.schema import SERVER_GAMES, SERVER_INCIDENTS, SERVER_RATINGS, SERVER_RESULTS, SERVER_RUNS
from dicegym.arena.store.store import ContestStore, lock_file, now_in_words, number_of_rules, upsert
from dicegym.engine.game import Game
from dicegym.errors import DamagedFileError, DicegymError
from dicegym.server.admission import fold_name
from dicegym.server.game_results import GameResult, PlayerRating, SeatResult, winners
from dicegym.server.history import ServedResults

UNKNOWN = PlayerRating(START, 0, 0)
_ADD_PLACE, _ADD_INCIDENT = SERVER_RESULTS.insert(), SERVER_INCIDENTS.insert()
CACHE_KIB = 128  # SQLite's cache of the file in memory
BUSY_MS = 500
"""Milliseconds for which a write waits for another program's lock before the next attempt."""
RETRY = 0.5  # seconds between two attempts to write
LONGEST_TROUBLE = 300.0
"""Seconds for which the store may be locked, full or unreachable; then the server stops."""


class ResultStore(ServedResults, ContestStore):
    """An open store, the present ratings, and a thread that writes results in their order.

    Results that arrive during a write are stored together in the next transaction. While the store is locked, full or
    unreachable, results and their players wait; other games continue.

    Args:
        where: path of a file, created if missing, or the URL of a PostgreSQL database. It may also contain contests and
            other games' servers.
        game: the name of the game.
        log: receives lines for the operator.

    Attributes:
        game: the name of the game.

    Raises:
        BusyError: another program has locked the file.
        HeldError: another server of the game uses the store.
        ParameterError: it is not a store, or damaged, of another schema, not writable or unreachable. A file is left
            unchanged, and no other files are left.
        DependencyError: the driver of the database is not installed.
    """

    def __init__(
        self, where: str | os.PathLike[str], game: str, log: Callable[[str], None] = lambda text: None
    ) -> None:
        self.game, self._log = game, log
        self._run = 0
        self._lock: FileLock | None = None
        self._thread = ThreadPoolExecutor(1, "results")
        self._waiting: list[tuple[GameResult, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()
        # One connection: reading threads wait for the writing one.
        super().__init__(where, pool_size=1, max_overflow=0)
        try:
            self._ratings = self.ratings()
        except BaseException:
            self.close()
            raise
        self._spellings = {fold_name(name): name for name in self._ratings}

    def _check(self) -> None:
        """Lock the store for this server, and check it."""
        sa.event.listen(self.engine, "connect", self._prepare)
        if self.path is not None:
            self._lock = _locked(self.path, self.game)
            with self.engine.begin() as connection:
                whole = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar()
                if whole != "ok":
                    raise make_damage_error(self.name, str(whole).splitlines()[-1])
        super()._check()
        with self.engine.connect() as connection:
            # Built once: building a statement takes longer than executing it.
            new = upsert(connection, SERVER_GAMES).on_conflict_do_nothing(index_elements=["run", "number"])
            self._add_game = new.returning(SERVER_GAMES.c.id)
            rating, old = upsert(connection, SERVER_RATINGS), SERVER_RATINGS.c
            more = {name: old[name] + rating.excluded[name] for name in ("games", "wins")}
            more["rating"] = rating.excluded.rating
            self._rate = rating.on_conflict_do_update(index_elements=["game", "name"], set_=more)

    def _prepare(self, connection: Any, _: object) -> None:
        """Set up a new connection, so that commits are on disk when they return.

        On PostgreSQL, also lock the game for as long as the connection lasts. Raises HeldError if another server holds
        the lock.
        """
        if self.path is not None:
            # SQLite would cache 2 MB, which looks like a memory leak over thousands of games.
            for setting in (f"busy_timeout={BUSY_MS}", "synchronous=FULL", f"cache_size=-{CACHE_KIB}"):
                connection.execute(f"PRAGMA {setting}")
            return
        lock = int.from_bytes(hashlib.sha256(f"dicegym server {self.game}".encode()).digest()[:7], "big")
        with connection.cursor() as cursor:
            cursor.execute("SET synchronous_commit = on")
            cursor.execute("SELECT pg_try_advisory_lock(%s)", (lock,))
            (taken,) = cursor.fetchone()
        connection.commit()
        if not taken:
            connection.close()
            raise HeldError(_in_use(call_store(self.name)))

    def close(self) -> None:
        """Close and unlock the store."""
        self._thread.shutdown()
        super().close()
        if self._lock is not None:  # a waiting process notices that the file is removed
            with contextlib.suppress(OSError):  # Windows does not remove open files; there filelock does it on release
                Path(self._lock.lock_file).unlink()
            self._lock.release()

    def begin_run(self, seed: int, table: Game | None = None) -> int:
        """Store the start of a server; return the number of its run in the store, from 1.

        Args:
            seed: of all its dice.
            table: the game with its parameters; its rules are stored. None: unknown.

        Raises:
            ParameterError: the store cannot be written.
        """
        row = {"game": self.game, "began": now_in_words(), "seed": str(seed), "version": package_version()}
        with self.writing() as connection:
            rules = None if table is None else number_of_rules(connection, table)
            new = connection.execute(SERVER_RUNS.insert().values(row | {"rules": rules})).inserted_primary_key
        self._run = int(new[0])  # type: ignore[index]  # an insert of one row has one
        return self._run

    def write(self, results: Sequence[GameResult]) -> None:
        """Store games with their new ratings, all or none; of several ratings of a player the last one counts."""
        ended = now_in_words()
        ratings, places, incidents = list[dict[str, Any]](), list[dict[str, Any]](), list[dict[str, Any]]()
        # Not by `writing`: these rows need no exclusive lock, and a power failure must not lose commits on PostgreSQL.
        with self.engine.connect().execution_options(**{WRITES: True}) as connection, connection.begin():
            for result in results:
                row = {
                    "run": self._run,
                    "number": result.number,
                    "seed": str(result.seed),
                    "ended": ended,
                    "seconds": round(result.seconds, 3),
                    "actions": json.dumps(result.actions, separators=(",", ":")),
                }
                game = connection.execute(self._add_game, row).scalar()
                if game is None:  # stored already, but the connection broke before the confirmation
                    continue
                for seat, (place, won) in enumerate(zip(result.places, winners(result.places), strict=True)):
                    counts = {"rating": place.after, "games": int(place.rated), "wins": int(won)}
                    ratings.append({"game": self.game, "name": place.name} | counts)
                    places.append({"game": game, "seat": seat} | place._asdict())
                incidents += [{"game": game} | one._asdict() for one in result.incidents]
            for statement, rows in ((self._rate, ratings), (_ADD_PLACE, places), (_ADD_INCIDENT, incidents)):
                if rows:
                    connection.execute(statement, rows)

    # While a server runs, in its event loop

    def rating(self, name: str) -> PlayerRating:
        """Return the rating of a name after all ended games."""
        return self._ratings.get(name, UNKNOWN)

    def spelling(self, name: str) -> str | None:
        """Return the stored spelling of a rated name; None: it is not rated."""
        return name if name in self._ratings else self._spellings.get(fold_name(name))

    def rate(self, names: Sequence[str], totals: Sequence[int], counts: Sequence[bool]) -> tuple[SeatResult, ...]:
        """Rate a game; return the result of each seat.

        Seats where ``counts`` is False are treated as absent. With only one other seat, nobody is rated.
        """
        seats = [seat for seat, one in enumerate(counts) if one] if sum(counts) > 1 else []
        before = [self.rating(name) for name in names]
        after = [known.rating for known in before]
        new = update_ratings([after[seat] for seat in seats], [totals[seat] for seat in seats])
        for seat, rating in zip(seats, new, strict=True):
            after[seat] = rating
        places = tuple(
            SeatResult(name, total, 1 + sum(other > total for other in totals), old.rating, now, seat in seats)
            for seat, (name, total, old, now) in enumerate(zip(names, totals, before, after, strict=True))
        )
        for place, old, won in zip(places, before, winners(places), strict=True):
            if place.rated:
                self._ratings[place.name] = PlayerRating(place.after, old.games + 1, old.wins + won)
                self._spellings.setdefault(fold_name(place.name), place.name)
        return places

    def keep(self, result: GameResult) -> asyncio.Future[None]:
        """Store a game soon; return a future that is done when it is stored, or has the error that stops the server."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        self._waiting.append((result, done))
        if self._writing is None:
            self._writing = loop.create_task(self._write_waiting())
        return done

    def end_run(self) -> None:
        """Store the end of the run."""
        with self.writing() as connection:
            changed = SERVER_RUNS.update().where(SERVER_RUNS.c.id == self._run).values(ended=now_in_words())
            connection.execute(changed)

    async def drain(self) -> None:
        """Wait until all results are stored; from now on a failed write is not repeated."""
        self._closing.set()
        while self._writing is not None:
            await self._writing

    async def _write_waiting(self) -> None:
        """Store waiting results until there are none; repeat failed writes."""
        loop = asyncio.get_running_loop()
        since: float | None = None  # start of the trouble
        while self._waiting:
            batch = list(self._waiting)
            try:
                await loop.run_in_executor(self._thread, self.write, [result for result, _ in batch])
            except Exception as error:
                begins, since = since is None, loop.time() if since is None else since
                if (end := self._trouble(error, begins, loop.time() - since)) is not None:
                    self._fail(end)
                    break
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._closing.wait(), RETRY)
                continue
            if since is not None:
                self._log(f"{call_store(self.name)} can be written again: {len(batch)} results are stored")
                since = None
            del self._waiting[: len(batch)]
            for _, done in batch:
                done.set_result(None)
        self._writing = None

    def _trouble(self, error: Exception, begins: bool, seconds: float) -> DicegymError | None:
        """Log a trouble that ``begins``; return the error that stops the server, if waiting longer cannot help."""
        found = trouble_of(error)
        if found is None:
            return DicegymError(f"results cannot be written to {self.name} ({error}): the server stops")
        name, way_out = call_store(self.name), found.instead.replace("FILE", str(self.name))
        if not found.passes or self._closing.is_set() or seconds >= LONGEST_TROUBLE:
            lost = f"{len(self._waiting)} unannounced results are lost"
            return DicegymError(f"{name} {found.reason}, and the server stops: {way_out}; {lost}")
        if begins:
            waits = f"results wait for at most {LONGEST_TROUBLE:g} s to be announced, and other games continue"
            self._log(f"{name} {found.reason}: {waits}; {way_out}")
        return None

    def _fail(self, error: DicegymError) -> None:
        """Set the error of all waiting results."""
        if self._closing.is_set():
            self._log(str(error))
        waiting, self._waiting = self._waiting, []
        for _, done in waiting:
            done.set_exception(error)


def _in_use(what: str) -> str:
    return f"{what} is in use by another server: stop that, or {ELSEWHERE}"


def _locked(path: Path, game: str) -> FileLock:
    make_default_folder(path)
    path.parent.stat()  # the lock would create a missing folder, and so hide a typing error
    if path.exists() and not path.is_file():
        raise DamagedFileError(path, "is a folder, a pipe or a device, and cannot store results", ELSEWHERE)
    lock = FileLock(lock_file(path, game), timeout=0)
    try:
        lock.acquire()
    except Timeout:
        if not os.path.exists(lock.lock_file):  # it is not locked, but cannot be created
            raise DamagedFileError(path, "cannot be made, because its folder is not writable", ELSEWHERE) from None
        raise HeldError(_in_use(str(path))) from None
    return lock
