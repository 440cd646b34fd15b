"""The contests of the pages: their entries, closing times and progress."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import sqlalchemy as sa

from dicegym.arena.store.stored_rows import StoredContest
from dicegym.errors import ParameterError, UnknownNameError
from dicegym.server.admission import fold_name
from dicegym.web.enter.bots import BotVersion, HandedIn, VersionState
from dicegym.web.enter.plans import ContestPlan
from dicegym.web.enter.submission_tables import (
    BOTS,
    PARTS_TAKEN,
    VERSIONS,
    WEB_CONTESTS,
    SubmissionStore,
    now,
    number_of,
)
from dicegym.web.enter.tokens import check_name, moment_of

MOST_ENTRIES = 200
"""Bots that one contest takes."""


class OpenContest(NamedTuple):
    """A contest of the pages."""

    id: int
    name: str
    game: str
    plan: ContestPlan
    made_by: str
    made: str
    until: str | None
    closed: str | None
    wanted: int
    held: int
    running: bool
    progress: str
    problem: str
    stored: int | None
    last: str | None

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


class TakingPart(NamedTuple):
    """A bot in a contest."""

    bot: HandedIn
    version: BotVersion | None
    """The one that plays: the newest that passed its check before the contest closed."""

    @property
    def plays(self) -> str:
        """What plays, in words."""
        return "no version that passed" if self.version is None else f"version {self.version.number}"


class WebContests:
    """All contests of a server of pages."""

    def __init__(self, desk: SubmissionStore) -> None:
        self._desk = desk

    def add(self, name: str, plan: ContestPlan, made_by: str, until: str | None = None) -> OpenContest:
        """Make a contest.

        Args:
            name: tells it apart.
            plan: what it is.
            made_by: the operator's name.
            until: when it closes, as `dicegym.web.enter.tokens.moment_of` takes it; None: when it is closed.

        Raises ParameterError for a name that is taken or cannot be shown, or a time that is past.
        """
        row = {
            "name": check_name(name, "the contest's name"),
            "game": plan.game,
            "plan": json.dumps(plan.to_json()),
            "made_by": made_by,
            "made": now(),
            "until": moment_of(until) if until else None,
        }
        with self._desk.writing() as connection:
            for other in connection.execute(sa.select(WEB_CONTESTS.c.name)).scalars():
                if fold_name(other) == fold_name(name.strip()):
                    raise ParameterError(f"there is a contest {other!r} already: give another name")
            made = connection.execute(WEB_CONTESTS.insert().values(row)).inserted_primary_key
        return self.contest(int(made[0]))  # type: ignore[index]  # an insert of one row has one

    def all(self) -> list[OpenContest]:
        """Return all contests, the newest first."""
        with self._desk.reading() as connection:
            return [
                _contest(row) for row in connection.execute(sa.select(WEB_CONTESTS).order_by(WEB_CONTESTS.c.id.desc()))
            ]

    def contest(self, number: int) -> OpenContest:
        """Return a contest. Raises UnknownNameError."""
        with self._desk.reading() as connection:
            row = connection.execute(sa.select(WEB_CONTESTS).where(WEB_CONTESTS.c.id == number_of(number))).first()
        if row is None:
            raise UnknownNameError(f"unknown contest {number}: the list has all")
        return _contest(row)

    def find_named(self, name: str) -> OpenContest:
        """Return a contest by its name. Raises UnknownNameError."""
        known = self.all()
        for one in known:
            if fold_name(one.name) == fold_name(name):
                return one
        raise UnknownNameError(f"unknown contest {name!r}. Known: {', '.join(one.name for one in known) or 'none'}")

    def is_open(self, stored: StoredContest) -> bool:
        """Return whether a contest of the arena's store is one of these that is open."""
        return any(stored.label == one.label or stored.id == one.stored for one in self.all() if one.is_open)

    def of_bot(self, bot: int) -> list[OpenContest]:
        """Return the contests in which a bot takes part, the newest first."""
        mine = sa.select(PARTS_TAKEN.c.contest).where(PARTS_TAKEN.c.bot == bot)
        with self._desk.reading() as connection:
            asked = sa.select(WEB_CONTESTS).where(WEB_CONTESTS.c.id.in_(mine)).order_by(WEB_CONTESTS.c.id.desc())
            return [_contest(row) for row in connection.execute(asked)]

    def enter(self, contest: int, bot: HandedIn) -> None:
        """Let a bot take part; once more changes nothing.

        Raises ParameterError: it is closed or full, of another game, or no version of the bot has passed its check.
        """
        found = self.contest(contest)
        if not found.is_open:
            raise ParameterError(f"{found.name!r} is closed: bots enter contests that are open")
        if found.game != bot.game:
            raise ParameterError(f"{found.name!r} is a contest of {found.game}, and this bot plays {bot.game}")
        with self._desk.writing() as connection:
            passed = (VERSIONS.c.bot == bot.id) & (VERSIONS.c.state == VersionState.PASSED)
            if connection.execute(sa.select(VERSIONS.c.id).where(passed).limit(1)).first() is None:
                raise ParameterError("no version of this bot has passed its check: mend it, and hand it in again")
            here = PARTS_TAKEN.c.contest == contest
            if (
                connection.execute(sa.select(PARTS_TAKEN).where(here & (PARTS_TAKEN.c.bot == bot.id))).first()
                is not None
            ):
                return
            count = connection.execute(sa.select(sa.func.count()).select_from(PARTS_TAKEN).where(here)).scalar_one()
            if count >= MOST_ENTRIES:
                raise ParameterError(f"{found.name!r} is full, with {count} bots")
            connection.execute(PARTS_TAKEN.insert().values(contest=contest, bot=bot.id, made=now()))
            _want(connection, contest)

    def withdraw(self, contest: int, bot: int) -> None:
        """Take a bot out of a contest. Raises ParameterError: it is closed, and its ranking stands."""
        found = self.contest(contest)
        if not found.is_open:
            raise ParameterError(f"{found.name!r} is closed: its entries stay in its ranking")
        with self._desk.writing() as connection:
            here = (PARTS_TAKEN.c.contest == contest) & (PARTS_TAKEN.c.bot == bot)
            if connection.execute(PARTS_TAKEN.delete().where(here)).rowcount:
                _want(connection, contest)

    def taking_part(self, contest: OpenContest) -> list[TakingPart]:
        """Return the entries by name, each with the version that plays."""
        columns = len(BOTS.c)
        newest = (
            sa.select(sa.func.max(VERSIONS.c.number))
            .where((VERSIONS.c.bot == BOTS.c.id) & (VERSIONS.c.state == VersionState.PASSED))
            .correlate(BOTS)
        )
        if contest.end is not None:
            newest = newest.where(VERSIONS.c.made <= contest.end)
        same = (VERSIONS.c.bot == BOTS.c.id) & (VERSIONS.c.number == newest.scalar_subquery())
        joined = PARTS_TAKEN.join(BOTS, PARTS_TAKEN.c.bot == BOTS.c.id).outerjoin(VERSIONS, same)
        asked = sa.select(BOTS, VERSIONS).select_from(joined).where(PARTS_TAKEN.c.contest == contest.id)
        with self._desk.reading() as connection:
            rows = connection.execute(asked.order_by(BOTS.c.name, BOTS.c.owner)).all()
        found = []
        for row in rows:
            version = tuple(row[columns:])
            found.append(TakingPart(HandedIn(*row[:columns]), BotVersion.from_row(version) if version[0] else None))
        return found

    def close(self, contest: int) -> None:
        """Close a contest: nobody enters any more, and later versions do not count."""
        with self._desk.writing() as connection:
            still = (WEB_CONTESTS.c.id == contest) & WEB_CONTESTS.c.closed.is_(None)
            connection.execute(WEB_CONTESTS.update().where(still).values(closed=now()))

    def remove(self, contest: int) -> None:
        """Remove a contest from these pages; what was played stays in the arena's store."""
        with self._desk.writing() as connection:
            connection.execute(WEB_CONTESTS.delete().where(WEB_CONTESTS.c.id == contest))

    # --- for the runner -------------------------------------------------------------------------------------------

    def next_due(self) -> OpenContest | None:
        """Return the contest that is to run next, the one that ran longest ago; None: nothing to do."""
        due = WEB_CONTESTS.c.wanted > WEB_CONTESTS.c.held
        order = sa.func.coalesce(WEB_CONTESTS.c.last, ""), WEB_CONTESTS.c.id
        with self._desk.reading() as connection:
            row = connection.execute(sa.select(WEB_CONTESTS).where(due).order_by(*order).limit(1)).first()
        return None if row is None else _contest(row)

    def count_wanted(self, contest: int) -> int | None:
        """Return what goes up whenever a contest has to run again; None if it is gone."""
        asked = sa.select(WEB_CONTESTS.c.wanted).where(WEB_CONTESTS.c.id == contest)
        with self._desk.reading() as connection:
            return connection.execute(asked).scalar()

    def note(self, contest: int, **values: Any) -> None:
        """Keep what is known of a contest by now: columns of its table."""
        with self._desk.writing() as connection:
            connection.execute(WEB_CONTESTS.update().where(WEB_CONTESTS.c.id == contest).values(values))

    def begin_anew(self) -> None:
        """Take note that nobody holds any contest now."""
        with self._desk.writing() as connection:
            connection.execute(WEB_CONTESTS.update().values(running=False, progress=""))


def _want(connection: sa.Connection, contest: int) -> None:
    wanted = {"wanted": WEB_CONTESTS.c.wanted + 1}
    connection.execute(WEB_CONTESTS.update().where(WEB_CONTESTS.c.id == contest).values(wanted))


def _contest(row: Any) -> OpenContest:
    values = row._asdict()
    return OpenContest(**values | {"plan": ContestPlan(**json.loads(values["plan"]))})
