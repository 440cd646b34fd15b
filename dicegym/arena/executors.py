"""Executors do the jobs of a contest, in processes of this machine or on a cluster.

A contest, a comparison or a measurement makes jobs (`dicegym.sandbox.jobs.Job`), and an `Executor` does them. An
`Executors` makes one for a game, limits and an isolation::

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
    """Does jobs, several at a time, inside its ``with`` block; nothing runs after the block."""

    @property
    def limits(self) -> Limits:
        """What each entry may use."""

    @property
    def isolation(self) -> Choice:
        """How untrusted entries are isolated."""

    def __enter__(self) -> Executor:
        """Start the processes."""

    def __exit__(self, *_: object) -> None:
        """Stop the processes, whatever they do."""

    def run(self, jobs: Iterable[Job], watch: Watch | None = None) -> Iterator[tuple[Job, JobOutcome]]:
        """Do ``jobs``, begun in their order; yield each once, with its outcome, as it ends.

        An outcome is what the job returned, as plain values, or a `dicegym.sandbox.jobs.Failure`. It depends only on
        the job. A job that can continue without a failed entry (`Job.without`) is done again in that form and yielded
        so. The next job is taken only when a process is free for it. ``watch`` is called with the jobs in progress, if
        the executor sees them.
        """


Executors = Callable[[Game, Limits | None, str], Executor]
"""Makes an executor for a game, limits (None: the default) and one of `dicegym.sandbox.jail`'s isolations.
Raises ParameterError and DependencyError for what is not available."""


def local(workers: int | None = None) -> Executors:
    """Return a maker of executors with ``workers`` processes on this machine (default: of usable processors).

    The process that they are forked from starts loading at once, in parallel to the caller.
    """
    start_loading()
    return lambda game, limits, isolation: Sandbox(game, workers, limits, isolation)
