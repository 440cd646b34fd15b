"""The tables of tokens, bots and contests in an SQLite file."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship

from dicegym.arena.store.opening import ELSEWHERE, WRITES, engine_at, location_of, trouble_of
from dicegym.errors import DamagedFileError
from dicegym.web.enter.plans import ContestPlan

SCHEMA = 2
"""The version of the tables, stored in ``user_version``."""
NAME = "entering.sqlite"
INSTEAD = "move it away to start with an empty one, without tokens, bots and contests"
T = TypeVar("T")
_KEEP_NUMBERS = {"sqlite_autoincrement": True}
"""Ids are never used again, so old addresses do not lead to newer rows."""


def now() -> str:
    """Return the time as UTC in ISO 8601. All such texts have one length, so they sort by time."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class VersionState(enum.StrEnum):
    """The state of a version."""

    WAITING = "waiting"
    CHECKING = "checking"
    PLAYING = "playing"
    """The version passed its check, and plays trial games."""
    PASSED = "passed"
    REFUSED = "refused"
    """It failed its check."""
    FAILED = "failed"
    """The check itself failed."""


class Base(DeclarativeBase):
    """A row of the file."""


class Token(Base):
    """A person's permission to submit bots."""

    __tablename__ = "tokens"
    name: Mapped[str] = mapped_column(primary_key=True)
    """The owner of bots."""
    digest: Mapped[str] = mapped_column(unique=True)
    """SHA-256 of 128 random bits, in hexadecimal digits."""
    made: Mapped[str]
    expires: Mapped[str | None]
    revoked: Mapped[str | None]

    @property
    def state(self) -> str:
        """``valid``, ``expired`` or ``revoked``."""
        if self.revoked is not None:
            return "revoked"
        return "expired" if self.expires is not None and self.expires <= now() else "valid"


class BrowserSession(Base):
    """A browser in which a token was entered."""

    __tablename__ = "sessions"
    digest: Mapped[str] = mapped_column(primary_key=True)
    """The SHA-256 of the cookie."""
    token: Mapped[str]
    """The digest of the token; a new token of the same name has another one."""
    until: Mapped[str]


class Bot(Base):
    """A bot, with what its versions have in common."""

    __tablename__ = "bots"
    __table_args__ = (sa.UniqueConstraint("owner", "game", "name"), _KEEP_NUMBERS)
    id: Mapped[int] = mapped_column(primary_key=True)
    owner: Mapped[str]
    game: Mapped[str]
    name: Mapped[str]
    made: Mapped[str] = mapped_column(default=now)

    @property
    def called(self) -> str:
        """The name in contests; two owners may have bots of one name."""
        return f"{self.name} ({self.owner})"


class Version(Base):
    """A version of a bot."""

    __tablename__ = "versions"
    __table_args__ = (sa.UniqueConstraint("bot_id", "number"), _KEEP_NUMBERS)
    id: Mapped[int] = mapped_column(primary_key=True)
    bot_id: Mapped[int] = mapped_column(sa.ForeignKey(Bot.id, ondelete="CASCADE"), index=True)
    number: Mapped[int]
    """From 1."""
    made: Mapped[str] = mapped_column(default=now)
    file: Mapped[str]
    """The file name given by the author."""
    size: Mapped[int]
    digest: Mapped[str]
    """SHA-256 of the upload."""
    state: Mapped[str] = mapped_column(default=VersionState.WAITING)
    progress: Mapped[str] = mapped_column(default="")
    report: Mapped[dict[str, Any] | None] = mapped_column(sa.JSON(none_as_null=True), default=None)
    """The result of the check."""
    results: Mapped[list[dict[str, Any]] | None] = mapped_column(sa.JSON(none_as_null=True), default=None)
    """Results of the trial games against each opponent."""
    bot: Mapped[Bot] = relationship(lazy="joined", innerjoin=True)

    @property
    def over(self) -> bool:
        """Whether the state is final."""
        return self.state in (VersionState.PASSED, VersionState.REFUSED, VersionState.FAILED)


class WebContest(Base):
    """A contest of the pages."""

    __tablename__ = "contests"
    __table_args__ = _KEEP_NUMBERS
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    game: Mapped[str]
    values: Mapped[dict[str, Any]] = mapped_column(sa.JSON)
    """The fields of its `ContestPlan`."""
    made: Mapped[str] = mapped_column(default=now)
    until: Mapped[str | None] = mapped_column(default=None)
    """When it closes by itself; None: never."""
    closed: Mapped[str | None] = mapped_column(default=None)
    wanted: Mapped[int] = mapped_column(default=1)
    """The number of requested runs."""
    held: Mapped[int] = mapped_column(default=0)
    """The value of ``wanted`` at its last run."""
    running: Mapped[bool] = mapped_column(default=False)
    progress: Mapped[str] = mapped_column(default="")
    problem: Mapped[str] = mapped_column(default="")
    stored: Mapped[int | None] = mapped_column(default=None)
    """Its id in the arena's store."""
    last: Mapped[str | None] = mapped_column(default=None)
    """When its last run began."""

    @property
    def plan(self) -> ContestPlan:
        """The settings."""
        return ContestPlan(**self.values)

    @property
    def is_open(self) -> bool:
        """Whether bots may enter, and new versions count."""
        return self.closed is None and (self.until is None or self.until > now())

    @property
    def label(self) -> str:
        """Its label in the arena's store, with its id, because the name may be used again later."""
        return f"{self.name} #{self.id}"

    @property
    def end(self) -> str | None:
        """When it closed or will close; None: unknown."""
        return min(filter(None, (self.closed, self.until)), default=None)

    @property
    def state(self) -> str:
        """Its state in words, after "It"."""
        if self.running:
            return f"is running: {self.progress}" if self.progress else "is running"
        if self.wanted > self.held:
            return "waits to run"
        if self.problem:
            return f"could not be run: {self.problem}"
        return "has run, and runs again when bots come" if self.is_open else "has run"


class ContestEntry(Base):
    """A bot's entry in a contest."""

    __tablename__ = "entries"
    contest: Mapped[int] = mapped_column(sa.ForeignKey(WebContest.id, ondelete="CASCADE"), primary_key=True)
    bot: Mapped[int] = mapped_column(sa.ForeignKey(Bot.id, ondelete="CASCADE"), primary_key=True)


class SubmissionStore:
    """The open SQLite file, made if missing. Several threads and processes may use it at the same time.

    Raises DamagedFileError if it is another kind of file, has another schema, or cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        path = folder / NAME
        path.touch(mode=0o600)
        self._engine = engine_at(location_of(path))
        try:
            with self.writing() as session:
                connection = session.connection()
                schema = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
                if schema == 0:
                    Base.metadata.create_all(connection)
                    connection.exec_driver_sql(f"PRAGMA user_version={SCHEMA}")
                elif schema != SCHEMA:
                    raise DamagedFileError(path, f"has schema {schema}, and this version reads {SCHEMA}", INSTEAD)
            with contextlib.closing(self._engine.raw_connection()) as raw:
                raw.cursor().execute("PRAGMA journal_mode=WAL")
        except sa.exc.DatabaseError as error:
            trouble = trouble_of(error)
            if trouble is not None and trouble.passes:  # locked, full or read-only: moving it away would not help
                raise DamagedFileError(
                    path, trouble.reason, trouble.instead.removesuffix(f", or {ELSEWHERE}")
                ) from None
            raise DamagedFileError(path, "is damaged, or not a database of these pages", INSTEAD) from None

    def __enter__(self) -> SubmissionStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._engine.dispose()

    @contextlib.contextmanager
    def reading(self) -> Iterator[Session]:
        """Yield a session for reading; its rows stay readable after it."""
        with Session(self._engine, expire_on_commit=False) as session, session.begin():
            yield session

    def find_all(self, asked: sa.Select[T]) -> list[T]:
        """Return all results of a query."""
        with self.reading() as session:
            return list(session.scalars(asked))

    def find_first(self, asked: sa.Select[T]) -> T | None:
        """Return the first result of a query, or None."""
        with self.reading() as session:
            return session.scalar(asked.limit(1))

    @contextlib.contextmanager
    def writing(self) -> Iterator[Session]:
        """Yield a session that commits its changes, unless its block raises."""
        engine = self._engine.execution_options(**{WRITES: True})
        with Session(engine, expire_on_commit=False) as session, session.begin():
            yield session
