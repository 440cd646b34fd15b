"""What does the jobs of a contest: processes of this machine, or a cluster's.

A contest, a comparison or a measurement makes jobs (`dicegym.sandbox.jobs.Job`), and an `Executor` does them. A
contest is given an `Executors`, which makes one for a game, for limits and for an isolation::

    executors = local(workers=2)
    with executors(game, None, "auto") as executor:
        for job, outcome in executor.run(jobs):
            ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from dicegym.engine.game import Game
from dicegym.sandbox.fork_server import start_loading
from dicegym.sandbox.jail import Choice
from dicegym.sandbox.jobs import Job
from dicegym.sandbox.limits import Limits
from dicegym.sandbox.sandbox import JobOutcome, Sandbox, Watch


class Executor(Protocol):
    """Does jobs, several at a time, from ``with`` to its end; afterwards nothing of it runs any more."""

    @property
    def limits(self) -> Limits:
        """What each entry may use."""

    @property
    def isolation(self) -> Choice:
        """How untrusted entries are kept apart, wherever they play."""

    def __enter__(self) -> Executor:
        """Start what does the jobs."""

    def __exit__(self, *_: object) -> None:
        """End it, and whatever still runs in it."""

    def run(self, jobs: Iterable[Job], watch: Watch | None = None) -> Iterator[tuple[Job, JobOutcome]]:
        """Do ``jobs``, taken one by one and begun in their order; yield each once, with its outcome, as it ends.

        An outcome is what the job returned, as plain values, or a `dicegym.sandbox.jobs.Failure`; it depends on the
        job alone, and not on what did it. Where a job can continue without the entry that failed (`Job.without`), it is
        done again so, and yielded in its new form. ``jobs`` is asked for the next one when somebody is free to do it,
        never for all at once. ``watch`` is called with the jobs that are being done, where the executor sees them.
        """


Executors = Callable[[Game, Limits | None, str], Executor]
"""Makes an executor: for a game, what an entry may use (None: the default), and one of `dicegym.sandbox.jail`'s kinds
of isolation. It raises ParameterError and DependencyError for what cannot be had."""


def local(workers: int | None = None) -> Executors:
    """Return what makes executors of ``workers`` processes on this machine (default: of usable processors).

    What these processes are forked from begins to load at once, beside what the caller still has to do.
    """
    start_loading()
    return lambda game, limits, isolation: Sandbox(game, workers, limits, isolation)
