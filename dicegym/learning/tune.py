"""Searching for settings with Optuna: trainings with what it chooses, the bad ones given up, and a report.

What a trial tries depends on the study's seed, the trial's number and the trials before it alone, and a trial that was
broken off goes on from its checkpoint. So a study that was interrupted becomes what it would have become.
"""

from __future__ import annotations

import contextlib
import json
import logging
import re
import shlex
import tomllib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dicegym.engine.dice import named_seed
from dicegym.engine.validate import MOST, whole_number
from dicegym.errors import DependencyError, DicegymError, ParameterError, one_line, unknown_name
from dicegym.escape import markdown
from dicegym.files import write_text, writing
from dicegym.learning.configuration import config_file, override, read_config, to_plain
from dicegym.learning.curve_pictures import pyplot
from dicegym.learning.evaluate import Score
from dicegym.learning.files import SETTINGS_FILE
from dicegym.learning.lock import alone_in
from dicegym.learning.preparation import prepare
from dicegym.learning.train import train
from dicegym.signals import SignalInterrupt, number_of

try:
    import optuna
    from optuna.distributions import (
        BaseDistribution,
        CategoricalDistribution,
        FloatDistribution,
        IntDistribution,
        distribution_to_json,
        json_to_distribution,
    )
    from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances
    from optuna.storages.journal import JournalFileBackend
    from optuna.trial import FrozenTrial, TrialState
except ImportError as error:
    raise DependencyError.for_extra("optuna", "train", "searching for settings") from error

Space = Mapping[str, BaseDistribution]
"""What is searched, by the names that ``dicegym train --set`` has. Values of a list of choices are TOML."""
USUAL: Space = {
    "algorithm.learning_rate": FloatDistribution(1e-4, 3e-3, log=True),
    "algorithm.ent_coef": FloatDistribution(1e-3, 1.0, log=True),
    "algorithm.gae_lambda": FloatDistribution(0.3, 1.0),
    "algorithm.n_epochs": IntDistribution(2, 8),
    "network.net_arch": CategoricalDistribution(["[64, 64]", "[128, 128]", "[256, 256]"]),
}
"""What matters most to PPO in games of dice, and is searched where nothing is said."""
EVALUATIONS = 16
"""Evaluations of a run at equal distances; a few early ones come first."""
NOT_BEFORE = 5
"""Evaluations, and trials to compare with, before any trial is given up."""
LAST = 0.75
"""A trial's score is the mean of its evaluations from this part of its steps on: the best of all would be luck."""
MOST_TRIALS = 100_000
JOURNAL = "study.log"
PRUNERS: dict[str, Callable[[int], optuna.pruners.BasePruner]] = {
    "median": lambda steps: optuna.pruners.MedianPruner(NOT_BEFORE, NOT_BEFORE * steps // EVALUATIONS),
    "halving": lambda steps: optuna.pruners.SuccessiveHalvingPruner(max(1, NOT_BEFORE * steps // EVALUATIONS)),
    "none": lambda steps: optuna.pruners.NopPruner(),
}
"""Who decides that a trial of so many steps is given up."""
OVER = {TrialState.COMPLETE: "ran to its end", TrialState.PRUNED: "given up", TrialState.FAIL: "failed"}
PAGE, BEST, PICTURE = "tune.md", "best.toml", "tune-{}.png"
"""What a study's folder gets."""
ENOUGH_TRIALS = 8
"""Trials that ran to their end, from which on it is told what mattered."""
SHOWN = 10
"""Trials on the page."""
BELIEVE = (
    "The best of many trials is partly lucky, and settings that are best in a short run are often too hasty for a long "
    "one. Train with them and other seeds before you believe it:"
)
"""What is said of the best trial."""
_BARE = re.compile(r"[A-Za-z0-9_-]+")
TuneProgress = Callable[[int, int, str], None]
"""Is told (trials that are over, trials in all, text)."""


def as_toml(value: Any) -> str:
    """Return a plain value as TOML on one line, as ``--set`` takes it."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(as_toml_pair(str(key), one) for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(as_toml, value)) + "]"
    return json.dumps(value)


def as_toml_pair(key: str, value: Any) -> str:
    """Return a key and its value as a line of TOML."""
    return f"{key if _BARE.fullmatch(key) else json.dumps(key)} = {as_toml(value)}"


def read_space(texts: Sequence[str]) -> Space:
    """Return what texts such as ``algorithm.n_epochs={low=2, high=8}`` say is to be searched.

    Others are ``{low=1e-4, high=1e-2, log=true}`` and ``{choices=[[64], [128, 128]]}``. A range between whole numbers
    is one of whole numbers. Raises ParameterError for any other text.
    """
    return {name.strip(): _distribution(text, said) for text in texts for name, _, said in [text.partition("=")]}


def _distribution(text: str, said: str) -> BaseDistribution:
    why = "it is neither a range nor a list of choices"
    try:
        match tomllib.loads(f"value = {said}")["value"]:
            case {"choices": [_, *_] as values, **rest} if not rest:
                return CategoricalDistribution(list(dict.fromkeys(map(as_toml, values))))
            case {"low": int(low) | float(low), "high": int(high) | float(high), **rest} if rest in (
                {},
                {"log": True},
                {"log": False},
            ) and bool not in map(type, (low, high)):
                log = bool(rest.get("log"))
                if isinstance(low, int) and isinstance(high, int):
                    return IntDistribution(low, high, log=log)
                return FloatDistribution(low, high, log=log)
    except (RecursionError, TypeError, ValueError) as error:  # what is no TOML too
        why = one_line(error, 200)
    raise ParameterError(
        f"{text!r} says nothing to search ({why}): write section.key={{low=..., high=...}}, with log=true for a range "
        "over several powers of ten, or section.key={choices=[...]}"
    )


class Plan(NamedTuple):
    """What a study is about; two commands with the same one work on the same study."""

    game: str
    space: Space
    steps: int
    """Decisions of the learner in each run."""
    config: str
    overrides: tuple[str, ...]
    """Settings of all trials."""
    seed: int
    """Of what is tried."""
    pruner: str

    def to_json(self) -> str:
        """Return it as text."""
        space = {name: distribution_to_json(one) for name, one in self.space.items()}
        return json.dumps(self._asdict() | {"space": space})

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """Return what `to_json` told of."""
        plain = json.loads(text)
        space = {name: json_to_distribution(one) for name, one in plain["space"].items()}
        return cls(**plain | {"space": space, "overrides": tuple(plain["overrides"])})

    def settings(self, trial: optuna.Trial | FrozenTrial) -> list[str]:
        """Return the settings of a trial, as ``--set`` takes them; choices are TOML already."""
        values = ((name, trial.params[name]) for name in self.space)
        return [*self.overrides, *(f"{name}={one if isinstance(one, str) else as_toml(one)}" for name, one in values)]

    def short(self) -> list[str]:
        """Return the settings that make a run one of many."""
        return [
            f"run.steps={self.steps}",
            f"run.evaluate_every={max(1, self.steps // EVALUATIONS)}",
            f"run.checkpoint_every={max(1, self.steps // 4)}",
            "run.card_games=0",  # nobody reads it
        ]


class Study(NamedTuple):
    """A study in its folder."""

    plan: Plan
    folder: Path
    study: optuna.Study

    def trials(self, *states: TrialState) -> list[FrozenTrial]:
        """Return the trials in these states; of all, if none is named."""
        return self.study.get_trials(deepcopy=False, states=states or None)

    def ranked(self) -> list[FrozenTrial]:
        """Return the trials that ran to their end, the best first."""
        return sorted(self.trials(TrialState.COMPLETE), key=lambda one: one.value or 0.0, reverse=True)

    @property
    def best(self) -> FrozenTrial | None:
        """The trial with the best score of those that ran to their end."""
        return next(iter(self.ranked()), None)

    def place(self, trial: optuna.Trial | FrozenTrial) -> Path:
        """Return the folder of a trial's run."""
        return self.folder / f"trial-{trial.number:03}"


def tune(
    game: str,
    folder: str | Path,
    trials: int = 20,
    steps: int = 1_000_000,
    space: Space = USUAL,
    config: str | Path | None = None,
    overrides: Sequence[str] = (),
    seed: int = 0,
    pruner: str = "median",
    storage: str = "",
    trust: bool = False,
    progress: TuneProgress | None = None,
) -> Study:
    """Search for settings with which a game is learned well; a study that was begun is gone on with.

    Args:
        game: a game's name.
        folder: of the study: a run for each trial, and ``study.log`` unless a ``storage`` is named.
        trials: how many in all, those that were given up or failed among them.
        steps: decisions of the learner in each run.
        space: what is searched; see `read_space`.
        config: as for `dicegym.learning.train.train`.
        overrides: settings of all trials, as there.
        seed: of what is tried.
        pruner: one of `PRUNERS`.
        storage: URL of a database that Optuna can use, such as ``postgresql+psycopg://host/name``; empty: a file.
        trust: as for `dicegym.learning.train.train`.
        progress: told how far it is.

    Raises:
        ParameterError, UnknownNameError, AgentError, ModelError: something cannot be; nothing was begun.
        DependencyError: the extra ``train`` is not installed.
        KeyboardInterrupt: Ctrl-C, SIGTERM or SIGHUP has ended it; the trial that was broken off has a checkpoint.
    """
    target = Path(folder)
    whole_number("trials", trials, 1, MOST_TRIALS, "the number of trials")
    whole_number("steps", steps, EVALUATIONS, MOST, "the decisions of a run")
    if pruner not in PRUNERS:
        raise unknown_name("pruner", pruner, list(PRUNERS))
    if not space:
        raise ParameterError("space is empty, so there is nothing to search: name a setting and its range")
    # The name of a configuration that ships is known on every machine.
    file = (
        "" if config is None else str(config if config_file(Path(config)) != Path(config) else Path(config).absolute())
    )
    plan = Plan(game, space, steps, file, tuple(overrides), seed, pruner)
    path, whole = Path(file) if file else None, [*overrides, *plan.short()]
    settings = override(read_config(game, path), whole)
    prepare(game, target / "new", path, whole, False, trust)
    for name, one in space.items():
        ends = one.choices if isinstance(one, CategoricalDistribution) else map(as_toml, (one.low, one.high))  # type: ignore[attr-defined]  # the two others
        for end in ends:
            override(settings, [f"{name}={end}"])
    found = _opened(plan, target, storage)
    if not found.trials() and (usual := _usual(space, to_plain(settings))):
        found.study.enqueue_trial(usual, user_attrs={"usual": True}, skip_if_exists=True)
    try:
        _work(found, trials, not storage, trust, progress or (lambda done, of, text: None))
    except KeyboardInterrupt as end:
        kept = f"{len(found.trials(*OVER))} of {trials} trials are over in {target}"
        raise SignalInterrupt(number_of(end), f"{kept}: the same command goes on") from None
    return found


def _usual(space: Space, plain: Mapping[str, Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return settings as a point of the space; None if they do not lie in it."""
    found: dict[str, Any] = {}
    for name, one in space.items():
        section, _, key = name.partition(".")
        value = plain.get(section, {}).get(key)
        if isinstance(one, IntDistribution | FloatDistribution):
            inside = isinstance(value, int | float) and one.low <= value <= one.high
        else:
            value = as_toml(value)
            inside = isinstance(one, CategoricalDistribution) and value in one.choices
        if not inside:
            return None
        found[name] = value
    return found


def read_study(folder: str | Path, storage: str = "", game: str = "") -> Study:
    """Return a study as it is now. Raises ParameterError if there is none."""
    target = Path(folder)
    if not storage and not (target / JOURNAL).is_file():
        raise ParameterError(f"{target} holds no study: `dicegym runs tune GAME --run-dir {target}` begins one")
    kept = _storage(target, storage)
    there = optuna.get_all_study_names(kept)
    names = [name for name in there if game in ("", name)]
    if len(names) != 1:
        raise ParameterError(
            f"{storage or target} holds studies of {', '.join(there) or 'nothing'}, and {game or 'no game'} was named: "
            "name one of these games"
        )
    study = optuna.load_study(study_name=names[0], storage=kept)
    plan = study.user_attrs.get("plan")
    if plan is None:
        raise ParameterError(
            f"the study {names[0]} in {storage or target} was not begun by `dicegym runs tune`: begin another"
        )
    return Study(Plan.from_json(plan), target, study)


def _storage(folder: Path, storage: str) -> optuna.storages.BaseStorage:
    optuna.logging.set_verbosity(logging.WARNING)
    if not storage:
        return optuna.storages.JournalStorage(JournalFileBackend(str(folder / JOURNAL)))
    try:
        return optuna.storages.get_storage(storage)
    except Exception as error:  # whatever the database's driver raises, or SQLAlchemy for a URL that is none
        raise ParameterError(
            f"--storage {storage!r} cannot be used ({one_line(error, 200)}): name a database"
        ) from error


def _opened(plan: Plan, folder: Path, storage: str) -> Study:
    """Return the study in a folder, begun if there is none. Raises ParameterError if it is about something else."""
    folder.mkdir(parents=True, exist_ok=True)
    study = optuna.create_study(
        study_name=plan.game,
        storage=_storage(folder, storage),
        load_if_exists=True,
        direction="maximize",
        pruner=PRUNERS[plan.pruner](plan.steps),
    )
    begun = study.user_attrs.get("plan")
    if begun is None:
        study.set_user_attr("plan", plan.to_json())
    elif begun != plan.to_json():
        before, now = json.loads(begun), json.loads(plan.to_json())
        differ = ", ".join(f"{name}={one_line(before[name], 80)}" for name in before if before[name] != now[name])
        raise ParameterError(
            f"the study in {storage or folder} was begun with {differ}: use the same options, or another --run-dir"
        )
    return Study(plan, folder, study)


def _work(found: Study, trials: int, alone: bool, trust: bool, tell: TuneProgress) -> None:
    """Go on with what was broken off here, then try anew; all trials lie here if this folder is ``alone``."""
    for left in found.trials(TrialState.RUNNING):
        if alone or found.place(left).is_dir():
            _try(found, optuna.Trial(found.study, left._trial_id), trials, trust, tell)
    while len(found.trials(*OVER, TrialState.RUNNING)) < trials:
        _try(found, found.study.ask(), trials, trust, tell)


def _try(found: Study, trial: optuna.Trial, trials: int, trust: bool, tell: TuneProgress) -> None:
    """Train with what a trial tries and tell Optuna how that ended, unless another process is at it or has ended it."""
    plan, study, place = found.plan, found.study, found.place(trial)

    def evaluated(steps: int, score: Score) -> None:
        with quiet():  # of steps that were reported before the trial was broken off, Optuna keeps the first value
            trial.report(score.value, steps)
        if trial.should_prune():
            raise optuna.TrialPruned(f"{score} after {steps:,} steps")

    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(alone_in(place))
        except ParameterError:
            return
        if found.trials()[trial.number].state != TrialState.RUNNING:
            return
        _suggest(found, trial)
        over, begun = len(found.trials(*OVER)), (place / SETTINGS_FILE).is_file()

        def tell_steps(done: int, of: int, text: str) -> None:
            tell(over, trials, f"{place.name}: {done:,} of {of:,} steps, {text}")

        config = None if begun or not plan.config else Path(plan.config)
        settings = [] if begun else [*plan.settings(trial), *plan.short()]
        try:
            train(plan.game, place, config, settings, begun, tell_steps, evaluated, trust)
            values = found.trials()[trial.number].intermediate_values
            last = [value for steps, value in values.items() if steps >= LAST * plan.steps] or [values[max(values)]]
            study.tell(trial.number, sum(last) / len(last))
        except optuna.TrialPruned as pruned:
            trial.set_user_attr("why", str(pruned))
            study.tell(trial.number, state=TrialState.PRUNED)
        except (DicegymError, ValueError, RuntimeError, MemoryError) as error:  # PyTorch's, where numbers run away
            trial.set_user_attr("why", f"{type(error).__name__}: {one_line(error, 300)}")
            study.tell(trial.number, state=TrialState.FAIL)
            if not found.trials(TrialState.COMPLETE, TrialState.PRUNED):
                raise  # most likely none can work


def _suggest(found: Study, trial: optuna.Trial) -> None:
    """Let Optuna choose what a trial tries, unless it did so before the trial was broken off."""
    with quiet():
        found.study.sampler = optuna.samplers.TPESampler(seed=named_seed(found.plan.seed, trial.number) % (1 << 32))
        for name, one in found.plan.space.items():
            if isinstance(one, CategoricalDistribution):
                trial.suggest_categorical(name, one.choices)
            elif isinstance(one, IntDistribution):
                trial.suggest_int(name, one.low, one.high, log=one.log)
            elif isinstance(one, FloatDistribution):
                trial.suggest_float(name, one.low, one.high, log=one.log)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep back what Optuna says of itself, such as that something may change."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


# The report


def importances(found: Study) -> dict[str, float]:
    """Return how much each setting decided whether a trial was among the best; nothing of few trials.

    By PED-ANOVA (Watanabe, Bansal and Hutter, IJCAI 2023), shares that sum to 1: how far the settings of the best tenth
    of the trials lie from those of all.
    """
    done = found.trials(TrialState.COMPLETE)
    if len(done) < ENOUGH_TRIALS or len({one.value for one in done}) < 2:
        return {}
    with quiet():
        return get_param_importances(found.study, evaluator=PedAnovaImportanceEvaluator())


def command(found: Study) -> str:
    """Return the command that trains with the best settings, with seeds that the study did not use."""
    plan, best = found.plan, found.best
    words = ["dicegym", "train", plan.game, "--run-dir", f"runs/{plan.game}-tuned", "--seeds", "5"]
    words += ["--seed", "1000"] if not any(one.startswith("run.seed=") for one in plan.overrides) else []
    words += ["--config", plan.config] if plan.config else []
    return shlex.join(words + [word for text in (plan.settings(best) if best else ()) for word in ("--set", text)])


def write_report(found: Study) -> list[Path]:
    """Write a page, the best settings as a configuration, and pictures; return what was written."""
    plan, folder = found.plan, found.folder
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / PAGE, _page(found))
    if found.best is None:
        return [folder / PAGE]
    settings = override(read_config(plan.game, Path(plan.config) if plan.config else None), plan.settings(found.best))
    lines = [f"# The best of {len(found.trials())} trials, after {plan.steps:,} steps each; {PAGE} says more."]
    for section, values in to_plain(settings).items():
        if values:
            lines += ["", f"[{section}]", *(as_toml_pair(key, value) for key, value in values.items())]
    write_text(folder / BEST, "\n".join(lines) + "\n")
    return [folder / PAGE, folder / BEST, *_draw(found)]


def _page(found: Study) -> str:
    """Return the report, a page of Markdown."""
    plan, importance, trials = found.plan, importances(found), found.trials()
    lines = [
        f"# Settings searched for {markdown(plan.game)}",
        "",
        f"{len(trials)} trials of {plan.steps:,} steps each: {ended(found)}. A trial's score is the mean of its "
        f"evaluations in the last quarter of its steps. Pruner: {plan.pruner}.",
        "",
        "| setting | values | decided |",
        "|---|---|---|",
    ]
    for name, searched in plan.space.items():
        share = f"{importance[name]:.0%}" if name in importance else "-"
        lines.append(f"| `{name}` | {markdown(_words(searched))} | {share} |")
    if plan.overrides:
        lines += ["", "Of all trials: " + ", ".join(f"`{text}`" for text in plan.overrides)]
    if ranked := found.ranked():
        titles = ["trial", "score", *(name.partition(".")[2] for name in plan.space)]
        lines += ["", "## Best", "", "| " + " | ".join(titles) + " |", "|" + "---|" * len(titles)]
        for one in ranked[:SHOWN]:
            values = [
                f"{value:.4g}" if isinstance(value, float) else str(value) for value in map(one.params.get, plan.space)
            ]
            lines.append("| " + " | ".join([str(one.number), f"{one.value:.4f}", *values]) + " |")
        for one in ranked:
            if one.user_attrs.get("usual"):
                lines += ["", f"Trial {one.number} is what the configuration says: it scored {one.value:.4f}."]
        lines += ["", BELIEVE, "", "```console", command(found), "```"]
    if failed := found.trials(TrialState.FAIL):
        lines += ["", "## Failed", ""]
        lines += [f"- trial {one.number}: {markdown(str(one.user_attrs.get('why', '')))}" for one in failed]
    return "\n".join(lines) + "\n"


def ended(found: Study) -> str:
    """Return in words how many trials ended how."""
    counts = {word: len(found.trials(state)) for state, word in OVER.items()}
    return ", ".join(f"{count} {word}" for word, count in counts.items() if count) or "none is over"


def _words(one: BaseDistribution) -> str:
    if isinstance(one, IntDistribution | FloatDistribution):
        return f"{one.low:g} to {one.high:g}" + (", on a logarithmic scale" if one.log else "")
    return ", ".join(map(str, one.choices)) if isinstance(one, CategoricalDistribution) else str(one)


def _draw(found: Study) -> Iterator[Path]:
    """Draw what Optuna draws of a study; nothing if matplotlib is not installed."""
    try:
        plt = pyplot("the pictures of a study")
    except DependencyError:  # the numbers are there
        return
    from optuna.visualization import matplotlib as draws

    pictures: dict[str, Callable[[], Any]] = {
        "history": lambda: draws.plot_optimization_history(found.study),
        "curves": lambda: draws.plot_intermediate_values(found.study),
        "settings": lambda: draws.plot_slice(found.study),
    }
    for name, draw in pictures.items():
        path = found.folder / PICTURE.format(name)
        with plt.rc_context(), quiet(), writing(path) as unfinished:
            draw()
            plt.gcf().set_size_inches(max(9, 3.4 * len(found.plan.space)) if name == "settings" else 9, 5)
            for axes in plt.gcf().axes:
                axes.tick_params(axis="x", which="both", rotation=30)
            plt.gcf().savefig(unfinished, dpi=110, bbox_inches="tight")
            plt.close("all")
        yield path
