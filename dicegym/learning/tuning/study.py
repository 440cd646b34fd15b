"""A study: trainings with settings that Optuna chooses, the bad ones given up, going on wherever it was stopped.

What a trial tries depends on the study's seed, the trial's number and the trials before it alone, and a trial that was
broken off goes on from its checkpoint: a study that was interrupted becomes what it would have become (by one process;
several at once see each other's trials when they come).
"""

from __future__ import annotations

import contextlib
import csv
import json
import logging
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dicegym.engine.dice import named_seed
from dicegym.engine.validate import MOST, whole_number
from dicegym.errors import DependencyError, DicegymError, ParameterError, unknown_name
from dicegym.escape import one_line
from dicegym.files import read_text
from dicegym.learning.configuration import config_file, override, read_config, to_plain
from dicegym.learning.evaluate import Score
from dicegym.learning.files import CURVE_FILE, SETTINGS_FILE
from dicegym.learning.lock import alone_in
from dicegym.learning.preparation import prepare
from dicegym.learning.script import train
from dicegym.learning.tuning.space import USUAL, Dimension, check_space, present, space_of
from dicegym.signals import SignalInterrupt, number_of

try:
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend
    from optuna.trial import TrialState
except ImportError as error:
    raise DependencyError.for_extra("optuna", "train", "searching for settings") from error

EVALUATIONS = 16
"""Evaluations of a run at equal distances; a few early ones come first."""
NOT_BEFORE = 5
"""Evaluations, and trials to compare with, before any trial is given up."""
LAST = 0.75
"""A trial's score is the mean of its evaluations from this part of its steps on: the best of all would be luck."""
MOST_TRIALS, MOST_SEEDS = 100_000, 100
JOURNAL = "study.log"
SEEDS_APART = 1_000
"""What of several seeds lies between the steps at which they report."""
PRUNERS: dict[str, Callable[[], optuna.pruners.BasePruner]] = {
    "median": lambda: optuna.pruners.MedianPruner(n_startup_trials=NOT_BEFORE, n_warmup_steps=NOT_BEFORE),
    "halving": lambda: optuna.pruners.SuccessiveHalvingPruner(min_resource=NOT_BEFORE),
    "none": optuna.pruners.NopPruner,
}
"""Who decides that a trial is given up."""
OVER = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL)
TuneProgress = Callable[[int, int, str], None]
"""Is told (trials that are over, trials in all, text)."""


class TunePlan(NamedTuple):
    """What a study is about; two commands with the same one work on the same study."""

    game: str
    space: tuple[Dimension, ...]
    steps: int
    """Decisions of the learner in each run."""
    seeds: int
    """Runs of each trial, from the seed that the settings say on."""
    config: str
    overrides: tuple[str, ...]
    """Settings of all trials."""
    seed: int
    """Of what is tried."""
    pruner: str

    def to_json(self) -> str:
        """Return it as text."""
        plain = self._asdict() | {"space": {one.name: one.to_plain() for one in self.space}}
        return json.dumps(plain, sort_keys=True)

    def short(self) -> list[str]:
        """Return the settings that make a run one of many."""
        every = max(1, self.steps // EVALUATIONS)
        return [
            f"run.steps={self.steps}",
            f"run.evaluate_every={every}",
            f"run.checkpoint_every={max(1, self.steps // 4)}",
            "run.card_games=0",  # nobody reads it
        ]


class Study(NamedTuple):
    """A study in its folder."""

    plan: TunePlan
    folder: Path
    trials: list[optuna.trial.FrozenTrial]

    @property
    def best(self) -> optuna.trial.FrozenTrial | None:
        """Return the trial with the best score of those that ran to their end."""
        done = [one for one in self.trials if one.state == TrialState.COMPLETE and one.value is not None]
        return max(done, key=lambda one: one.value or 0.0, default=None)


def tried(trial: optuna.trial.FrozenTrial) -> list[str]:
    """Return the settings that a trial tried, as ``--set`` takes them."""
    return [str(one) for one in trial.user_attrs.get("tried", [])]


def tune(
    game: str,
    folder: str | Path,
    trials: int = 20,
    steps: int = 1_000_000,
    space: Sequence[Dimension] | None = None,
    config: str | Path | None = None,
    overrides: Sequence[str] = (),
    seeds: int = 1,
    seed: int = 0,
    pruner: str = "median",
    storage: str = "",
    trust: bool = False,
    progress: TuneProgress | None = None,
) -> Study:
    """Search for good settings until the study has ``trials`` trials that are over; return the study.

    The first trial is what the configuration says, if that lies in the space. The same call goes on with a study that
    was interrupted, with the trial that was broken off first; with more ``trials`` it adds some. Several processes may
    work on a study at once, on several machines if they share a ``storage``.

    Args:
        game: a game's name.
        folder: of the study: a run for each trial, and ``study.log`` unless a ``storage`` is named.
        trials: how many in all, those that were given up or failed among them.
        steps: decisions of the learner in each run.
        space: what is searched (default: `dicegym.learning.tuning.space.USUAL`).
        config: as for `dicegym.learning.script.train`.
        overrides: settings of all trials, as there.
        seeds: runs of each trial; its score is their mean.
        seed: of what is tried.
        pruner: one of `PRUNERS`.
        storage: URL of a database that Optuna can use, such as ``postgresql+psycopg://host/name``; empty: a file.
        trust: as for `dicegym.learning.script.train`.
        progress: told how far it is.

    Raises:
        ParameterError, UnknownNameError, AgentError, ModelError: something cannot be; nothing was begun.
        DependencyError: the extra ``train`` is not installed.
        KeyboardInterrupt: Ctrl-C, SIGTERM or SIGHUP has ended it; the trial that was broken off has a checkpoint.
    """
    target, tell = Path(folder), progress or (lambda done, of, text: None)
    whole_number("trials", trials, 1, MOST_TRIALS, "the number of trials")
    whole_number("steps", steps, EVALUATIONS, MOST, "the decisions of a run")
    whole_number("seeds", seeds, 1, MOST_SEEDS, "the runs of a trial")
    if pruner not in PRUNERS:
        raise unknown_name("pruner", pruner, list(PRUNERS))
    searched = tuple(space_of(USUAL) if space is None else space)
    file = "" if config is None else _named(Path(config))
    plan = TunePlan(game, searched, steps, seeds, file, tuple(overrides), seed, pruner)
    path = Path(file) if file else None
    settings = override(read_config(game, path), [*overrides, *plan.short()])
    prepare(game, target / "new", path, [*overrides, *plan.short()], False, trust)
    check_space(searched, settings)
    study = _opened(plan, target, storage)
    if not study.get_trials(deepcopy=False) and (usual := present(searched, to_plain(settings))):
        study.enqueue_trial(usual, user_attrs={"usual": True}, skip_if_exists=True)
    worker = _Worker(study, plan, target, trust, trials, not storage, tell)
    try:
        worker.work()
    except KeyboardInterrupt as end:
        kept = f"{worker.over()} of {trials} trials are over in {target}"
        raise SignalInterrupt(number_of(end), f"{kept}: the same command goes on") from None
    return Study(plan, target, study.get_trials())


def _named(config: Path) -> str:
    """Return the name of a configuration that ships, which every machine knows, or the path of another one."""
    return str(config) if config_file(config) != config else str(config.absolute())


def read_study(folder: str | Path, storage: str = "", game: str = "") -> Study:
    """Return a study as it is now. Raises ParameterError if there is none."""
    target = Path(folder)
    if not storage and not (target / JOURNAL).is_file():
        raise ParameterError(f"{target} holds no study: `dicegym tune GAME --run-dir {target}` begins one")
    kept = _storage(target, storage)
    names = [name for name in optuna.get_all_study_names(kept) if game in ("", name)]
    if len(names) != 1:
        raise ParameterError(f"{storage or target} holds the studies {names}: name one of their games")
    study = optuna.load_study(study_name=names[0], storage=kept)
    plain = json.loads(study.user_attrs["plan"])
    plain |= {"space": tuple(space_of(plain["space"])), "overrides": tuple(plain["overrides"])}
    return Study(TunePlan(**plain), target, study.get_trials())


def _storage(folder: Path, storage: str) -> Any:
    optuna.logging.set_verbosity(logging.WARNING)
    if not storage:
        return JournalStorage(JournalFileBackend(str(folder / JOURNAL)))
    try:
        return optuna.storages.get_storage(storage)
    except Exception as error:  # whatever the database's driver raises, or SQLAlchemy for a URL that is none
        raise ParameterError(
            f"--storage {storage!r} cannot be used ({one_line(error, 200)}): name a database"
        ) from error


def _opened(plan: TunePlan, folder: Path, storage: str) -> optuna.Study:
    """Return the study in a folder, begun if there is none. Raises ParameterError if it is about something else."""
    folder.mkdir(parents=True, exist_ok=True)
    study = optuna.create_study(
        study_name=plan.game,
        storage=_storage(folder, storage),
        load_if_exists=True,
        direction="maximize",
        pruner=PRUNERS[plan.pruner](),
    )
    begun = study.user_attrs.get("plan")
    if begun is None:
        study.set_user_attr("plan", plan.to_json())
    elif begun != plan.to_json():
        before, now = json.loads(begun), json.loads(plan.to_json())
        differ = ", ".join(f"{name}={one_line(before[name], 80)}" for name in before if before[name] != now[name])
        raise ParameterError(
            f"the study in {storage or folder} was begun with {differ}: say the same, or name another --run-dir"
        )
    return study


class _Worker:
    """Works at a study: one trial after the other."""

    def __init__(
        self,
        study: optuna.Study,
        plan: TunePlan,
        folder: Path,
        trust: bool,
        trials: int,
        alone: bool,
        tell: TuneProgress,
    ) -> None:
        self.study, self.plan, self.folder, self.trust, self.trials = study, plan, folder, trust, trials
        self.alone, self.tell = alone, tell
        """Whether all trials of the study lie in this folder; whom is told how far it is."""

    def over(self) -> int:
        """Return how many trials are over."""
        return len(self.study.get_trials(deepcopy=False, states=OVER))

    def work(self) -> None:
        """Go on with what was broken off here, then try anew."""
        for left in self.study.get_trials(states=(TrialState.RUNNING,)):
            place = self.folder / _called(left.number)
            if self.alone or place.is_dir():
                self._go_on_with(optuna.Trial(self.study, left._trial_id), place)
        while len(self.study.get_trials(deepcopy=False, states=(*OVER, TrialState.RUNNING))) < self.trials:
            self._carry_out(self.study.ask())

    def _go_on_with(self, trial: optuna.Trial, place: Path) -> None:
        """Carry out the rest of a trial, unless somebody is at it."""
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(alone_in(place))
            except ParameterError:
                return
            self._carry_out(trial)

    def _carry_out(self, trial: optuna.Trial) -> None:
        number = trial.number
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            self.study.sampler = optuna.samplers.TPESampler(seed=named_seed(self.plan.seed, number) % (1 << 32))
            said = [f"{one.name}={one.suggest(trial)}" for one in self.plan.space]
        trial.set_user_attr("tried", said)
        try:
            self.study.tell(number, self._score(trial, said))
        except optuna.TrialPruned as pruned:
            trial.set_user_attr("why", str(pruned))
            self.study.tell(number, state=TrialState.PRUNED)
        except (DicegymError, ValueError, RuntimeError, MemoryError) as error:  # PyTorch's, where numbers run away
            trial.set_user_attr("why", f"{type(error).__name__}: {one_line(error, 300)}")
            self.study.tell(number, state=TrialState.FAIL)
            if not self.study.get_trials(deepcopy=False, states=(TrialState.COMPLETE, TrialState.PRUNED)):
                raise  # most likely none can work

    def _score(self, trial: optuna.Trial, said: list[str]) -> float:
        """Train with what a trial tries; return its score. Raises TrialPruned to give up."""
        plan, scores = self.plan, []
        place = self.folder / _called(trial.number)
        path = Path(plan.config) if plan.config else None
        with alone_in(place):
            for count in range(plan.seeds):
                own = place if plan.seeds == 1 else place / f"seed-{count + 1}"
                self._train(trial, own, path, [*plan.overrides, *plan.short(), *said], count)
                scores.append(_score_of(own, plan.steps))
                if plan.seeds > 1:
                    mean = sum(scores) / len(scores)
                    _report(
                        trial, mean, SEEDS_APART * (count + 1), count + 1 < plan.seeds, f"{count + 1} seeds: {mean:.4f}"
                    )
        return sum(scores) / len(scores)

    def _train(self, trial: optuna.Trial, own: Path, config: Path | None, settings: list[str], count: int) -> None:
        if count:
            first = override(read_config(self.plan.game, config), settings).run.seed
            settings = [*settings, f"run.seed={first + count}"]
        which, over = _called(trial.number), self.over()

        def evaluated(steps: int, score: Score) -> None:
            if count == 0:
                _report(trial, score.value, _evaluations(own), True, f"{score} after {steps:,} steps")

        def told(done: int, of: int, text: str) -> None:
            self.tell(over, self.trials, f"{which}: {done:,} of {of:,} steps, {text}")

        begun = (own / SETTINGS_FILE).is_file()
        train(
            self.plan.game,
            own,
            None if begun else config,
            [] if begun else settings,
            resume=begun,
            progress=told,
            evaluated=evaluated,
            trust=self.trust,
        )


def _called(number: int) -> str:
    return f"trial-{number:03}"


def _report(trial: optuna.Trial, value: float, step: int, prune: bool, words: str) -> None:
    """Tell Optuna of a value, unless it was before the trial was broken off. Raises TrialPruned to give up."""
    known = trial.study.get_trials(deepcopy=False)[trial.number].intermediate_values
    if step not in known:
        trial.report(value, step)
    if prune and trial.should_prune():
        raise optuna.TrialPruned(words)


def _rows(folder: Path) -> list[tuple[int, float]]:
    lines = list(csv.reader(read_text(folder / CURVE_FILE, "remove the trial's folder").splitlines()))[1:]
    return [(int(line[0]), float(line[1])) for line in lines]


def _evaluations(folder: Path) -> int:
    """Return how many evaluations a run has kept."""
    return len(_rows(folder))


def _score_of(folder: Path, steps: int) -> float:
    """Return what a run that has ended is worth to a study."""
    rows = _rows(folder)
    last = [value for at, value in rows if at >= LAST * steps] or [rows[-1][1]]
    return sum(last) / len(last)
