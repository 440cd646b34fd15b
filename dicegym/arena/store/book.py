"""The book of a contest: what its director asks before it lets a job be done, and where it puts what comes out."""

from __future__ import annotations

import contextlib
import json
import os
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

import sqlalchemy as sa
from filelock import FileLock, Timeout

from dicegym.arena.keys import key_of
from dicegym.arena.match import Match
from dicegym.arena.provenance import EntryRecord
from dicegym.arena.store.outcomes import matches_between
from dicegym.arena.store.store import Begun, ContestStore, Settings, add, now_in_words
from dicegym.arena.store.tables import AGENTS, CONTESTS, EXAMINATIONS, FIELDS, MATCHES, PLAYS, STANDINGS
from dicegym.arena.store.writer import Link, Outcome, Writer
from dicegym.errors import ParameterError
from dicegym.sandbox.jobs import Entry, Failure, Job
from dicegym.sandbox.sandbox import JobOutcome

AT_ONCE = 1_000
"""Outcomes that are read in one go: who asks for one asks for those after it next."""


class Book:
    """A contest in a store, from its beginning to `close`. One process at a time has it.

    Args:
        store: where.
        settings: of the contest.
        seed: for a new contest; see `ContestStore.begin`.
        given: whether the seed was chosen.
        new: whether to begin another contest in any case.
        share: which of how many shares of the contest is played here, (1, 1) being all of it; each share may be played by
            a process of its own.

    Attributes:
        contest: its number in the store, its seed, and which run of it this is.
        stored: how many outcomes were found in the store so far.
        kept: how many were put there.

    Raises:
        ParameterError: another process holds the contest, or see `ContestStore.begin`.
    """

    def __init__(
        self,
        store: ContestStore,
        settings: Settings,
        seed: int,
        given: bool = False,
        new: bool = False,
        share: tuple[int, int] = (1, 1),
    ) -> None:
        self.contest: Begun = store.begin(settings, seed, given, new)
        self.stored = self.kept = 0
        self._store, self._limits = store, settings.limits
        self._lock = contextlib.ExitStack()
        self._hold(share)
        batch = str(self.contest.seed)
        with store.reading() as connection:
            asked = sa.select(EXAMINATIONS.c.key, EXAMINATIONS.c.outcome).where(EXAMINATIONS.c.batch == batch)
            self._examinations: dict[str, bytes] = {row.key: row.outcome for row in connection.execute(asked)}
            known = sa.select(MATCHES.c.key, MATCHES.c.id).where(MATCHES.c.batch == batch)
            self._matches: dict[str, int] = {row.key: row.id for row in connection.execute(known)}
        self._read: dict[int, JobOutcome] = {}
        self._writer = Writer(store, self.contest)

    def _hold(self, share: tuple[int, int]) -> None:
        """Take the contest for this process; the system lets go of it when that ends, in whatever way."""
        number, name = self.contest.id, f"contest {self.contest.id} of {self._store.name}"
        busy = ParameterError(f"{name} is being held by another process: wait for it, or begin another contest")
        path = self._store.path
        if path is None:
            connection = self._lock.enter_context(self._store.connected())
            taken = connection.execute(sa.select(sa.func.pg_try_advisory_lock(number, share[0]))).scalar()
            if not taken:
                self._lock.close()
                raise busy
            return
        which = f"{number}" if share == (1, 1) else f"{number}-{share[0]}"
        lock = FileLock(path.with_name(f"{path.name}-contest-{which}-lock"), timeout=0)
        try:
            lock.acquire()
        except Timeout:
            raise busy from None
        self._lock.callback(lock.release)
        self._lock.callback(lambda: _remove(lock.lock_file))

    def enter(self, records: Iterable[EntryRecord], entries: Iterable[Entry]) -> tuple[int, int]:
        """Take note of who takes part; return how many are new, and how many that took part before are out."""
        contest, run = self.contest.id, self.contest.run
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
        return len(set(own.values()) - before), len(before - set(own.values()))

    def outcome(self, job: Job) -> JobOutcome | None:
        """Return the outcome of a job that was done before; None if it was not."""
        key = key_of(job, self._limits)
        if isinstance(job, Match):
            number = self._matches.get(key)
            if number is None:
                return None
            if number not in self._read:
                with self._store.reading() as connection:
                    self._read = matches_between(connection, number, number + AT_ONCE)
            self._writer.put(Link(number))
            found = self._read[number]
        elif key in self._examinations:
            found = json.loads(zlib.decompress(self._examinations[key]))
            found = Failure(*found["failure"]) if "failure" in found else found
        else:
            return None
        self.stored += 1
        return found

    def keep(self, job: Job, outcome: JobOutcome) -> None:
        """Store the outcome of a job, soon; raise what went wrong with those before."""
        self.kept += 1
        self._writer.put(Outcome(key_of(job, self._limits), job, outcome))

    def plan(self, matches: int) -> None:
        """Take note of how many matches the contest has, as far as that is known."""
        with self._store.writing() as connection:
            connection.execute(CONTESTS.update().where(CONTESTS.c.id == self.contest.id).values(planned=matches))

    def finish(self, result: Mapping[str, Any], struck: Mapping[str, str]) -> None:
        """Store what the contest came to (`ContestResult.to_json`), and let go of matches that are not its own any more."""
        self._writer.flush()
        contest, run = self.contest.id, self.contest.run
        rows = [
            {
                "contest": contest,
                "position": position,
                "place": row["place"],
                "name": row["name"],
                "figures": json.dumps(row),
            }
            for position, row in enumerate(result["standings"], 1)
        ]
        with self._store.writing() as connection:
            connection.execute(PLAYS.delete().where((PLAYS.c.contest == contest) & (PLAYS.c.run < run)))
            connection.execute(STANDINGS.delete().where(STANDINGS.c.contest == contest))
            if rows:
                connection.execute(STANDINGS.insert(), rows)
            for name, reason in struck.items():
                own = sa.select(AGENTS.c.id).where(AGENTS.c.name == name)
                named = (FIELDS.c.contest == contest) & (FIELDS.c.run == run) & FIELDS.c.agent.in_(own)
                connection.execute(FIELDS.update().where(named).values(reason=reason))
            ended = {"ended": now_in_words(), "result": json.dumps(result)}
            connection.execute(CONTESTS.update().where(CONTESTS.c.id == contest).values(ended))

    def close(self) -> None:
        """Write what waits, and let go of the contest."""
        with self._lock:
            self._writer.close()


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
