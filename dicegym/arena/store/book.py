"""The book of a contest: what its director asks before it lets a job be done, and where it puts what comes out."""

from __future__ import annotations

import contextlib
import json
import zlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import sqlalchemy as sa

from dicegym.arena.keys import key_of
from dicegym.arena.match import Match
from dicegym.arena.provenance import EntryRecord
from dicegym.arena.results import ContestResult
from dicegym.arena.storage import Settings, Stored
from dicegym.arena.store.holding import WHOLE, lock_contest
from dicegym.arena.store.outcomes import is_whole, matches_between
from dicegym.arena.store.schema import read_in_words
from dicegym.arena.store.store import Begun, ContestStore, add, now_in_words
from dicegym.arena.store.tables import AGENTS, CONTESTS, EXAMINATIONS, FIELDS, MATCHES, PLAYS, STANDINGS
from dicegym.arena.store.trouble import damaged
from dicegym.arena.store.writer import Done, Found, Writer
from dicegym.errors import ParameterError
from dicegym.play.seeds import drawn_seed
from dicegym.sandbox.jobs import Entry, Failure, Job
from dicegym.sandbox.limits import Limits
from dicegym.sandbox.sandbox import JobOutcome

AT_ONCE = 1_000
"""Outcomes that are read in one go: who asks for one asks for those after it next."""


class SavedResult(NamedTuple):
    """What is saved of a contest that has ended, as plain values."""

    result: dict[str, Any]
    report: dict[str, Any]
    standings: list[dict[str, Any]]
    """Rows of the table of standings, but for the contest's number."""


def saved_form(contest_result: ContestResult) -> SavedResult:
    """Return what is saved of a result."""
    result = contest_result.to_json()
    rows = [
        {"position": position, "place": row["place"], "name": row["name"], "figures": row}
        for position, row in enumerate(result["standings"], 1)
    ]
    return SavedResult(result, contest_result.report().to_json(), rows)


class StoredOutcomes:
    """What a store knows of the jobs of a contest: a book that is only read.

    Args:
        name: of the store, for people.
        reading: yields a connection that changes nothing.
        seed: of the contest.
        limits: of the contest.
        actions: whether outcomes say what was played, too.

    Attributes:
        seed: as given.
    """

    def __init__(
        self,
        name: str,
        reading: Callable[[], AbstractContextManager[sa.Connection]],
        seed: int,
        limits: Limits,
        actions: bool = False,
    ) -> None:
        self.seed = seed
        self._name, self._reading, self._limits, self._actions = name, reading, limits, actions
        self._found = 0
        self._examinations: dict[str, bytes] = {}
        self._matches: dict[str, int] = {}
        self._read: dict[int, JobOutcome] = {}

    def enter(self, records: Iterable[EntryRecord], entries: Iterable[Entry]) -> None:
        """Find out what is known of matches and checks with the contest's seed."""
        batch = str(self.seed)
        with self._reading() as connection:
            asked = sa.select(EXAMINATIONS.c.key, EXAMINATIONS.c.outcome).where(EXAMINATIONS.c.batch == batch)
            self._examinations = {row.key: row.outcome for row in connection.execute(asked)}
            known = sa.select(MATCHES.c.key, MATCHES.c.id).where(MATCHES.c.batch == batch)
            self._matches = {row.key: row.id for row in connection.execute(known)}

    def outcome(self, job: Job) -> JobOutcome | None:
        """Return the outcome of a job that was done before; None if it was not."""
        key = key_of(job, self._limits)
        if isinstance(job, Match):
            number = self._matches.get(key)
            if number is None:
                return None
            if number not in self._read:
                with self._reading() as connection:
                    self._read = matches_between(connection, number, number + AT_ONCE, self._actions)
            found = self._read.get(number)
            if found is None or not is_whole(job, found):
                raise damaged(self._name, f"match {number} is not whole")
            self._use(number)
        elif key in self._examinations:
            with read_in_words(self._name):
                found = json.loads(zlib.decompress(self._examinations[key]))
                found = Failure(*found["failure"]) if "failure" in found else found
        else:
            return None
        self._found += 1
        return found

    def keep(self, job: Job, outcome: JobOutcome) -> None:
        """Raise RuntimeError: nothing is done here."""
        raise RuntimeError("a book that is only read keeps nothing")

    def plan(self, matches: int) -> None:
        """Do nothing: how many matches the contest has is stored."""

    def _use(self, match: int) -> None:
        """Take note that the contest has asked for a match of the store."""


class Book(StoredOutcomes):
    """A contest in a store. One process at a time has it, from `enter` to `close`.

    Args:
        store: where.
        settings: of the contest.
        seed: of the contest; None: that of the latest with the same settings, or a drawn one.
        new: whether to begin another contest, although there is one.
        share: which of how many shares of the contest is played here, (1, 1) being all of it; each share may be played
            by a process of its own.
        actions: as of `StoredOutcomes`.

    Attributes:
        seed: of the contest.

    Raises:
        ParameterError: there shall be a new contest, but there is one with this seed.
    """

    def __init__(
        self,
        store: ContestStore,
        settings: Settings,
        seed: int | None = None,
        new: bool = False,
        share: tuple[int, int] = WHOLE,
        actions: bool = False,
    ) -> None:
        before = None if new and seed is None else store.latest(settings, seed)
        if new and before is not None:
            raise ParameterError(
                f"{store.name} holds this contest with seed {seed} as number {before.id}: leave the seed out to begin "
                "another"
            )
        if seed is None:
            seed = drawn_seed() if before is None else before.seed
        super().__init__(store.name, store.reading, seed, settings.limits, actions)
        self._before: Begun | None = before
        self._store, self._settings, self._share = store, settings, share
        self._kept = 0
        self._changed = 0, 0
        self._lock = contextlib.ExitStack()
        self._contest = Begun(0, seed, 0)
        self._writer: Writer | None = None

    def enter(self, records: Iterable[EntryRecord], entries: Iterable[Entry]) -> None:
        """Begin the contest, or go on with it, with these entries; wait while another process holds it.

        Raises ParameterError if another process has begun it just now.
        """
        if self._before is not None:
            self._lock.enter_context(lock_contest(self._store, self._before.id, self._share, waits=True))
        by_name = {record.name: record for record in records}
        who = list(entries)
        rows = [
            {
                "name": entry.name,
                "identity": entry.identity,
                "kind": by_name[entry.name].kind,
                "files": json.dumps(by_name[entry.name].files),
            }
            for entry in who
        ]
        with self._store.writing() as connection:
            if self._before is None:  # another shard may have begun it since
                self._before = self._store.latest_of(connection, self._settings, self.seed)
                if self._before is not None:
                    self._lock.enter_context(lock_contest(self._store, self._before.id, self._share))
            begins = self._before is None
            if self._before is None:
                self._contest = self._store.begin(connection, self._settings, self.seed)
            else:
                self._contest = self._store.take_up(connection, self._before)
            contest, run = self._contest.id, self._contest.run
            before = set(
                connection.execute(
                    sa.select(FIELDS.c.agent).where((FIELDS.c.contest == contest) & (FIELDS.c.run == run - 1))
                ).scalars()
            )
            add(connection, AGENTS, rows, ["name", "identity"])
            agents = {
                (row.name, row.identity): row.id
                for row in connection.execute(sa.select(AGENTS.c.name, AGENTS.c.identity, AGENTS.c.id))
            }
            own = {entry.name: agents[entry.name, entry.identity] for entry in who}
            fields = [
                {"contest": contest, "agent": agent, "given": by_name[name].given, "run": run, "reason": None}
                for name, agent in own.items()
            ]
            add(connection, FIELDS, fields, ["contest", "agent"], ["given", "run", "reason"])
        if begins:
            self._lock.enter_context(lock_contest(self._store, contest, self._share))
        super().enter(records, who)
        self._writer = Writer(self._store, self._contest)
        self._changed = len(set(own.values()) - before), len(before - set(own.values()))

    def keep(self, job: Job, outcome: JobOutcome) -> None:
        """Store the outcome of a job, soon; raise what went wrong with those before."""
        self._kept += 1
        self._put(Done(key_of(job, self._limits), job, outcome))

    def plan(self, matches: int) -> None:
        """Take note of how many matches the contest has, as far as that is known."""
        with self._store.writing() as connection:
            connection.execute(CONTESTS.update().where(CONTESTS.c.id == self._contest.id).values(planned=matches))

    def finish(self, contest_result: ContestResult, struck: Mapping[str, str]) -> None:
        """Store what the contest came to, and drop matches that are not its own any more; ``struck``: name -> why."""
        self._writing.flush()
        saved = saved_form(contest_result)
        contest, run = self._contest.id, self._contest.run
        rows = [row | {"contest": contest, "figures": json.dumps(row["figures"])} for row in saved.standings]
        with self._store.writing() as connection:
            connection.execute(PLAYS.delete().where((PLAYS.c.contest == contest) & (PLAYS.c.run < run)))
            connection.execute(STANDINGS.delete().where(STANDINGS.c.contest == contest))
            if rows:
                connection.execute(STANDINGS.insert(), rows)
            for name, reason in struck.items():
                own = sa.select(AGENTS.c.id).where(AGENTS.c.name == name)
                named = (FIELDS.c.contest == contest) & (FIELDS.c.run == run) & FIELDS.c.agent.in_(own)
                connection.execute(FIELDS.update().where(named).values(reason=reason))
            ended = {"ended": now_in_words(), "result": json.dumps(saved.result), "report": json.dumps(saved.report)}
            connection.execute(CONTESTS.update().where(CONTESTS.c.id == contest).values(ended))

    @property
    def stored(self) -> Stored:
        """Where the contest is, and what was found and put there so far."""
        contest = self._contest
        return Stored(self._store.name, contest.id, self._found, self._kept, contest.run, *self._changed)

    def close(self) -> None:
        """Write what waits, and let go of the contest."""
        with self._lock:
            if self._writer is not None:
                self._writer.close()

    @property
    def _writing(self) -> Writer:
        if self._writer is None:
            raise RuntimeError("a contest takes note of its entries first")
        return self._writer

    def _use(self, match: int) -> None:
        self._put(Found(match))

    def _put(self, what: Found | Done) -> None:
        self._writing.put(what)
