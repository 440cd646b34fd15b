"""Where a store is, and how it is opened: a file of SQLite, or a database on a PostgreSQL server."""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import re
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import sqlalchemy as sa

from dicegym.errors import DependencyError, ParameterError, one_line

WRITES = "writes"
"""Execution option of a connection whose transactions change something: SQLite then waits for its turn at once, where
it would refuse later."""


PATIENCE = 10
"""Seconds within which a server has to answer who connects."""
BUSY = 5.0
"""Seconds for which SQLite itself waits for a file that another program has locked."""
WORDS_AFTER = 1.0
"""Seconds for which it waits before whoever waits for as long as it takes is told so."""
_Done = TypeVar("_Done")
_log = logging.getLogger("dicegym.store")


class Location(NamedTuple):
    """Where a store is."""

    path: Path | None
    """Of SQLite's file; None: on a server."""
    url: sa.URL
    name: str
    """For people: without a password."""


def location_of(where: str | os.PathLike[str]) -> Location:
    """Return where a store is that is named by the path of a file or a URL.

    Raises ParameterError for nothing at all, and for a URL of anything but SQLite and PostgreSQL.
    """
    text = os.fspath(where)
    if not text:
        raise ParameterError("a store has a name: give the path of a file, or the address of a database")
    if "://" not in text:
        path = Path(text).expanduser()
        return Location(path, sa.URL.create("sqlite", database=str(path)), str(path))
    try:
        url = sa.make_url(text)
    except (sa.exc.ArgumentError, ValueError):
        hidden = re.sub("(://[^:/?]*):.*@", r"\1:***@", text, flags=re.DOTALL)  # what looks like a password
        raise ParameterError(
            f"{one_line(hidden)!r} is no address of a database: write postgresql://user@host/database"
        ) from None
    backend = url.get_backend_name()
    if backend == "sqlite" and url.database:
        return Location(Path(url.database), url, url.database)
    shown = url.update_query_dict({name: "***" for name in url.query if "pass" in name}).render_as_string()
    if backend != "postgresql":
        raise ParameterError(
            f"a store cannot be at {shown!r}: give a file, or an address that begins with postgresql://"
        )
    return Location(None, url.set(drivername="postgresql+psycopg"), shown)


def wait_while_locked(do: Callable[[], _Done], name: str) -> _Done:
    """Do something with a file of SQLite, again while another program has it locked; say once that it waits."""
    told = False
    while True:
        try:
            return do()
        except (sa.exc.OperationalError, sqlite3.OperationalError) as error:
            code = getattr(getattr(error, "orig", error), "sqlite_errorcode", 0)
            if code & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise
        if not told:
            _log.warning("dicegym: %s is locked by another program: waiting until that has ended", name)
        told = True
        time.sleep(0.05)


def engine_at(location: Location, writes: bool = True, waits: bool = False, **options: Any) -> sa.Engine:
    """Return an engine for a place, for reading and writing, or for reading alone.

    Args:
        location: the place.
        writes: whether it is for writing too; else each transaction sees the store as it was when that began.
        waits: whether a transaction waits, with words, for as long as another program has locked the file.
        options: of ``sqlalchemy.create_engine``, on a server.

    Raises:
        DependencyError: it is on a server, and what speaks to that is missing.
    """
    if location.path is not None:
        return engine_of(location.path, writes, WORDS_AFTER if waits else BUSY, shared=not writes, waits=waits)
    try:
        given = {} if "connect_timeout" in location.url.query else {"connect_timeout": PATIENCE}
        engine = sa.create_engine(location.url, pool_pre_ping=True, connect_args=given, **options)
        reading = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        return engine if writes else engine.execution_options(**reading)
    except ImportError as error:
        raise DependencyError.for_extra(str(error.name), "postgres", "a store on a PostgreSQL server") from error


def engine_of(
    path: Path | None,
    writes: bool = True,
    busy: float = BUSY,
    shared: bool = True,
    waits: bool = False,
    **options: Any,
) -> sa.Engine:
    """Return an engine for a file, for reading alone if not ``writes``, or for one in memory if it is None.

    It waits for ``busy`` seconds where another program has locked the file, and ``waits`` as `engine_at` says. All
    threads share one connection, unless not ``shared``: then each has one of a pool, of which ``options`` of
    ``sqlalchemy.create_engine`` tell the size.

    A transaction holds changes of tables too, which Python's own handling of transactions would leave out.
    """
    if path is None:
        engine = sa.create_engine("sqlite://", poolclass=sa.pool.StaticPool)
    elif writes:
        pool = sa.pool.StaticPool if shared else sa.pool.QueuePool
        engine = sa.create_engine(sa.URL.create("sqlite", database=str(path)), poolclass=pool, **options)
    else:
        # Where nobody writes, SQLite is told so: who may only read could not remove again what it lays beside the file.
        alone = {} if path.with_name(path.name + "-wal").exists() else {"immutable": "1"}
        query = {"mode": "ro", "uri": "true", **alone}
        where = sa.URL.create("sqlite", database=path.absolute().as_uri(), query=query)
        engine = sa.create_engine(where, poolclass=sa.pool.StaticPool)

    engine.dialect, cache = _compiling()
    engine.update_execution_options(compiled_cache=cache)

    def attempt(do: Callable[[], object]) -> None:
        if waits:
            wait_while_locked(do, str(path))
        else:
            do()

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: Any, _: object) -> None:
        connection.isolation_level = None
        # In a log of its own (WAL) that is enough for a process that is killed; a server sets more.
        for setting in (
            "foreign_keys=ON",
            "trusted_schema=OFF",
            f"busy_timeout={round(1000 * busy)}",
            "synchronous=NORMAL",
        ):
            attempt(functools.partial(connection.execute, f"PRAGMA {setting}"))

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        order = "BEGIN IMMEDIATE" if connection.get_execution_options().get(WRITES) else "BEGIN"
        attempt(lambda: connection.exec_driver_sql(order))
        if waits and order == "BEGIN":  # which locks nothing before something is read
            attempt(lambda: connection.exec_driver_sql("SELECT 1 FROM sqlite_master LIMIT 1").all())

    return engine


@functools.cache
def _compiling() -> tuple[sa.Dialect, dict[Any, Any]]:
    """Return what writes statements for SQLite and those that it has written, for all files of this process.

    A page or a command opens its store anew, and writing a statement takes longer than asking it of a small file.
    """
    with contextlib.closing(sa.create_engine("sqlite://").connect()) as connection:  # it asks for the version
        return connection.dialect, {}
