"""Which schema a store has, and how one of an earlier schema comes to have the present tables."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from dicegym.arena.provenance import package_version
from dicegym.arena.store.tables import ABOUT
from dicegym.arena.store.trouble import ELSEWHERE, damaged, refusal, trouble_of
from dicegym.errors import DamagedFileError, ParameterError

SCHEMA = "5"
"""The number of the last of the ``migrations``; the row "schema" of ``about`` says which one a file has."""


@contextlib.contextmanager
def in_words(name: str | Path) -> Iterator[None]:
    """Make a ParameterError of whatever SQLite, a server or the system has against a store, called ``name``."""
    try:
        yield
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
