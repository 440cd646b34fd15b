"""The contests of the pages: their entries, closing times, progress, and the grades of a course."""

from __future__ import annotations

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
from dicegym.web.enter.tokens import check_name, moment_of

MOST_ENTRIES = 200
"""Bots that one contest takes."""


class GradeRow(BaseModel):
    """The result of a bot in a contest."""

    owner: str
    bot: str
    version: int | None = Field(default=None, description="null: none passed its check")
    handed_in: str = ""
    place: int | None
    of: int = Field(description="ranked entries, our agents among them")
    matches: int = 0
    games: int = 0
    games_won: int = 0
    share: float | None = Field(default=None, description="of games won, a shared first place shared out")
    faults: int = 0
    disqualified: str = Field(description="why; empty: it is not")


class WebContests:
    """All contests of a server of pages."""

    def __init__(self, desk: SubmissionStore) -> None:
        self._desk = desk

    def add(self, name: str, plan: ContestPlan, until: str | None = None) -> WebContest:
        """Make a contest, which closes as `moment_of` says; None: when it is closed.

        Raises ParameterError for a name that is taken or cannot be shown, or a time that is past.
        """
        name = check_name(name, "the contest's name")
        end = None if until is None else moment_of(until)
        with self._desk.writing() as session:
            for other in session.scalars(sa.select(WebContest.name)):
                if fold_name(other) == fold_name(name):
                    raise ParameterError(f"there is a contest {other!r} already: give another name")
            made = WebContest(name=name, game=plan.game, values=plan.to_json(), until=end)
            session.add(made)
        return made

    def all(self) -> list[WebContest]:
        """Return all contests, the newest first."""
        return self._desk.find_all(sa.select(WebContest).order_by(WebContest.id.desc()))

    def contest(self, number: int) -> WebContest:
        """Return a contest. Raises UnknownNameError."""
        found = self._desk.find_first(sa.select(WebContest).where(WebContest.id == number))
        if found is None:
            raise UnknownNameError(f"unknown contest {number}: the list has all")
        return found

    def find_named(self, name: str) -> WebContest:
        """Return a contest by its name. Raises UnknownNameError."""
        known = self.all()
        for one in known:
            if fold_name(one.name) == fold_name(name):
                return one
        raise UnknownNameError(f"unknown contest {name!r}. Known: {', '.join(one.name for one in known) or 'none'}")

    def is_open(self, stored: StoredContest) -> bool:
        """Return whether a contest of the arena's store is one of these that is open."""
        return any(stored.label == one.label or stored.id == one.stored for one in self.all() if one.is_open)

    def of_bot(self, bot: int) -> list[WebContest]:
        """Return the contests in which a bot takes part, the newest first."""
        mine = WebContest.id.in_(sa.select(ContestEntry.contest).where(ContestEntry.bot == bot))
        return self._desk.find_all(sa.select(WebContest).where(mine).order_by(WebContest.id.desc()))

    def enter(self, contest: int, bot: Bot) -> None:
        """Let a bot take part; once more changes nothing.

        Raises ParameterError: it is closed or full, of another game, or no version of the bot has passed its check.
        """
        passed = sa.select(Version.id).where(Version.bot_id == bot.id, Version.state == VersionState.PASSED)
        with self._desk.writing() as session:
            found = self.contest(contest)  # nobody changes it now
            if not found.is_open:
                raise ParameterError(f"{found.name!r} is closed: bots enter contests that are open")
            if found.game != bot.game:
                raise ParameterError(f"{found.name!r} is a contest of {found.game}, and this bot plays {bot.game}")
            if session.scalar(passed.limit(1)) is None:
                raise ParameterError("no version of this bot has passed its check: mend it, and hand it in again")
            if session.get(ContestEntry, (contest, bot.id)) is not None:
                return
            count = session.scalar(sa.select(sa.func.count()).where(ContestEntry.contest == contest)) or 0
            if count >= MOST_ENTRIES:
                raise ParameterError(f"{found.name!r} is full, with {count} bots")
            session.add(ContestEntry(contest=contest, bot=bot.id))
            _want(session, contest)

    def withdraw(self, contest: int, bot: int) -> None:
        """Take a bot out of a contest. Raises ParameterError: it is closed, and its ranking stands."""
        with self._desk.writing() as session:
            found = self.contest(contest)  # nobody changes it now
            if not found.is_open:
                raise ParameterError(f"{found.name!r} is closed: its entries stay in its ranking")
            if (entry := session.get(ContestEntry, (contest, bot))) is not None:
                session.delete(entry)
                _want(session, contest)

    def taking_part(self, contest: WebContest) -> list[tuple[Bot, Version | None]]:
        """Return the bots by name, each with the version that plays.

        It is the newest handed in before the contest closed that passed its check, perhaps later; None: none did.
        """
        newest = sa.select(sa.func.max(Version.id)).where(Version.state == VersionState.PASSED)
        if contest.end is not None:
            newest = newest.where(Version.made <= contest.end)
        plays = (Version.bot_id == Bot.id) & Version.id.in_(newest.group_by(Version.bot_id))
        asked = sa.select(Bot, Version).join(ContestEntry, ContestEntry.bot == Bot.id).outerjoin(Version, plays)
        with self._desk.reading() as session:
            rows = session.execute(asked.where(ContestEntry.contest == contest.id).order_by(Bot.name, Bot.owner))
            return [(bot, version) for bot, version in rows]

    def close(self, contest: int) -> None:
        """Close a contest: nobody enters any more, and later versions do not count."""
        still = (WebContest.id == contest) & WebContest.closed.is_(None)
        with self._desk.writing() as session:
            session.execute(sa.update(WebContest).where(still).values(closed=now()))

    def grades(self, contest: WebContest, reader: StoreReader | None) -> list[GradeRow]:
        """Return what became of each bot in a contest, the best first, unranked ones last; ``reader``: of the store."""
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
        """Return the contest that is to run next, the one that ran longest ago; None: nothing to do."""
        due = sa.select(WebContest).where(WebContest.wanted > WebContest.held)
        return self._desk.find_first(due.order_by(sa.func.coalesce(WebContest.last, ""), WebContest.id))

    def count_wanted(self, contest: int) -> int | None:
        """Return what goes up whenever a contest has to run again; None if it is gone."""
        return self._desk.find_first(sa.select(WebContest.wanted).where(WebContest.id == contest))

    def note(self, contest: int, **values: Any) -> None:
        """Keep what is known of a contest by now: columns of its table."""
        with self._desk.writing() as session:
            session.execute(sa.update(WebContest).where(WebContest.id == contest).values(values))

    def begin_anew(self) -> None:
        """Take note that no contest runs now."""
        with self._desk.writing() as session:
            session.execute(sa.update(WebContest).values(running=False, progress=""))


def _want(session: Session, contest: int) -> None:
    session.execute(sa.update(WebContest).where(WebContest.id == contest).values(wanted=WebContest.wanted + 1))
