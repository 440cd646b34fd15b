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
from dicegym.arena.store.trouble import DATABASE, damaged, refusal, trouble_of
from dicegym.errors import DamagedFileError, ParameterError

SCHEMA = "4"
"""The number of the last of the ``migrations``; the row "schema" of ``about`` says which one a file has."""


@contextlib.contextmanager
def in_words(path: Path, option: str = DATABASE) -> Iterator[None]:
    """Make a ParameterError of whatever SQLite or the system has against a file, which ``option`` names."""
    try:
        yield
    except (sa.exc.DBAPIError, sqlite3.Error) as error:
        trouble = trouble_of(error)
        if trouble is None:
            raise
        raise refusal(path, trouble, option) from None
    except sa.exc.NoSuchTableError as error:
        raise damaged(path, f"no table {error}", option) from None
    except UnicodeDecodeError:
        raise damaged(path, "a text in it is no UTF-8", option) from None
    except OSError as error:
        raise DamagedFileError(path, f"cannot be used ({error.strerror or error})", f"give another {option}") from None


def schema_of(connection: sa.Connection, path: Path, option: str = DATABASE) -> str | None:
    """Return the number of a file's schema, None if there is nothing in it; ``option`` names the file.

    Raises ParameterError if it is a database of something else, or of a schema that no migration leads from.
    """
    tables = sa.inspect(connection).get_table_names()
    if not tables:
        return None
    if ABOUT.name not in tables:
        raise ParameterError(f"{path} is a database of something else: give another {option}")
    found = str(connection.execute(sa.select(ABOUT.c.value).where(ABOUT.c.name == "schema")).scalar())
    if found not in {script.revision for script in ScriptDirectory.from_config(_config(connection)).walk_revisions()}:
        newer = found.isdecimal() and int(found) > int(SCHEMA)
        why = "which a newer dicegym has written" if newer else "which no dicegym has written"
        how = "update dicegym (pip install -U dicegym), or " if newer else ""
        raise ParameterError(
            f"{path} has schema {found}, {why}: dicegym {package_version()} knows schemas up to {SCHEMA}; "
            f"{how}give another {option}"
        )
    return found


def game_held(connection: sa.Connection) -> str:
    """Return the game whose results are in a file with a schema."""
    return str(connection.execute(sa.select(ABOUT.c.value).where(ABOUT.c.name == "game")).scalar())


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
