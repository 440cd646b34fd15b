"""The bots that were handed in: whose they are, their versions, and what became of each."""

from __future__ import annotations

import contextlib
import enum
import hashlib
import json
import secrets
import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sa

from dicegym.engine.game import Game
from dicegym.errors import ParameterError, UnknownNameError
from dicegym.server.admission import fold_name
from dicegym.web.enter.submission_tables import (
    BOTS,
    PARTS_TAKEN,
    UPLOADS,
    VERSIONS,
    WEB_CONTESTS,
    SubmissionStore,
    now,
    number_of,
)
from dicegym.web.enter.tokens import TokenHolder, check_name
from dicegym.web.enter.uploads import Upload, unpack

MOST_AN_HOUR = 20
"""Versions that one may hand in within an hour."""
MOST_WAITING_EACH, MOST_WAITING = 3, 200
"""Versions of one owner, and of all, that may wait to be checked."""
MOST_BOTS = 50
"""Of one owner."""
MOST_KEPT = 256 << 20
"""Bytes of one owner's versions."""


class VersionState(enum.StrEnum):
    """What becomes of a version."""

    WAITING = "waiting"
    CHECKING = "checking"
    PLAYING = "playing"
    """The check was passed, and trial games are played."""
    PASSED = "passed"
    REFUSED = "refused"
    """By the check."""
    FAILED = "failed"
    """Nothing is known of it, as the check itself did not end."""


OVER = frozenset({VersionState.PASSED, VersionState.REFUSED, VersionState.FAILED})
_BUSY = (VersionState.CHECKING, VersionState.PLAYING)


class HandedIn(NamedTuple):
    """A bot: what its versions have in common."""

    id: int
    owner: str
    game: str
    name: str
    made: str

    @property
    def called(self) -> str:
        """What contests call it: two owners may have bots of one name."""
        return f"{self.name} ({self.owner})"


class BotVersion(NamedTuple):
    """A version of a bot."""

    id: int
    bot: int
    number: int
    made: str
    file: str
    size: int
    digest: str
    state: VersionState
    progress: str
    report: Mapping[str, Any] | None
    """What the check found."""
    results: Sequence[Mapping[str, Any]] | None
    """Results of trial games, one opponent after the other."""

    @property
    def over(self) -> bool:
        """Whether nothing more will be found out about it."""
        return self.state in OVER

    @classmethod
    def from_row(cls, row: Sequence[Any]) -> BotVersion:
        """Return the version that a row of its table holds."""
        number, bot, of_bot, made, file, size, digest, state, progress, report, results = row
        return cls(
            number,
            bot,
            of_bot,
            made,
            file,
            size,
            digest,
            VersionState(state),
            progress,
            None if report is None else json.loads(report),
            None if results is None else json.loads(results),
        )


class Bots:
    """All bots of a server of pages."""

    def __init__(self, desk: SubmissionStore) -> None:
        self._desk = desk
        self._folder = desk.folder / "versions"
        self._folder.mkdir(mode=0o700, exist_ok=True)

    def hand_in(self, holder: TokenHolder, game: Game, name: str, upload: Upload) -> BotVersion:
        """Take a bot, or a new version of the one of this name; it waits to be checked.

        Raises:
            ParameterError, ModelError: it cannot be a bot, its name cannot be shown, or its owner has handed in too
                much.
        """
        name = check_name(name, "the bot's name")
        self._check_limits(holder.name)
        unfinished = self._folder / f".{secrets.token_hex(8)}"
        try:
            kept = unpack(upload, unfinished)
            digest = hashlib.sha256(upload.data).hexdigest()
            with self._desk.writing() as connection:
                bot = self._named(connection, holder.name, game.name, name)
                last = sa.select(sa.func.max(VERSIONS.c.number)).where(VERSIONS.c.bot == bot)
                row = {
                    "bot": bot,
                    "number": (connection.execute(last).scalar() or 0) + 1,
                    "made": now(),
                    "file": upload.file[:200],
                    "size": kept,
                    "digest": digest,
                    "state": VersionState.WAITING,
                }
                made = connection.execute(VERSIONS.insert().values(row)).inserted_primary_key
                number = int(made[0])  # type: ignore[index]  # an insert of one row has one
                connection.execute(UPLOADS.insert().values(owner=holder.name, made=row["made"]))
                unfinished.rename(self._folder / str(number))
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
        return self.version_by_id(number)

    def _check_limits(self, owner: str) -> None:
        hour_ago = (datetime.now(UTC) - timedelta(hours=1)).isoformat(timespec="seconds")
        waiting = VERSIONS.c.state == VersionState.WAITING
        own = BOTS.c.owner == owner
        joined = sa.select(sa.func.count()).select_from(VERSIONS.join(BOTS))
        kept = sa.select(sa.func.coalesce(sa.func.sum(VERSIONS.c.size), 0)).select_from(VERSIONS.join(BOTS)).where(own)
        with self._desk.writing() as connection:
            connection.execute(UPLOADS.delete().where(UPLOADS.c.made < hour_ago))
            lately = connection.execute(sa.select(sa.func.count()).where(UPLOADS.c.owner == owner)).scalar_one()
            waits, all_wait, size = (
                connection.execute(asked).scalar_one()
                for asked in (joined.where(own & waiting), joined.where(waiting), kept)
            )
        if lately >= MOST_AN_HOUR:
            raise ParameterError(
                f"you have handed in {lately} versions within an hour, and {MOST_AN_HOUR} are the most: try them out "
                "with `dicegym check` meanwhile"
            )
        if waits >= MOST_WAITING_EACH:
            raise ParameterError(f"{waits} versions of yours wait to be checked: wait until the first of them is")
        if all_wait >= MOST_WAITING:
            raise ParameterError(f"{all_wait} versions wait to be checked, and no more can: try again in some minutes")
        if size >= MOST_KEPT:
            raise ParameterError(
                f"your bots take {size >> 20} MiB, and {MOST_KEPT >> 20} are the most: remove some that you do not need"
            )

    def _named(self, connection: sa.Connection, owner: str, game: str, name: str) -> int:
        """Return the number of a bot; a new one is made."""
        own = BOTS.c.owner == owner
        rows = connection.execute(sa.select(BOTS.c.id, BOTS.c.name).where(own & (BOTS.c.game == game)))
        number = next((row.id for row in rows if fold_name(row.name) == fold_name(name)), None)
        if number is None:
            count = connection.execute(sa.select(sa.func.count()).select_from(BOTS).where(own)).scalar_one()
            if count >= MOST_BOTS:
                raise ParameterError(f"you have {count} bots, and {MOST_BOTS} are the most: give one of their names")
            row = {"owner": owner, "game": game, "name": name, "made": now()}
            number = connection.execute(BOTS.insert().values(row)).inserted_primary_key[0]  # type: ignore[index]  # as above
        return int(number)

    def folder(self, version: int) -> Path:
        """Return where a version is kept."""
        return self._folder / str(version)

    def of_owner(self, owner: str | None) -> list[tuple[HandedIn, BotVersion]]:
        """Return somebody's bots, or all (None), each with its newest version, the latest first."""
        newest = sa.select(VERSIONS.c.bot, sa.func.max(VERSIONS.c.number).label("number")).group_by(VERSIONS.c.bot)
        known = newest.subquery()
        same = (VERSIONS.c.bot == known.c.bot) & (VERSIONS.c.number == known.c.number)
        asked = sa.select(BOTS, VERSIONS).select_from(
            BOTS.join(VERSIONS, BOTS.c.id == VERSIONS.c.bot).join(known, same)
        )
        if owner is not None:
            asked = asked.where(BOTS.c.owner == owner)
        columns = len(BOTS.c)
        with self._desk.reading() as connection:
            rows = connection.execute(asked.order_by(VERSIONS.c.id.desc())).all()
        return [(HandedIn(*row[:columns]), BotVersion.from_row(row[columns:])) for row in rows]

    def bot(self, number: int, holder: TokenHolder) -> HandedIn:
        """Return a bot that somebody may see: its owner, and operators.

        Raises UnknownNameError, the same for one that is not there and one of others.
        """
        with self._desk.reading() as connection:
            row = connection.execute(sa.select(BOTS).where(BOTS.c.id == number_of(number))).first()
        if row is None or (row.owner != holder.name and not holder.operator):
            raise UnknownNameError(f"you have no bot {number}: your page has all that you handed in")
        return HandedIn(*row)

    def versions(self, bot: int) -> list[BotVersion]:
        """Return the versions of a bot, the newest first."""
        asked = sa.select(VERSIONS).where(VERSIONS.c.bot == bot).order_by(VERSIONS.c.number.desc())
        with self._desk.reading() as connection:
            return [BotVersion.from_row(row) for row in connection.execute(asked)]

    def version(self, bot: int, number: int | None = None) -> BotVersion:
        """Return a version of a bot; None: the newest. Raises UnknownNameError."""
        asked = sa.select(VERSIONS).where(VERSIONS.c.bot == bot).order_by(VERSIONS.c.number.desc()).limit(1)
        if number is not None:
            asked = asked.where(VERSIONS.c.number == number_of(number))
        with self._desk.reading() as connection:
            row = connection.execute(asked).first()
        if row is None:
            raise UnknownNameError(f"this bot has no version {number}: its page lists all")
        return BotVersion.from_row(row)

    def version_by_id(self, number: int) -> BotVersion:
        """Return a version by its number among all. Raises UnknownNameError if it is gone."""
        with self._desk.reading() as connection:
            row = connection.execute(sa.select(VERSIONS).where(VERSIONS.c.id == number)).first()
        if row is None:
            raise UnknownNameError(f"version {number} is gone")
        return BotVersion.from_row(row)

    def remove(self, bot: int) -> None:
        """Remove a bot with all that is kept of it; it leaves all contests."""
        with self._desk.writing() as connection:
            gone = connection.execute(sa.select(VERSIONS.c.id).where(VERSIONS.c.bot == bot)).scalars().all()
            rerun_contests(connection, bot)
            connection.execute(BOTS.delete().where(BOTS.c.id == bot))
        for number in gone:
            shutil.rmtree(self.folder(number), ignore_errors=True)

    def ahead_of(self, version: BotVersion) -> int:
        """Return how many versions are checked before one that waits."""
        busy = VERSIONS.c.state.in_((VersionState.WAITING, *_BUSY))
        with self._desk.reading() as connection:
            asked = sa.select(sa.func.count()).where(busy & (VERSIONS.c.id < version.id))
            return int(connection.execute(asked).scalar_one())

    # --- for the runner -------------------------------------------------------------------------------------------

    def next_waiting(self) -> tuple[HandedIn, BotVersion] | None:
        """Return what is to be checked next, the oldest; None: nothing waits."""
        asked = (
            sa.select(VERSIONS.c.id).where(VERSIONS.c.state == VersionState.WAITING).order_by(VERSIONS.c.id).limit(1)
        )
        with self._desk.reading() as connection:
            number = connection.execute(asked).scalar()
            if number is None:
                return None
            version = connection.execute(sa.select(VERSIONS).where(VERSIONS.c.id == number)).one()
            bot = connection.execute(sa.select(BOTS).where(BOTS.c.id == version.bot)).one()
        return HandedIn(*bot), BotVersion.from_row(version)

    def any_waiting(self) -> bool:
        """Return whether something waits to be checked."""
        return self.next_waiting() is not None

    def begin_anew(self) -> None:
        """Let those wait again that were being checked when a server ended."""
        with self._desk.writing() as connection:
            busy = VERSIONS.c.state.in_(_BUSY)
            values = {"state": VersionState.WAITING, "progress": "", "report": None, "results": None}
            connection.execute(VERSIONS.update().where(busy).values(values))
        with contextlib.suppress(OSError):
            for left in self._folder.glob(".*"):
                shutil.rmtree(left, ignore_errors=True)

    def note(self, version: int, state: VersionState, progress: str = "", **found: Any) -> None:
        """Keep what is known of a version by now; ``found``: its ``report`` or ``results``, as plain values."""
        values = {"state": state, "progress": progress, **{name: json.dumps(value) for name, value in found.items()}}
        with self._desk.writing() as connection:
            connection.execute(VERSIONS.update().where(VERSIONS.c.id == version).values(values))
            if state is VersionState.PASSED:
                rerun_contests(connection, sa.select(VERSIONS.c.bot).where(VERSIONS.c.id == version).scalar_subquery())


def rerun_contests(connection: sa.Connection, bot: Any) -> None:
    """Have the open contests of a bot run again."""
    where = sa.select(PARTS_TAKEN.c.contest).where(PARTS_TAKEN.c.bot == bot)
    open_still = WEB_CONTESTS.c.closed.is_(None) & (WEB_CONTESTS.c.until.is_(None) | (WEB_CONTESTS.c.until > now()))
    wanted = {"wanted": WEB_CONTESTS.c.wanted + 1}
    connection.execute(WEB_CONTESTS.update().where(WEB_CONTESTS.c.id.in_(where) & open_still).values(wanted))
