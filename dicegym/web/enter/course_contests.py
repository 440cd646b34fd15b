"""The contests of the pages: their entries, closing times, progress, and the grades of a course."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import sqlalchemy as sa
from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from dicegym.arena.store.reading import StoreReader
from dicegym.arena.store.stored_rows import StoredContest
from dicegym.errors import ParameterError, UnknownNameError
from dicegym.server.admission import fold_name
from dicegym.web.enter.plans import ContestPlan
from dicegym.web.enter.submission_tables import (
    Bot,
    ContestEntry,
    SubmissionStore,
    Version,
    VersionState,
    WebContest,
    now,
)
from dicegym.web.enter.tokens import check_name, parse_end

MOST_ENTRIES = 200


class GradeRow(BaseModel):
    """The result of a bot in a contest."""

    owner: str
    bot: str
    version: int | None = Field(default=None, description="null: no version passed its check")
    handed_in: str = ""
    place: int | None
    of: int = Field(description="number of ranked entries, our agents included")
    matches: int = 0
    games: int = 0
    games_won: int = 0
    share: float | None = Field(default=None, description="share of games won; a shared first place counts in parts")
    faults: int = 0
    disqualified: str = Field(description="the reason; empty: not disqualified")


class WebContests:
    """All contests of a web server."""

    def __init__(self, store: SubmissionStore) -> None:
        self._store = store

    def add(self, name: str, plan: ContestPlan, until: str | None = None) -> WebContest:
        """Add a contest that closes at ``until``, as `parse_end` reads it; None: it is open until `close`.

        Raises ParameterError for a name that is taken or invalid, or an invalid time.
        """
        name = check_name(name, "the contest's name")
        end = None if until is None else parse_end(until)
        with self._store.writing() as session:
            for other in session.scalars(sa.select(WebContest.name)):
                if fold_name(other) == fold_name(name):
                    raise ParameterError(f"there is a contest {other!r} already: give another name")
            made = WebContest(name=name, game=plan.game, values=asdict(plan), until=end)
            session.add(made)
        return made

    def all(self) -> list[WebContest]:
        """Return all contests, the newest first."""
        return self._store.find_all(sa.select(WebContest).order_by(WebContest.id.desc()))

    def contest(self, number: int) -> WebContest:
        """Return a contest. Raises UnknownNameError."""
        found = self._store.find_first(sa.select(WebContest).where(WebContest.id == number))
        if found is None:
            raise UnknownNameError(f"unknown contest {number}: /enter lists all")
        return found

    def find_named(self, name: str) -> WebContest:
        """Return a contest by its name. Raises UnknownNameError."""
        known = self.all()
        for one in known:
            if fold_name(one.name) == fold_name(name):
                return one
        raise UnknownNameError(f"unknown contest {name!r}. Known: {', '.join(one.name for one in known) or 'none'}")

    def is_open(self, stored: StoredContest) -> bool:
        """Return whether a contest in the arena's store is one of these, and open."""
        return any(stored.label == one.label or stored.id == one.stored for one in self.all() if one.is_open)

    def of_bot(self, bot: int) -> list[WebContest]:
        """Return the contests of a bot, the newest first."""
        mine = WebContest.id.in_(sa.select(ContestEntry.contest).where(ContestEntry.bot == bot))
        return self._store.find_all(sa.select(WebContest).where(mine).order_by(WebContest.id.desc()))

    def enter(self, contest: int, bot: Bot) -> None:
        """Enter a bot in a contest; a second call changes nothing.

        Raises ParameterError if the contest is closed, full or of another game, or no version has passed its check.
        """
        passed = sa.select(Version.id).where(Version.bot_id == bot.id, Version.state == VersionState.PASSED)
        with self._store.writing() as session:
            found = self.contest(contest)  # locked against changes
            if not found.is_open:
                raise ParameterError(f"{found.name!r} is closed: choose an open contest")
            if found.game != bot.game:
                raise ParameterError(f"{found.name!r} is a contest of {found.game}, and this bot plays {bot.game}")
            if session.scalar(passed.limit(1)) is None:
                raise ParameterError("no version of this bot has passed its check: fix it, and submit it again")
            if session.get(ContestEntry, (contest, bot.id)) is not None:
                return
            count = session.scalar(sa.select(sa.func.count()).where(ContestEntry.contest == contest)) or 0
            if count >= MOST_ENTRIES:
                raise ParameterError(f"{found.name!r} is full, with {count} bots")
            session.add(ContestEntry(contest=contest, bot=bot.id))
            _request_run(session, contest)

    def withdraw(self, contest: int, bot: int) -> None:
        """Take a bot out of a contest. Raises ParameterError if the contest is closed."""
        with self._store.writing() as session:
            found = self.contest(contest)  # locked against changes
            if not found.is_open:
                raise ParameterError(f"{found.name!r} is closed: its entries stay in its ranking")
            if (entry := session.get(ContestEntry, (contest, bot))) is not None:
                session.delete(entry)
                _request_run(session, contest)

    def taking_part(self, contest: WebContest) -> list[tuple[Bot, Version | None]]:
        """Return the bots by name, each with the version that plays.

        It is the newest version that was submitted before the contest closed and has passed its check, or None.
        """
        newest = sa.select(sa.func.max(Version.id)).where(Version.state == VersionState.PASSED)
        if contest.end is not None:
            newest = newest.where(Version.made <= contest.end)
        plays = (Version.bot_id == Bot.id) & Version.id.in_(newest.group_by(Version.bot_id))
        asked = sa.select(Bot, Version).join(ContestEntry, ContestEntry.bot == Bot.id).outerjoin(Version, plays)
        with self._store.reading() as session:
            rows = session.execute(asked.where(ContestEntry.contest == contest.id).order_by(Bot.name, Bot.owner))
            return [(bot, version) for bot, version in rows]

    def close(self, contest: int) -> None:
        """Close a contest: it accepts no more entries, and later versions do not count."""
        still = (WebContest.id == contest) & WebContest.closed.is_(None)
        with self._store.writing() as session:
            session.execute(sa.update(WebContest).where(still).values(closed=now()))

    def grades(self, contest: WebContest, reader: StoreReader | None) -> list[GradeRow]:
        """Return the result of each bot, the best first, unranked ones last; ``reader`` reads the arena's store."""
        places: dict[str, int] = {}
        figures, failures = {}, {}
        if reader is not None and contest.stored is not None:
            places = {str(row["name"]): int(row["place"]) for row in reader.standings(contest.stored)}
            figures = {row.name: row for row in reader.figures(contest.stored)}
            entries = reader.entries(contest.stored)
            failures = {one.name: one.reason for one in entries if one.reason and not one.withdrawn}
        rows = []
        for bot, version in self.taking_part(contest):
            row = GradeRow(
                owner=bot.owner,
                bot=bot.name,
                place=places.get(bot.called),
                of=len(places),
                disqualified=failures.get(bot.called) or ("" if version else "no version passed its check"),
            )
            if version is not None:
                row.version, row.handed_in = version.number, version.made
            if (found := figures.get(bot.called)) is not None:
                row.matches, row.games, row.games_won, row.faults = found.matches, found.games, found.wins, found.faults
                row.share = round(found.shares / found.games, 4) if found.games else None
            rows.append(row)
        return sorted(rows, key=lambda row: (row.place is None, row.place or 0, row.owner, row.bot))

    # --- for the runner -------------------------------------------------------------------------------------------

    def next_due(self) -> WebContest | None:
        """Return the contest to run next, which is the one that ran longest ago, or None."""
        due = sa.select(WebContest).where(WebContest.wanted > WebContest.held)
        return self._store.find_first(due.order_by(sa.func.coalesce(WebContest.last, ""), WebContest.id))

    def count_wanted(self, contest: int) -> int | None:
        """Return the number of requested runs of a contest; None if it is gone."""
        return self._store.find_first(sa.select(WebContest.wanted).where(WebContest.id == contest))

    def note(self, contest: int, **values: Any) -> None:
        """Store ``values`` in columns of a contest."""
        with self._store.writing() as session:
            session.execute(sa.update(WebContest).where(WebContest.id == contest).values(values))

    def reset_running(self) -> None:
        """Mark all contests as not running."""
        with self._store.writing() as session:
            session.execute(sa.update(WebContest).values(running=False, progress=""))


def _request_run(session: Session, contest: int) -> None:
    session.execute(sa.update(WebContest).where(WebContest.id == contest).values(wanted=WebContest.wanted + 1))
