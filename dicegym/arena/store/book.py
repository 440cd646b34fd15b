"""The book of a contest: finds stored outcomes of its jobs, and stores new ones."""

from __future__ import annotations

import contextlib
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from dicegym.arena.match import Match
from dicegym.arena.provenance import EntryRecord, package_version
from dicegym.arena.results import ContestResult
from dicegym.arena.storage import Settings, Stored, key_of, write_limits
from dicegym.arena.store.opening import in_words
from dicegym.arena.store.outcomes import add_match, is_whole, outcomes_between
from dicegym.arena.store.schema import AGENTS, ANSWERS, CONTESTS, FIELDS, MATCHES, PLAYS, SEATS
from dicegym.arena.store.store import ContestStore, add, live_file, lock_contest, now_in_words, number_of_rules
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.escape import harmless
from dicegym.files import write_text
from dicegym.play.seeds import draw_seed
from dicegym.sandbox.heartbeat import PLAYING
from dicegym.sandbox.jobs import Entry, Failure, Job
from dicegym.sandbox.sandbox import JobOutcome, RunningJob

AT_ONCE = 1_000
"""Outcomes read at a time; those that follow one in the store are probably asked for next."""


class Book:
    """A contest in a store. One process at a time holds it, from `enter` to `close`; each outcome is a transaction.

    ``seed`` is that of the contest; given as None, it is that of the latest contest with the same settings, or drawn.
    ``actions``: whether outcomes include the actions.
    """

    def __init__(self, store: ContestStore, settings: Settings, seed: int | None = None, actions: bool = False) -> None:
        self._store, self._settings, self._actions = store, settings, actions
        self._digest = settings.digest
        with store.connection() as connection:
            before = self._latest(connection, seed)
            if seed is None:
                seed = draw_seed() if before is None else int(before.seed)
        self.seed = seed
        self._contest = self._run = 0
        self._lock = contextlib.ExitStack()
        self._rules: dict[Game, int] = {}
        self._agents: dict[tuple[str, str], int] = {}
        self._answers: dict[str, bytes] = {}
        self._matches: dict[str, int] = {}
        self._read: dict[int, JobOutcome] = {}
        self._used: dict[int, tuple[int, int]] = {}  # match of this run -> its seed and number of games
        self._unlinked: set[int] = set()
        self._found = self._kept = 0
        self._changed: tuple[int, int, tuple[str, ...]] = 0, 0, ()

    def _latest(self, connection: sa.Connection, seed: int | None) -> Any:
        """Return id and seed of the latest contest with these settings, and with ``seed`` if given; or None."""
        same = sa.select(CONTESTS.c.id, CONTESTS.c.seed).where(CONTESTS.c.settings == self._digest)
        if seed is not None:
            same = same.where(CONTESTS.c.seed == str(seed))
        return connection.execute(same.order_by(CONTESTS.c.id.desc()).limit(1)).first()

    def enter(self, records: Iterable[EntryRecord], entries: Iterable[Entry]) -> None:
        """Begin or continue the contest with these entries, and find its stored matches and checks.

        Raises ParameterError if another process runs the contest, or removed it meanwhile.
        """
        with self._store.writing() as connection:  # another command may begin it at the same time
            latest = self._latest(connection, self.seed)
            self._contest = latest.id if latest else begin(connection, self._settings, self.seed)
        self._lock.enter_context(lock_contest(self._store, self._contest))
        batch = str(self.seed)
        with self._store.writing() as connection:
            values = {"run": CONTESTS.c.run + 1, "ended": None, "version": package_version()}
            run = connection.execute(self._change(values).returning(CONTESTS.c.run)).scalar()
            if run is None:
                raise ParameterError(f"contest {self._contest} was removed just now: run the same command again")
            self._run = run
            self._enter(connection, {record.name: record for record in records}, list(entries))
            known = sa.select(MATCHES.c.key, MATCHES.c.id).where(MATCHES.c.batch == batch)
            asked = sa.select(ANSWERS.c.key, ANSWERS.c.outcome).where(ANSWERS.c.batch == batch)
            self._matches = {row.key: row.id for row in connection.execute(known)}
            self._answers = {row.key: row.outcome for row in connection.execute(asked)}

    def _enter(self, connection: sa.Connection, records: Mapping[str, EntryRecord], entries: list[Entry]) -> None:
        """Store the entries; matches of withdrawn entries no longer belong to the contest."""
        contest = self._contest
        here, listed = FIELDS.c.contest == contest, sa.select(FIELDS.c.agent)
        named = sa.select(AGENTS.c.id, AGENTS.c.name).where(
            AGENTS.c.id.in_(listed.where(here, FIELDS.c.withdrawn == 0))
        )
        before = {row.id: row.name for row in connection.execute(named)}
        agents = [
            {"name": one.name, "identity": one.identity}
            | {"kind": records[one.name].kind, "files": json.dumps(records[one.name].files)}
            for one in entries
        ]
        add(connection, AGENTS, agents, ["name", "identity"])
        connection.execute(FIELDS.update().where(here).values(withdrawn=1))
        fields: list[dict[str, Any]] = [
            {"contest": contest, "agent": self._agent(connection, one), "given": harmless(records[one.name].given)}
            | {"withdrawn": 0, "reason": None}
            for one in entries
        ]
        add(connection, FIELDS, fields, ["contest", "agent"], ["given", "withdrawn", "reason"])
        now = {row["agent"]: one.name for row, one in zip(fields, entries, strict=True)}
        gone = sa.select(SEATS.c.match).where(SEATS.c.agent.in_(listed.where(here, FIELDS.c.withdrawn == 1)))
        connection.execute(PLAYS.delete().where(PLAYS.c.contest == contest, PLAYS.c.match.in_(gone)))
        new, old = ({names[agent] for agent in names.keys() - other} for names, other in ((now, before), (before, now)))
        self._changed = len(new - old), len(old - new), tuple(sorted(new & old))

    def _agent(self, connection: sa.Connection, entry: Entry) -> int:
        """Return the id of a stored agent."""
        who = entry.name, entry.identity
        if who not in self._agents:
            same = (AGENTS.c.name == who[0]) & (AGENTS.c.identity == who[1])
            self._agents[who] = connection.execute(sa.select(AGENTS.c.id).where(same)).scalar_one()
        return self._agents[who]

    def outcome(self, job: Job) -> JobOutcome | None:
        """Return the stored outcome of a job; None if it is not stored."""
        key = key_of(job, self._settings.limits)
        if isinstance(job, Match):
            number = self._matches.get(key)
            if number is None:
                return None
            if number not in self._read:
                with self._store.connection() as connection:
                    self._read = outcomes_between(connection, number, number + AT_ONCE, self._actions)
            found = self._read.get(number)
            with in_words(self._store.name, reads=True):
                if found is None or not is_whole(job, found):
                    raise ValueError(f"match {number} is not whole")
            self._use(number, job)
            if len(self._unlinked) >= AT_ONCE:
                self._note()
        elif key in self._answers:
            with in_words(self._store.name, reads=True):
                found = dict(json.loads(zlib.decompress(self._answers[key])))
                found = Failure(*found["failure"]) if "failure" in found else found
        else:
            return None
        self._found += 1
        return found

    def keep(self, job: Job, outcome: JobOutcome) -> None:
        """Store the outcome of a job."""
        key, batch = key_of(job, self._settings.limits), str(self.seed)
        with self._store.writing() as connection:
            if isinstance(job, Match):
                if job.game not in self._rules:
                    self._rules[job.game] = number_of_rules(connection, job.game)
                agents = [self._agent(connection, entry) for entry in job.entries]
                self._use(add_match(connection, self._rules[job.game], agents, batch, key, job, outcome), job)
                self._link(connection)
            else:
                plain = {"failure": list(outcome)} if isinstance(outcome, Failure) else outcome
                row = {"key": key, "batch": batch, "outcome": zlib.compress(json.dumps(plain).encode(), 1)}
                add(connection, ANSWERS, [row], ["key"])
        self._kept += 1

    def show(self, running: Sequence[RunningJob]) -> None:
        """Tell readers of a store in a file how far the running matches are.

        If that cannot be written, nothing is lost.
        """
        if self._store.path is None:
            return
        rows = [
            {"entries": [entry.name for entry in job.entries], "wins": one.wins}
            | {"game": one.reading.number + 1 if one.reading.phase == PLAYING else 0, "games": job.games}
            for one in running
            if isinstance(job := one.job, Match)
        ]
        with contextlib.suppress(OSError):
            write_text(live_file(self._store.path, self._contest), json.dumps(rows))

    def _use(self, number: int, job: Match) -> None:
        """Note a match that the contest has asked for."""
        if number not in self._used:
            self._used[number] = job.seed, job.games
            self._unlinked.add(number)

    def _link(self, connection: sa.Connection) -> None:
        """Store that the matches noted since the last call belong to the contest."""
        rows = [{"contest": self._contest, "match": one} for one in sorted(self._unlinked)]
        add(connection, PLAYS, rows, ["contest", "match"])
        self._unlinked.clear()

    def _note(self) -> None:
        if self._unlinked:
            with self._store.writing() as connection:
                self._link(connection)

    def plan(self, matches: int) -> None:
        """Store the number of matches of the contest."""
        with self._store.writing() as connection:
            connection.execute(self._change({"planned": matches}))

    def _change(self, values: dict[str, Any]) -> sa.Update:
        """Return an update of the contest itself."""
        return sa.update(CONTESTS).where(CONTESTS.c.id == self._contest).values(values)

    def finish(self, contest_result: ContestResult, failures: Mapping[str, str]) -> None:
        """Store the result, and drop matches that no longer belong to the contest; ``failures``: name -> reason.

        If entries were disqualified, all matches of this run stay, as failures are not in the rows of a result.
        """
        contest = self._contest
        count = {(row.seed, row.games) for row in contest_result.matches}
        own = {number for number, about in self._used.items() if failures or about in count}
        result, report = contest_result.to_json(), contest_result.report().to_json()
        with self._store.writing() as connection:
            self._link(connection)
            linked = sa.select(PLAYS.c.match).where(PLAYS.c.contest == contest)
            if gone := [{"gone": match} for match in connection.execute(linked).scalars() if match not in own]:
                one = (PLAYS.c.contest == contest) & (PLAYS.c.match == sa.bindparam("gone"))
                connection.execute(PLAYS.delete().where(one), gone)
            for name, reason in failures.items():
                named = FIELDS.c.agent.in_(sa.select(AGENTS.c.id).where(AGENTS.c.name == name))
                here = (FIELDS.c.contest == contest) & (FIELDS.c.withdrawn == 0) & named
                connection.execute(FIELDS.update().where(here).values(reason=harmless(reason)))
            ended = {"ended": now_in_words(), "result": json.dumps(result), "report": json.dumps(report)}
            connection.execute(self._change(ended))

    @property
    def stored(self) -> Stored:
        """Where the contest is stored, and what was found and added so far."""
        return Stored(self._store.name, self._contest, self._found, self._kept, self._run, *self._changed)

    def close(self) -> None:
        """Write what is noted, and release the contest."""
        with self._lock:
            if self._run and self._store.path is not None:  # otherwise the file may be another process's
                with contextlib.suppress(OSError):
                    live_file(self._store.path, self._contest).unlink(missing_ok=True)
            self._note()


def begin(connection: sa.Connection, settings: Settings, seed: int) -> int:
    """Begin a contest within the connection's transaction; return its id."""
    row = {
        "label": settings.label,
        "format": settings.format,
        "settings": settings.digest,
        "seed": str(seed),
        "options": json.dumps(settings.options),
        "limits": json.dumps(write_limits(settings.limits)),
        "began": now_in_words(),
        "version": package_version(),
        "rules": number_of_rules(connection, settings.game),
        "run": 0,
        "planned": 0,
    }
    return int(connection.execute(sa.insert(CONTESTS).returning(CONTESTS.c.id), row).scalar_one())
