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
CACHE_KIB = 128
"""Of the file in memory."""
BUSY_MS = 500
"""Milliseconds for which a write waits for another program's lock, before it is tried again."""
RETRY = 0.5
"""Seconds between two attempts at a store that could not be written."""
LONGEST_TROUBLE = 300.0
"""Seconds for which the store may be locked, full or out of reach; then the server stops."""


class ResultStore(ServedResults, ContestStore):
    """An open store, the ratings as they are now, and a thread that writes results in the order in which they came.

    Results that come while others are being written are stored together, in one transaction. While the store is locked,
    full or out of reach they wait, and so do their players; other games continue.

    Args:
        where: path of a file, made if it does not exist, or the URL of a PostgreSQL database. Contests may be in it
            too, and the games of servers of other games.
        game: the name of the game whose results are meant.
        log: takes lines for the operator.

    Attributes:
        game: the name of the game.
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
        self.game, self._log = game, log
        self.failed: Callable[[Exception], None] = lambda error: None
        self._run = 0
        self._lock: FileLock | None = None
        self._thread = ThreadPoolExecutor(1, "results")
        self._waiting: list[tuple[GameResult, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()
        # One connection: a thread that asks waits until another one has written.
        super().__init__(where, pool_size=1, max_overflow=0)
        try:
            self._ratings = self.ratings()
        except BaseException:
            self.close()
            raise
        self._spellings = {fold_name(name): name for name in self._ratings}

    def _check(self) -> None:
        """Take the store for this process, and look at what is there."""
        sa.event.listen(self.engine, "connect", self._prepare)
        if self.path is not None:
            self._lock = _locked(self.path, self.game)
            with self.engine.begin() as connection:
                whole = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar()
                if whole != "ok":
                    raise make_damage_error(self.name, str(whole).splitlines()[-1])
        super()._check()
        with self.engine.connect() as connection:
            # Made once: to write a statement takes longer than to carry it out
            new = upsert(connection, SERVER_GAMES).on_conflict_do_nothing(index_elements=["run", "number"])
            self._add_game = new.returning(SERVER_GAMES.c.id)
            rating, old = upsert(connection, SERVER_RATINGS), SERVER_RATINGS.c
            more = {name: old[name] + rating.excluded[name] for name in ("games", "wins")}
            more["rating"] = rating.excluded.rating
            self._rate = rating.on_conflict_do_update(index_elements=["game", "name"], set_=more)

    def _prepare(self, connection: Any, _: object) -> None:
        """Set up a new connection, each of whose commits is on the disk when it returns.

        On a server, one process at a time has the games of a name, as long as its connection lasts. Raises HeldError if
        another has them.
        """
        if self.path is not None:
            # SQLite would keep 2 MB of what it has written, which looks like a leak for thousands of games.
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
        """Let go of the store."""
        self._thread.shutdown()
        super().close()
        if self._lock is not None:  # a process that waits for it notices that its file is removed
            with contextlib.suppress(OSError):  # Windows removes no open file: filelock does it there when it is closed
                Path(self._lock.lock_file).unlink()
            self._lock.release()

    def begin_run(self, seed: int, table: Game | None = None) -> int:
        """Take note that a server has started; return the number of its run: of all in the store, from 1.

        Args:
            seed: of all its dice.
            table: the game as it is played, whose rules are noted; None: nobody knows.

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
        """Store games, all or none, with the ratings they led to; later ones count."""
        ended = now_in_words()
        ratings, places, incidents = list[dict[str, Any]](), list[dict[str, Any]](), list[dict[str, Any]]()
        # Not alone, unlike `writing`: these are rows of the server's own game, and each commit is on the disk.
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
                if game is None:  # it was stored, and the connection broke before a server said so
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
        """Return the rating of a name, as it is after all games that have ended."""
        return self._ratings.get(name, UNKNOWN)

    def spelling(self, name: str) -> str | None:
        """Return how a name is spelled that has a rating; None if it has none."""
        return name if name in self._ratings else self._spellings.get(fold_name(name))

    def rate(self, names: Sequence[str], totals: Sequence[int], counts: Sequence[bool]) -> tuple[SeatResult, ...]:
        """Return the result of a game for each seat, and let it count.

        Seats that ``counts`` leaves out are not rated, and nobody is if only one is left: ratings are what they would
        be without these seats.
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
        with self.writing() as connection:
            changed = SERVER_RUNS.update().where(SERVER_RUNS.c.id == self._run).values(ended=now_in_words())
            connection.execute(changed)

    async def drain(self) -> None:
        """Wait until everything is stored that can be; from then on nothing waits."""
        self._closing.set()
        while self._writing is not None:
            await self._writing

    async def _write_waiting(self) -> None:
        """Store what waits, until nothing does. While the store is out of reach it is tried again and again."""
        loop = asyncio.get_running_loop()
        since: float | None = None  # when the trouble began
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
        """Say what is wrong when trouble ``begins``; return the error to stop with where waiting longer is in vain."""
        found = trouble_of(error)
        if found is None:
            return DicegymError(f"results cannot be written to {self.name} ({error}): the server stops")
        name, way_out = call_store(self.name), found.instead.replace("FILE", str(self.name))
        if not found.passes or self._closing.is_set() or seconds >= LONGEST_TROUBLE:
            lost = f"{len(self._waiting)} unannounced results are lost"
            return DicegymError(f"{name} {found.reason}, and the server stops: {way_out}; {lost}")
        if begins:
            waits = f"results wait for at most {LONGEST_TROUBLE:g} s until they are told, and other games go on"
            self._log(f"{name} {found.reason}: {waits}; {way_out}")
        return None

    def _fail(self, error: DicegymError) -> None:
        """Tell the server, and whose results wait, that nothing can be written any more."""
        if self._closing.is_set():
            self._log(str(error))
        waiting, self._waiting = self._waiting, []
        for _, done in waiting:
            done.set_exception(error)
        self.failed(error)


def _in_use(what: str) -> str:
    return f"{what} is in use by another server: stop that, or {ELSEWHERE}"


def _locked(path: Path, game: str) -> FileLock:
    make_default_folder(path)
    path.parent.stat()  # the lock would make a folder that is missing, and so hide a slip of the pen
    if path.exists() and not path.is_file():
        raise DamagedFileError(path, "is a folder, a pipe or a device, and cannot store results", ELSEWHERE)
    lock = FileLock(lock_file(path, game), timeout=0)
    try:
        lock.acquire()
    except Timeout:
        if not os.path.exists(lock.lock_file):  # nobody has it: it cannot be made
            raise DamagedFileError(path, "cannot be made, as its folder takes no files", ELSEWHERE) from None
        raise HeldError(_in_use(str(path))) from None
    return lock
