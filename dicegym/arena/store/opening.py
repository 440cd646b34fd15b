"""Open stores, and describe what goes wrong with them.

A store is a SQLite file or a database on a PostgreSQL server.
"""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Self

import sqlalchemy as sa

from dicegym.arena.provenance import package_version
from dicegym.arena.store.schema import ABOUT, TABLES
from dicegym.errors import DamagedFileError, DependencyError, DicegymError, ParameterError, one_line

SCHEMA = "7"
"""Version of the tables; the row "schema" of ``about`` holds that of a store."""
WRITES = "writes"
"""Execution option of a connection that will write: SQLite then takes the write lock at once, and waits for it. A
transaction that reads first and writes later would be refused."""
PATIENCE = 10
"""Seconds in which a server must answer a connection."""
BUSY = 30.0
"""Seconds for which a transaction waits for a locked file."""
ELSEWHERE = "give another --store"
MOST_SAID = 200
"""Most characters of a database's message, which may quote a damaged file."""


# --- trouble --------------------------------------------------------------------------------------------------------


class Trouble(NamedTuple):
    """Why a database cannot do something, what to do, and whether it may pass by itself.

    The reason completes "FILE ..." and "the store at URL ...".
    """

    reason: str
    instead: str
    passes: bool


class BusyError(ParameterError):
    """Another program has locked a store for now."""


class HeldError(ParameterError):
    """Another server of the same game uses the store."""


_DAMAGED = Trouble(
    "is damaged",
    "nothing in it was changed; put a backup in its place, or get out what can be read by "
    "`sqlite3 FILE .recover | sqlite3 saved.sqlite` and continue with --store saved.sqlite",
    False,
)
_NO_DATABASE = Trouble(
    "is not a database, or its beginning is damaged",
    f"nothing in it was changed; if it held results, put a backup in its place; otherwise {ELSEWHERE}",
    False,
)
_LOCKED = Trouble("is locked by another program", "wait until that (a backup?) has ended, or end it", True)
_FULL = Trouble("cannot be read or written", "make room on its disk, or " + ELSEWHERE, True)
_REFUSED = Trouble("cannot be used", f"make it and its folder writable for you, or {ELSEWHERE}", True)
_TROUBLES = {
    sqlite3.SQLITE_BUSY: _LOCKED,
    sqlite3.SQLITE_LOCKED: _LOCKED,
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_IOERR: _FULL,
    sqlite3.SQLITE_NOMEM: Trouble("cannot be read for want of memory", "end other programs", True),
    sqlite3.SQLITE_READONLY: _REFUSED,
    sqlite3.SQLITE_CANTOPEN: _REFUSED,
    sqlite3.SQLITE_PERM: _REFUSED,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _NO_DATABASE,
}


def trouble_of(error: BaseException) -> Trouble | None:
    """Return what an error means, of SQLAlchemy or of a database driver; None for any other error."""
    raised = getattr(error, "orig", None) or error
    if isinstance(error, HeldError):  # until the server notices a broken connection
        return Trouble("is in use by another server", "stop that, or " + ELSEWHERE, True)
    said = one_line(str(raised).strip().partition("\n")[0] or type(raised).__name__, MOST_SAID)
    if type(raised).__module__.partition(".")[0] == "psycopg":
        # Classes of SQLSTATE that may pass: connections, resources, an operator's action, the machine
        state = getattr(raised, "sqlstate", None) or ""
        lost = type(raised).__name__ in ("OperationalError", "InterfaceError", "ConnectionTimeout")
        passes = lost or state[:2] in ("08", "25", "40", "53", "55", "57", "58")
        instead = "see that the server runs, that the database exists and that you may use it"
        return Trouble(f"cannot be used ({said})", instead, passes)
    if not isinstance(raised, sqlite3.Error):
        return None
    found = _TROUBLES.get(getattr(raised, "sqlite_errorcode", -1) & 0xFF)  # the upper bytes hold details
    other = isinstance(raised, sqlite3.OperationalError | sqlite3.DataError) or type(raised) is sqlite3.DatabaseError
    if found is None and other:  # unexpected tables, columns or characters
        found = _DAMAGED
    return found and found._replace(reason=f"{found.reason} ({said})")


def call_store(name: str | Path) -> str:
    """Return the name of a store for a sentence."""
    return f"the store at {name}" if "://" in str(name) else str(name)


def make_damage_error(name: str | Path, what: str) -> ParameterError:
    """Return the error for a store that contains what dicegym does not write."""
    instead = "put a backup in its place" if "://" in str(name) else _DAMAGED.instead
    return _refusal(name, _DAMAGED._replace(reason=f"{_DAMAGED.reason} ({what})", instead=instead))


def _refusal(name: str | Path, trouble: Trouble) -> ParameterError:
    """Return a BusyError for a lock, which passes by itself, otherwise a DamagedFileError."""
    if trouble.reason.startswith(_LOCKED.reason):
        return BusyError(f"{name} {trouble.reason}: {trouble.instead}")
    return DamagedFileError(call_store(name), trouble.reason, trouble.instead.replace("FILE", str(name)))


_NONSENSE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError, zlib.error)
"""What may be raised where stored values are not what dicegym wrote."""


@contextlib.contextmanager
def in_words(name: str | Path, reads: bool = False) -> Iterator[None]:
    """Raise a ParameterError for any error of SQLite, a server or the system; ``name`` is the store.

    With ``reads``, errors of reading values within the context count as damage of the store.
    """
    try:
        yield
    except DicegymError:
        raise
    except (sa.exc.DBAPIError, sqlite3.Error) as error:
        trouble = trouble_of(error)
        if trouble is None:
            raise
        raise _refusal(name, trouble) from None
    except OSError as error:
        raise DamagedFileError(name, f"cannot be used ({error.strerror or error})", ELSEWHERE) from None
    except _NONSENSE as error:
        if not reads and not isinstance(error, UnicodeDecodeError):
            raise
        raise make_damage_error(name, f"{type(error).__name__}: {one_line(error, MOST_SAID)}") from error


# --- places and engines ---------------------------------------------------------------------------------------------


class Location(NamedTuple):
    """Where a store is: the path of SQLite's file (None: on a server), its URL, and its name without password."""

    path: Path | None
    url: sa.URL
    name: str


def location_of(where: str | os.PathLike[str]) -> Location:
    """Return the location of a file or a URL. Raises ParameterError for no name, or a URL that is not PostgreSQL's."""
    text = os.fspath(where) if isinstance(where, str | os.PathLike) else ""  # type: ignore[redundant-expr]  # untyped callers
    if not text:
        raise ParameterError(f"{where!r} does not name a store: give the path of a file, or the address of a database")
    if "://" not in text:
        path = Path(os.path.expanduser(text))
        return Location(path, sa.URL.create("sqlite", database=str(path)), str(path))
    try:
        url = sa.make_url(text)
    except (sa.exc.ArgumentError, ValueError):
        hidden = re.sub("(://[^:/?]*):.*@", r"\1:***@", text, flags=re.DOTALL)  # what looks like a password
        raise ParameterError(
            f"{one_line(hidden)!r} is no address of a database: write postgresql://user@host/database"
        ) from None
    shown = url.update_query_dict({name: "***" for name in url.query if "pass" in name}).render_as_string()
    if url.get_backend_name() != "postgresql":
        raise ParameterError(
            f"a store cannot be at {shown!r}: give a file, or an address that begins with postgresql://"
        )
    return Location(None, url.set(drivername="postgresql+psycopg"), shown)


def engine_at(location: Location, writes: bool = True, **options: Any) -> sa.Engine:
    """Return an engine for a location.

    On a server, a read-only transaction sees the store as it was when the transaction began. In a file, transactions
    include changes of tables, which Python's own transactions leave out.

    Args:
        location: where.
        writes: for writing too, or read-only.
        options: of ``sqlalchemy.create_engine``, such as the size of the pool.

    Raises:
        DependencyError: it is on a server, and the driver is missing.
    """
    path = location.path
    if path is None:
        return _engine_on_server(location.url, writes, options)
    where = location.url
    if not writes:
        # Without a writer the file is "immutable": otherwise a reader leaves files beside it that it may not remove.
        alone = {} if os.path.exists(f"{path}-wal") else {"immutable": "1"}
        query = {"mode": "ro", "uri": "true", **alone}
        where = sa.URL.create("sqlite", database=path.absolute().as_uri(), query=query)
    engine = sa.create_engine(where, **options)
    # With a write-ahead log "normal" is safe if a process is killed; a Yatzy server sets more.
    settings = "foreign_keys=ON", "trusted_schema=OFF", "synchronous=NORMAL", f"busy_timeout={round(1000 * BUSY)}"

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: Any, _: object) -> None:
        connection.isolation_level = None
        for setting in settings:
            connection.execute(f"PRAGMA {setting}")

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get(WRITES) else "BEGIN")

    return engine


def _engine_on_server(url: sa.URL, writes: bool, options: dict[str, Any]) -> sa.Engine:
    try:
        given = {} if "connect_timeout" in url.query else {"connect_timeout": PATIENCE}
        engine = sa.create_engine(url, pool_pre_ping=True, connect_args=given, **options)
    except ImportError as error:
        raise DependencyError.for_extra(str(error.name), "postgres", "a store on a PostgreSQL server") from error
    reading = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
    return engine if writes else engine.execution_options(**reading)


# --- tables ---------------------------------------------------------------------------------------------------------


def is_new(connection: sa.Connection, name: str | Path) -> bool:
    """Return whether a store has no tables yet.

    Raises ParameterError for a database of something else or of another `SCHEMA`, and DamagedFileError for one with
    other objects than tables: a view could answer anything in the name of a table.
    """
    tables = sa.inspect(connection).get_table_names()
    if not tables:
        return True
    if ABOUT.name not in tables:
        raise ParameterError(f"{name} is a database of something else: {ELSEWHERE}")
    if connection.dialect.name == "sqlite":
        more = "SELECT type, name FROM sqlite_master WHERE type NOT IN ('table', 'index') OR sql LIKE 'CREATE VIRTUAL%'"
        for kind, title in connection.exec_driver_sql(more):
            raise make_damage_error(
                name, f"it has a {one_line(kind, 20)} {one_line(title, 40)}, but may only have tables"
            )
    found = str(connection.execute(sa.select(ABOUT.c.value).where(ABOUT.c.name == "schema")).scalar())
    if found != SCHEMA:
        raise ParameterError(
            f"{name} has schema {found}, and dicegym {package_version()} reads only schema {SCHEMA}: name another "
            "store, or install the version that wrote this one: its `dicegym arena show -o FILE.json` writes contests"
        )
    return False


def create_tables(connection: sa.Connection) -> None:
    """Create the tables of a new store, within the connection's transaction."""
    TABLES.create_all(connection)
    connection.execute(sa.insert(ABOUT).values(name="schema", value=SCHEMA))


class Database:
    """An open store; read-only unless it ``writes``.

    Args:
        where: path of a file, or the URL of a PostgreSQL database.
        options: of ``sqlalchemy.create_engine``.

    Attributes:
        name: where it is, for messages.
        path: of its file; None: on a server.
    """

    writes = False

    def __init__(self, where: str | os.PathLike[str], **options: Any) -> None:
        location = location_of(where)
        self.name, self.path = location.name, location.path
        self._written = self._stamp()
        self.engine = engine_at(location, self.writes, **options)
        try:
            with in_words(self.name):
                self._check()
        except BaseException:
            self.close()
            raise

    def _check(self) -> None:
        """Check the database. Raises ParameterError if it cannot be used."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    @contextlib.contextmanager
    def connection(self) -> Iterator[sa.Connection]:
        """Yield a connection in a read-only transaction that sees one state of the store.

        Errors, also of reading its values, become those of `in_words`. Raises BusyError for a file that had no writer
        when it was opened, and so is read without locks, but has been written since.
        """
        with in_words(self.name, reads=True):
            try:
                with self.engine.connect() as connection:
                    if self.path is None:
                        connection.execution_options(isolation_level="REPEATABLE READ")
                    with connection.begin():
                        yield connection
            finally:
                if "immutable" in self.engine.url.query and self._stamp() != self._written:
                    raise BusyError(f"{self.name} was written while it was read: ask again")

    def _stamp(self) -> tuple[int, int] | None:
        """Return what distinguishes states of the file; None without a file."""
        about = os.stat(self.path) if self.path is not None and os.path.isfile(self.path) else None
        return None if about is None else (about.st_mtime_ns, about.st_size)
