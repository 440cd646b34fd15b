"""Contests in processes: some referees, each of which does one job after the other, watched from here.

What separates whom: an untrusted bot plays in a process of its own, in a jail where the system has one, and is handed
views alone (`dicegym.sandbox.hosts`); so it reaches neither the record with its key, nor the clocks, nor other bots.
Its referee judges it. An entry that plays inside a referee is trusted not to cheat, but may hang or die by accident:
the entry that acts then is at fault, the referee is replaced, and all other jobs lose nothing.
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
from dicegym.sandbox.worker import keep

MOST_LOSSES = 5
"""How often referees may fail, while they ask nobody, before nothing more is tried."""
LOOK_EVERY, TELL_EVERY = 0.02, 0.25
"""Seconds between two looks at the running jobs, and between two times that somebody is told of them."""
JobOutcome = Any | Failure


class RunningJob(NamedTuple):
    """A job that is being done."""

    job: Job
    reading: Reading
    """What its referee does now."""
    wins: tuple[int, ...]
    """Games that each entry has won alone so far."""

    @property
    def moment(self) -> str:
        """What is being done, in words."""
        return self.job.moment(self.reading)


Watch = Callable[[Sequence[RunningJob]], object]
"""Is told, now and then, of the jobs that are being done."""


def assign_processors(workers: int) -> list[set[int]]:
    """Return the processors that each of ``workers`` referees keeps to, with all its bots; all of them if they share.

    A referee and its bots take turns. On two processors each question would have to wake the other one, which takes
    longer than the question (49 instead of 18 µs for Hog, on an idle machine). Fewer referees than processors leave the
    choice to the system, which knows what else there is to do.
    """
    if not hasattr(os, "sched_getaffinity"):
        return [set()] * workers
    usable = sorted(os.sched_getaffinity(0))
    return [{one} for one in usable] if workers == len(usable) else [set(usable)] * workers


def _failure(reading: Reading, reason: str) -> Failure:
    """Return the failure of the entry that was acting when its process stopped or ended; -1: nobody was."""
    playing = reading.phase == PLAYING
    return Failure(reading.actor, reason, reading.number + 1 if playing else 0, reading.turn)


class _Worker:
    """A referee's process, as this process sees it."""

    def __init__(self, game: Game, limits: Limits, isolation: jail.Choice, folder: str, processors: set[int]) -> None:
        context = start_loading()
        self.job: Job | None = None
        self.processors = processors
        self._limits = limits
        self._stopped: Failure | None = None
        self._queued_before = 0.0
        self.conn: Connection
        self.conn, other = context.Pipe()
        cells = context.RawArray("d", Heartbeat.SIZE)
        self._heartbeat = Heartbeat(cells)
        self._process = context.Process(
            target=keep, args=(other, cells, game, limits, isolation.level, folder), daemon=True
        )
        with plain_start():
            self._process.start()
        if processors and self._process.pid is not None:
            with contextlib.suppress(OSError):  # it has ended, as `wait_ready` will see
                os.sched_setaffinity(self._process.pid, processors)
        other.close()

    def wait_ready(self) -> None:
        """Wait until the keeper has loaded the rules. Raises DicegymError if it could not."""
        try:
            self.conn.recv_bytes()
        except EOFError:
            self._process.join()
            raise DicegymError(
                f"a process for the bots could not be started (exit status {self._process.exitcode}); "
                "its error message is above"
            ) from None

    def start(self, job: Job) -> None:
        """Hand over ``job``."""
        self.job, self._stopped = job, None
        self._queued_before = queue_time(self._process.pid or 0)
        self._heartbeat.reset()
        self.conn.send_bytes(pickle.dumps(job))

    def watch(self) -> None:
        """Look whether the acting entry keeps its time; end the job if not."""
        job = self.job
        if job is None or self._stopped or not self._late(reading := self._heartbeat.read(processor_time)):
            return
        again = self._heartbeat.read(processor_time)
        late = self._late(again)
        if again.actor != reading.actor or not late:
            return  # read while it was being written
        together = ", in all its moves of the match together" if again.phase == PLAYING else ""
        self._stopped = _failure(again, f"{late} {job.moment(again)}{together}")
        self._process.kill()

    def _late(self, reading: Reading) -> str:
        """Return in words which limit the acting entry has passed; empty if none."""
        if reading.spent > self._limits.seconds:
            return f"took more than {self._limits.seconds:g} s"
        wall = self._limits.wall_of(self._limits.seconds)
        if is_late(reading.spent + reading.waited, wall, self._queued):
            return f"took more than {wall:g} s by the clock ({reading.spent:.1f} s of them at work)"
        return ""

    def _queued(self) -> float:
        """Return how long the keeper has waited for a processor during this job."""
        return max(0.0, queue_time(self._process.pid or 0) - self._queued_before)

    def running(self) -> list[RunningJob]:
        """Return its job, if it has one."""
        if (job := self.job) is None:
            return []
        return [RunningJob(job, self._heartbeat.read(processor_time), self._heartbeat.wins(len(job.entries)))]

    def finish(self) -> tuple[Job, JobOutcome, bool]:
        """Return (job, outcome, whether this worker can continue) once ``conn`` has something to say.

        Raises ServiceError if something outside of the game failed: no entry is to blame.
        """
        job, reading = self.job, self._heartbeat.read(processor_time)
        if job is None:
            raise RuntimeError("a worker without a job has nothing to say")
        self.job = None
        try:
            answer = self.conn.recv_bytes()
        except (EOFError, OSError):
            self._process.join(1)
            if self._stopped:
                return job, self._stopped, False
            words = describe_end(self._process.exitcode or 0)
            return job, _failure(reading, f"{words} {job.moment(reading)}"), False
        found = json.loads(answer)
        if "value" in found:
            return job, found["value"], True
        if "ended" in found:
            raise ServiceError(str(found["ended"]))
        actor = int(found["actor"])
        reading = reading._replace(actor=actor)  # who acted then; nobody does by now
        where = "" if "gone" in found or reading.phase != PLAYING else f" {job.moment(reading)}"
        return job, Failure(actor, str(found["reason"]) + where), True

    def close(self) -> None:
        """End the keeper and whatever it runs."""
        self.conn.close()
        self._process.join(1)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._process.close()


class Sandbox:
    """Processes in which jobs are done, several at a time.

    Args:
        game: the game; one is played in each process before anything is timed.
        workers: number of processes (default: of usable processors).
        limits: what each entry may use.
        isolation: how untrusted entries are kept apart, "auto", "jail", "process" or "none"; see
            `dicegym.sandbox.jail`.

    Attributes:
        isolation: what was chosen.

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
        if self.isolation.level is not jail.Isolation.JAIL:  # where bots have their folders in memory of their own
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
        """End the processes, and whatever bots still run in them."""
        for worker in self._workers:
            worker.close()
        self._workers = []
        if self._folder:
            scratch.throw_away(self._folder)
            self._folder = ""

    def run(self, jobs: Iterable[Job], watch: Watch | None = None) -> Iterator[tuple[Job, JobOutcome]]:
        """Do ``jobs``, taken one by one in their order; yield each with its outcome as they end.

        An outcome is what the job returned, or a `Failure`. Where a job can continue without the entry that failed
        (`Job.without`), it is done again so; it is then yielded in its new form. A job is done again as it is if its
        referee has failed while it asked nobody, for which no entry is to blame; ServiceError after `MOST_LOSSES`.
        ``watch`` is told each `TELL_EVERY` seconds what is being done.
        """
        for worker in [one for one in self._workers if one.job is not None]:  # of a run that its caller has left
            self._replace(worker)
        waiting, losses = iter(jobs), 0
        more, told = True, time.monotonic()
        while True:
            for worker in self._workers:
                job = next(waiting, None) if more and worker.job is None else None
                if job is not None:
                    self._start(worker, job)
                elif worker.job is None:
                    more = False
            busy = {worker.conn: worker for worker in self._workers if worker.job is not None}
            if not busy:
                return
            ready = wait(list(busy), LOOK_EVERY)
            for conn in ready:
                worker = busy[conn]  # type: ignore[index]  # `wait` gives back what it was given
                done, outcome, alive = worker.finish()
                if not alive:
                    worker = self._replace(worker)
                instead = done.without(outcome) if isinstance(outcome, Failure) and outcome.actor >= 0 else None
                if isinstance(outcome, Failure) and outcome.actor < 0:
                    instead, losses = done, losses + 1
                    if losses > MOST_LOSSES:
                        raise ServiceError(f"{losses} times a referee failed while no bot was asked: {outcome.reason}")
                if instead is not None:
                    self._start(worker, instead)
                else:
                    yield done, outcome
            for worker in busy.values():
                if worker.job is not None and worker.conn not in ready:
                    worker.watch()
            if watch is not None and time.monotonic() - told >= TELL_EVERY:
                told = time.monotonic()
                watch([one for worker in self._workers for one in worker.running()])

    def _start(self, worker: _Worker, job: Job) -> None:
        try:
            worker.start(job)
        except OSError:  # it has ended while it had nothing to do
            self._replace(worker).start(job)

    def _replace(self, worker: _Worker) -> _Worker:
        place = self._workers.index(worker)
        del self._workers[place]  # closed once, also if no other one can be started
        worker.close()
        fresh = _Worker(*self._made, self._folder, worker.processors)
        self._workers.insert(place, fresh)
        fresh.wait_ready()
        return fresh
