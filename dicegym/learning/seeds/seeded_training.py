"""Train with several seeds in parallel: start, watch, stop, resume and summarise them."""

from __future__ import annotations

import contextlib
import shlex
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from dicegym import games
from dicegym.engine.game import Game
from dicegym.engine.threads import cores
from dicegym.engine.validate import whole_number
from dicegym.errors import DamagedFileError, ParameterError
from dicegym.files import write_text
from dicegym.learning.configuration import about_run, as_toml, lasting_name, override, read_config, to_toml
from dicegym.learning.curves import Pace, read_pace
from dicegym.learning.preparation import check_programs, find_program, prepare
from dicegym.learning.run_folder import SETTINGS_FILE, alone_in, is_empty
from dicegym.learning.seeds.job import END_NOW, SeedProcess, SeedTask, SeedTrainer
from dicegym.learning.seeds.summary import SeedsSummary, folder_of, summarise
from dicegym.learning.training_settings import LARGEST_TRAINING_SEED
from dicegym.players.model_file import find_seeds
from dicegym.signals import SignalInterrupt, on_signals

SEEDS_FILE = "seeds.toml"
"""The file with the settings of all seeds in a folder."""
MOST_SEEDS = 1_000
"""Seeds in one folder."""
LOOK_EVERY = 0.2
"""Seconds between polls of the trainings."""
ENDING = ("saving; Ctrl-C again leaves at once", "leaving", "killing it")
"""Reported at the first, the second and each further signal."""

SeedProgress = Callable[[int, int, int, str], None]
"""Takes (seed, steps done, total steps, text)."""


class Backend(NamedTuple):
    """Where trainings run."""

    start: Callable[[SeedTask], SeedTrainer]
    processors: Sequence[int]
    """Number of processors of each machine."""
    queues: bool = False
    """Whether it queues trainings until there is room, as machines may be added; all are then started at once."""

    def share(self, seeds: int, workers: int | None = None) -> tuple[int, int | None]:
        """Return the number of trainings that run at once, and the most threads of each.

        Threads are None, for the number in the settings, while no machine is known. ``workers`` are trainings at once;
        default: one for each processor. Raises ParameterError for an invalid number.
        """
        most = sum(self.processors)
        wanted = (seeds if self.queues else most) if workers is None else workers
        at_once = min(seeds, whole_number("workers", wanted, 1, MOST_SEEDS, "the number of trainings at once"))
        return at_once, min(max(self.processors), most // min(at_once, most)) if most else None


def holds_seeds(folder: Path) -> bool:
    """Return whether a folder holds trainings of several seeds."""
    return (folder / SEEDS_FILE).is_file()


def train_seeds(
    game: Game | str,
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
    """Train with several seeds in parallel, each in its own process and its own folder ``folder/seed-NUMBER``.

    Each is a training by `dicegym.learning.train.train`; one that fails does not end the others. Resuming leaves
    finished seeds as they are, continues interrupted ones from their checkpoints, and starts missing ones.

    Args:
        game: as for `dicegym.learning.train.train`.
        folder: of all seeds, and of ``seeds.toml``, their settings.
        seeds: number of seeds, starting with ``run.seed``; None: as many as ``folder`` has.
        config: as for `dicegym.learning.train.train`.
        overrides: as for `dicegym.learning.train.train`.
        resume: continue the seeds in ``folder``, and add some if ``seeds`` is larger.
        workers: trainings at once, which share the processors; default: one for each processor.
        progress: called with (seed, steps done, total steps, text).
        trust: as for `dicegym.learning.train.train`.
        backend: where trainings run; default: this machine.
        told: called with a line for each failed training.

    Raises:
        ParameterError, UnknownNameError, AgentError, ModelError: settings or folder are invalid; nothing was started.
        DependencyError: the extra ``train`` is not installed.
        KeyboardInterrupt: Ctrl-C, SIGTERM or SIGHUP ended them; models and checkpoints are on disk.

    Example:
        >>> from dicegym.training import train_seeds
        >>> small = ["run.steps=1024", "run.games=64", "algorithm.n_steps=16", "run.card_games=0"]
        >>> found = train_seeds("hog", "runs/seeds", seeds=2, overrides=small)
        >>> len(found.results)
        2
    """
    if isinstance(game, Game):
        overrides = [f"game={as_toml({'players': game.players, **game.parameters})}", *overrides]
        game = game.name
    target, say = Path(folder), told or (lambda text: None)
    with alone_in(target):
        if not resume and not is_empty(target):
            raise ParameterError(f"{target} is not empty: give --resume to continue, or another --run-dir")
        if resume and not holds_seeds(target):
            raise ParameterError(f"{target} holds no trainings of several seeds to resume: start without --resume")
        base = target / SEEDS_FILE if resume else lasting_name(config)
        settings = override(read_config(game, base), overrides)
        table = games.game(game, **settings.game)
        if resume and not trust:
            check_programs(table, settings, target / SEEDS_FILE)
        numbers = _seeds_in(target, game, seeds, settings.run.seed)
        tasks = []
        for seed in numbers:
            own = folder_of(target, seed)
            begun = (own / SETTINGS_FILE).is_file()
            changes = (*overrides, f"run.seed={seed}")
            if not prepare(game, own, base, changes, begun, trust).finished:
                place, run, named = str(own.absolute()), settings.run, str(base or "")
                tasks.append(SeedTask(game, place, seed, named, changes, begun, run.torch_threads, run.device))
        write_text(target / SEEDS_FILE, to_toml(settings))  # first, so that a killed command can be resumed
        for seed in numbers:
            folder_of(target, seed).mkdir(parents=True, exist_ok=True)
        tell, where = progress or (lambda *_: None), backend or Backend(SeedProcess, [cores()])
        trainings = _Trainings(tasks, settings.run.steps, where, workers, tell, say)
        if trainings.work():
            again = f"dicegym train {game} --run-dir {shlex.quote(str(target))} --resume"
            again += " --trust" if find_program(table, settings) else ""
            raise SignalInterrupt(trainings.signals[0], f"the work so far is in {target}: continue with `{again}`")
        if not tasks:
            say(f"all seeds in {target} are finished: nothing was done; raise --steps or --seeds to train more")
        return summarise(target, numbers, trainings.failures)


def _seeds_in(folder: Path, game: str, seeds: int | None, first: int) -> list[int]:
    """Return the seeds of a folder, including new ones. Raises ParameterError if they do not fit the folder."""
    known = list(find_seeds(folder))
    for one in known:
        own = folder_of(folder, one)
        if (own / SETTINGS_FILE).is_file() and (begun := about_run(own).command[2:3]) not in ([], [game]):
            raise ParameterError(f"{folder} holds seeds of {begun[0]}, not of {game}: name that game")
    if known and first != known[0]:
        raise ParameterError(f"run.seed={first} cannot change the seeds in {folder}: leave it out, or begin anew")
    known = known or [first]
    number = len(known) if seeds is None else whole_number("seeds", seeds, 1, MOST_SEEDS, "the number of trainings")
    if number < len(known):
        raise ParameterError(
            f"{folder} holds {len(known)} seeds: give --seeds {len(known)} to continue them, or more to add some"
        )
    more = range(known[-1] + 1, known[-1] + 1 + number - len(known))
    if more and more[-1] > LARGEST_TRAINING_SEED:
        raise ParameterError(f"{number} seeds from {known[0]} on go beyond {LARGEST_TRAINING_SEED}: lower run.seed")
    return [*known, *more]


class _Trainings:
    """The running and the waiting trainings."""

    def __init__(
        self,
        tasks: list[SeedTask],
        steps: int,
        backend: Backend,
        workers: int | None,
        progress: SeedProgress,
        told: Callable[[str], None],
    ) -> None:
        self._waiting, self._total, self._start = list(tasks), steps, backend.start
        self._progress, self._told = progress, told
        self._at_once, self._threads = backend.share(max(1, len(tasks)), workers)
        self._under_way: dict[int, tuple[SeedTask, SeedTrainer]] = {}
        self._done: dict[int, int] = {}
        self.failures: dict[int, str] = {}
        """Reasons of failed seeds."""
        self.signals: list[int] = []

    def work(self) -> bool:
        """Run all trainings; return whether a signal ended them."""
        for task in self._waiting:
            self._progress(task.seed, 0, self._total, "waiting for its turn")
        handed_on = 0
        try:
            with on_signals(self.signals.append):
                while self._under_way or (self._waiting and not self.signals):
                    if len(self.signals) > handed_on:
                        handed_on += 1
                        self._end(min(handed_on, len(ENDING)))
                    while self._waiting and len(self._under_way) < self._at_once and not self.signals:
                        self._begin(self._waiting.pop(0))
                    for seed in list(self._under_way):
                        self._look(seed)
                    time.sleep(LOOK_EVERY)
        finally:
            for _, trainer in self._under_way.values():  # only after an exception of ours
                trainer.stop(END_NOW)
        return bool(self.signals)

    def _begin(self, task: SeedTask) -> None:
        threads = min(task.threads, self._threads or task.threads)
        task = task._replace(threads=threads, overrides=(*task.overrides, f"run.torch_threads={threads}"))
        trainer = self._start(task)
        self._under_way[task.seed] = task, trainer
        self._progress(task.seed, 0, self._total, trainer.waits)

    def _look(self, seed: int) -> None:
        """Report the progress of a training, and whether it has ended."""
        task, trainer = self._under_way[seed]
        over = trainer.poll()  # first, so that all its output is there at the end
        pace: list[Pace] = []
        with contextlib.suppress(DamagedFileError):  # an incomplete last line
            pace = read_pace(Path(task.folder))
        if pace and pace[-1].steps > self._done.get(seed, -1):
            self._done[seed] = pace[-1].steps
            self._progress(seed, pace[-1].steps, max(self._total, pace[-1].steps), f"{pace[-1].games:,} games")
        if over is None:
            return
        del self._under_way[seed]
        if over and not self.signals:
            self.failures[seed] = over
            self._told(f"seed {seed} failed: {over}")

    def _end(self, times: int) -> None:
        """Forward the signal to all trainings, or kill them at the third one."""
        for seed, (_, trainer) in self._under_way.items():
            trainer.stop(self.signals[0] if times < len(ENDING) else END_NOW)
            self._progress(seed, self._done.get(seed, 0), self._total, ENDING[times - 1])
