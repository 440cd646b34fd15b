"""What the server remembers: every finished game and every rating, in one SQLite file.

A game and the ratings that it changed are one transaction, and it is on the disk before anybody is told the result: a
server that is killed has lost no game that it announced and holds none by half. Games in progress are not stored. What
comes while the file is locked or full is on the disk beside it (`dicegym.server.pending`), and goes into it later.

A server alone writes to its file, which a lock beside it tells others. Who only wants to know what is in it opens an
`dicegym.server.archive.Archive`.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from filelock import FileLock, Timeout
from sqlalchemy.dialects.sqlite import insert

import dicegym
from dicegym.arena.store.opening import engine_of
from dicegym.arena.store.schema import SCHEMA, game_held, in_words, migrate, schema_of
from dicegym.arena.store.tables import (
    ABOUT,
    SERVER_GAMES,
    SERVER_INCIDENTS,
    SERVER_RATINGS,
    SERVER_RESULTS,
    SERVER_RUNS,
)
from dicegym.arena.store.trouble import ELSEWHERE, damaged
from dicegym.errors import DamagedFileError, ParameterError
from dicegym.server.pending import Finished, Pending, Run
from dicegym.server.results import ForcedTurn, GameResult, PlayerRating, SeatResult, ServerState, winners

WAIT_FOR_LOCK = 0.5
"""Seconds: who asks whether a server runs holds the lock for a moment."""
PATIENCE = 0.1
"""Seconds for which a server that writes waits for another program's lock, before it does something else meanwhile."""


class Store:
    """An open store.

    Args:
        path: the file; made if it does not exist, and brought to the present schema if it has an earlier one.
        game: the name of the game whose results it holds.

    Attributes:
        migrated: the earlier schema that the file had; None if it had the present one or is new.
        caught_up: how many results had waited to go into the file, from a run before.
        pending: the file in which results wait that cannot be stored.
        held: how many wait there now.

    Raises:
        BusyError: another program has locked the file.
        ParameterError: the file cannot be used: it is no such store, damaged, belongs to another game, has a later
            schema, cannot be written, or another server has it open. The file is then as it was, and nothing lies
            beside it.
    """

    def __init__(self, path: Path, game: str) -> None:
        self.path = path
        self.migrated: str | None = None
        self._lock = _locked(path)
        self._made = not path.exists()
        self._engine = engine_of(path, busy=PATIENCE)
        self._run: Run | None = None
        self._pending = Pending(path)
        self.pending = self._pending.path
        self.held = 0
        try:
            with in_words(path):
                self._open(game)
                self.held = len(self._pending.read())
                self.caught_up = self.catch_up()
        except BaseException:
            self.discard()
            raise

    def _open(self, game: str) -> None:
        with self._engine.begin() as connection:
            whole = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar()
            if whole != "ok":
                raise damaged(self.path, str(whole).splitlines()[-1])
            found = schema_of(connection, self.path)
            if found is not None and (other := game_held(connection)) != game:
                raise ParameterError(f"{self.path} holds results of {other}: give {game} another --database")
            if found != SCHEMA:
                migrate(connection, found)
                self.migrated = found
            if found is None:
                connection.execute(ABOUT.insert().values(name="game", value=game))
        with contextlib.closing(self._engine.raw_connection()) as raw:  # not before: a file of others is not touched
            for setting in ("journal_mode=WAL", "synchronous=FULL"):  # every commit is on the disk when it returns
                raw.cursor().execute(f"PRAGMA {setting}")
            for order in (
                "BEGIN IMMEDIATE",
                "PRAGMA user_version=0",
                "ROLLBACK",
            ):  # to be told now if it is not writable
                raw.cursor().execute(order)

    def close(self) -> None:
        """Let go of the file."""
        self._engine.dispose()
        unlock(self._lock)

    def discard(self) -> None:
        """Let go of the file, and remove it if it was made here and holds no game: no server has run."""
        empty = False
        if self._made:
            with contextlib.suppress(sa.exc.DBAPIError):
                empty = not sa.inspect(self._engine).get_table_names() or self.finished() == 0
        self._engine.dispose()
        if empty:
            for end in ("", "-wal", "-shm", "-journal"):
                with contextlib.suppress(OSError):
                    self.path.with_name(self.path.name + end).unlink()
        unlock(self._lock)

    def begin_run(self, seed: int) -> int:
        """Take note that a server has started with this seed; return the number of its run, from 1.

        Raises ParameterError if the file cannot be written.
        """
        row = {"began": _now(), "seed": str(seed), "version": dicegym.__version__}
        with in_words(self.path), self._engine.begin() as connection:
            number = int(connection.execute(SERVER_RUNS.insert().values(row)).inserted_primary_key[0])  # type: ignore[index]  # an insert of one row has one
        self._run = Run(number, **row)
        return number

    def note(self, state: ServerState, ended: bool = False) -> None:
        """Keep what the run is doing, for who asks from outside, and whether that was the last."""
        changed = {"state": json.dumps(state._asdict()), **({"ended": _now()} if ended else {})}
        with self._engine.begin() as connection:
            connection.execute(SERVER_RUNS.update().where(SERVER_RUNS.c.id == self._running.id).values(changed))

    def ratings(self) -> dict[str, PlayerRating]:
        """Return what is known of each name."""
        columns = (SERVER_RATINGS.c.name, SERVER_RATINGS.c.rating, SERVER_RATINGS.c.games, SERVER_RATINGS.c.wins)
        with in_words(self.path), self._engine.connect() as connection:
            rated = connection.execute(sa.select(*columns).where(SERVER_RATINGS.c.games > 0))
            return dict(rating_of(self.path, row) for row in rated)

    def finished(self) -> int:
        """Return the number of games stored."""
        with self._engine.connect() as connection:
            return int(connection.execute(sa.select(sa.func.count()).select_from(SERVER_GAMES)).scalar_one())

    def results(self) -> Iterator[GameResult]:
        """Yield every game, in the order in which they were stored."""
        with self._engine.connect() as connection:
            games = connection.execute(sa.select(SERVER_GAMES).order_by(SERVER_GAMES.c.id)).all()
            for game in games:
                places, incidents = told_of(connection, game.id)
                actions = tuple(json.loads(game.actions))
                yield GameResult(game.number, int(game.seed), game.seconds, actions, places, incidents)

    def write(self, results: Sequence[GameResult]) -> None:
        """Store games, all or none, with the ratings they led to; later ones count."""
        with self._engine.begin() as connection:
            for one in self._finished(results):
                _write(connection, one)

    def hold(self, results: Sequence[GameResult]) -> None:
        """Keep games beside the file, on the disk, until `catch_up` puts them into it. Raises OSError."""
        self._pending.append(self._finished(results))
        self.held += len(results)

    def catch_up(self) -> int:
        """Put into the file what waits beside it, all or none; return how much that was.

        Raises:
            ParameterError: what waits is damaged, or belongs to another file.
        """
        if not self._pending.path.exists():
            return 0
        waiting = self._pending.read()
        with self._engine.begin() as connection:
            for one in waiting:
                _bring_run(connection, one.run, self.pending)
                if not is_stored(connection, one):
                    _write(connection, one)
        self._pending.clear()
        self.held = 0
        return len(waiting)

    @property
    def _running(self) -> Run:
        if self._run is None:
            raise RuntimeError("no run has begun")
        return self._run

    def _finished(self, results: Sequence[GameResult]) -> list[Finished]:
        now = _now()
        return [Finished(self._running, now, result) for result in results]


def _write(connection: sa.Connection, finished: Finished) -> None:
    run, ended, result = finished
    for place, won in zip(result.places, winners(result.places), strict=True):
        counts = int(place.rated)
        row = {"name": place.name, "rating": place.after, "games": counts, "wins": int(won)}
        changed = {"rating": place.after, "games": SERVER_RATINGS.c.games + 1, "wins": SERVER_RATINGS.c.wins + int(won)}
        new = insert(SERVER_RATINGS).values(row)
        key = ["name"]
        connection.execute(
            new.on_conflict_do_update(index_elements=key, set_=changed)
            if counts
            else new.on_conflict_do_nothing(index_elements=key)
        )
    game = connection.execute(
        SERVER_GAMES.insert().values(
            run=run.id,
            number=result.number,
            seed=str(result.seed),
            ended=ended,
            seconds=round(result.seconds, 3),
            actions=json.dumps(result.actions, separators=(",", ":")),
        )
    ).inserted_primary_key[0]  # type: ignore[index]  # an insert of one row has one
    connection.execute(
        SERVER_RESULTS.insert(),
        [{"game": game, "seat": seat} | place._asdict() for seat, place in enumerate(result.places)],
    )
    if result.incidents:
        connection.execute(SERVER_INCIDENTS.insert(), [{"game": game} | found._asdict() for found in result.incidents])


def is_stored(connection: sa.Connection, finished: Finished) -> bool:
    """Return whether a result that has waited is in the file by now."""
    same = (SERVER_GAMES.c.run == finished.run.id) & (SERVER_GAMES.c.number == finished.result.number)
    return connection.execute(sa.select(SERVER_GAMES.c.id).where(same)).first() is not None


def _bring_run(connection: sa.Connection, run: Run, pending: Path) -> None:
    """Put the run of a result that has waited into the file, if it is not there."""
    began = connection.execute(sa.select(SERVER_RUNS.c.began).where(SERVER_RUNS.c.id == run.id)).scalar()
    if began is None:
        connection.execute(SERVER_RUNS.insert().values(run._asdict()))
    elif began != run.began:
        raise ParameterError(
            f"{pending} holds results of a run of {run.began}, and not of this file: move it to the file that it "
            "belongs to, or away"
        )


def rating_of(path: Path, row: Sequence[Any]) -> tuple[str, PlayerRating]:
    """Return what a row of ratings says. Raises ParameterError if that is nonsense."""
    name, rating, games, wins = row
    if not isinstance(name, str) or not all(isinstance(one, int) for one in (games, wins)):
        raise damaged(path, "a name or number in its ratings is none")
    if not isinstance(rating, int | float) or not math.isfinite(rating):
        raise damaged(path, "a rating in it is no number")
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


def lock_of(path: Path, wait: float) -> FileLock:
    """Return the lock on a file beside ``path`` that says until it is released that a server uses the store."""
    return FileLock(path.with_name(path.name + "-lock"), timeout=wait)


def unlock(lock: FileLock) -> None:
    """Release a lock, and remove its file: who waits for it takes note of that."""
    with contextlib.suppress(OSError):  # Windows removes no open file: filelock does it there when it is closed
        Path(lock.lock_file).unlink()
    lock.release()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _locked(path: Path) -> FileLock:
    lock = lock_of(path, WAIT_FOR_LOCK)
    try:
        path.parent.stat()  # the lock would make a folder that is missing, and so hide a slip of the pen
        lock.acquire()
    except Timeout:
        raise ParameterError(f"{path} is in use by another server: stop that, or give another --database") from None
    except OSError as error:
        raise DamagedFileError(path, f"cannot be used for results ({error.strerror})", ELSEWHERE) from None
    if path.exists() and not path.is_file():
        unlock(lock)
        raise DamagedFileError(path, "is no file of results, but a folder, a pipe or a device", ELSEWHERE)
    return lock
