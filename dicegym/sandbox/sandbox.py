"""Contests in processes: this process starts and watches referees, each of which does one job after the other.

An untrusted bot plays in another process, in a jail if the system has one, and gets only views
(`dicegym.sandbox.hosts`). So it cannot reach the record with its key, the clocks, or other bots. Its referee judges it.
An entry that plays inside a referee is trusted not to cheat, but may hang or die by accident. Then the acting entry is
at fault, the referee is replaced, and other jobs lose nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple

from dicegym.engine.game import Game
from dicegym.engine.threads import cores
from dicegym.engine.validate import whole_number
from dicegym.errors import DicegymError, ServiceError
from dicegym.sandbox import jail, scratch
from dicegym.sandbox.fork_server import plain_start, start_loading
from dicegym.sandbox.heartbeat import PLAYING, Heartbeat, Reading, is_late, processor_time, queue_time
from dicegym.sandbox.jobs import Failure, Job
from dicegym.sandbox.limits import Limits
from dicegym.sandbox.remote import describe_end
from dicegym.sandbox.worker import serve_jobs

MOST_LOSSES = 5
"""Number of referees that may fail while no entry acts; after one more, the run ends."""
LOOK_EVERY, TELL_EVERY = 0.02, 0.25
"""Seconds between two checks of the running jobs, and between two reports to the `Watch`."""
JobOutcome = Any | Failure


class RunningJob(NamedTuple):
    """A job in progress."""

    job: Job
    reading: Reading  # the state of its referee
    wins: tuple[int, ...]  # games that each entry has won alone so far

    @property
    def moment(self) -> str:
        """The present state in words."""
        return self.job.moment(self.reading)


Watch = Callable[[Sequence[RunningJob]], object]  # called regularly with the jobs in progress


def assign_processors(workers: int) -> list[set[int]]:
    """Return the set of processors for each of ``workers`` referees and its bots.

    Each referee gets one processor if there are as many referees as processors; otherwise each may use all.

    A referee and its bots take turns. On two processors each question would have to wake the other processor, which
    takes longer than the question (49 instead of 18 µs for Hog, on an idle machine). With fewer referees than
    processors, the system chooses, since it knows the other load.
    """
    if not hasattr(os, "sched_getaffinity"):
        return [set()] * workers
    usable = sorted(os.sched_getaffinity(0))
    return [{one} for one in usable] if workers == len(usable) else [set(usable)] * workers


def _failure(reading: Reading, reason: str) -> Failure:
    """Return the failure of the entry that acted when its process stopped or ended; actor -1: none did."""
    playing = reading.phase == PLAYING
    return Failure(reading.actor, reason, reading.number + 1 if playing else 0, reading.turn)


class _Worker:
    """A referee's process, as seen from this process."""

    def __init__(self, game: Game, limits: Limits, isolation: jail.Choice, folder: str, processors: set[int]) -> None:
        context = start_loading()
        self.job: Job | None = None
        self.processors = processors
        self._limits = limits
        self._stopped: Failure | None = None
        self._move = -1
        self._seen = self._queued_before = self._used_before = 0.0
        self.conn: Connection
        self.conn, other = context.Pipe()
        cells = context.RawArray("d", Heartbeat.SIZE)
        self._heartbeat = Heartbeat(cells)
        self._process = context.Process(
            target=serve_jobs, args=(other, cells, game, limits, isolation.level, folder), daemon=True
        )
        with plain_start():
            self._process.start()
        self._pid = self._process.pid or 0
        if processors:
            with contextlib.suppress(OSError):  # it has ended, as `wait_ready` will report
                os.sched_setaffinity(self._pid, processors)
        other.close()

    def wait_ready(self) -> None:
        """Wait until the referee has loaded the rules. Raises DicegymError if it could not."""
        try:
            self.conn.recv_bytes()
        except EOFError:
            self._process.join()
            raise DicegymError(
                f"a referee's process could not be started (exit status {self._process.exitcode}); its error message "
                "is above"
            ) from None

    def start(self, job: Job) -> None:
        """Send ``job`` to the referee."""
        self.job, self._stopped = job, None
        self._heartbeat.reset()
        self.conn.send_bytes(pickle.dumps(job))

    def watch(self, job: Job) -> None:
        """End the job if the acting entry has exceeded its time for the present move, counted from the first look."""
        reading = self._heartbeat.read()
        if self._stopped or reading.actor < 0:
            return
        if reading.move != self._move:
            self._move, self._seen = reading.move, time.monotonic()
            self._used_before, self._queued_before = processor_time(self._pid), queue_time(self._pid)
        elif (late := self._late()) and self._heartbeat.read() == reading:  # it has not moved meanwhile
            self._stopped = _failure(reading, f"{late} {job.moment(reading)}")
            self._process.kill()

    def _late(self) -> str:
        """Return which limit the present move has exceeded, in words; empty if none."""
        seconds, wall = self._limits.seconds, self._limits.wall_of(self._limits.seconds)
        if (spent := processor_time(self._pid) - self._used_before) > seconds:
            return f"took more than {seconds:g} s"
        if is_late(time.monotonic() - self._seen, wall, lambda: queue_time(self._pid) - self._queued_before):
            return f"took more than {wall:g} s by the clock ({spent:.1f} s of them at work)"
        return ""

    def running(self, job: Job) -> RunningJob:
        """Return the state of its job."""
        return RunningJob(job, self._heartbeat.read(), self._heartbeat.wins(len(job.entries)))

    def finish(self, job: Job) -> tuple[JobOutcome, bool]:
        """Return (outcome, whether this worker can continue); call it when ``conn`` is readable.

        Raises ServiceError if something outside the game failed, for which no entry is to blame.
        """
        self.job, reading = None, self._heartbeat.read()
        try:
            found = json.loads(self.conn.recv_bytes())
        except (EOFError, OSError):
            self._process.join(1)
            words = f"{describe_end(self._process.exitcode or 0)} {job.moment(reading)}"
            return self._stopped or _failure(reading, words), False
        if "value" in found:
            return found["value"], True
        if "ended" in found:
            raise ServiceError(str(found["ended"]))
        actor = int(found["actor"])
        reading = reading._replace(actor=actor)  # the actor at the fault; nobody acts now
        where = "" if "gone" in found or reading.phase != PLAYING else f" {job.moment(reading)}"
        return Failure(actor, str(found["reason"]) + where), True

    def close(self) -> None:
        """End the referee and its bots."""
        self.conn.close()
        self._process.join(1)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._process.close()


class Sandbox:
    """Processes that do jobs in parallel.

    Args:
        game: the game; each process plays one before anything is timed.
        workers: number of processes (default: number of usable processors).
        limits: what each entry may use.
        isolation: how untrusted entries are isolated, "auto", "jail", "process" or "none"; see
            `dicegym.sandbox.jail`.

    Attributes:
        isolation: the chosen level.

    Raises:
        ParameterError: ``workers`` is not a positive whole number, or the isolation is unknown.
        DependencyError: "jail" does not work here.
    """

    def __init__(
        self,
        game: Game,
        workers: int | None = None,
        limits: Limits | None = None,
        isolation: str = jail.Isolation.AUTO,
    ) -> None:
        self.limits = Limits.of(limits)
        self.isolation = jail.choose(isolation)
        number = cores() if workers is None else workers
        self._count = whole_number("workers", number, 1, 1024, "the number of processes")
        self._made = (game, self.limits, self.isolation)
        self._workers: list[_Worker] = []
        self._folder = ""

    def __enter__(self) -> Sandbox:
        """Start the processes."""
        if self.isolation.level is not jail.Isolation.JAIL:  # in a jail, bots' folders are in memory
            self._folder = tempfile.mkdtemp(prefix="dicegym-bots-")
        try:
            for processors in assign_processors(self._count):
                self._workers.append(_Worker(*self._made, self._folder, processors))
            for worker in self._workers:
                worker.wait_ready()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """End the processes and their bots."""
        for worker in self._workers:
            worker.close()
        self._workers = []
        scratch.throw_away(self._folder)
        self._folder = ""

    def run(self, jobs: Iterable[Job], watch: Watch | None = None) -> Iterator[tuple[Job, JobOutcome]]:
        """Do ``jobs``, started in their order; yield each with its outcome as they end.

        An outcome is the job's value or a `Failure`. If a job can be done without the entry that failed
        (`Job.without`), that new job is done and yielded instead. If a referee fails while no entry acts, its job is
        repeated; more than `MOST_LOSSES` such failures raise ServiceError. ``watch`` is called every `TELL_EVERY`
        seconds.
        """
        for worker in [one for one in self._workers if one.job is not None]:  # the caller abandoned an earlier run
            self._replace(worker)
        waiting, losses, reported = iter(jobs), 0, time.monotonic()
        while True:
            for worker in self._workers:
                if worker.job is None and (job := next(waiting, None)) is not None:
                    self._start(worker, job)
            busy = {worker.conn: (worker, worker.job) for worker in self._workers if worker.job is not None}
            if not busy:
                return
            ready = wait(list(busy), LOOK_EVERY)
            for conn in ready:
                worker, done = busy.pop(conn)  # type: ignore[call-overload]  # `wait` returns some of its arguments
                outcome, alive = worker.finish(done)
                if not alive:
                    worker = self._replace(worker)
                instead = None
                if isinstance(outcome, Failure):
                    instead = done if outcome.actor < 0 else done.without(outcome)
                    losses += outcome.actor < 0
                    if losses > MOST_LOSSES:
                        raise ServiceError(f"{losses} times a referee failed while no bot was asked: {outcome.reason}")
                if instead is not None:
                    self._start(worker, instead)
                else:
                    yield done, outcome
            for worker, job in busy.values():
                worker.watch(job)
            if watch is not None and time.monotonic() - reported >= TELL_EVERY:
                reported = time.monotonic()
                watch([worker.running(worker.job) for worker in self._workers if worker.job is not None])

    def _start(self, worker: _Worker, job: Job) -> None:
        try:
            worker.start(job)
        except OSError:  # it ended while it was idle
            self._replace(worker).start(job)

    def _replace(self, worker: _Worker) -> _Worker:
        place = self._workers.index(worker)
        del self._workers[place]  # first, or it is closed twice if the start of another one fails
        worker.close()
        fresh = _Worker(*self._made, self._folder, worker.processors)
        self._workers.insert(place, fresh)
        fresh.wait_ready()
        return fresh
