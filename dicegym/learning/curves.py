"""Learning curves: what a learner scored when, against whom; what a training notes of it, and how that is read again.

All of it is made of one record, `Evaluation`. A run's checkpoint holds them, and from there they go into

    curve.csv       steps and score, and the result against each opponent if there are several
    evaluations.csv the results with their intervals: steps, opponent, measure, value, low, high, games
    models' files   as the fact `CURVE`: ``columns``, whom the learner was measured against, and ``points``, each a list
                    of steps, score, and a cell for each column: a number, or [number, lower, upper end of the 95 %
                    interval]. Facts may be anybody's, so what is no curve is refused before anything is made of it.

The same seed gives the same files. ``pace.csv`` says how fast a training goes, which is not the same twice.

Several runs make a band. A training is partly luck, so a single curve says little. The middle here is the interquartile
mean (the mean of the middle half of the runs), with an interval by the percentile bootstrap over runs, as Agarwal,
Schwarzer, Castro, Courville and Bellemare recommend for few runs ("Deep reinforcement learning at the edge of the
statistical precipice", NeurIPS 2021): less moved by one lucky run than the mean, less wasteful than the median. Of
fewer than `ENOUGH` runs it is the plain mean, and their range is all there is to say. No PyTorch is loaded.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

import numpy as np
from pydantic import Field, Strict, TypeAdapter

from dicegym.errors import DamagedFileError, ModelError, ParameterError
from dicegym.escape import cell, one_line
from dicegym.files import read_text, writing
from dicegym.learning.configuration import about_run
from dicegym.learning.evaluate import BY_LAST, LEFT, Score
from dicegym.learning.run_folder import CURVE_FILE, EVALUATIONS_FILE, PACE_FILE
from dicegym.players import model as models

if TYPE_CHECKING:
    from stable_baselines3.common.logger import Logger

CURVE = "curve"
"""Where a model's facts hold the curve of its training."""
CHOSEN = "chosen"
"""Where they say whether a model is the one that its training's evaluations chose, see `chosen_fact`."""
BEGAN_WITH = "began_with"
"""Where they hold those of the model whose networks the training began with."""
MOST_STAGES = 100
"""Of a training, the last ones that are told of."""
MOST_POINTS = 1_000
"""In a model's file: of more, every second one is left out, as often as needed; the best and the last stay."""
MOST_COLUMNS = 64
LONGEST_NAME = 1_000
"""Letters of what is measured, and of an opponent's name."""
MOST_STEPS = 1 << 53
LARGEST = 1e12
"""No score is further from 0."""
PACE_EVERY = 2.0
"""Seconds from one line on the pace to the next, at first."""
MOST_LINES = 600
"""Of the pace: then every second one is left out, and lines come half as often, so that a week of training is as short
to read as an hour of it."""
ENOUGH = 4
"""Runs from which on a quarter of them is at least one, which the interquartile mean leaves out at each end."""
RESAMPLES = 2_000
"""Of the bootstrap: its ends are then known to a fraction of their own width."""
QUARTER = 0.25
LEVEL = 0.95
_DIGITS = 9
"""Of a score behind the point, in ``curve.csv`` and in models' files."""
_INSTEAD = "name the folder of a training: `dicegym train` writes it there"
_EVALUATED = ("steps", "opponent", "measure", "value", "low", "high", "games")
_SAME = (
    "run.seed",
    "run.steps",
    "run.torch_threads",
    "run.checkpoint_every",
    "run.card_games",
    "run.device",
    "run.log",
)
"""Settings that do not tell one experiment from another: its luck, its length, its machine."""

_Row = TypeVar("_Row")
_Whole = Annotated[int, Strict(), Field(ge=0, le=MOST_STEPS)]
_Number = Annotated[float, Strict(), Field(ge=-LARGEST, le=LARGEST)]


class Evaluation(NamedTuple):
    """What a learner scored after so many of its decisions."""

    steps: int
    value: float
    """The score, by which the best model is chosen as a rule; NaN where only results were noted."""
    scores: tuple[Score, ...]
    """The result against each opponent."""


@dataclass
class Curve:
    """The evaluations of a run so far, and which was best."""

    evaluations: tuple[Evaluation, ...] = ()
    """By steps."""
    best: float = -math.inf
    """Score of the best model."""
    score: Score | None = None
    """The latest."""
    missed: float = math.inf
    """How far the best model is below the floors (`shortfall`): who misses least is best."""

    @property
    def scores(self) -> tuple[Score, ...]:
        """The latest results, against each opponent."""
        return self.evaluations[-1].scores if self.evaluations else ()

    def add(
        self, steps: int, score: Score, scores: Sequence[Score], missed: float = 0.0, takes_last: bool = False
    ) -> bool:
        """Note an evaluation after ``steps``; return whether it is the best so far.

        One of as many steps gives way to it: a finished run that is resumed measures its end again. ``missed`` and
        ``takes_last`` are as `dicegym.learning.evaluator.Evaluator` has them.
        """
        before = (one for one in self.evaluations if one.steps < steps)
        self.evaluations = (*before, Evaluation(steps, score.value, tuple(scores)))
        self.score = score
        return self._stands(score.value, missed, takes_last)

    def _stands(self, value: float, missed: float, takes_last: bool = False) -> bool:
        """Return whether a model is better than the best so far, and let it be the best if it is."""
        better = missed <= self.missed if takes_last else (-missed, value) > (-self.missed, self.best)
        if better:
            self.best, self.missed = value, missed
        return better

    def heed(self, best: Path) -> None:
        """Let the model in ``best``, if there is one, stand until a better one comes: Ctrl-C has one measured too.

        Where the last one is the best, what is remembered of it is how far it misses the floors alone.

        Raises DamagedFileError if it is none that a training wrote.
        """
        if best.is_file():
            try:
                facts = models.facts(best)
                self._stands(Score.from_json(facts.get("score")).value, floors_of(facts)[1])
            except (ModelError, ParameterError) as error:
                raise DamagedFileError(
                    best,
                    f"does not say how good it is ({error})",
                    "move it elsewhere, and the run goes on; its next evaluation writes a new one",
                ) from error

    def write(self, folder: Path) -> None:
        """Write ``curve.csv`` and ``evaluations.csv``."""
        several = self.scores if len(self.scores) > 1 else ()
        rows = [
            [one.steps, *(f"{value:.{_DIGITS}f}" for value in (one.value, *(each.value for each in one.scores)))]
            for one in self.evaluations
        ]
        head = ["steps", "score", *(cell(one.opponent) for one in several)]
        write_csv(folder / CURVE_FILE, head, [row[: len(head)] for row in rows])
        write_csv(
            folder / EVALUATIONS_FILE,
            _EVALUATED,
            [
                (at, cell(one.opponent), cell(one.measure), one.value, one.low, one.high, one.games)
                for at, _, scores in self.evaluations
                for one in scores
            ],
        )

    def log(self, logger: Logger, steps: int) -> None:
        """Tell TensorBoard of the latest evaluation."""
        if self.score is not None:
            logger.record(f"evaluation/{self.score.measure}", self.score.value)
        for one in self.scores if len(self.scores) > 1 else ():
            logger.record(f"evaluation/against {one.opponent}", one.value)
        logger.dump(steps)

    def to_plain(self) -> dict[str, Any]:
        """Return all of it as plain values, for a checkpoint."""
        return {
            "best": self.best,
            "missed": self.missed,
            "score": None if self.score is None else self.score.to_json(),
            "evaluations": [[steps, value, [one.to_json() for one in each]] for steps, value, each in self.evaluations],
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Curve:
        """Return what `to_plain` told of. Raises ValueError if that is damaged."""
        if set(plain) != {"best", "missed", "score", "evaluations"}:
            raise ValueError("it is no curve of a training")
        return _STATE.validate_python(plain)


_STATE = TypeAdapter(Curve)


def shortfall(scores: Iterable[Score], floors: Mapping[str, float]) -> float:
    """Return how far scores are below floors (``run.best_floor``), where they are furthest; 0: they reach all.

    Raises KeyError if there is no score against one of their opponents.
    """
    values = {score.opponent: score.value for score in scores}
    return max([0.0, *(least - values[LEFT.get(name, name)] for name, least in floors.items())])


def floors_of(facts: Mapping[str, Any]) -> tuple[dict[str, float], float]:
    """Return the floors under the training of a model, and how far the model is below them, by its file's facts.

    Raises ParameterError if the file does not tell what a training writes.
    """
    try:
        floors = {str(name): float(least) for name, least in facts["settings"]["run"].get("best_floor", {}).items()}
        return floors, shortfall(map(Score.from_json, facts["scores"]), floors) if floors else 0.0
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise ParameterError(f"the model does not say how it stands to run.best_floor ({one_line(error)})") from None


def floors_in_words(floors: Mapping[str, float]) -> str:
    """Return what floors ask for."""
    return " and ".join(f"{least:g} against {LEFT.get(name, name)}" for name, least in floors.items())


def read_evaluations(folder: Path) -> list[Evaluation]:
    """Return a run's results with their intervals; nothing if it has not noted them. Raises DamagedFileError."""

    def result(row: dict[str, str]) -> tuple[int, Score]:
        value, low, high = (float(row[name]) for name in ("value", "low", "high"))
        return int(row["steps"]), Score(row["measure"], row["opponent"], value, low, high, int(row["games"]))

    found: dict[int, list[Score]] = {}
    for steps, score in _read_csv(folder / EVALUATIONS_FILE, result):
        found.setdefault(steps, []).append(score)
    return [Evaluation(steps, math.nan, tuple(scores)) for steps, scores in found.items()]


class Pace(NamedTuple):
    """How far a training was."""

    seconds: float
    """Of training, breaks between sessions apart."""
    steps: int
    games: int
    """Played to their end by the learner."""


class PaceLog:
    """How fast one training goes, noted in its folder now and then.

    Args:
        folder: the run's.
        steps: how far the run is; what was noted beyond that, before it was cut off, is left out.
    """

    def __init__(self, folder: Path, steps: int = 0) -> None:
        self._path = folder / PACE_FILE
        try:
            self._pace = [one for one in read_pace(folder) if one.steps <= steps]
        except (DamagedFileError, ParameterError):  # written anew, as a training is worth more than this
            self._pace = []
        self._every, self._due = PACE_EVERY, 0.0

    def note(self, seconds: float, steps: int, games: int, now: bool = False) -> None:
        """Note how far the training is, if it is time for it, or ``now``."""
        if not now and time.monotonic() < self._due:
            return
        if self._pace and self._pace[-1].steps >= steps:
            return
        self._pace.append(Pace(round(seconds, 2), steps, games))
        if len(self._pace) > MOST_LINES:
            self._pace = self._pace[:-1:2] + self._pace[-1:]
            self._every *= 2
        self._due = time.monotonic() + self._every
        write_csv(self._path, Pace._fields, self._pace)


def read_pace(folder: Path) -> list[Pace]:
    """Return how far a run was when; nothing if it has not noted that. Raises DamagedFileError."""
    return _read_csv(folder / PACE_FILE, lambda row: Pace(float(row["seconds"]), int(row["steps"]), int(row["games"])))


def write_csv(path: Path, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table, whole or not at all."""
    with writing(path) as unfinished, unfinished.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerow(head)
        csv.writer(file).writerows(rows)


def _read_csv(path: Path, made: Callable[[dict[str, str]], _Row]) -> list[_Row]:
    if not path.is_file():
        return []
    text = read_text(path, _INSTEAD)
    try:
        return [made(row) for row in csv.DictReader(io.StringIO(text, newline=""))]
    except (KeyError, TypeError, ValueError, csv.Error) as error:
        raise DamagedFileError(path, f"is not what a training writes ({one_line(error, 100)})", _INSTEAD) from None


# Curves in models' files


def chosen_fact(is_best: bool, best_by: str) -> dict[str, bool]:
    """Return the fact `CHOSEN` of a model, that which is ``best.zip`` or that at the end, by its training's settings.

    Nothing of one that is the last so far: whether its training ended with it, nobody knows yet.
    """
    return {} if is_best and best_by == BY_LAST else {CHOSEN: is_best}


def curve_fact(evaluations: Sequence[Evaluation]) -> dict[str, Any]:
    """Return the fact `CURVE` of a model, which `curve_in` reads; nothing if nothing was measured."""
    if not evaluations:
        return {}
    columns = [
        {"measure": one.measure[:LONGEST_NAME], "opponent": one.opponent[:LONGEST_NAME], "games": one.games}
        for one in evaluations[-1].scores
    ]
    points = [[one.steps, round(one.value, _DIGITS), *map(_plain_cell, one.scores)] for one in _thinned(evaluations)]
    return {CURVE: {"columns": columns, "points": points}}


def _plain_cell(score: Score) -> float | list[float]:
    value, low, high = (round(float(one), _DIGITS) for one in (score.value, score.low, score.high))
    return value if value == low == high else [value, low, high]


def _thinned(points: Sequence[Evaluation]) -> list[Evaluation]:
    """Return `MOST_POINTS` of the points at most."""
    kept = list(points)
    if len(kept) > MOST_POINTS:
        while len(kept) > MOST_POINTS - 2:
            kept = kept[::2]
    best = max(points, key=lambda one: one.value)
    return sorted({*kept, best, points[-1]}, key=lambda one: one.steps)


class _Column(NamedTuple):
    measure: Annotated[str, Field(max_length=LONGEST_NAME)]
    opponent: Annotated[str, Field(max_length=LONGEST_NAME)]
    games: _Whole


class _CurveFact(NamedTuple):
    columns: Annotated[list[_Column], Field(min_length=1, max_length=MOST_COLUMNS)]
    points: Annotated[list[list[_Whole | _Number | tuple[_Number, _Number, _Number]]], Field(max_length=MOST_POINTS)]


_FACT = TypeAdapter(_CurveFact)


def read_curve(said: Any) -> tuple[Evaluation, ...]:
    """Return the evaluations that a `CURVE` tells of. Raises ParameterError for anything else."""
    found = []
    try:
        columns, points = _FACT.validate_python(said)
        for steps, value, *cells in points:
            if not isinstance(steps, int) or isinstance(value, tuple):
                raise TypeError("a point does not begin with steps and a score")
            ends = (cell if isinstance(cell, tuple) else (cell, cell, cell) for cell in cells)
            scores = (
                Score(one.measure, one.opponent, *three, one.games) for one, three in zip(columns, ends, strict=True)
            )
            found.append(Evaluation(steps, float(value), tuple(scores)))
        if not found or any(later.steps <= sooner.steps for sooner, later in itertools.pairwise(found)):
            raise ValueError("its points are not in the order of their steps")
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"invalid curve {one_line(said, 100)} ({one_line(error, 80)}): only trainings write curves"
        ) from None
    return tuple(found)


def curve_in(facts: Mapping[str, Any]) -> tuple[Evaluation, ...]:
    """Return the curve that facts hold; empty if they hold none that can be read."""
    try:
        return read_curve(facts[CURVE])
    except (LookupError, ParameterError):
        return ()


class LearnedStage(NamedTuple):
    """A training that a model comes from."""

    number: int
    """From 1 on."""
    taught: bool
    """Whether it learned by imitation."""
    steps: int
    """At which the model was taken that went on; where its file does not say, those of its last evaluation."""
    curve: tuple[Evaluation, ...]
    """Empty: its file has none, or none that can be read."""


def stages(facts: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the facts of the trainings that a model comes from, the first one first; the last are its own.

    A training that began with another model's networks holds that model's facts as ``began_with``. Those may be
    anything, or missing, as somebody else may have made that model.
    """
    found = [facts]
    while isinstance(before := found[0].get(BEGAN_WITH), dict) and before:
        found.insert(0, before)
    return found[-MOST_STAGES:]


def stages_of(facts: Mapping[str, Any]) -> list[LearnedStage]:
    """Return the trainings that a model comes from with their curves, the first one first; never raises."""
    found = []
    for number, one in enumerate(stages(facts), 1):
        curve, said = curve_in(one), one.get("timesteps")
        known = type(said) is int and 0 <= said <= MOST_STEPS
        steps = int(said) if known and said is not None else curve[-1].steps if curve else 0
        found.append(LearnedStage(number, bool(one.get("taught_by")), steps, curve))
    return found


# Curves in folders of runs


class RunCurve(NamedTuple):
    """The curve of one run."""

    folder: Path
    game: str
    players: int
    score: Score
    """Of the best model: what is measured, and against whom."""
    settings: dict[str, Any]
    """By ``section.key``."""
    steps: np.ndarray
    """int64[n]."""
    values: dict[str, np.ndarray]
    """The score as ``"score"`` and, if there are several opponents, the result against each: float64[n]."""


def find_runs(folders: Iterable[Path]) -> tuple[list[RunCurve], list[Path]]:
    """Return the runs in ``folders``, and those folders that hold none; a folder of runs stands for all of them.

    Raises ParameterError if there is none at all.
    """
    runs: list[RunCurve] = []
    others: list[Path] = []
    for folder in folders:
        inside = sorted(folder.iterdir()) if folder.is_dir() else []
        found = [one for one in (folder, *inside) if (one / CURVE_FILE).is_file()]
        runs += [read_run(one) for one in found]
        others += [] if found else [folder]
    if not runs:
        named = ", ".join(map(str, others)) or "nothing"
        raise ParameterError(f"{named}: no folder of a training with a {CURVE_FILE}: name those of --run-dir")
    return list({run.folder.resolve(): run for run in runs}.values()), others


def read_run(folder: Path) -> RunCurve:
    """Return the curve in a run's folder. Raises DamagedFileError or ModelError for one of anything else."""
    instead = "name the folder of a training, or remove this one"
    text = read_text(folder / CURVE_FILE, instead)
    plain = about_run(folder).settings
    settings = {f"{section}.{key}": value for section, keys in plain.items() for key, value in keys.items()}
    about = models.facts(folder / "best.zip")
    try:
        head, *lines = csv.reader(text.splitlines())
        table = np.array([[float(cell) for cell in line] for line in lines])
        if not np.isfinite(table).all():
            raise ValueError("what is no number stands in its curve")
        values = dict(zip(head[1:], table.T[1:], strict=True))
        score = Score.from_json(about["score"])
        game, players, steps = str(about["game"]), int(about["players"]), table[:, 0].astype(np.int64)
        return RunCurve(folder, game, players, score, settings, steps, values)
    except (TypeError, ValueError, KeyError, IndexError, csv.Error) as error:
        raise DamagedFileError(
            folder, f"does not hold what a training writes ({one_line(error, 120)})", instead
        ) from None


class Band(NamedTuple):
    """Some runs at some times; all arrays are float64[n] but for the first two."""

    steps: np.ndarray
    """int64[n]: decisions of the learner."""
    runs: np.ndarray
    """int64[n]: how many had come so far."""
    mean: np.ndarray
    median: np.ndarray
    iqm: np.ndarray
    """Interquartile mean; of fewer than `ENOUGH` runs the mean."""
    low: np.ndarray
    """Lower end of its 95 % interval; NaN where fewer than `ENOUGH` runs had come."""
    high: np.ndarray
    lower_quartile: np.ndarray
    upper_quartile: np.ndarray
    lowest: np.ndarray
    highest: np.ndarray


def interquartile_mean(values: np.ndarray, axis: int = 0) -> np.ndarray:
    """Return the mean of the middle half of ``values`` along ``axis``; of fewer than `ENOUGH` the mean."""
    from scipy.stats import trim_mean

    return np.asarray(trim_mean(values, QUARTER, axis=axis), np.float64)


def band_of(steps: np.ndarray, values: np.ndarray) -> Band:
    """Return what runs come to at each time.

    Args:
        steps: int64[n], when.
        values: float64[runs, n], NaN where a run had not come so far (or is not known); no column of NaN alone.

    The same runs give the same intervals: the bootstrap draws from a generator of its own.
    """
    values = np.asarray(values, np.float64)
    there = ~np.isnan(values)
    n = values.shape[1]
    middle, low, high = (np.full(n, np.nan) for _ in range(3))
    for column in np.unique(there, axis=1).T if n else ():  # who is there changes a few times at most
        at = (there == column[:, None]).all(axis=0)
        known = values[np.ix_(column, at)]
        middle[at] = interquartile_mean(known)
        if len(known) >= ENOUGH:
            low[at], high[at] = _interval(known)
    lower, median, upper = np.nanquantile(values, (QUARTER, 0.5, 1 - QUARTER), axis=0)
    mean, lowest, highest = (of(values, axis=0) for of in (np.nanmean, np.nanmin, np.nanmax))
    return Band(steps, there.sum(axis=0), mean, median, middle, low, high, lower, upper, lowest, highest)


def _interval(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both ends of the interval of the interquartile mean of float64[runs, n], each float64[n]."""
    from scipy.stats import bootstrap

    found = bootstrap(
        (values,),
        interquartile_mean,
        n_resamples=RESAMPLES,
        axis=0,
        vectorized=True,
        confidence_level=LEVEL,
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    return np.asarray(found.low), np.asarray(found.high)


def null_if_nan(value: float) -> float | None:
    """Return a number for JSON, which has null for those that nobody knows."""
    return None if math.isnan(value) else value


def common_times(curves: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Return all times of some curves (steps, values), and float64[curves, times] of their values there.

    Between two points of a curve its value lies on the line between them; outside of them it is NaN.
    """
    steps = np.unique(np.concatenate([times for times, _ in curves]))
    rows = [np.interp(steps, times, values, left=np.nan, right=np.nan) for times, values in curves]
    return steps, np.array(rows)


@dataclass(frozen=True)
class Experiment:
    """Runs of one game with the same settings but for the seed."""

    label: str
    runs: tuple[RunCurve, ...]

    def band(self, name: str) -> Band:
        """Return what the runs come to together in what is called ``name``, at the times of all their evaluations."""
        found = [(run.steps, run.values[name]) for run in self.runs if name in run.values]
        steps, values = common_times(found)
        known = ~np.isnan(values).all(axis=0)
        return band_of(steps[known], values[:, known])

    @property
    def names(self) -> list[str]:
        """What there are curves of, ``"score"`` first."""
        return list(dict.fromkeys(name for run in self.runs for name in run.values))


def experiments(runs: Sequence[RunCurve]) -> list[Experiment]:
    """Return the runs of one game by what was tried; labels name the settings that differ, or else the folders."""
    groups: dict[str, list[RunCurve]] = {}
    for run in runs:
        groups.setdefault(json.dumps(_told_apart(run), sort_keys=True), []).append(run)
    several = [_told_apart(members[0]) for members in groups.values()]
    names = sorted({name for one in several for name in one})
    differing = [name for name in names if len({json.dumps(one.get(name)) for one in several}) > 1]
    return [
        Experiment(_label(members, differing) if len(groups) > 1 else _seeds(members), tuple(members))
        for members in groups.values()
    ]


def _told_apart(run: RunCurve) -> dict[str, Any]:
    return {name: value for name, value in run.settings.items() if name not in _SAME and not name.startswith("demo.")}


def _label(runs: Sequence[RunCurve], differing: Sequence[str]) -> str:
    """Return what sets these runs apart from the others."""
    said = [f"{name}={json.dumps(runs[0].settings[name])}" for name in differing if name in runs[0].settings]
    told = ", ".join(said) if said and len(said) <= 3 else runs[0].folder.name
    return f"{told} ({len(runs)} seeds)" if len(runs) > 1 else told


def _seeds(runs: Sequence[RunCurve]) -> str:
    return runs[0].folder.name if len(runs) == 1 else f"mean of {len(runs)} runs"
