"""Searching for settings with Optuna: each trial is a training, bad ones are pruned, and a report names the best.

The settings of a trial depend on the study's seed, the trial's number and the trials before it alone, and an
interrupted trial continues from its checkpoint. So an interrupted study ends as an uninterrupted one would.
"""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import shlex
import tomllib
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dicegym.arena.report import Report, markdown_text
from dicegym.engine.dice import named_seed
from dicegym.engine.validate import MOST, whole_number
from dicegym.errors import DependencyError, DicegymError, ParameterError, one_line
from dicegym.files import write_text
from dicegym.learning.configuration import as_toml, lasting_name, override, read_config, to_plain, to_toml
from dicegym.learning.evaluate import Score
from dicegym.learning.preparation import prepare
from dicegym.learning.run_folder import SETTINGS_FILE, alone_in
from dicegym.learning.train import train
from dicegym.learning.training_settings import TrainingSettings
from dicegym.signals import SignalInterrupt, number_of

try:
    import optuna
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
    from optuna.storages.journal import JournalFileBackend
    from optuna.trial import FrozenTrial, TrialState
except ImportError as error:
    raise DependencyError.for_extra("optuna", "train", "searching for settings") from error

Space = dict[str, CategoricalDistribution | FloatDistribution | IntDistribution]
"""What is searched, by the names that ``dicegym train --set`` has. Choices are TOML."""
USUAL = (
    "algorithm.learning_rate={low=1e-4, high=3e-3, log=true}",
    "algorithm.ent_coef={low=1e-3, high=1.0, log=true}",
    "algorithm.gae_lambda={low=0.3, high=1.0}",
    "algorithm.n_epochs={low=2, high=8}",
    "network.net_arch={choices=[[64, 64], [128, 128], [256, 256]]}",
)
"""What matters most to PPO in games of dice, and is searched by default."""
EVALUATIONS = 16
"""Evaluations of a run at equal distances; a few early ones come first."""
NOT_BEFORE = 5
"""Evaluations, and trials to compare with, before any trial is pruned."""
LAST = 0.75
"""A trial's score is the mean of its evaluations from this part of its steps on: the best of all would be luck."""
MOST_TRIALS = 100_000
JOURNAL, PAGE, BEST = "study.log", "tune.md", "best.toml"
"""Files of a study's folder: Optuna's journal, the report, the best settings."""
OVER = {TrialState.COMPLETE: "ran to its end", TrialState.PRUNED: "given up", TrialState.FAIL: "failed"}
ENOUGH_TRIALS = 8
"""Trials that ran to their end, from which on the report says which settings mattered."""
SHOWN = 10
"""Trials in the report."""
BELIEVE = (
    "The best of many trials is partly lucky, and settings that are best in a short run are often too hasty for a long "
    "one. Train with them and other seeds before you believe it:"
)
"""What is said of the best trial."""
TuneProgress = Callable[[int, int, str], None]
"""Is called with (trials that are over, trials in all, text)."""
_quiet = functools.partial(warnings.catch_warnings, action="ignore")
"""Suppresses Optuna's own warnings, such as that something may change."""


def read_space(texts: Sequence[str]) -> Space:
    """Return the space of texts such as ``algorithm.n_epochs={low=2, high=8}``.

    Others are ``{low=1e-4, high=1e-2, log=true}`` and ``{choices=[[64], [128, 128]]}``. A range between whole numbers
    is one of whole numbers. Raises ParameterError for any other text.
    """
    return {name.strip(): _distribution(text, said) for text in texts for name, _, said in [text.partition("=")]}


def _distribution(text: str, said: str) -> CategoricalDistribution | FloatDistribution | IntDistribution:
    why = "it is neither a range nor a list of choices"
    try:
        match tomllib.loads(f"value = {said}")["value"]:
            case {"choices": [_, *_] as values, **rest} if not rest:
                return CategoricalDistribution(list(dict.fromkeys(map(as_toml, values))))
            case {"low": low, "high": high, **rest} if {type(low), type(high)} <= {int, float}:
                log = rest.pop("log", False)
                if not rest and isinstance(log, bool):
                    kind = IntDistribution if {type(low), type(high)} == {int} else FloatDistribution
                    return kind(low, high, log=log)
    except (RecursionError, TypeError, ValueError) as error:  # invalid TOML too
        why = one_line(error, 200)
    raise ParameterError(
        f"{text!r} says nothing to search ({why}): write section.key={{low=..., high=...}}, with log=true for a range "
        "over several powers of ten, or section.key={choices=[...]}"
    )


class Plan(NamedTuple):
    """What a study searches; two commands with the same plan work on the same study."""

    game: str
    search: tuple[str, ...]
    """As `read_space` takes it."""
    steps: int
    """Decisions of the learner in each run."""
    config: str
    overrides: tuple[str, ...]
    """Settings of all trials."""
    seed: int
    """From which the settings of trials are drawn."""

    def settings(self, trial: optuna.Trial | FrozenTrial) -> list[str]:
        """Return the settings of a trial, as ``--set`` takes them; choices are TOML already."""
        values = ((name, trial.params[name]) for name in read_space(self.search))
        return [*self.overrides, *(f"{name}={one if isinstance(one, str) else as_toml(one)}" for name, one in values)]

    def short_run(self) -> list[str]:
        """Return the settings of a short run, of which nobody reads the card."""
        every = {"evaluate_every": self.steps // EVALUATIONS, "checkpoint_every": self.steps // 4}
        numbers = {"steps": self.steps} | {name: max(1, number) for name, number in every.items()} | {"card_games": 0}
        return [f"run.{name}={number}" for name, number in numbers.items()]

    def base(self) -> TrainingSettings:
        """Return the settings that its configuration has."""
        return read_config(self.game, Path(self.config) if self.config else None)


class Study(NamedTuple):
    """A study in its folder."""

    plan: Plan
    folder: Path
    study: optuna.Study

    def trials(self, *states: TrialState) -> list[FrozenTrial]:
        """Return the trials in these states; all of them if none is named."""
        return self.study.get_trials(deepcopy=False, states=states or None)

    def rank_trials(self) -> list[FrozenTrial]:
        """Return the trials that ran to their end, the best first."""
        return sorted(self.trials(TrialState.COMPLETE), key=lambda one: one.value or 0.0, reverse=True)

    @property
    def best(self) -> FrozenTrial | None:
        """The trial with the best score of those that ran to their end."""
        return next(iter(self.rank_trials()), None)

    def run_folder(self, number: int) -> Path:
        """Return the folder of the run of a trial with this number."""
        return self.folder / f"trial-{number:03}"


def tune(
    game: str,
    folder: str | Path,
    trials: int = 20,
    steps: int = 1_000_000,
    search: Sequence[str] = USUAL,
    config: str | Path | None = None,
    overrides: Sequence[str] = (),
    seed: int = 0,
    pruner: optuna.pruners.BasePruner | None = None,
    storage: str = "",
    trust: bool = False,
    progress: TuneProgress | None = None,
) -> Study:
    """Search for settings with which a game is learned well; continue a study that was begun.

    Args:
        game: a game's name.
        folder: of the study: a run for each trial, and ``study.log`` unless a ``storage`` is named.
        trials: the number in all, those that were pruned or failed among them.
        steps: decisions of the learner in each run.
        search: what is searched; see `read_space`.
        config: as for `dicegym.learning.train.train`.
        overrides: settings of all trials, as there.
        seed: from which the settings of trials are drawn.
        pruner: decides which trial is pruned; default: Optuna's median pruner, after `NOT_BEFORE` evaluations.
        storage: URL of a database that Optuna can use, such as ``postgresql+psycopg://host/name``; empty: a file.
        trust: as for `dicegym.learning.train.train`.
        progress: called with (trials that are over, trials in all, text).

    Raises:
        ParameterError, UnknownNameError, AgentError, ModelError: something cannot be; nothing was begun.
        DependencyError: the extra ``train`` is not installed.
        KeyboardInterrupt: Ctrl-C, SIGTERM or SIGHUP has ended it; the interrupted trial has a checkpoint.
    """
    target = Path(folder)
    whole_number("trials", trials, 1, MOST_TRIALS, "the number of trials")
    whole_number("steps", steps, EVALUATIONS, MOST, "the decisions of a run")
    if not search:
        raise ParameterError("search is empty, so there is nothing to search: name a setting and its range")
    path = lasting_name(config)
    plan = Plan(game, tuple(search), steps, str(path or ""), tuple(overrides), seed)
    space, whole = read_space(search), [*overrides, *plan.short_run()]
    settings = prepare(game, target / "new", path, whole, False, trust).settings
    for name, one in space.items():
        ends = one.choices if isinstance(one, CategoricalDistribution) else map(as_toml, (one.low, one.high))
        for end in ends:
            override(settings, [f"{name}={end}"])
    target.mkdir(parents=True, exist_ok=True)
    found = Study(plan, target, _open_study(plan, target, storage, pruner))
    if not found.trials() and (usual := usual_point(space, settings)):
        found.study.enqueue_trial(usual, user_attrs={"usual": True}, skip_if_exists=True)
    run = functools.partial(_run_trial, found, trials, trust, progress or (lambda done, of, text: None))
    try:
        for left in found.trials(TrialState.RUNNING) if len(found.trials(*OVER)) < trials else ():
            if not storage or found.run_folder(left.number).is_dir():  # interrupted here, and not on another machine
                run(optuna.Trial(found.study, left._trial_id))
        while len(found.trials(*OVER, TrialState.RUNNING)) < trials:
            run(found.study.ask())
    except KeyboardInterrupt as end:
        kept = f"{len(found.trials(*OVER))} of {trials} trials are over in {target}"
        raise SignalInterrupt(number_of(end), f"{kept}: the same command goes on") from None
    return found


def _open_study(plan: Plan, folder: Path, storage: str, pruner: optuna.pruners.BasePruner | None) -> optuna.study.Study:
    """Return the study of a plan, new or begun. Raises ParameterError for one with another plan."""
    optuna.logging.set_verbosity(logging.WARNING)
    try:
        kept: optuna.storages.BaseStorage = (
            optuna.storages.get_storage(storage)
            if storage
            else optuna.storages.JournalStorage(JournalFileBackend(str(folder / JOURNAL)))
        )
    except Exception as error:  # whatever the database's driver raises, or SQLAlchemy for an invalid URL
        raise ParameterError(
            f"--storage {storage!r} cannot be used ({one_line(error, 200)}): name a database"
        ) from error
    pruner = pruner or optuna.pruners.MedianPruner(NOT_BEFORE, NOT_BEFORE * plan.steps // EVALUATIONS)
    study = optuna.create_study(
        study_name=plan.game, storage=kept, load_if_exists=True, direction="maximize", pruner=pruner
    )
    begun, now = study.user_attrs.get("plan"), json.loads(json.dumps(plan._asdict()))
    if begun is None:
        study.set_user_attr("plan", now)
    elif begun != now:
        before = begun if isinstance(begun, dict) and begun.keys() == now.keys() else {"version": "another"}
        differ = ", ".join(f"{name}={one_line(one, 80)}" for name, one in before.items() if one != now.get(name))
        raise ParameterError(
            f"the study in {storage or folder} was begun with {differ}: use the same options, or another --run-dir"
        )
    return study


def usual_point(space: Space, settings: TrainingSettings) -> dict[str, Any] | None:
    """Return settings as a point of a space; None if they are outside it."""
    plain, point = to_plain(settings), {}
    for name, one in space.items():
        section, _, key = name.partition(".")
        value = plain.get(section, {}).get(key)
        point[name] = as_toml(value) if isinstance(one, CategoricalDistribution) else value
    try:
        optuna.trial.create_trial(value=0.0, params=point, distributions=dict(space))
    except (TypeError, ValueError):
        return None
    return point


def _suggest(found: Study, trial: optuna.Trial) -> None:
    """Draw the settings of a trial; those drawn before it was interrupted stay."""
    with _quiet():
        seed = named_seed(found.plan.seed, trial.number) % (1 << 32)
        found.study.sampler = optuna.samplers.TPESampler(seed=seed)
        for name, one in read_space(found.plan.search).items():
            if isinstance(one, CategoricalDistribution):
                trial.suggest_categorical(name, one.choices)
            elif isinstance(one, IntDistribution):
                trial.suggest_int(name, one.low, one.high, log=one.log)
            else:
                trial.suggest_float(name, one.low, one.high, log=one.log)


def _run_trial(found: Study, trials: int, trust: bool, tell: TuneProgress, trial: optuna.Trial) -> None:
    """Train with the settings of a trial and report its end, unless another process runs it or has ended it."""
    plan, study, place = found.plan, found.study, found.run_folder(trial.number)

    def evaluated(steps: int, score: Score) -> None:
        with _quiet():  # Optuna keeps the first value of steps that were reported before an interruption
            trial.report(score.value, steps)
        if trial.should_prune():
            raise optuna.TrialPruned(f"{score} after {steps:,} steps")

    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(alone_in(place))
        except ParameterError:
            return
        if study.get_trials(deepcopy=False)[trial.number].state != TrialState.RUNNING:
            return
        _suggest(found, trial)
        over, begun = len(found.trials(*OVER)), (place / SETTINGS_FILE).is_file()

        def tell_steps(done: int, of: int, text: str) -> None:
            tell(over, trials, f"{place.name}: {done:,} of {of:,} steps, {text}")

        config = None if begun or not plan.config else Path(plan.config)
        settings = [] if begun else [*plan.settings(trial), *plan.short_run()]
        try:
            train(plan.game, place, config, settings, begun, tell_steps, evaluated, trust)
            values = found.trials()[trial.number].intermediate_values
            last = [value for steps, value in values.items() if steps >= LAST * plan.steps] or [values[max(values)]]
            study.tell(trial.number, sum(last) / len(last))
        except optuna.TrialPruned as pruned:
            trial.set_user_attr("why", str(pruned))
            study.tell(trial.number, state=TrialState.PRUNED)
        except (DicegymError, ValueError, RuntimeError, MemoryError) as error:  # PyTorch's, where numbers overflow
            trial.set_user_attr("why", f"{type(error).__name__}: {one_line(error, 300)}")
            study.tell(trial.number, state=TrialState.FAIL)
            if not found.trials(TrialState.COMPLETE, TrialState.PRUNED):
                raise  # most likely none can work


# The report


def importances(found: Study) -> dict[str, float]:
    """Return how much each setting decided whether a trial was among the best; empty for few trials.

    By PED-ANOVA (Watanabe, Bansal and Hutter, IJCAI 2023), shares that sum to 1: how far the settings of the best tenth
    of the trials are from those of all.
    """
    done = found.trials(TrialState.COMPLETE)
    if len(done) < ENOUGH_TRIALS or len({one.value for one in done}) < 2:
        return {}
    with _quiet():
        by = optuna.importance.PedAnovaImportanceEvaluator()
        return optuna.importance.get_param_importances(found.study, evaluator=by)


def train_command(found: Study) -> str:
    """Return the command that trains with the best settings, with seeds that the study did not use."""
    plan, best = found.plan, found.best
    words = ["dicegym", "train", plan.game, "--run-dir", f"runs/{plan.game}-tuned", "--seeds", "5"]
    words += ["--seed", "1000"] if not any(one.startswith("run.seed=") for one in plan.overrides) else []
    words += ["--config", plan.config] if plan.config else []
    return shlex.join(words + [word for text in (plan.settings(best) if best else ()) for word in ("--set", text)])


def count_ends(found: Study) -> str:
    """Return in words how many trials ended in which way."""
    counts = {word: len(found.trials(state)) for state, word in OVER.items()}
    return ", ".join(f"{count} {word}" for word, count in counts.items() if count) or "none has ended"


def write_report(found: Study) -> list[Path]:
    """Write a page and the best settings as a configuration; return the paths."""
    plan, page = found.plan, found.folder / PAGE
    found.folder.mkdir(parents=True, exist_ok=True)
    write_text(page, _page(found))
    if found.best is None:
        return [page]
    head = f"# The best of {len(found.trials())} trials, after {plan.steps:,} steps each; {PAGE} says more.\n"
    write_text(found.folder / BEST, f"{head}{to_toml(override(plan.base(), plan.settings(found.best)))}")
    return [page, found.folder / BEST]


def _page(found: Study) -> str:
    """Return the report, a page of Markdown."""
    plan, importance, space = found.plan, importances(found), read_space(found.plan.search)
    searched = [
        [name, text.partition("=")[2], f"{importance[name]:.0%}" if name in importance else "-"]
        for name, text in zip(space, plan.search, strict=True)
    ]
    tables = [("Searched", ["setting", "values", "decided"], searched)]
    remarks = [f"of all trials: {', '.join(plan.overrides)}"] if plan.overrides else []
    ranked = found.rank_trials()
    if ranked:
        rows = []
        for one in ranked[:SHOWN]:
            values = (one.params[name] for name in space)
            cells = (f"{value:.4g}" if isinstance(value, float) else str(value) for value in values)
            rows.append([str(one.number), f"{one.value:.4f}", *cells])
        tables.append(("Best", ["trial", "score", *(name.partition(".")[2] for name in space)], rows))
        usual = "trial {0.number} has the settings of the configuration: it scored {0.value:.4f}".format
        remarks += [usual(one) for one in ranked if one.user_attrs.get("usual")]
    remarks += [f"trial {one.number} failed: {one.user_attrs.get('why', '')}" for one in found.trials(TrialState.FAIL)]
    words = [
        f"{len(found.trials())} trials of {plan.steps:,} steps each: {count_ends(found)}. A trial's score is the mean "
        "of its evaluations in the last quarter of its steps."
    ]
    page = markdown_text(Report(f"Settings searched for {plan.game}", tables, remarks=remarks, words=words))
    return page + (f"\n{BELIEVE}\n\n```console\n{train_command(found)}\n```\n" if ranked else "")
