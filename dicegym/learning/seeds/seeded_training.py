"""Several seeds of one training, side by side: start, watch, stop and resume them, and sum them up at the end."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dicegym.engine.threads import cores
from dicegym.engine.validate import whole_number
from dicegym.errors import ParameterError
from dicegym.learning.configuration import lasting_name, override, read_config
from dicegym.learning.preparation import prepare
from dicegym.learning.run_folder import SETTINGS_FILE, alone_in, is_empty
from dicegym.learning.seeds.job import (
    END_NOW,
    FAILED,
    FINISHED,
    STOPPED,
    SeedProcess,
    SeedStatus,
    SeedTask,
    read_status,
)
from dicegym.learning.seeds.summary import (
    MOST_SEEDS,
    SeedsRecord,
    SeedsSummary,
    folder_of,
    holds_seeds,
    read_record,
    summarise,
)
from dicegym.learning.training_settings import LARGEST_TRAINING_SEED
from dicegym.signals import SignalInterrupt, on_signals

if TYPE_CHECKING:
    from dicegym.learning.seeds.ray_trainer import RayTrainer

LOOK_EVERY = 0.1
"""Seconds between two looks at the trainings."""
ENDING = ("saving; Ctrl-C again leaves at once", "leaving", "ending what does not end")
"""What is done at the first, the second and each further signal."""

SeedProgress = Callable[[int, int, int, str], None]
"""Is told (seed, steps done, steps in all, text)."""


class Backend(NamedTuple):
    """Where trainings are carried out."""

    start: Callable[[SeedTask], SeedProcess | RayTrainer]
    """Starts a training."""
    processors: Sequence[int]
    """Of each machine."""
    queues: bool = False
    """Whether trainings wait there for room, as machines may come: then all are started at once."""

    def share(self, seeds: int, workers: int | None = None) -> tuple[int, int | None]:
        """Return how many of ``seeds`` trainings are started at once, and the most threads of each.

        None: as its settings say, where no machine is known yet. ``workers`` are trainings at once; default: one for
        each processor. Raises ParameterError for an invalid number.
        """
        most = sum(self.processors)
        wanted = (seeds if self.queues else most) if workers is None else workers
        at_once = min(seeds, whole_number("workers", wanted, 1, MOST_SEEDS, "the number of trainings at once"))
        return at_once, min(max(self.processors), most // min(at_once, most)) if most else None


def local() -> Backend:
    """Return this machine."""
    return Backend(SeedProcess, [cores()])


def train_seeds(
    game: str,
    folder: str | Path,
    seeds: int | None = None,
    config: str | Path | None = None,
    overrides: Sequence[str] = (),
    resume: bool = False,
    workers: int | None = None,
    progress: SeedProgress | None = None,
    trust: bool = False,
    backend: Backend | None = None,
    told: Callable[[str], None] | None = None,
) -> SeedsSummary:
    """Train with several seeds side by side, each in a process and in a folder of its own, ``folder/seed-NUMBER``.

    Each is what `dicegym.learning.train.train` makes of its seed. One that fails ends no other. Resuming leaves
    finished seeds as they are, continues interrupted ones from their checkpoints, and starts those that have none.

    Args:
        game: a game's name.
        folder: of all seeds; it also gets ``seeds.json``.
        seeds: how many, starting with ``run.seed``; None: as many as ``folder`` has.
        config: as for `dicegym.learning.train.train`.
        overrides: as there.
        resume: continue the seeds in ``folder``; more ``seeds`` than it has add some.
        workers: trainings at once (default: one for each processor; processors are shared out among trainings).
        progress: called with (seed, steps done, steps in all, text).
        trust: as for `dicegym.learning.train.train`.
        backend: where they are carried out; default: this machine.
        told: called with a line for each training that fails.

    Raises:
        ParameterError, UnknownNameError, AgentError, ModelError: settings or folder cannot work; nothing was started.
        DependencyError: the extra ``train`` is not installed.
        KeyboardInterrupt: Ctrl-C, SIGTERM or SIGHUP has ended them, each with model and checkpoint on disk.

    Example:
        >>> from dicegym.training import train_seeds
        >>> small = ["run.steps=1024", "run.games=64", "algorithm.n_steps=16", "run.card_games=0"]
        >>> found = train_seeds("hog", "runs/seeds", seeds=2, overrides=small)
        >>> len(found.results)
        2
    """
    target, say = Path(folder), told or (lambda text: None)
    with alone_in(target):
        path = None if config is None else Path(config)
        record, tasks, steps = _plan(game, target, seeds, path, overrides, resume, trust)
        if tasks:
            _Trainings(
                record, tasks, steps, target, backend or local(), workers, progress or (lambda *_: None), say
            ).work()
        else:
            say(f"all seeds in {target} are finished: nothing was done; more --steps train on, more --seeds add some")
        return summarise(record, target)


def _plan(
    game: str,
    folder: Path,
    seeds: int | None,
    config: Path | None,
    overrides: Sequence[str],
    resume: bool,
    trust: bool,
) -> tuple[SeedsRecord, list[SeedTask], int]:
    """Return what is noted of all seeds, the tasks of those that are not finished, and the steps of each.

    Threads are not shared out yet. Raises as `train_seeds` does.
    """
    number = None if seeds is None else whole_number("seeds", seeds, 1, MOST_SEEDS, "the number of trainings")
    new = list(overrides)
    if not resume:
        if not is_empty(folder):
            raise ParameterError(f"{folder} is not empty: give --resume to continue, or another --run-dir")
        record = SeedsRecord(game, (), str(lasting_name(config) or ""), tuple(new), {}, {})
    elif holds_seeds(folder):
        record = read_record(folder, trust)
        if record.game != game:
            raise ParameterError(f"{folder} holds seeds of {record.game}, and not of {game}: name that game")
        if number is not None and number < len(record.seeds):
            raise ParameterError(
                f"{folder} holds {len(record.seeds)} seeds: --seeds {len(record.seeds)} continues them, and more "
                "adds some"
            )
        new = [text for text in new if text not in (*record.overrides, f"run.seed={record.seeds[0]}")]
        if any(_key(text) == "run.seed" for text in new):
            raise ParameterError(f"run.seed cannot change the seeds in {folder}: leave it out, or begin anew")
        kept = [text for text in record.overrides if _key(text) not in map(_key, new)]
        record = record._replace(overrides=(*kept, *new), config=str(lasting_name(config) or record.config))
    else:
        raise ParameterError(f"{folder} holds no trainings of several seeds to resume: start without --resume")
    path = Path(record.config) if record.config else None
    run = override(read_config(game, path), record.overrides).run
    known = record.seeds or (run.seed,)
    more = range(known[-1] + 1, known[-1] + 1 + max(0, (number or 0) - len(known)))
    if more and more[-1] > LARGEST_TRAINING_SEED:
        raise ParameterError(f"{number} seeds from {known[0]} on go beyond {LARGEST_TRAINING_SEED}: begin with less")
    record, tasks = record._replace(seeds=(*known, *more)), []
    for seed in record.seeds:
        own = folder_of(folder, seed)
        begun = (own / SETTINGS_FILE).is_file()
        changes = (*(new if begun else record.overrides), f"run.seed={seed}")
        if prepare(game, own, path, changes, begun, trust).finished:
            record.ended[seed] = FINISHED
        else:
            threads, place = run.torch_threads, str(own.absolute())
            tasks.append(SeedTask(game, place, seed, record.config, changes, begun, trust, threads, run.device))
    return record, tasks, run.steps


def _key(override: str) -> str:
    return override.partition("=")[0]


class _Trainings:
    """All trainings that are under way, and those that wait for a place."""

    def __init__(
        self,
        record: SeedsRecord,
        tasks: list[SeedTask],
        steps: int,
        folder: Path,
        backend: Backend,
        workers: int | None,
        progress: SeedProgress,
        told: Callable[[str], None],
    ) -> None:
        self._record, self._waiting, self._folder, self._start = record, tasks, folder, backend.start
        self._progress, self._told, self._total = progress, told, steps
        self._at_once, most = backend.share(len(tasks), workers)
        self._threads = min(tasks[0].threads, most or tasks[0].threads)
        self._under_way: dict[int, tuple[SeedTask, SeedProcess | RayTrainer]] = {}
        self._signals: list[int] = []
        self._known: dict[int, SeedStatus] = {}

    def work(self) -> None:
        """Carry all out. Raises SignalInterrupt if it was asked to end, once all have."""
        folder = self._folder
        folder.mkdir(parents=True, exist_ok=True)
        self._record.write(folder)
        for task in self._waiting:
            self._progress(task.seed, 0, self._total, "waiting for its turn")
        try:
            with on_signals(self._signals.append):
                self._watch()
        finally:
            for _, trainer in self._under_way.values():  # only if something of our own went wrong
                trainer.stop(END_NOW)
        if self._signals:
            again = f"dicegym train {self._record.game} --run-dir {shlex.quote(str(folder))} --resume"
            raise SignalInterrupt(self._signals[0], f"what was done so far is in {folder}: continue by `{again}`")

    def _watch(self) -> None:
        handed_on = 0
        while self._under_way or (self._waiting and not self._signals):
            if len(self._signals) > handed_on:
                handed_on += 1
                for seed, (_, trainer) in self._under_way.items():
                    trainer.stop(self._signals[0] if handed_on < len(ENDING) else END_NOW)
                    words = ENDING[min(handed_on, len(ENDING)) - 1]
                    self._progress(seed, self._known[seed].done, self._total, words)
            while self._waiting and len(self._under_way) < self._at_once and not self._signals:
                self._begin(self._waiting.pop(0))
            if not sum(self._hear(seed) for seed in list(self._under_way)):
                time.sleep(LOOK_EVERY)

    def _begin(self, task: SeedTask) -> None:
        task = task._replace(threads=self._threads, overrides=(*task.overrides, f"run.torch_threads={self._threads}"))
        task.status_file.unlink(missing_ok=True)  # of a command that was killed
        self._known[task.seed], trainer = SeedStatus(), self._start(task)
        self._under_way[task.seed] = task, trainer
        self._progress(task.seed, 0, self._total, trainer.waits)

    def _hear(self, seed: int) -> bool:
        """Take note of what a training has written; return whether that was anything."""
        task, trainer = self._under_way[seed]
        over = trainer.poll()  # first: then all that it wrote is there
        before, now = self._known[seed], read_status(task)
        self._known[seed] = now
        if now.text and now[:3] != before[:3]:
            self._progress(seed, *now[:3])
        if over is not None:
            del self._under_way[seed]
            task.status_file.unlink(missing_ok=True)
            self._note(seed, now, over)
        return over is not None or now != before

    def _note(self, seed: int, last: SeedStatus, over: str) -> None:
        """Note how a training has ended: by its last status, or if it could not write that, as its trainer says."""
        how = last.how or STOPPED
        how = FAILED if how == STOPPED and not self._signals else how  # somebody else has ended it
        why = last.why or over or "it was ended from outside"
        self._record.ended[seed] = how
        self._record.failures.pop(seed, None)
        if how == FAILED:
            self._record.failures[seed] = why
            self._told(f"seed {seed} failed: {why}")
        self._record.write(self._folder)
