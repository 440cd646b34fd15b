"""The tables of tokens, bots and their contests: one SQLite file."""

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

FORM = 2
"""Of the tables, as the file says itself (``user_version``)."""
NAME = "entering.sqlite"
INSTEAD = "move it away, and a new one is begun: tokens, bots and contests of these pages are lost with it"
T = TypeVar("T")
_KEEP_NUMBERS = {"sqlite_autoincrement": True}
"""Addresses of what is gone lead nowhere, and not to what came later."""


def now() -> str:
    """Return the time, as it is kept: UTC, ISO 8601, of one length, so that texts are in the order of times."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class VersionState(enum.StrEnum):
    """The state of a version."""

    WAITING = "waiting"
    CHECKING = "checking"
    PLAYING = "playing"
    """The check was passed, and trial games are played."""
    PASSED = "passed"
    REFUSED = "refused"
    """By the check."""
    FAILED = "failed"
    """Nothing is known of it, as the check itself did not end."""


class Base(DeclarativeBase):
    """A row of the file."""


class Token(Base):
    """The right of a person to hand bots in."""

    __tablename__ = "tokens"
    name: Mapped[str] = mapped_column(primary_key=True)
    """The person, who owns bots."""
    digest: Mapped[str] = mapped_column(unique=True)
    """SHA-256 of 128 random bits, in hexadecimal digits."""
    made: Mapped[str]
    expires: Mapped[str | None]
    revoked: Mapped[str | None]

    @property
    def state(self) -> str:
        """What it is worth now, in a word."""
        if self.revoked is not None:
            return "revoked"
        return "expired" if self.expires is not None and self.expires <= now() else "valid"


class BrowserSession(Base):
    """A browser in which a token was entered."""

    __tablename__ = "sessions"
    digest: Mapped[str] = mapped_column(primary_key=True)
    """Of the cookie."""
    token: Mapped[str]
    """The digest of the token: a new one of the same name is another."""
    until: Mapped[str]


class Bot(Base):
    """A bot: what its versions have in common."""

    __tablename__ = "bots"
    __table_args__ = (sa.UniqueConstraint("owner", "game", "name"), _KEEP_NUMBERS)
    id: Mapped[int] = mapped_column(primary_key=True)
    owner: Mapped[str]
    game: Mapped[str]
    name: Mapped[str]
    made: Mapped[str] = mapped_column(default=now)

    @property
    def called(self) -> str:
        """What contests call it: two owners may have bots of one name."""
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
    """What its author called what was sent."""
    size: Mapped[int]
    digest: Mapped[str]
    """SHA-256 of what was sent."""
    state: Mapped[str] = mapped_column(default=VersionState.WAITING)
    progress: Mapped[str] = mapped_column(default="")
    report: Mapped[dict[str, Any] | None] = mapped_column(sa.JSON(none_as_null=True), default=None)
    """The result of the check."""
    results: Mapped[list[dict[str, Any]] | None] = mapped_column(sa.JSON(none_as_null=True), default=None)
    """Results of trial games, one opponent after the other."""
    bot: Mapped[Bot] = relationship(lazy="joined", innerjoin=True)

    @property
    def over(self) -> bool:
        """Whether nothing more will be found out about it."""
        return self.state in (VersionState.PASSED, VersionState.REFUSED, VersionState.FAILED)


class WebContest(Base):
    """A contest of the pages."""

    __tablename__ = "contests"
    __table_args__ = _KEEP_NUMBERS
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    game: Mapped[str]
    values: Mapped[dict[str, Any]] = mapped_column(sa.JSON)
    """Those of its `ContestPlan`."""
    made: Mapped[str] = mapped_column(default=now)
    until: Mapped[str | None] = mapped_column(default=None)
    """When it closes; None: when it is closed."""
    closed: Mapped[str | None] = mapped_column(default=None)
    wanted: Mapped[int] = mapped_column(default=1)
    """Goes up whenever it has to run again."""
    held: Mapped[int] = mapped_column(default=0)
    """What ``wanted`` was when it ran last."""
    running: Mapped[bool] = mapped_column(default=False)
    progress: Mapped[str] = mapped_column(default="")
    problem: Mapped[str] = mapped_column(default="")
    stored: Mapped[int | None] = mapped_column(default=None)
    """Its number in the arena's store."""
    last: Mapped[str | None] = mapped_column(default=None)
    """When it was begun last."""

    @property
    def plan(self) -> ContestPlan:
        """What it is."""
        return ContestPlan(**self.values)

    @property
    def is_open(self) -> bool:
        """Whether bots may still enter, and new versions of them count."""
        return self.closed is None and (self.until is None or self.until > now())

    @property
    def label(self) -> str:
        """What the arena's store knows it by: with its number, as a name may be given again once it is removed."""
        return f"{self.name} #{self.id}"

    @property
    def end(self) -> str | None:
        """When it closed, or will; None: nobody knows."""
        return min(filter(None, (self.closed, self.until)), default=None)

    @property
    def state(self) -> str:
        """How far it is, in words."""
        if self.running:
            return f"is running: {self.progress}" if self.progress else "is running"
        if self.problem:
            return f"could not be run: {self.problem}"
        if self.wanted > self.held:
            return "waits to be run"
        return "has run, and runs again when bots come" if self.is_open else "has run"


class ContestEntry(Base):
    """A bot in a contest."""

    __tablename__ = "entries"
    contest: Mapped[int] = mapped_column(sa.ForeignKey(WebContest.id, ondelete="CASCADE"), primary_key=True)
    bot: Mapped[int] = mapped_column(sa.ForeignKey(Bot.id, ondelete="CASCADE"), primary_key=True)


class SubmissionStore:
    """The open file, made if it is not there. All threads may use it, and other processes too.

    Raises DamagedFileError: it is another file, of another form, or cannot be written now.
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
                form = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
                if form == 0:
                    Base.metadata.create_all(connection)
                    connection.exec_driver_sql(f"PRAGMA user_version={FORM}")
                elif form != FORM:
                    raise DamagedFileError(path, f"is of form {form}, and {FORM} is known here", INSTEAD)
            with contextlib.closing(self._engine.raw_connection()) as raw:
                raw.cursor().execute("PRAGMA journal_mode=WAL")
        except sa.exc.DatabaseError as error:
            trouble = trouble_of(error)
            if trouble is not None and trouble.passes:  # locked, full or read-only: nobody is to move it away for that
                raise DamagedFileError(
                    path, trouble.reason, trouble.instead.removesuffix(f", or {ELSEWHERE}")
                ) from None
            raise DamagedFileError(path, "is not a database of these pages, or damaged", INSTEAD) from None

    def __enter__(self) -> SubmissionStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._engine.dispose()

    @contextlib.contextmanager
    def reading(self) -> Iterator[Session]:
        """Yield a session that changes nothing; its rows can be read after it."""
        with Session(self._engine, expire_on_commit=False) as session, session.begin():
            yield session

    def find_all(self, asked: sa.Select[T]) -> list[T]:
        """Return what a query finds."""
        with self.reading() as session:
            return list(session.scalars(asked))

    def find_first(self, asked: sa.Select[T]) -> T | None:
        """Return what a query finds first; None: nothing."""
        with self.reading() as session:
            return session.scalar(asked.limit(1))

    @contextlib.contextmanager
    def writing(self) -> Iterator[Session]:
        """Yield a session whose changes are kept unless something is raised within."""
        engine = self._engine.execution_options(**{WRITES: True})
        with Session(engine, expire_on_commit=False) as session, session.begin():
            yield session
