"""Which schema a store has, and how a new one gets its tables."""

from __future__ import annotations

import contextlib
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path

import sqlalchemy as sa

from dicegym.arena.provenance import package_version
from dicegym.arena.store.tables import ABOUT, TABLES, NonsenseError
from dicegym.arena.store.trouble import ELSEWHERE, MOST_SAID, damaged, refusal, trouble_of
from dicegym.errors import DamagedFileError, DicegymError, ParameterError, one_line

SCHEMA = "6"
"""The number of the present tables; the row "schema" of ``about`` says which one a store has."""


_NONSENSE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError, zlib.error)
"""What may be raised where something else is read than what was written."""


@contextlib.contextmanager
def read_in_words(name: str | Path) -> Iterator[None]:
    """Make a ParameterError, too, of what cannot be read of what a store, called ``name``, holds."""
    try:
        with in_words(name):
            yield
    except DicegymError:
        raise
    except _NONSENSE as error:
        raise damaged(name, f"{type(error).__name__}: {one_line(error, MOST_SAID)}") from error


@contextlib.contextmanager
def in_words(name: str | Path) -> Iterator[None]:
    """Make a ParameterError of whatever SQLite, a server or the system has against a store, called ``name``."""
    try:
        yield
    except NonsenseError as error:
        raise damaged(name, str(error)) from None
    except (sa.exc.DBAPIError, sqlite3.Error) as error:
        trouble = trouble_of(error)
        if trouble is None:
            raise
        raise refusal(name, trouble) from None
    except sa.exc.NoSuchTableError as error:
        raise damaged(name, f"no table {error}") from None
    except UnicodeDecodeError:
        raise damaged(name, "a text in it is no UTF-8") from None
    except OSError as error:
        raise DamagedFileError(name, f"cannot be used ({error.strerror or error})", ELSEWHERE) from None


def is_new(connection: sa.Connection, name: str | Path) -> bool:
    """Return whether a store has no tables yet.

    Raises ParameterError if it is a database of something else, or has another schema than `SCHEMA`.
    """
    tables = sa.inspect(connection).get_table_names()
    if not tables:
        return True
    if ABOUT.name not in tables:
        raise ParameterError(f"{name} is a database of something else: {ELSEWHERE}")
    if connection.dialect.name == "sqlite":
        _check_tables(connection, name)
    found = str(connection.execute(sa.select(ABOUT.c.value).where(ABOUT.c.name == "schema")).scalar())
    if found != SCHEMA:
        raise ParameterError(
            f"{name} has schema {found}, and dicegym {package_version()} reads schema {SCHEMA} alone: name another "
            "store, or install the version that wrote this one: its `dicegym arena show` writes contests to files"
        )
    return False


def create_tables(connection: sa.Connection) -> None:
    """Create the tables of a new store, within the connection's transaction."""
    TABLES.create_all(connection)
    connection.execute(sa.insert(ABOUT).values(name="schema", value=SCHEMA))


def _check_tables(connection: sa.Connection, name: str | Path) -> None:
    """Raise DamagedFileError if a file has more than tables: a view in place of one answers what it likes."""
    asked = "SELECT type, name FROM sqlite_master WHERE type NOT IN ('table', 'index') OR sql LIKE 'CREATE VIRTUAL%'"
    for kind, called in connection.exec_driver_sql(asked):
        raise damaged(name, f"it has a {one_line(kind, 20)} {one_line(called, 40)}, and holds tables alone")
