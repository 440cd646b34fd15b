"""Write stores of contests: transactions, locks of contests, and removal.

A `dicegym.arena.store.book.Book` writes a contest; `dicegym.arena.store.reading` reads them.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from filelock import FileLock
from sqlalchemy.dialects import sqlite

from dicegym.arena.provenance import package_version
from dicegym.arena.storage import make_default_folder, refuse_folder, rules_of
from dicegym.arena.store.opening import WRITES, Database, create_tables, in_words, is_new
from dicegym.arena.store.schema import AGENTS, ANSWERS, CONTESTS, FIELDS, MATCHES, PLAYS, RULES, SEATS
from dicegym.engine.game import Game
from dicegym.errors import ParameterError

SECONDS_TO_NOTICE = 1.0
"""A server may take this long to notice that a process with a contest has been killed."""


class ContestStore(Database):
    """An open store, for writing; arguments as for `Database`. A file is made if it does not exist.

    Raises:
        ParameterError: it is something else, damaged, of another schema, or out of reach.
        DependencyError: it is on a server, and the driver is missing.
    """

    writes = True

    def _check(self) -> None:
        path = self.path
        if path is not None:
            make_default_folder(path)
            refuse_folder(path)
            if not path.parent.is_dir():
                raise ParameterError(f"{path} cannot be made, as there is no folder {path.parent}: make it first")
        with self.writing() as connection:
            if is_new(connection, self.name):
                create_tables(connection)
        if path is not None:  # not before: files of others are not touched
            with contextlib.closing(self.engine.raw_connection()) as raw:
                # The last three change nothing, but fail for a read-only file now, not after the first game.
                for order in ("PRAGMA journal_mode=WAL", "BEGIN IMMEDIATE", "PRAGMA user_version=0", "ROLLBACK"):
                    raw.cursor().execute(order)

    @contextlib.contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Yield a connection in a transaction, which is committed unless something is raised within."""
        options = {WRITES: True}
        with in_words(self.name), self.engine.connect().execution_options(**options) as connection, connection.begin():
            if self.path is None:
                # A server that loses power may lose the last second; a killed process loses nothing.
                connection.exec_driver_sql("SET LOCAL synchronous_commit = off")
                # One writer at a time, as in a file: otherwise two that store equal matches and checks in different
                # orders could deadlock.
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(0)))
            yield connection


# --- what several writers of a store need ---------------------------------------------------------------------------


def number_of_rules(connection: sa.Connection, game: Game) -> int:
    """Return the id of the rules of ``game``, which are stored if they are new."""
    names = "game", "players", "parameters", "fingerprint"
    row = dict(zip(names, rules_of(game), strict=True))
    row["parameters"] = json.dumps(row["parameters"])
    add(connection, RULES, [row | {"version": package_version()}], names)
    return int(connection.execute(sa.select(RULES.c.id).filter_by(**row)).scalar_one())


def add(
    connection: sa.Connection,
    table: sa.Table,
    rows: Sequence[dict[str, Any]],
    keys: Sequence[str],
    changed: Sequence[str] = (),
) -> None:
    """Insert rows; where a row with the same ``keys`` exists, update the columns ``changed``."""
    new = upsert(connection, table)
    if changed:
        new = new.on_conflict_do_update(index_elements=keys, set_={name: new.excluded[name] for name in changed})
    else:
        new = new.on_conflict_do_nothing(index_elements=keys)
    if rows:
        connection.execute(new, rows)


def upsert(connection: sa.Connection, table: sa.Table) -> Any:
    """Return an insert statement with an ``ON CONFLICT`` clause."""
    if connection.dialect.name == "postgresql":
        from sqlalchemy.dialects import postgresql  # here, as it takes a tenth of a second

        return postgresql.insert(table)
    return sqlite.insert(table)


def now_in_words() -> str:
    """Return the time in UTC as ISO 8601 text."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


# --- who has a contest ----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def lock_contest(store: Database, contest: int, seconds: float = SECONDS_TO_NOTICE) -> Iterator[None]:
    """Reserve a contest for this process within the context.

    Raises ParameterError if another process still has it after ``seconds``.
    """
    with contextlib.ExitStack() as stack:
        try:
            if store.path is None:
                _lock_on_server(stack, store, contest, seconds)
            else:
                file = lock_file(store.path, f"contest-{contest}")
                stack.enter_context(FileLock(file, timeout=seconds))
                stack.callback(file.unlink, missing_ok=True)
        except TimeoutError:  # also the base class of the file lock's error
            raise ParameterError(
                f"contest {contest} of {store.name} is being run by another process: wait for it, or begin another "
                "contest"
            ) from None
        yield


def lock_file(store: Path, what: str) -> Path:
    """Return the lock file for ``what`` of a store; all links to the store share it."""
    return _beside(store, f"{what}-lock")


def live_file(store: Path, contest: int) -> Path:
    """Return the file beside a store that tells how far the running matches of a contest are."""
    return _beside(store, f"contest-{contest}-live.json")


def _beside(store: Path, name: str) -> Path:
    """Return a path beside the file that links lead to."""
    real = Path(os.path.realpath(store))
    return real.with_name(f"{real.name}-{name}")


def _lock_on_server(stack: contextlib.ExitStack, store: Database, contest: int, seconds: float) -> None:
    """Reserve a contest while a connection lasts. Raises TimeoutError if another process has it."""
    with in_words(store.name):
        connection = stack.enter_context(store.engine.connect()).execution_options(isolation_level="AUTOCOMMIT")
    stack.callback(connection.invalidate)  # not back into the pool, with the lock
    end = time.monotonic() + seconds
    while not connection.execute(sa.select(sa.func.pg_try_advisory_lock(contest, 1))).scalar():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.05)


# --- removing -------------------------------------------------------------------------------------------------------


def remove(store: ContestStore, contest: int) -> int:
    """Remove a contest, and its matches that no other contest has; return the number of removed matches.

    Raises ParameterError if a process runs this contest, or another one of the same seed, which may share matches.
    """
    with store.connection() as connection:
        seed = connection.execute(sa.select(CONTESTS.c.seed).where(CONTESTS.c.id == contest)).scalar()
        related = list(connection.execute(sa.select(CONTESTS.c.id).where(CONTESTS.c.seed == seed)).scalars())
    with contextlib.ExitStack() as stack:
        for one in related:
            stack.enter_context(lock_contest(store, one))
        if store.path is not None:  # left by a killed process
            live_file(store.path, contest).unlink(missing_ok=True)
        with store.writing() as connection:
            connection.execute(CONTESTS.delete().where(CONTESTS.c.id == contest))
            nobodys = (MATCHES.c.batch == seed) & ~sa.exists().where(PLAYS.c.match == MATCHES.c.id)
            matches = connection.execute(MATCHES.delete().where(nobodys)).rowcount
            alone = ~sa.exists().where(CONTESTS.c.seed == ANSWERS.c.batch)
            connection.execute(ANSWERS.delete().where(ANSWERS.c.batch == seed, alone))
            idle = [~sa.exists().where(table.c.agent == AGENTS.c.id) for table in (FIELDS, SEATS)]
            connection.execute(AGENTS.delete().where(*idle))
    return matches
