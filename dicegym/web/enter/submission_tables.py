"""The tables of tokens, bots and their contests: one SQLite file."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy as sa

from dicegym.arena.store.opening import WRITES, engine_of
from dicegym.errors import DamagedFileError

FORM = 1
"""Of the tables, as the file says itself (``user_version``)."""
NAME = "entering.sqlite"
INSTEAD = "move it away, and a new one is begun: tokens, bots and contests of these pages are lost with it"

METADATA = sa.MetaData()
TOKENS = sa.Table(
    "tokens",
    METADATA,
    sa.Column("name", sa.Text, primary_key=True),  # whose it is; owns bots
    sa.Column("digest", sa.Text, nullable=False, unique=True),  # SHA-256 of 128 random bits, hexadecimal
    sa.Column("operator", sa.Boolean, nullable=False),
    sa.Column("made", sa.Text, nullable=False),  # UTC, ISO 8601, as all times
    sa.Column("expires", sa.Text),  # nothing: never
    sa.Column("revoked", sa.Text),
)
SESSIONS = sa.Table(
    "sessions",  # browsers in which a token was entered
    METADATA,
    sa.Column("digest", sa.Text, primary_key=True),  # of the cookie
    sa.Column("token", sa.Text, nullable=False),  # the digest of the token: a new one of the same name is another
    sa.Column("until", sa.Text, nullable=False),
)
BOTS = sa.Table(
    "bots",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("owner", sa.Text, nullable=False),
    sa.Column("game", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("made", sa.Text, nullable=False),
    sa.UniqueConstraint("owner", "game", "name"),
    sqlite_autoincrement=True,  # addresses of what is gone lead nowhere, and not to others' bots
)
VERSIONS = sa.Table(
    "versions",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("bot", sa.ForeignKey("bots.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("number", sa.Integer, nullable=False),  # from 1
    sa.Column("made", sa.Text, nullable=False),
    sa.Column("file", sa.Text, nullable=False),  # what its author called what was sent
    sa.Column("size", sa.Integer, nullable=False),  # bytes
    sa.Column("digest", sa.Text, nullable=False),  # SHA-256 of what was sent
    sa.Column("state", sa.Text, nullable=False),  # a `VersionState`
    sa.Column("progress", sa.Text, nullable=False, server_default=""),  # in words
    sa.Column("report", sa.Text),  # JSON: what the check found
    sa.Column("results", sa.Text),  # JSON: what the trial games came to
    sa.UniqueConstraint("bot", "number"),
    sqlite_autoincrement=True,  # their folders are called by it
)
UPLOADS = sa.Table(
    "uploads",  # when bots were handed in, also those that are gone: limits count them
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("owner", sa.Text, nullable=False, index=True),
    sa.Column("made", sa.Text, nullable=False),
)
WEB_CONTESTS = sa.Table(
    "contests",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("game", sa.Text, nullable=False),
    sa.Column("plan", sa.Text, nullable=False),  # JSON: a `ContestPlan`
    sa.Column("made_by", sa.Text, nullable=False),
    sa.Column("made", sa.Text, nullable=False),
    sa.Column("until", sa.Text),  # when it closes; nothing: when it is closed
    sa.Column("closed", sa.Text),
    sa.Column("wanted", sa.Integer, nullable=False, server_default="1"),  # goes up whenever it has to run again
    sa.Column("held", sa.Integer, nullable=False, server_default="0"),  # what ``wanted`` was when it ran last
    sa.Column("running", sa.Boolean, nullable=False, server_default="0"),
    sa.Column("progress", sa.Text, nullable=False, server_default=""),
    sa.Column("problem", sa.Text, nullable=False, server_default=""),
    sa.Column("stored", sa.Integer),  # its number in the arena's store
    sa.Column("last", sa.Text),  # when it was begun last
    sqlite_autoincrement=True,
)
PARTS_TAKEN = sa.Table(
    "entries",
    METADATA,
    sa.Column("contest", sa.ForeignKey("contests.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("bot", sa.ForeignKey("bots.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("made", sa.Text, nullable=False),
)


def number_of(given: int) -> int:
    """Return a number that somebody asks for; 0, which nothing has, for one that no table can hold."""
    return given if 0 < given < 1 << 62 else 0


def now() -> str:
    """Return the time, as it is kept: UTC, ISO 8601, of one length, so that texts are in the order of times."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class SubmissionStore:
    """The open file. All threads may use it, and other processes too.

    Args:
        folder: of the server of pages; the file is made if it is not there.

    Raises:
        DamagedFileError: it is another file, or of a later form.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        path = folder / NAME
        path.touch(mode=0o600)
        self._engine = engine_of(path, shared=False)
        try:
            with self.writing() as connection:
                form = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
                if form == 0:
                    METADATA.create_all(connection)
                    connection.exec_driver_sql(f"PRAGMA user_version={FORM}")
                elif form != FORM:
                    raise DamagedFileError(path, f"is of form {form}, and {FORM} is known here", INSTEAD)
            with contextlib.closing(self._engine.raw_connection()) as raw:
                raw.cursor().execute("PRAGMA journal_mode=WAL")
        except sa.exc.DatabaseError:
            raise DamagedFileError(path, "is not a database of these pages, or damaged", INSTEAD) from None

    def __enter__(self) -> SubmissionStore:
        """Return it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._engine.dispose()

    @contextlib.contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Yield a connection in a transaction that changes nothing."""
        with self._engine.connect() as connection, connection.begin():
            yield connection

    @contextlib.contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Yield a connection in a transaction, which is kept unless something is raised within."""
        with (
            self._engine.connect().execution_options(**{WRITES: True}) as connection,
            connection.begin(),
        ):
            yield connection
