"""A store of contests that is written to: transactions, locks of contests, and removing one.

Contests are written through a `dicegym.arena.store.book.Book`, one each; `dicegym.arena.store.reading` reads them.
"""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import os
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sa
from filelock import FileLock, Timeout
from sqlalchemy.dialects import postgresql, sqlite

from dicegym.arena.provenance import package_version
from dicegym.arena.shards import WHOLE, Shard
from dicegym.arena.storage import DEFAULT, make_default_folder
from dicegym.arena.store.opening import (
    WRITES,
    Database,
    create_tables,
    in_words,
    is_new,
    location_of,
    wait_while_locked,
)
from dicegym.arena.store.schema import (
    AGENTS,
    CONTESTS,
    EXAMINATIONS,
    FIELDS,
    GAMES,
    MATCHES,
    MISPLAYS,
    PLAYS,
    RULES,
    SEATS,
    STANDINGS,
)
from dicegym.arena.work_keys import rules_of
from dicegym.engine.game import Game
from dicegym.errors import ParameterError

SECONDS_BETWEEN = 0.2
"""Between two attempts to have what another process has."""
SECONDS_TO_NOTICE = 1.0
"""A server may take so long to see that a process which had a contest has been killed."""
LOCKS_OF_CONTEST = sa.text(
    "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = :contest AND objsubid = 2 "
    "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)
"""Asks a server how many processes have a contest or a share of it."""
_log = logging.getLogger("dicegym.store")


class ContestStore(Database):
    """An open store, to be written to.

    Args:
        where: path of a file, made if it does not exist, or the URL of a PostgreSQL database.

    Attributes:
        name: where it is, for people.
        path: of its file; None: it is on a server.

    Raises:
        ParameterError: it cannot be used: it is something else, damaged, of a later schema, or out of reach.
        DependencyError: it is on a server, and what speaks to that is not installed.
    """

    def __init__(self, where: str | os.PathLike[str]) -> None:
        super().__init__(location_of(where), writes=True, waits=True)

    def _check(self) -> None:
        path = self.path
        if path is not None:
            make_default_folder(path)
            if path.is_dir():  # SQLite would only say that it cannot open it
                raise ParameterError(f"{path} is a folder: name a file in it, such as {path / DEFAULT}")
            if not path.parent.is_dir():
                raise ParameterError(f"{path} cannot be made, as there is no folder {path.parent}: make it first")
        with self.writing() as connection:
            if is_new(connection, self.name):
                create_tables(connection)
        if path is not None:
            self._order("PRAGMA journal_mode=WAL")  # not before: others' files are not touched

    def _order(self, order: str) -> None:
        with contextlib.closing(self.engine.raw_connection()) as raw:
            wait_while_locked(lambda: raw.cursor().execute(order), self.name)

    @contextlib.contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Yield a connection in a transaction, which is kept unless something is raised within."""
        options = {WRITES: True}
        with in_words(self.name), self.engine.connect().execution_options(**options) as connection, connection.begin():
            if self.path is None:
                # A server that loses power may lose the last second; who is killed loses nothing.
                connection.exec_driver_sql("SET LOCAL synchronous_commit = off")
                write_alone(connection)
            yield connection

    def compact(self) -> None:
        """Give back the room of what has been removed; a server does that by itself."""
        if self.path is not None:
            self._order("VACUUM")
            self._order("PRAGMA wal_checkpoint(TRUNCATE)")


# --- what several writers of a store need ----------------------------------------------------------------------------


def number_of_rules(connection: sa.Connection, game: Game) -> int:
    """Return the number of the rules of ``game`` in a store, where they are put if they are not there."""
    names = "game", "players", "parameters", "fingerprint"
    row = dict(zip(names, rules_of(game), strict=True))
    row["parameters"] = json.dumps(row["parameters"])
    add(connection, RULES, [row | {"version": package_version()}], names)
    return int(connection.execute(sa.select(RULES.c.id).filter_by(**row)).scalar_one())


def write_alone(connection: sa.Connection) -> None:
    """Wait until nobody else writes to a store on a server, and have others wait until the transaction ends.

    So two that store the same matches and checks at once, in whatever order, do not meet; a file has that by itself.
    """
    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(0)))


def add(
    connection: sa.Connection,
    table: sa.Table,
    rows: Sequence[dict[str, Any]],
    keys: Sequence[str],
    changed: Sequence[str] = (),
) -> None:
    """Put rows into a table; where one with the same ``keys`` is there, change what is named of it, or nothing."""
    if rows:
        connection.execute(_addition(connection.dialect.name, table, tuple(keys), tuple(changed)), rows)


@functools.cache
def _addition(dialect: str, table: sa.Table, keys: tuple[str, ...], changed: tuple[str, ...]) -> Any:
    new = (postgresql if dialect == "postgresql" else sqlite).insert(table)
    if not changed:
        return new.on_conflict_do_nothing(index_elements=keys)
    return new.on_conflict_do_update(index_elements=keys, set_={name: new.excluded[name] for name in changed})


def upsert(connection: sa.Connection, table: sa.Table) -> Any:
    """Return an insert that can be told what to do about rows that are there."""
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    return dialect.insert(table)


def now_in_words() -> str:
    """Return the time in UTC, as stores keep it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


# --- who has a contest ----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def lock_contest(store: ContestStore, contest: int, share: Shard | None = WHOLE, waits: bool = False) -> Iterator[None]:
    """Reserve a contest, or a share of it, for this process within the context.

    Args:
        store: where.
        contest: its number.
        share: which of how many shares; None: the whole contest, and nobody has any share of it.
        waits: whether to wait, with words, while another process has it.

    Raises:
        ParameterError: another process has it.
    """
    words = f"contest {contest} of {store.name} is being run by another process"
    told = False
    with contextlib.ExitStack() as stack:
        while True:
            try:
                if store.path is None:
                    _hold_on_server(stack, store, contest, share)
                else:
                    _hold_files(stack, store.path, contest, share)
                break
            except Timeout:
                stack.close()
                if not waits:
                    raise ParameterError(f"{words}: wait for it, or begin another contest") from None
            if not told:
                _log.warning("dicegym: %s: waiting until that has ended", words)
            told = True
            time.sleep(SECONDS_BETWEEN)
        yield


def lock_files(store: Path, contest: int, share: Shard | None = None) -> list[Path]:
    """Return the files beside a store that are locked while somebody has a share of a contest.

    With None these are the file of the whole contest, and those that are there of any share.
    """
    whole = store.with_name(f"{store.name}-contest-{contest}-lock")
    if share is None:
        return [whole, *sorted(store.parent.glob(f"{store.name}-contest-{contest}-*-lock"))]
    return [whole if share == WHOLE else store.with_name(f"{store.name}-contest-{contest}-{share.number}-lock")]


def _hold_files(stack: contextlib.ExitStack, store: Path, contest: int, share: Shard | None) -> None:
    """Lock the files of a share of a contest. Raises Timeout if another process has it."""
    for file in lock_files(store, contest, share):
        stack.enter_context(FileLock(file, timeout=0))
        stack.callback(file.unlink, missing_ok=True)


def _hold_on_server(stack: contextlib.ExitStack, store: ContestStore, contest: int, share: Shard | None) -> None:
    """Hold a contest as long as a connection lasts. Raises Timeout if another process has it."""
    with in_words(store.name):
        connection = stack.enter_context(store.engine.connect()).execution_options(isolation_level="AUTOCOMMIT")
    stack.callback(connection.invalidate)  # else it would go on in the pool, and have the lock
    end = time.monotonic() + SECONDS_TO_NOTICE
    taken = sa.select(sa.func.pg_try_advisory_lock(contest, (share or WHOLE).number))
    while not connection.execute(taken).scalar():
        if time.monotonic() > end:
            raise Timeout(store.name)
        time.sleep(0.05)
    if share is None and connection.execute(LOCKS_OF_CONTEST, {"contest": contest}).scalar_one() > 1:
        raise Timeout(store.name)


# --- removing -------------------------------------------------------------------------------------------------------


class Removed(NamedTuple):
    """What has gone with a contest."""

    matches: int
    games: int
    entries: int
    """Entries that have no part in another contest."""
    kept: int
    """Its matches that stay, as other contests have them too."""


def remove(store: ContestStore, contest: int) -> Removed:
    """Remove a contest, and of the matches with its seed those that no other contest has; the file gets smaller.

    Raises ParameterError if another process has the contest, or one of the same seed, whose matches may be its too.
    """
    with store.connection() as connection:
        seed = sa.select(CONTESTS.c.seed).where(CONTESTS.c.id == contest).scalar_subquery()
        related = list(connection.execute(sa.select(CONTESTS.c.id).where(CONTESTS.c.seed == seed)).scalars())
    with contextlib.ExitStack() as stack:
        for one in related:
            stack.enter_context(lock_contest(store, one, None))
        with store.writing() as connection:
            removed = _remove(connection, contest)
        with contextlib.suppress(sa.exc.OperationalError):  # somebody else uses the file: another time, then
            store.compact()
    return removed


def _remove(connection: sa.Connection, contest: int) -> Removed:
    def drop(table: sa.Table, *where: sa.ColumnElement[bool]) -> int:
        return connection.execute(table.delete().where(*where)).rowcount

    seed = connection.execute(sa.select(CONTESTS.c.seed).where(CONTESTS.c.id == contest)).scalar()
    others = PLAYS.alias()
    shared = sa.exists().where(others.c.match == PLAYS.c.match, others.c.contest != contest)
    kept = sa.select(sa.func.count()).select_from(PLAYS).where(PLAYS.c.contest == contest, shared)
    stay = int(connection.execute(kept).scalar_one())
    drop(PLAYS, PLAYS.c.contest == contest)
    nobodys = sa.select(MATCHES.c.id).where(MATCHES.c.batch == seed, ~sa.exists().where(PLAYS.c.match == MATCHES.c.id))
    drop(MISPLAYS, MISPLAYS.c.match.in_(nobodys))
    games = drop(GAMES, GAMES.c.match.in_(nobodys))
    drop(SEATS, SEATS.c.match.in_(nobodys))
    matches = drop(MATCHES, MATCHES.c.id.in_(nobodys))
    drop(STANDINGS, STANDINGS.c.contest == contest)
    drop(FIELDS, FIELDS.c.contest == contest)
    drop(CONTESTS, CONTESTS.c.id == contest)
    if not connection.execute(sa.select(sa.exists().where(CONTESTS.c.seed == seed))).scalar():
        drop(EXAMINATIONS, EXAMINATIONS.c.batch == seed)
    idle = ~sa.exists().where(FIELDS.c.agent == AGENTS.c.id), ~sa.exists().where(SEATS.c.agent == AGENTS.c.id)
    entries = drop(AGENTS, *idle)
    unused = ~sa.exists().where(CONTESTS.c.rules == RULES.c.id), ~sa.exists().where(MATCHES.c.rules == RULES.c.id)
    drop(RULES, *unused)
    return Removed(matches, games, entries, stay)
