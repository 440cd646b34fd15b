"""Several seeds of one training, side by side: start, watch, stop and resume them, and sum them up at the end."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from dicegym.engine.threads import cores
from dicegym.engine.validate import whole_number
from dicegym.errors import ParameterError
from dicegym.learning.configuration import lasting_name, override, read_config
from dicegym.learning.preparation import prepare
from dicegym.learning.run_folder import alone_in, is_empty
from dicegym.learning.seeds.job import (
    END_NOW,
    FAILED,
    FINISHED,
    STOPPED,
    SeedProcess,
    SeedStatus,
    SeedTask,
    SeedTrainer,
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
from dicegym.learning.training_settings import LARGEST_TRAINING_SEED, TrainingSettings
from dicegym.signals import SignalInterrupt, on_signals

LOOK_EVERY = 0.1
"""Seconds between two looks at the trainings."""
PATIENCE = 30.0
"""Seconds that trainings have to save and measure once they were asked to end; then they are asked to leave at once."""
LAST_PATIENCE = 10.0
"""Seconds until one that was asked to leave at once is ended."""

SeedProgress = Callable[[int, int, int, str], None]
"""Is told (seed, steps done, steps in all, text)."""


class Backend(NamedTuple):
    """Where trainings are carried out."""

    start: Callable[[SeedTask], SeedTrainer]
    """Starts a training."""
    processors: Sequence[int]
    """Of each machine."""
    queues: bool = False
    """Whether trainings wait there for room, as machines may come: then all are started at once."""

    def share(self, seeds: int, workers: int | None = None) -> tuple[int, int | None]:
        """Return how many of ``seeds`` trainings are started at once, and the threads of each.

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
        folder: of all seeds; it also gets ``seeds.json``, ``band.csv``, ``band.json``, ``seeds.md`` and ``curve.png``.
        seeds: how many, starting with ``run.seed``; None: as many as ``folder`` has.
        config: as for `dicegym.learning.train.train`.
        overrides: as there.
        resume: continue the seeds in ``folder``; more ``seeds`` than it has add some.
        workers: trainings at once (default: one for each processor; processors are shared out among trainings).
        progress: called with (seed, steps done, steps in all, text).
        trust: as for `dicegym.learning.train.train`.
        backend: where they are carried out; default: this machine.
        told: called with a line for each warning of a training, and for its end.

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
    target = Path(folder)
    with alone_in(target):
        plan = _planned(game, target, seeds, None if config is None else Path(config), overrides, resume, trust)
        trainings = _Trainings(
            plan, target, backend or local(), workers, progress or (lambda *_: None), told or (lambda text: None)
        )
        if plan.tasks:
            trainings.work()
        elif told:
            told(f"all seeds in {target} are finished: nothing was done; more --steps train on, more --seeds add some")
        return summarise(plan.record, target)


class _Plan(NamedTuple):
    record: SeedsRecord
    tasks: list[SeedTask]
    """Of the seeds that are not finished; threads are not shared out yet."""
    settings: TrainingSettings
    threads: int | None
    """What was asked for by the user."""


def _planned(
    game: str,
    folder: Path,
    seeds: int | None,
    config: Path | None,
    overrides: Sequence[str],
    resume: bool,
    trust: bool,
) -> _Plan:
    """Return what there is to do, checked as far as that is quick. Raises as `train_seeds` does."""
    number = None if seeds is None else whole_number("seeds", seeds, 1, MOST_SEEDS, "the number of trainings")
    new: list[str] = list(overrides)
    if resume and holds_seeds(folder):
        record = read_record(folder, trust)
        if record.game != game:
            raise ParameterError(f"{folder} holds seeds of {record.game}, and not of {game}: name that game")
        if number is not None and number < len(record.seeds):
            raise ParameterError(
                f"{folder} holds {len(record.seeds)} seeds: --seeds {len(record.seeds)} continues them, and more "
                "adds some"
            )
        first = record.seeds[0]
        new = [text for text in new if text not in record.overrides and text != f"run.seed={first}"]
        _refuse_another_seed(new, folder)
        kept = [text for text in record.overrides if _key(text) not in map(_key, new)]
        record = record._replace(overrides=(*kept, *new), config=str(lasting_name(config) or record.config))
    elif resume:
        raise ParameterError(f"{folder} holds no trainings of several seeds to resume: start without --resume")
    else:
        if not is_empty(folder):
            raise ParameterError(f"{folder} is not empty: give --resume to continue, or another --run-dir")
        record = SeedsRecord(game, (), str(lasting_name(config) or ""), tuple(new), {}, {})
    path = Path(record.config) if record.config else None
    settings = override(read_config(game, path), record.overrides)
    first = record.seeds[0] if record.seeds else settings.run.seed
    known = record.seeds or (first,)
    more = range(known[-1] + 1, known[-1] + 1 + max(0, (number or 0) - len(known)))
    if more and more[-1] > LARGEST_TRAINING_SEED:
        raise ParameterError(f"{number} seeds from {first} on go beyond {LARGEST_TRAINING_SEED}: begin with less")
    record = record._replace(seeds=(*known, *more))
    tasks = []
    device = settings.run.device
    for seed in record.seeds:
        own = folder_of(folder, seed)
        begun = (own / "settings.json").is_file()
        changes = (*(new if begun else record.overrides), f"run.seed={seed}")
        if prepare(game, own, path, changes, begun, trust).finished:
            record.ended[seed] = FINISHED
            continue
        tasks.append(SeedTask(game, str(own.absolute()), seed, record.config, changes, begun, trust, 0, device))
    asked = any(text.startswith("run.torch_threads=") for text in record.overrides)
    return _Plan(record, tasks, settings, settings.run.torch_threads if asked else None)


def _key(override: str) -> str:
    return override.partition("=")[0]


def _refuse_another_seed(overrides: Sequence[str], folder: Path) -> None:
    for text in overrides:
        if _key(text) == "run.seed":
            raise ParameterError(f"--set {text} cannot change the seeds in {folder}: leave it out, or begin anew")


class _Trainings:
    """All trainings that are under way, and those that wait for a place."""

    def __init__(
        self,
        plan: _Plan,
        folder: Path,
        backend: Backend,
        workers: int | None,
        progress: SeedProgress,
        told: Callable[[str], None],
    ) -> None:
        self._record, self._folder, self._start = plan.record, folder, backend.start
        self._progress, self._told = progress, told
        self._total = plan.settings.run.steps
        usual = plan.settings.run.torch_threads
        self._at_once, threads = backend.share(max(1, len(plan.tasks)), workers)
        self._threads = plan.threads or min(usual, threads or usual)
        self._waiting = list(plan.tasks)
        self._under_way: dict[int, tuple[SeedTask, SeedTrainer]] = {}
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
        handed_on, since = 0, 0.0
        while self._under_way or (self._waiting and not self._signals):
            if len(self._signals) > handed_on or (handed_on and time.monotonic() > since):
                handed_on = max(handed_on + 1, len(self._signals))
                since = time.monotonic() + (PATIENCE if handed_on == 1 else LAST_PATIENCE)
                self._end(handed_on)
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
        for text in now.said[len(before.said) :]:
            self._told(f"seed {seed}: {text}")
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

    def _end(self, times: int) -> None:
        """Ask all trainings to end, for the first, the second or the last time."""
        words = ("saving and measuring; Ctrl-C again leaves at once", "leaving", "ending what does not end")
        for seed, (_, trainer) in self._under_way.items():
            trainer.stop(self._signals[0] if times < len(words) else END_NOW)
            self._progress(seed, self._known[seed].done, self._total, words[min(times, len(words)) - 1])
