"""The book of a contest: what its director asks before it lets a job be done, and where it puts what comes out."""

from __future__ import annotations

import contextlib
import json
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import sqlalchemy as sa

from dicegym.arena.match import Match
from dicegym.arena.provenance import EntryRecord, package_version
from dicegym.arena.results import ContestResult
from dicegym.arena.shards import WHOLE, Shard
from dicegym.arena.storage import Settings, Stored
from dicegym.arena.store.opening import in_words, make_damage_error
from dicegym.arena.store.outcomes import KnownNumbers, add_match, is_whole, matches_between
from dicegym.arena.store.schema import (
    AGENTS,
    CONTESTS,
    EXAMINATIONS,
    FIELDS,
    MATCHES,
    PLAYS,
    STANDINGS,
)
from dicegym.arena.store.store import ContestStore, add, lock_contest, now_in_words, number_of_rules
from dicegym.arena.work_keys import key_of, write_limits
from dicegym.errors import ParameterError
from dicegym.play.seeds import draw_seed
from dicegym.sandbox.jobs import Entry, Failure, Job
from dicegym.sandbox.limits import Limits
from dicegym.sandbox.sandbox import JobOutcome

AT_ONCE = 1_000
"""Outcomes that are read in one go: those after one are asked for next."""


class SavedResult(NamedTuple):
    """What is saved of a contest that has ended, as plain values."""

    result: dict[str, Any]
    report: dict[str, Any]
    standings: list[dict[str, Any]]
    """Rows of the table of standings, but for the contest's number."""


def prepare_result(contest_result: ContestResult) -> SavedResult:
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
        share: the part of the matches that is played here.

    Attributes:
        seed: as given.
        share: as given.
        used: numbers of the matches that the contest has asked for, and the store has.
    """

    def __init__(
        self,
        name: str,
        reading: Callable[[], AbstractContextManager[sa.Connection]],
        seed: int,
        limits: Limits,
        actions: bool = False,
        share: Shard = WHOLE,
    ) -> None:
        self.seed, self.share = seed, share
        self.used: set[int] = set()
        self._name, self._reading, self._limits, self._actions = name, reading, limits, actions
        self._found = 0
        self._examinations: dict[str, bytes] = {}
        self._matches: dict[str, int] = {}
        self._read: dict[int, JobOutcome] = {}

    def enter(self, records: Iterable[EntryRecord], entries: Iterable[Entry]) -> None:
        """Find out what is known of matches and checks with the contest's seed."""
        known = sa.select(MATCHES.c.key, MATCHES.c.id).where(MATCHES.c.batch == str(self.seed))
        asked = sa.select(EXAMINATIONS.c.key, EXAMINATIONS.c.outcome).where(EXAMINATIONS.c.batch == str(self.seed))
        with self._reading() as connection:
            self._matches = {row.key: row.id for row in connection.execute(known)}
            self._examinations = {row.key: row.outcome for row in connection.execute(asked)}

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
                raise make_damage_error(self._name, f"match {number} is not whole")
            self.used.add(number)
            if key in self._examinations and isinstance(found, dict):
                found = found | self._examined(key)
        elif key in self._examinations:
            found = self._examined(key)
            with in_words(self._name, reads=True):
                found = Failure(*found["failure"]) if "failure" in found else found
        else:
            return None
        self._found += 1
        return found

    def leaves(self, job: Job) -> bool:
        """Return whether a job is left to another shard of the contest: only matches are shared out."""
        return isinstance(job, Match) and not self.share.holds(key_of(job, self._limits))

    def _examined(self, key: str) -> dict[str, Any]:
        """Return what entries answered beside games. Raises DamagedFileError if it cannot be read."""
        with in_words(self._name, reads=True):
            return dict(json.loads(zlib.decompress(self._examinations[key])))

    def keep(self, job: Job, outcome: JobOutcome) -> None:
        """Raise RuntimeError: nothing is done here."""
        raise RuntimeError("a book that is only read keeps nothing")

    def plan(self, matches: int) -> None:
        """Do nothing: how many matches the contest has is stored."""


class _Contest(NamedTuple):
    """A contest as it is stored."""

    id: int
    seed: int
    run: int


class Book(StoredOutcomes):
    """A contest in a store. One process at a time has it, from `enter` to `close`; each outcome is one transaction.

    Args:
        store: where.
        settings: of the contest.
        seed: of the contest; None: that of the latest with the same settings, or a drawn one.
        new: whether to begin another contest, although there is one.
        share: the part of the contest that is played here; each may be played by a process of its own.
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
        share: Shard = WHOLE,
        actions: bool = False,
    ) -> None:
        self._store, self._settings = store, settings
        before = None
        if not new or seed is not None:
            with store.connection() as connection:
                before = self._latest(connection, seed)
        if new and before is not None:
            raise ParameterError(
                f"{store.name} holds this contest with seed {seed} as number {before.id}: leave the seed out to begin "
                "another"
            )
        if seed is None:
            seed = draw_seed() if before is None else before.seed
        super().__init__(store.name, store.connection, seed, settings.limits, actions, share)
        self._contest = before or _Contest(0, seed, 0)
        self._numbers = KnownNumbers()
        self._kept = 0
        self._changed = 0, 0
        self._lock = contextlib.ExitStack()

    def _latest(self, connection: sa.Connection, seed: int | None) -> _Contest | None:
        """Return the latest contest with these settings, and this seed if one is given; None if there is none."""
        same = sa.select(CONTESTS.c.id, CONTESTS.c.seed, CONTESTS.c.run)
        same = same.where(CONTESTS.c.settings == self._settings.digest)
        if seed is not None:
            same = same.where(CONTESTS.c.seed == str(seed))
        found = connection.execute(same.order_by(CONTESTS.c.id.desc()).limit(1)).first()
        return None if found is None else _Contest(found.id, int(found.seed), found.run)

    def enter(self, records: Iterable[EntryRecord], entries: Iterable[Entry]) -> None:
        """Begin the contest, or continue it, with these entries; wait while another process has it.

        Raises ParameterError if another process has begun it just now.
        """
        began = False
        if not self._contest.id:
            with self._store.writing() as connection:
                theirs = self._latest(connection, self.seed)  # another command, or another shard, may have begun it
                began = theirs is None
                self._contest = begin(connection, self._settings, self.seed) if theirs is None else theirs
        self._lock.enter_context(lock_contest(self._store, self._contest.id, self.share, waits=True))
        who = list(entries)
        with self._store.writing() as connection:
            if not began or self._run_in(connection) != self._contest.run:  # others were at it before the lock was ours
                self._contest = self._take_up(connection)
            self._enter(connection, {record.name: record for record in records}, who)
        super().enter(records, who)

    def _run_in(self, connection: sa.Connection) -> int:
        """Return the number of the contest's last run."""
        found: int = connection.execute(sa.select(CONTESTS.c.run).where(CONTESTS.c.id == self._contest.id)).scalar_one()
        return found

    def _take_up(self, connection: sa.Connection) -> _Contest:
        """Go on with the contest."""
        here = CONTESTS.c.id == self._contest.id
        values = {"run": CONTESTS.c.run + 1, "ended": None, "version": package_version()}
        connection.execute(CONTESTS.update().where(here).values(values))
        return self._contest._replace(run=connection.execute(sa.select(CONTESTS.c.run).where(here)).scalar_one())

    def _enter(self, connection: sa.Connection, records: Mapping[str, EntryRecord], entries: Sequence[Entry]) -> None:
        """Put the entries into the field of this run."""
        contest, run = self._contest.id, self._contest.run
        last = (FIELDS.c.contest == contest) & (FIELDS.c.run == run - 1)
        before = set(connection.execute(sa.select(FIELDS.c.agent).where(last)).scalars())
        rows = [
            {"name": entry.name, "identity": entry.identity, "kind": records[entry.name].kind}
            | {"files": json.dumps(records[entry.name].files)}
            for entry in entries
        ]
        add(connection, AGENTS, rows, ["name", "identity"])
        own = {entry.name: self._numbers.agent(connection, entry) for entry in entries}
        fields = [
            {"contest": contest, "agent": agent, "given": records[name].given, "run": run, "reason": None}
            for name, agent in own.items()
        ]
        add(connection, FIELDS, fields, ["contest", "agent"], ["given", "run", "reason"])
        now = set(own.values())
        self._changed = len(now - before), len(before - now)

    def outcome(self, job: Job) -> JobOutcome | None:
        """Return the outcome of a job that was done before; None if it was not."""
        found = super().outcome(job)
        if len(self.used) >= AT_ONCE:
            self._note()
        return found

    def keep(self, job: Job, outcome: JobOutcome) -> None:
        """Store the outcome of a job."""
        key, batch = key_of(job, self._limits), str(self.seed)
        with self._store.writing() as connection:
            beside, kind = outcome, job.facts["kind"]
            if isinstance(job, Match):
                self.used.add(add_match(connection, self._numbers, batch, key, job, outcome))
                usages = () if isinstance(outcome, Failure) else outcome.get("usages", ())
                beside, kind = {"usages": usages} if usages else None, "usages"
            if beside is not None:
                plain = {"failure": list(outcome)} if isinstance(outcome, Failure) else beside
                row = {
                    "key": key,
                    "batch": batch,
                    "kind": kind,
                    "names": json.dumps([entry.name for entry in job.entries]),
                    "outcome": zlib.compress(json.dumps(plain).encode(), 1),
                }
                add(connection, EXAMINATIONS, [row], ["key"])
            self._link(connection)
        self._kept += 1

    def _link(self, connection: sa.Connection) -> None:
        """Say of the matches used since the last time that they are the contest's."""
        own: dict[str, Any] = {"contest": self._contest.id, "run": self._contest.run}
        add(connection, PLAYS, [own | {"match": one} for one in sorted(self.used)], ["contest", "match"], ["run"])
        self.used.clear()

    def _unlink(self, connection: sa.Connection, own: Collection[tuple[str, int]], struck: Collection[str]) -> None:
        """Say of matches that do not count that they are not the contest's: ``own`` has seed and games of the others.

        Where entries were disqualified, the matches of this run stay, as failures are in no row of a result.
        """
        asked = sa.select(PLAYS.c.match, PLAYS.c.run, MATCHES.c.seed, MATCHES.c.games)
        asked = asked.join(MATCHES, MATCHES.c.id == PLAYS.c.match).where(PLAYS.c.contest == self._contest.id)
        gone = [
            {"gone": match}
            for match, run, *about in connection.execute(asked)
            if run < self._contest.run or (tuple(about) not in own and not struck)
        ]
        if gone:
            one = (PLAYS.c.contest == self._contest.id) & (PLAYS.c.match == sa.bindparam("gone"))
            connection.execute(PLAYS.delete().where(one), gone)

    def _note(self) -> None:
        if self.used:
            with self._store.writing() as connection:
                self._link(connection)

    def plan(self, matches: int) -> None:
        """Take note of how many matches the contest has, as far as that is known."""
        with self._store.writing() as connection:
            connection.execute(CONTESTS.update().where(CONTESTS.c.id == self._contest.id).values(planned=matches))

    def finish(self, contest_result: ContestResult, struck: Mapping[str, str]) -> None:
        """Store the result of the contest, and drop matches that are not its own any more; ``struck``: name -> why."""
        saved = prepare_result(contest_result)
        contest, run = self._contest.id, self._contest.run
        rows = [row | {"contest": contest, "figures": json.dumps(row["figures"])} for row in saved.standings]
        with self._store.writing() as connection:
            self._link(connection)
            self._unlink(connection, {(str(row.seed), row.games) for row in contest_result.matches}, struck)
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
            self._note()


def begin(connection: sa.Connection, settings: Settings, seed: int) -> _Contest:
    """Begin a contest, in a transaction that stays open."""
    row = {
        "label": settings.label,
        "rules": number_of_rules(connection, settings.game),
        "format": settings.format,
        "options": json.dumps(settings.options),
        "limits": json.dumps(write_limits(settings.limits)),
        "settings": settings.digest,
        "seed": str(seed),
        "began": now_in_words(),
        "version": package_version(),
        "run": 1,
        "planned": 0,
    }
    return _Contest(connection.execute(sa.insert(CONTESTS).returning(CONTESTS.c.id), row).scalar_one(), seed, 1)
