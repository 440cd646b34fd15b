"""Submitted bots: owners, versions, and the results of their checks."""

from __future__ import annotations

import contextlib
import hashlib
import secrets
import shutil
import time
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from dicegym.engine.game import Game
from dicegym.errors import ParameterError, UnknownNameError
from dicegym.server.admission import fold_name
from dicegym.web.enter.submission_tables import (
    Bot,
    ContestEntry,
    SubmissionStore,
    Version,
    VersionState,
    WebContest,
    now,
)
from dicegym.web.enter.tokens import check_name
from dicegym.web.enter.uploads import Upload, unpack

MOST_WAITING_EACH, MOST_WAITING = 3, 200
"""Most versions that wait to be checked: of one owner, and of all."""
MOST_BOTS = 50
"""Most bots of one owner."""
MOST_KEPT = 256 << 20
"""Most bytes of one owner's versions."""
ABANDONED = 3600.0
"""Seconds after which a hidden folder is deleted; until then another server may be unpacking into it."""
_BUSY = (VersionState.CHECKING, VersionState.PLAYING)


class Bots:
    """All bots of a web server."""

    def __init__(self, store: SubmissionStore) -> None:
        self._store = store
        self._folder = store.folder / "versions"
        self._folder.mkdir(mode=0o700, exist_ok=True)

    def submit(self, owner: str, game: Game, name: str, upload: Upload) -> Version:
        """Store a bot, or a new version of the bot with this name, to be checked.

        Raises ParameterError or ModelError if the upload or the name is invalid, or the owner has too many bots.
        """
        name = check_name(name, "the bot's name")
        with self._store.reading() as session:
            _check_limits(session, owner)
        unfinished = self._folder / f".{secrets.token_hex(8)}"
        try:
            size = unpack(upload, unfinished)
            digest = hashlib.sha256(upload.data).hexdigest()
            with self._store.writing() as session:
                _check_limits(session, owner)  # again: others may have come while this was unpacked
                bot = _get_or_add_bot(session, owner, game.name, name)
                last = session.scalar(sa.select(sa.func.max(Version.number)).where(Version.bot_id == bot.id))
                version = Version(bot=bot, number=(last or 0) + 1, file=upload.file[:200], size=size, digest=digest)
                session.add(version)
                session.flush()
                shutil.rmtree(self.folder(version.id), ignore_errors=True)  # left by a killed server
                unfinished.rename(self.folder(version.id))
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
        return version

    def folder(self, version: int) -> Path:
        """Return the folder of a version."""
        return self._folder / str(version)

    def of_owner(self, owner: str) -> list[Version]:
        """Return the newest version of each bot of an owner, the latest first."""
        newest = sa.select(sa.func.max(Version.id)).group_by(Version.bot_id)
        asked = sa.select(Version).join(Bot).where(Bot.owner == owner, Version.id.in_(newest))
        return self._store.find_all(asked.order_by(Version.id.desc()))

    def bot(self, number: int, owner: str) -> Bot:
        """Return a bot of an owner. Raises UnknownNameError, also for another owner's bot."""
        found = self._store.find_first(sa.select(Bot).where(Bot.id == number))
        if found is None or found.owner != owner:
            raise UnknownNameError(f"you have no bot {number}: /enter lists your bots")
        return found

    def versions(self, bot: int) -> list[Version]:
        """Return the versions of a bot, the newest first."""
        return self._store.find_all(sa.select(Version).where(Version.bot_id == bot).order_by(Version.number.desc()))

    def version(self, bot: int, number: int | None = None) -> Version:
        """Return a version of a bot, by default the newest. Raises UnknownNameError."""
        found = next((one for one in self.versions(bot) if number in (None, one.number)), None)
        if found is None:
            raise UnknownNameError(f"this bot has no version {number}: its page lists all")
        return found

    def version_by_id(self, number: int) -> Version:
        """Return a version by its id. Raises UnknownNameError if it was removed."""
        found = self._store.find_first(sa.select(Version).where(Version.id == number))
        if found is None:
            raise UnknownNameError(f"version {number} is gone")
        return found

    def remove(self, bot: int) -> None:
        """Remove a bot with all its versions, also from all contests."""
        gone = [one.id for one in self.versions(bot)]
        with self._store.writing() as session:
            rerun_contests(session, bot, now())
            session.execute(sa.delete(Bot).where(Bot.id == bot))
        for number in gone:
            shutil.rmtree(self.folder(number), ignore_errors=True)

    def ahead_of(self, version: Version) -> int:
        """Return how many versions are checked before a waiting one."""
        busy = Version.state.in_((VersionState.WAITING, *_BUSY))
        with self._store.reading() as session:
            return _count(session, busy & (Version.id < version.id))

    # --- for the runner -------------------------------------------------------------------------------------------

    def next_waiting(self) -> int | None:
        """Return the id of the oldest version that waits to be checked, or None."""
        return self._store.find_first(sa.select(sa.func.min(Version.id)).where(Version.state == VersionState.WAITING))

    def requeue_interrupted(self) -> None:
        """Put versions back in the queue whose check was interrupted by the end of a server."""
        values = {"state": VersionState.WAITING, "progress": "", "report": None, "results": None}
        with self._store.writing() as session:
            session.execute(sa.update(Version).where(Version.state.in_(_BUSY)).values(values))
        with contextlib.suppress(FileNotFoundError):  # another server finished one
            for left in self._folder.glob(".*"):
                if time.time() - left.stat().st_mtime > ABANDONED:
                    shutil.rmtree(left, ignore_errors=True)

    def note(self, version: int, state: VersionState, progress: str = "", **found: Any) -> None:
        """Store the state of a version; ``found``: its ``report`` or ``results``, as plain values."""
        with self._store.writing() as session:
            values = {"state": state, "progress": progress, **found}
            session.execute(sa.update(Version).where(Version.id == version).values(values))
            if state == VersionState.PASSED:
                bot, made = (sa.select(one).where(Version.id == version) for one in (Version.bot_id, Version.made))
                rerun_contests(session, bot.scalar_subquery(), made.scalar_subquery())

    def give_up(self, version: int, why: str) -> None:
        """End the check of a version, if it exists. It has passed if only its trial games are missing."""
        state = self._store.find_first(sa.select(Version.state).where(Version.id == version))
        if state == VersionState.PLAYING:
            self.note(version, VersionState.PASSED, f"games were not played: {why}")
        elif state in (VersionState.WAITING, VersionState.CHECKING):
            self.note(version, VersionState.FAILED, f"it was not checked, because {why}: submit it again")


def rerun_contests(session: Session, bot: Any, moment: Any) -> None:
    """Request another run of a bot's contests that were open at some moment."""
    entered = WebContest.id.in_(sa.select(ContestEntry.contest).where(ContestEntry.bot == bot))
    was_open = (sa.func.coalesce(end, moment) >= moment for end in (WebContest.closed, WebContest.until))
    session.execute(sa.update(WebContest).where(entered, *was_open).values(wanted=WebContest.wanted + 1))


def _count(session: Session, *where: Any) -> int:
    return session.scalar(sa.select(sa.func.count()).select_from(Version).join(Bot).where(*where)) or 0


def _check_limits(session: Session, owner: str) -> None:
    waiting, own = Version.state == VersionState.WAITING, Bot.owner == owner
    if (count := _count(session, own, waiting)) >= MOST_WAITING_EACH:
        raise ParameterError(f"{count} of your versions wait to be checked: submit again when one has been checked")
    if (count := _count(session, waiting)) >= MOST_WAITING:
        raise ParameterError(f"{count} versions wait to be checked, which is the most: try again in some minutes")
    size = session.scalar(sa.select(sa.func.sum(Version.size)).join(Bot).where(own)) or 0
    if size >= MOST_KEPT:
        raise ParameterError(
            f"your bots take {size >> 20} MiB of at most {MOST_KEPT >> 20}: remove some that you do not need"
        )


def _get_or_add_bot(session: Session, owner: str, game: str, name: str) -> Bot:
    """Return an owner's bot by its name, added if it is new."""
    own = session.scalars(sa.select(Bot).where(Bot.owner == owner)).all()
    found = next((one for one in own if one.game == game and fold_name(one.name) == fold_name(name)), None)
    if found is None:
        if len(own) >= MOST_BOTS:
            raise ParameterError(f"you have {len(own)} bots of at most {MOST_BOTS}: give one of their names")
        found = Bot(owner=owner, game=game, name=name)
        session.add(found)
        session.flush()
    return found
