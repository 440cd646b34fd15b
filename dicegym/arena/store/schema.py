"""Which schema a store has, and how one of an earlier schema comes to have the present tables."""

from __future__ import annotations

import contextlib
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from dicegym.arena.provenance import package_version
from dicegym.arena.store.tables import ABOUT, NonsenseError
from dicegym.arena.store.trouble import ELSEWHERE, MOST_SAID, damaged, refusal, trouble_of
from dicegym.errors import DamagedFileError, DicegymError, ParameterError, one_line

SCHEMA = "5"
"""The number of the last of the ``migrations``; the row "schema" of ``about`` says which one a file has."""


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


def schema_of(connection: sa.Connection, name: str | Path) -> str | None:
    """Return the number of a store's schema, None if there is nothing in it.

    Raises ParameterError if it is a database of something else, or of a schema that no migration leads from.
    """
    tables = sa.inspect(connection).get_table_names()
    if not tables:
        return None
    if ABOUT.name not in tables:
        raise ParameterError(f"{name} is a database of something else: {ELSEWHERE}")
    if connection.dialect.name == "sqlite":
        _check_tables(connection, name)
    found = str(connection.execute(sa.select(ABOUT.c.value).where(ABOUT.c.name == "schema")).scalar())
    if found not in {script.revision for script in ScriptDirectory.from_config(_config(connection)).walk_revisions()}:
        newer = found.isdecimal() and int(found) > int(SCHEMA)
        why = "which a newer dicegym has written" if newer else "which no dicegym has written"
        how = "update dicegym, or " if newer else ""
        raise ParameterError(
            f"{name} has schema {found}, {why}: dicegym {package_version()} knows schemas up to {SCHEMA}; "
            f"{how}{ELSEWHERE}"
        )
    return found


def _check_tables(connection: sa.Connection, name: str | Path) -> None:
    """Raise DamagedFileError if a file has more than tables: a view in place of one answers what it likes."""
    asked = "SELECT type, name FROM sqlite_master WHERE type NOT IN ('table', 'index') OR sql LIKE 'CREATE VIRTUAL%'"
    for kind, called in connection.exec_driver_sql(asked):
        raise damaged(name, f"it has a {one_line(kind, 20)} {one_line(called, 40)}, and holds tables alone")


def migrate(connection: sa.Connection, found: str | None) -> None:
    """Bring a file of schema ``found`` (`schema_of`) to the present one, within the connection's transaction."""
    config = _config(connection)
    if found is not None:  # the first schema was written before there were migrations
        MigrationContext.configure(connection).stamp(ScriptDirectory.from_config(config), found)
    command.upgrade(config, "head")


def _config(connection: sa.Connection) -> Config:
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    return config
