"""The tables of a server's results, and how a file of an earlier schema comes to have them."""

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

import dicegym
from dicegym.errors import DamagedFileError, ParameterError
from dicegym.server.trouble import ELSEWHERE, damaged, refusal, trouble_of

SCHEMA = "3"
"""The number of the last of the ``migrations``; the row "schema" of ``about`` says which one a file has."""

TABLES = sa.MetaData()
ABOUT = sa.Table(
    "about", TABLES, sa.Column("name", sa.Text, primary_key=True), sa.Column("value", sa.Text, nullable=False)
)  # "schema" and "game"
RUNS = sa.Table(
    "runs",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("began", sa.Text, nullable=False),
    sa.Column("seed", sa.Text, nullable=False),  # as given or drawn, decimal
    sa.Column("version", sa.Text, nullable=False),  # of dicegym
    sa.Column("ended", sa.Text),  # nothing while it runs, and for ever if it was killed
    sa.Column("state", sa.Text),  # JSON: a `dicegym.server.results.ServerState`, as it was last
)
RATINGS = sa.Table(
    "ratings",
    TABLES,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("rating", sa.Float, nullable=False),
    sa.Column("games", sa.Integer, nullable=False),  # rated ones: none for a guest that has never made a move
    sa.Column("wins", sa.Integer, nullable=False),  # first places, shared ones included
)
GAMES = sa.Table(
    "games",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("run", sa.ForeignKey("runs.id"), nullable=False),
    sa.Column("number", sa.Integer, nullable=False),  # within the run
    sa.Column("seed", sa.Text, nullable=False),  # decimal; dicegym.game(...).new_game(seed, number) is the game
    sa.Column("ended", sa.Text, nullable=False),
    sa.Column("seconds", sa.Float, nullable=False),
    sa.Column("actions", sa.Text, nullable=False),  # JSON list: played in this order they give the game again
    sa.UniqueConstraint("run", "number"),
)
RESULTS = sa.Table(
    "results",
    TABLES,
    sa.Column("game", sa.ForeignKey("games.id"), primary_key=True),
    sa.Column("seat", sa.Integer, primary_key=True),
    sa.Column("name", sa.ForeignKey("ratings.name"), nullable=False, index=True),
    sa.Column("total", sa.Integer, nullable=False),
    sa.Column("place", sa.Integer, nullable=False),
    sa.Column("before", sa.Float, nullable=False),  # rating
    sa.Column("after", sa.Float, nullable=False),
    sa.Column("rated", sa.Boolean, nullable=False, server_default="1"),  # whether the game counts for this seat
)
INCIDENTS = sa.Table(
    "incidents",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("game", sa.ForeignKey("games.id"), nullable=False, index=True),
    sa.Column("seat", sa.Integer, nullable=False),
    sa.Column("turn", sa.Integer, nullable=False),  # number of the seat's decision, from 1
    sa.Column("reason", sa.Text, nullable=False),
)


@contextlib.contextmanager
def in_words(path: Path) -> Iterator[None]:
    """Make a ParameterError of whatever SQLite or the system has against a file."""
    try:
        yield
    except (sa.exc.DBAPIError, sqlite3.Error) as error:
        trouble = trouble_of(error)
        if trouble is None:
            raise
        raise refusal(path, trouble) from None
    except sa.exc.NoSuchTableError as error:
        raise damaged(path, f"no table {error}") from None
    except UnicodeDecodeError:
        raise damaged(path, "a text in it is no UTF-8") from None
    except OSError as error:
        raise DamagedFileError(path, f"cannot be used ({error.strerror or error})", ELSEWHERE) from None


def schema_of(connection: sa.Connection, path: Path) -> str | None:
    """Return the number of a file's schema, None if there is nothing in it.

    Raises ParameterError if it is a database of something else, or of a schema that no migration leads from.
    """
    tables = sa.inspect(connection).get_table_names()
    if not tables:
        return None
    if ABOUT.name not in tables:
        raise ParameterError(f"{path} is a database of something else: give another --database")
    found = str(connection.execute(sa.select(ABOUT.c.value).where(ABOUT.c.name == "schema")).scalar())
    if found not in {script.revision for script in ScriptDirectory.from_config(_config(connection)).walk_revisions()}:
        newer = found.isdecimal() and int(found) > int(SCHEMA)
        why = "which a newer dicegym has written" if newer else "which no dicegym has written"
        how = "update dicegym (pip install -U dicegym), or " if newer else ""
        raise ParameterError(
            f"{path} has schema {found}, {why}: dicegym {dicegym.__version__} knows schemas up to {SCHEMA}; "
            f"{how}give another --database"
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
