"""The writer of a contest: a thread that puts outcomes into the store while matches go on, many in one transaction."""

from __future__ import annotations

import json
import queue
import threading
import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from dicegym.arena.match import Match
from dicegym.arena.store.outcomes import KnownNumbers, add_matches
from dicegym.arena.store.store import Begun, ContestStore, add
from dicegym.arena.store.tables import EXAMINATIONS, PLAYS
from dicegym.sandbox.jobs import Job
from dicegym.sandbox.sandbox import JobOutcome

PAUSE = 0.1
"""Seconds between two transactions: what a killed contest has played in between is played again."""
MOST = 500
"""Outcomes in one transaction."""


class Done(NamedTuple):
    """What a job came to."""

    key: str
    job: Job
    outcome: JobOutcome


class Found(NamedTuple):
    """A match of the store that the contest has asked for."""

    match: int


class _Stop(NamedTuple):
    """Nothing more comes."""


class Writer:
    """Takes what is to be stored, and stores it in its order.

    Args:
        store: where.
        contest: which.
    """

    def __init__(self, store: ContestStore, contest: Begun) -> None:
        self._store, self._contest = store, contest
        self._numbers = KnownNumbers(store.rules)
        self._waiting: queue.Queue[Done | Found | _Stop] = queue.Queue()
        self._error: BaseException | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, name="store", daemon=True)
        self._thread.start()

    def put(self, what: Done | Found) -> None:
        """Store it, soon. Raises what went wrong with something before."""
        self._complain()
        self._waiting.put(what)

    def flush(self) -> None:
        """Wait until all is stored. Raises what went wrong."""
        self._over.set()
        self._waiting.join()
        self._over.clear()
        self._complain()

    def close(self) -> None:
        """Store what waits, and end. Raises what went wrong."""
        self._over.set()
        self._waiting.put(_Stop())
        self._thread.join()
        self._complain()

    def _complain(self) -> None:
        if self._error is not None:
            error, self._error = self._error, None
            raise error

    def _work(self) -> None:
        stop = False
        while not stop:
            some = [self._waiting.get()]
            while len(some) < MOST:
                try:
                    some.append(self._waiting.get_nowait())
                except queue.Empty:
                    break
            stop = any(isinstance(one, _Stop) for one in some)
            try:
                if self._error is None:
                    self._write(some)
            except BaseException as error:  # told to whoever puts something next
                self._error = error
            for _ in some:
                self._waiting.task_done()
            self._over.wait(PAUSE)

    def _write(self, some: Sequence[Done | Found | _Stop]) -> None:
        batch = str(self._contest.seed)
        matches = [
            (one.key, one.job, one.outcome) for one in some if isinstance(one, Done) and isinstance(one.job, Match)
        ]
        others = [one for one in some if isinstance(one, Done) and not isinstance(one.job, Match)]
        links = {one.match for one in some if isinstance(one, Found)}
        if not (matches or others or links):
            return
        with self._store.writing() as connection:
            links |= set(add_matches(connection, self._numbers, batch, matches))
            rows = [
                {
                    "key": one.key,
                    "batch": batch,
                    "kind": one.job.facts["kind"],
                    "names": json.dumps([entry.name for entry in one.job.entries]),
                    "outcome": zlib.compress(json.dumps(_plain(one.outcome)).encode(), 1),
                }
                for one in others
            ]
            add(connection, EXAMINATIONS, rows, ["key"])
            self._link(connection, sorted(links))

    def _link(self, connection: sa.Connection, matches: Sequence[int]) -> None:
        own: dict[str, Any] = {"contest": self._contest.id, "run": self._contest.run}
        add(connection, PLAYS, [own | {"match": match} for match in matches], ["contest", "match"], ["run"])


def _plain(outcome: JobOutcome) -> Any:
    return {"failure": list(outcome)} if isinstance(outcome, tuple) else outcome
