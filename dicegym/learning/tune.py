"""Search for settings with Optuna: each trial is a training, bad trials are pruned, and the best settings are written.

The same command continues a study. A trial that Ctrl-C ended counts as failed; a killed one is replaced by a new draw.
"""

from __future__ import annotations

import logging
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

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
    from optuna.pruners import BasePruner, MedianPruner
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
JOURNAL, BEST = "study.log", "best.toml"
"""Files of a study's folder: Optuna's journal, the best settings."""
OVER = {TrialState.COMPLETE: "completed", TrialState.PRUNED: "pruned", TrialState.FAIL: "failed or interrupted"}
FAILURES = (DicegymError, ValueError, RuntimeError, MemoryError)
"""Exceptions that end a trial, but not the study."""


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


def as_settings(values: Mapping[str, Any]) -> list[str]:
    """Return the values of searched settings in the form of ``--set``."""
    return [f"{name}={one if isinstance(one, str) else as_toml(one)}" for name, one in values.items()]


def tune(
    game: str,
    folder: str | Path,
    trials: int = 20,
    steps: int = 1_000_000,
    search: Sequence[str] = USUAL,
    config: str | Path | None = None,
    overrides: Sequence[str] = (),
    seed: int = 0,
    pruner: BasePruner | None = None,
    progress: Progress | None = None,
) -> optuna.Study:
    """Search for good settings of a game's training, write the best ones, and return the study.

    The first trial has the configuration's own settings, if the search space contains them.

    Args:
        game: a game's name.
        folder: of the study: a run for each trial, `JOURNAL` and `BEST`. A study in it is continued.
        trials: total number, including pruned and failed ones.
        steps: decisions of the learner in each run.
        search: the search space; see `read_space`.
        config: as for `dicegym.learning.train.train`.
        overrides: settings of all trials, as for `dicegym.learning.train.train`.
        seed: of the sampler of settings.
        pruner: default: Optuna's median pruner, after `NOT_BEFORE` evaluations.
        progress: called with (finished trials, total trials, text).

    Raises:
        ParameterError, UnknownNameError, AgentError, ModelError: an argument is invalid, another process uses the
            folder, or its study began with other arguments.
        DependencyError: the extra ``train`` is not installed.
        KeyboardInterrupt: Ctrl-C, SIGTERM or SIGHUP ended it.
    """
    target, path = Path(folder), lasting_name(config)
    trials = whole_number("trials", trials, 1, MOST, "the number of trials")
    steps = whole_number("steps", steps, EVALUATIONS, MOST, "the decisions of a run")
    seed = whole_number("seed", seed, 0, LARGEST_TRAINING_SEED, "the seed of a study")
    if not search:
        raise ParameterError("search is empty, so there is nothing to search: name a setting and its range")
    short = {"steps": steps, "evaluate_every": steps // EVALUATIONS, "checkpoint_every": steps // 4, "card_games": 0}
    shared, short_run = list(overrides), [f"run.{name}={number}" for name, number in short.items()]
    space = read_space(search)
    usual = prepare(game, target / "new", path, [*shared, *short_run], False).settings
    _check_ends(space, usual)

    def tell(over: int, name: str, done: int, of: int, text: str) -> None:
        if progress is not None:
            progress(over, trials, f"{name}: {done:,} of {of:,} steps, {text}")

    with alone_in(target):  # two at once would draw the same settings
        study = _open_study(game, target, seed, pruner or MedianPruner(NOT_BEFORE, NOT_BEFORE * steps // EVALUATIONS))
        plan = {"steps": steps, "config": str(path or ""), "overrides": shared}
        begun = study.user_attrs.get("plan", plan)
        if differ := [f"{name}={one_line(begun.get(name), 80)}" for name in plan if begun.get(name) != plan[name]]:
            raise ParameterError(
                f"the study in {target} began with {', '.join(differ)}: use the same options, or another --run-dir"
            )
        study.set_user_attr("plan", plan)
        if not study.trials and (point := usual_point(space, usual)):
            study.enqueue_trial(point)
        for over in range(len(study.get_trials(states=tuple(OVER))), trials):
            try:
                trial = study.ask(dict(space))
            except ValueError as error:
                why = f"{target} holds a study of other choices ({one_line(error, 100)})"
                raise ParameterError(f"{why}: repeat its --search, or give another --run-dir") from None
            score, state, place = None, TrialState.FAIL, target / f"trial-{trial.number:03}"
            settings = [*shared, *as_settings(trial.params), *short_run]
            try:
                run = partial(train, game, place, path, settings, False, partial(tell, over, place.name))
                score = _score(trial, run, LAST * steps)
                state = TrialState.COMPLETE
            except optuna.TrialPruned:
                state = TrialState.PRUNED
            except FAILURES as error:
                trial.set_user_attr("why", f"{type(error).__name__}: {one_line(error, 300)}")
            finally:
                study.tell(trial, score, state)
        if (best := best_trial(study)) is not None:
            found = override(read_config(game, path), [*shared, *as_settings(best.params)])
            head = f"# The best of {len(study.trials)} trials, {best.value:.4f} after {steps:,} steps each.\n"
            write_text(target / BEST, head + to_toml(found))
    if not study.get_trials(states=(TrialState.COMPLETE, TrialState.PRUNED)):
        why = next((one.user_attrs["why"] for one in study.trials if one.user_attrs), "")
        raise ParameterError(f"all {trials} trials failed, see {target}: {why}")
    return study


def _check_ends(space: Space, settings: TrainingSettings) -> None:
    """Raise ParameterError or UnknownNameError if a trial's settings could be invalid.

    All choices and the ends of all ranges are checked, each with the first value of the others.
    """
    let_libraries_wait_idly()  # before PyTorch is loaded
    try:
        from dicegym.learning.building import check_names
    except ModuleNotFoundError as error:
        raise DependencyError.for_extra(str(error.name), "train", "training") from error
    ends = {
        name: list(one.choices) if isinstance(one, CategoricalDistribution) else [one.low, one.high]
        for name, one in space.items()
    }
    first = {name: values[0] for name, values in ends.items()}
    for name, values in ends.items():
        for value in values:
            check_names(override(settings, as_settings(first | {name: value})))


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


def best_trial(study: optuna.Study) -> FrozenTrial | None:
    """Return the completed trial with the best score, if there is one."""
    return study.best_trial if study.get_trials(states=(TrialState.COMPLETE,)) else None


def _open_study(game: str, folder: Path, seed: int, pruner: BasePruner) -> optuna.Study:
    """Return the study in a folder, or a new one. Raises ParameterError if the folder has one of another game."""
    optuna.logging.set_verbosity(logging.WARNING)
    storage = optuna.storages.JournalStorage(JournalFileBackend(str(folder / JOURNAL)))
    if others := [name for name in optuna.get_all_study_names(storage) if name != game]:
        raise ParameterError(f"{folder} holds a study of {others[0]}, not of {game}: give another --run-dir")
    study = optuna.create_study(study_name=game, storage=storage, load_if_exists=True, direction="maximize")
    study.pruner = pruner
    # A continued study has another seed: a sampler would repeat its first draws.
    done = len(study.trials)
    study.sampler = optuna.samplers.TPESampler(seed=named_seed("trials", seed, done) % (1 << 32) if done else seed)
    return study


def _score(trial: optuna.Trial, run: Callable[..., object], since: float) -> float:
    """Train, and return the mean of the evaluations after ``since`` steps. Raises TrialPruned for a bad trial."""
    values: dict[int, float] = {}

    def report(steps: int, score: Score) -> None:
        values[steps] = score.value
        trial.report(score.value, steps)
        if trial.should_prune():
            trial.set_user_attr("why", f"{score} after {steps:,} steps")
            raise optuna.TrialPruned

    run(evaluated=report)
    last = [value for steps, value in values.items() if steps >= since] or [values[max(values)]]
    return sum(last) / len(last)
