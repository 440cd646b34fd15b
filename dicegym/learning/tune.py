"""Search for settings with Optuna: each trial is a training, bad trials are pruned, and the best settings are written.

The same command continues a study. A trial that Ctrl-C ended counts as failed; a killed one is replaced by a new draw.
"""

from __future__ import annotations

import json
import logging
import shlex
import tomllib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from dicegym.engine.dice import named_seed
from dicegym.engine.threads import let_libraries_wait_idly
from dicegym.engine.validate import MOST, whole_number
from dicegym.errors import DependencyError, DicegymError, ParameterError, one_line
from dicegym.files import write_text
from dicegym.games.worth import Progress
from dicegym.learning.configuration import as_toml, lasting_name, override, read_config, to_plain, to_toml
from dicegym.learning.evaluate import Score
from dicegym.learning.preparation import prepare
from dicegym.learning.run_folder import alone_in
from dicegym.learning.train import train
from dicegym.learning.training_settings import LARGEST_TRAINING_SEED, TrainingSettings

try:
    import optuna
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
    from optuna.storages.journal import JournalFileBackend
    from optuna.trial import FrozenTrial, TrialState
except ImportError as error:
    raise DependencyError.for_extra("optuna", "train", "searching for settings") from error

Space = dict[str, CategoricalDistribution | FloatDistribution | IntDistribution]
"""The searched settings, by their names for ``--set``. Choices are TOML."""
USUAL = (
    "algorithm.learning_rate={low=1e-4, high=3e-3, log=true}",
    "algorithm.ent_coef={low=1e-3, high=1.0, log=true}",
    "algorithm.gae_lambda={low=0.3, high=1.0}",
    "algorithm.n_epochs={low=2, high=8}",
    "network.net_arch={choices=[[64, 64], [128, 128], [256, 256]]}",
)
"""The settings that matter most to PPO in dice games; searched by default."""
EVALUATIONS = 16
"""Regular evaluations of a run, after a few early ones."""
NOT_BEFORE = 5
"""Evaluations, and trials to compare with, before any trial is pruned."""
LAST = 0.75
"""A trial's score is the mean of its evaluations after this share of its steps: the best of all would be luck."""
MOST_TRIALS = 100_000
JOURNAL, BEST = "study.log", "best.toml"
"""Files of a study's folder: Optuna's journal, the best settings."""
OVER = {TrialState.COMPLETE: "completed", TrialState.PRUNED: "pruned", TrialState.FAIL: "failed or interrupted"}
FAILURES = (DicegymError, ValueError, RuntimeError, MemoryError)
"""Exceptions that end a trial, but not the study."""
BELIEVE = (
    "The best of many trials is partly lucky, and the best settings of a short run are often too hasty for a long one. "
    "Train with them and other seeds before you believe it:"
)
"""The caution about the best trial."""


def read_space(texts: Sequence[str]) -> Space:
    """Parse a search space from texts such as ``algorithm.n_epochs={low=2, high=8}``.

    Other forms are ``{low=1e-4, high=1e-2, log=true}`` and ``{choices=[[64], [128, 128]]}``. Whole ends make a range of
    whole numbers. Raises ParameterError for any other text.
    """
    return {name.strip(): _distribution(text, value) for text in texts for name, _, value in [text.partition("=")]}


def _distribution(text: str, value: str) -> CategoricalDistribution | FloatDistribution | IntDistribution:
    why = "it is neither a range nor a list of choices"
    try:
        match tomllib.loads(f"value = {value}")["value"]:
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
        f"{text!r} cannot be searched ({why}): write section.key={{low=..., high=...}}, with log=true for a range "
        "over several powers of ten, or section.key={choices=[...]}"
    )


class Plan(NamedTuple):
    """The arguments of `tune` that identify a study: commands with the same plan continue it."""

    game: str
    search: tuple[str, ...]
    steps: int
    config: str
    overrides: tuple[str, ...]
    seed: int

    def settings(self, trial: optuna.Trial | FrozenTrial) -> list[str]:
        """Return the settings of a trial, in the form of ``--set``."""
        values = ((name, trial.params[name]) for name in read_space(self.search))
        return [*self.overrides, *(f"{name}={one if isinstance(one, str) else as_toml(one)}" for name, one in values)]

    def short_run(self) -> list[str]:
        """Return the settings of a short run without a card."""
        run = {"steps": self.steps, "evaluate_every": self.steps // EVALUATIONS, "checkpoint_every": self.steps // 4}
        return [*(f"run.{name}={number}" for name, number in run.items()), "run.card_games=0"]


class Study(NamedTuple):
    """A study in its folder, with a run's folder for each trial."""

    plan: Plan
    folder: Path
    study: optuna.Study

    def trials(self, *states: TrialState) -> list[FrozenTrial]:
        """Return the trials in these states; by default all."""
        return self.study.get_trials(deepcopy=False, states=states or None)

    @property
    def best(self) -> FrozenTrial | None:
        """The completed trial with the best score."""
        return max(self.trials(TrialState.COMPLETE), key=lambda one: one.value or 0.0, default=None)


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
    progress: Progress | None = None,
) -> Study:
    """Search for good settings of a game's training; continue the study in the folder, if there is one.

    Args:
        game: a game's name.
        folder: of the study: a run for each trial, and ``study.log``.
        trials: total number, including pruned and failed ones.
        steps: decisions of the learner in each run.
        search: the search space; see `read_space`.
        config: as for `dicegym.learning.train.train`.
        overrides: settings of all trials, as for `dicegym.learning.train.train`.
        seed: of the sampler of settings.
        pruner: default: Optuna's median pruner, after `NOT_BEFORE` evaluations.
        progress: called with (finished trials, total trials, text).

    Raises:
        ParameterError, UnknownNameError, AgentError, ModelError: an argument is invalid, or another process uses the
            folder.
        DependencyError: the extra ``train`` is not installed.
        KeyboardInterrupt: Ctrl-C, SIGTERM or SIGHUP ended it.
    """
    target = Path(folder)
    trials = whole_number("trials", trials, 1, MOST_TRIALS, "the number of trials")
    steps = whole_number("steps", steps, EVALUATIONS, MOST, "the decisions of a run")
    seed = whole_number("seed", seed, 0, LARGEST_TRAINING_SEED, "the seed of a study")
    if not search:
        raise ParameterError("search is empty, so there is nothing to search: name a setting and its range")
    path = lasting_name(config)
    plan = Plan(game, tuple(search), steps, str(path or ""), tuple(overrides), seed)
    space, whole = read_space(search), [*overrides, *plan.short_run()]
    settings = prepare(game, target / "new", path, whole, False).settings
    _check_ends(space, settings)
    tell = progress or (lambda done, total, text: None)
    with alone_in(target):  # two at once would draw the same settings
        found = Study(plan, target, _open_study(plan, target, pruner))
        if not found.trials() and (usual := usual_point(space, settings)):
            found.study.enqueue_trial(usual)
        for over in range(len(found.trials(*OVER)), trials):
            trial, score, state = found.study.ask(dict(space)), None, TrialState.FAIL
            try:
                score = _train(found, trial, partial(tell, over, trials))
                state = TrialState.COMPLETE
            except optuna.TrialPruned:
                state = TrialState.PRUNED
            except FAILURES as error:
                trial.set_user_attr("why", f"{type(error).__name__}: {one_line(error, 300)}")
            finally:
                found.study.tell(trial, score, state)
    if not found.trials(TrialState.COMPLETE, TrialState.PRUNED) and (failed := found.trials(TrialState.FAIL)):
        raise ParameterError(f"all {len(failed)} trials failed, see {target}: {failed[0].user_attrs.get('why', '')}")
    return found


def _check_ends(space: Space, settings: TrainingSettings) -> None:
    """Raise ParameterError or UnknownNameError if a trial's settings could be invalid.

    All choices and the ends of all ranges are checked, each with the first value of the others.
    """
    let_libraries_wait_idly()  # before PyTorch is loaded
    try:
        from dicegym.learning.building import check_names
    except ModuleNotFoundError as error:
        raise DependencyError.for_extra(str(error.name), "train", "training") from error
    ends: dict[str, list[Any]] = {
        name: list(one.choices) if isinstance(one, CategoricalDistribution) else [as_toml(one.low), as_toml(one.high)]
        for name, one in space.items()
    }
    first = [f"{name}={values[0]}" for name, values in ends.items()]
    for name, values in ends.items():
        for value in values:
            check_names(override(settings, [*first, f"{name}={value}"]))


def _open_study(plan: Plan, folder: Path, pruner: optuna.pruners.BasePruner | None) -> optuna.study.Study:
    """Return the study of a plan, new or from the folder. Raises ParameterError if the folder has another plan."""
    optuna.logging.set_verbosity(logging.WARNING)
    storage = optuna.storages.JournalStorage(JournalFileBackend(str(folder / JOURNAL)))
    if others := [name for name in optuna.get_all_study_names(storage) if name != plan.game]:
        raise ParameterError(f"{folder} holds a study of {others[0]}, not of {plan.game}: give another --run-dir")
    study = optuna.create_study(
        study_name=plan.game,
        storage=storage,
        load_if_exists=True,
        direction="maximize",
        pruner=pruner or optuna.pruners.MedianPruner(NOT_BEFORE, NOT_BEFORE * plan.steps // EVALUATIONS),
    )
    # A continued study has another seed: a sampler would repeat its first draws.
    done = len(study.trials)
    seed = named_seed("trials", plan.seed, done) % (1 << 32) if done else plan.seed
    study.sampler = optuna.samplers.TPESampler(seed=seed)
    now = json.loads(json.dumps(plan._asdict()))
    begun = study.user_attrs.get("plan", now)
    study.set_user_attr("plan", begun)
    if differ := [f"{name}={one_line(begun.get(name), 80)}" for name in now if begun.get(name) != now[name]]:
        raise ParameterError(
            f"the study in {folder} began with {', '.join(differ)}: use the same options, or another --run-dir"
        )
    return study


def usual_point(space: Space, settings: TrainingSettings) -> dict[str, Any] | None:
    """Return settings as a point of the search space; None if they are outside it."""
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


def _train(found: Study, trial: optuna.Trial, tell: Callable[[str], None]) -> float:
    """Train with the settings of a trial; return its score. Raises TrialPruned for a bad trial."""
    plan, place = found.plan, found.folder / f"trial-{trial.number:03}"
    values: dict[int, float] = {}

    def report(steps: int, score: Score) -> None:
        values[steps] = score.value
        trial.report(score.value, steps)
        if trial.should_prune():
            trial.set_user_attr("why", f"{score} after {steps:,} steps")
            raise optuna.TrialPruned

    def progress(done: int, of: int, text: str) -> None:
        tell(f"{place.name}: {done:,} of {of:,} steps, {text}")

    settings = [*plan.settings(trial), *plan.short_run()]
    train(plan.game, place, plan.config or None, settings, False, progress, report)
    last = [value for steps, value in values.items() if steps >= LAST * plan.steps] or [values[max(values)]]
    return sum(last) / len(last)


def train_command(found: Study) -> str:
    """Return the command that trains with the best settings and other seeds."""
    plan = found.plan
    words = ["dicegym", "train", plan.game, "--run-dir", f"runs/{plan.game}-tuned", "--seeds", "5"]
    words += ["--seed", "1000"] if not any(one.startswith("run.seed=") for one in plan.overrides) else []
    return shlex.join([*words, "--config", str(found.folder / BEST)])


def count_ends(found: Study) -> str:
    """Describe how many trials ended in which way."""
    counts = {word: len(found.trials(state)) for state, word in OVER.items()}
    return ", ".join(f"{count} {word}" for word, count in counts.items() if count) or "none finished"


def write_best(found: Study) -> Path | None:
    """Write the best settings as a configuration; return its path, or None without a completed trial."""
    plan, best = found.plan, found.best
    if best is None:
        return None
    base = read_config(plan.game, Path(plan.config) if plan.config else None)
    head = f"# The best of {len(found.trials())} trials, {best.value:.4f} after {plan.steps:,} steps each.\n"
    write_text(found.folder / BEST, f"{head}{to_toml(override(base, plan.settings(best)))}")
    return found.folder / BEST
