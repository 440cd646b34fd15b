"""Learning curves: what a learner scored, when and against whom, in which files that is kept; bands of several runs.

All of it is made of one record, `Evaluation`. A run's checkpoint holds them, and from there they are written into
``curve.csv`` and ``evaluations.csv`` (`dicegym.learning.run_folder`), and into models' files as the fact `CURVE`:
``columns``, the opponents of the evaluations, and ``points``, each a list of steps, score, and a cell for each column,
which is a number, or [number, lower, upper end of the 95 % interval]. Strangers may write facts, so they are validated
before they are used. The same seed gives the same files, but for ``pace.csv``, which says how fast a training is.

A training is partly luck, so a single curve says little. The middle of several runs is the interquartile mean (the mean
of the middle half), with an interval by the percentile bootstrap over runs, as Agarwal, Schwarzer, Castro, Courville
and Bellemare recommend for few runs ("Deep reinforcement learning at the edge of the statistical precipice", NeurIPS
2021): one lucky run moves it less than the mean, and it wastes less than the median. Fewer than `ENOUGH` runs have
their mean and their range instead. No PyTorch is loaded.
"""

from __future__ import annotations

import csv
import io
import itertools
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

import numpy as np
from pydantic import Field, Strict, TypeAdapter

from dicegym.errors import DamagedFileError, ParameterError
from dicegym.escape import cell, one_line
from dicegym.files import read_text, writing
from dicegym.learning.evaluate import Score
from dicegym.learning.run_folder import CURVE_FILE, EVALUATIONS_FILE, PACE_FILE
from dicegym.players import model_file

if TYPE_CHECKING:
    from stable_baselines3.common.logger import Logger

CURVE = "curve"
"""The fact of a model's file that holds the curve of its training."""
BEGAN_WITH = "began_with"
"""The fact that holds the facts of the model whose networks the training began with."""
MOST_STAGES = 100
"""Trainings of a model that are read: the last ones."""
MOST_POINTS = 1_000
"""Of a curve in a model's file: of more, every second one is left out, as often as needed; the best and the last
stay."""
MOST_COLUMNS = 64
LONGEST_NAME = 1_000
"""Letters of what is measured, and of an opponent's name."""
MOST_STEPS = 1 << 53
LARGEST = 1e12
"""No score is further from 0."""
ENOUGH = 4
"""Runs from which on a quarter of them is at least one, which the interquartile mean leaves out at each end."""
RESAMPLES = 2_000
"""Of the bootstrap: the ends of an interval are then known to a fraction of its width."""
LEVEL = 0.95
"""Of intervals over runs."""
PACE_EVERY = 2.0
"""Seconds from one line of ``pace.csv`` to the next."""
_DIGITS = 9
"""Decimals of a score in ``curve.csv`` and in models' files."""
_INSTEAD = "name the folder of a training: `dicegym train` writes it there"

_Row = TypeVar("_Row")
_Whole = Annotated[int, Strict(), Field(ge=0, le=MOST_STEPS)]
_Number = Annotated[float, Strict(), Field(ge=-LARGEST, le=LARGEST)]


class Evaluation(NamedTuple):
    """What a learner scored after this number of its decisions."""

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

    @property
    def scores(self) -> tuple[Score, ...]:
        """The latest results, against each opponent."""
        return self.evaluations[-1].scores if self.evaluations else ()

    def add(self, steps: int, score: Score, scores: Sequence[Score], takes_last: bool = False) -> bool:
        """Note an evaluation after ``steps``; return whether its model is the best so far, as the last one always is.

        It replaces one after as many steps: a finished run that is resumed measures its end again.
        """
        before = (one for one in self.evaluations if one.steps < steps)
        self.evaluations = (*before, Evaluation(steps, score.value, tuple(scores)))
        self.score = score
        better = takes_last or score.value > self.best
        if better:
            self.best = score.value
        return better

    def write(self, folder: Path) -> None:
        """Write ``curve.csv`` and ``evaluations.csv``."""
        several = self.scores if len(self.scores) > 1 else ()
        head = ["steps", "score", *(cell(one.opponent) for one in several)]
        rows = [
            [at, *(f"{number:.{_DIGITS}f}" for number in (value, *(one.value for one in scores)))][: len(head)]
            for at, value, scores in self.evaluations
        ]
        write_csv(folder / CURVE_FILE, head, rows)
        results = [
            (at, cell(one.opponent), cell(one.measure), one.value, one.low, one.high, one.games)
            for at, _, scores in self.evaluations
            for one in scores
        ]
        write_csv(folder / EVALUATIONS_FILE, ("steps", "opponent", "measure", "value", "low", "high", "games"), results)

    def log(self, logger: Logger, steps: int) -> None:
        """Log the latest evaluation to TensorBoard."""
        if self.score is not None:
            logger.record(f"evaluation/{self.score.measure}", self.score.value)
        for one in self.scores if len(self.scores) > 1 else ():
            logger.record(f"evaluation/against {one.opponent}", one.value)
        logger.dump(steps)


# Curves and pace in a run's folder


def read_evaluations(folder: Path) -> list[Evaluation]:
    """Return a run's results with their intervals; an empty list if it has not noted them. Raises DamagedFileError."""

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
    """Of training, breaks between sessions excluded."""
    steps: int
    games: int
    """Games that the learner has finished."""


class PaceLog:
    """Notes in a run's folder, now and then, how fast its training is.

    Args:
        folder: the run's.
        steps: how far the run is; lines beyond that, of a session that was killed, are dropped.
    """

    def __init__(self, folder: Path, steps: int = 0) -> None:
        self._path, self._due, self._steps = folder / PACE_FILE, 0.0, -1
        try:
            kept = [one for one in read_pace(folder) if one.steps <= steps]
        except (DamagedFileError, ParameterError):  # written anew, as a training is worth more than this
            kept = []
        write_csv(self._path, Pace._fields, kept)
        if kept:
            self._steps = kept[-1].steps

    def note(self, seconds: float, steps: int, games: int, now: bool = False) -> None:
        """Note how far the training is, if a line is due, or ``now``."""
        if steps > self._steps and (now or time.monotonic() >= self._due):
            self._steps, self._due = steps, time.monotonic() + PACE_EVERY
            with self._path.open("a", encoding="utf-8", newline="") as file:
                csv.writer(file).writerow((round(seconds, 2), steps, games))


def read_pace(folder: Path) -> list[Pace]:
    """Return how far a run was when; an empty list if it has not noted that. Raises DamagedFileError."""
    return _read_csv(folder / PACE_FILE, lambda row: Pace(float(row["seconds"]), int(row["steps"]), int(row["games"])))


def write_csv(path: Path, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table, whole or not at all."""
    with writing(path) as unfinished, unfinished.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerow(head)
        csv.writer(file).writerows(rows)


def _read_csv(path: Path, read_row: Callable[[dict[str, str]], _Row]) -> list[_Row]:
    if not path.is_file():
        return []
    text = read_text(path, _INSTEAD)
    try:
        return [read_row(row) for row in csv.DictReader(io.StringIO(text, newline=""))]
    except (KeyError, TypeError, ValueError, csv.Error) as error:
        raise DamagedFileError(path, f"is not what a training writes ({one_line(error, 100)})", _INSTEAD) from None


# Curves in models' files


def curve_fact(evaluations: Sequence[Evaluation]) -> dict[str, Any]:
    """Return the fact `CURVE` of a model, which `curve_in` reads; empty if nothing was measured."""
    if not evaluations:
        return {}
    columns = [
        {"measure": one.measure[:LONGEST_NAME], "opponent": one.opponent[:LONGEST_NAME], "games": one.games}
        for one in evaluations[-1].scores
    ]
    kept = list(evaluations)
    if len(kept) > MOST_POINTS:
        while len(kept) > MOST_POINTS - 2:
            kept = kept[::2]
        best = max(evaluations, key=lambda one: one.value)
        kept = sorted({*kept, best, evaluations[-1]}, key=lambda one: one.steps)

    def plain(score: Score) -> float | list[float]:
        value, low, high = (round(float(one), _DIGITS) for one in (score.value, score.low, score.high))
        return value if value == low == high else [value, low, high]

    points = [[one.steps, round(one.value, _DIGITS), *map(plain, one.scores)] for one in kept]
    return {CURVE: {"columns": columns, "points": points}}


class _Column(NamedTuple):
    measure: Annotated[str, Field(max_length=LONGEST_NAME)]
    opponent: Annotated[str, Field(max_length=LONGEST_NAME)]
    games: _Whole


class _CurveFact(NamedTuple):
    columns: Annotated[list[_Column], Field(min_length=1, max_length=MOST_COLUMNS)]
    points: Annotated[list[list[_Whole | _Number | tuple[_Number, _Number, _Number]]], Field(max_length=MOST_POINTS)]


_FACT = TypeAdapter(_CurveFact)


def curve_in(facts: Mapping[str, Any]) -> tuple[Evaluation, ...]:
    """Return the curve in a model's facts; empty if they hold none, or anything else than trainings write."""
    found = []
    try:
        columns, points = _FACT.validate_python(facts.get(CURVE))
        for steps, value, *cells in points:
            if not isinstance(steps, int) or isinstance(value, tuple):
                return ()
            ends = (cell if isinstance(cell, tuple) else (cell, cell, cell) for cell in cells)
            scores = (
                Score(one.measure, one.opponent, *three, one.games) for one, three in zip(columns, ends, strict=True)
            )
            found.append(Evaluation(steps, float(value), tuple(scores)))
    except (TypeError, ValueError):
        return ()
    return () if any(later.steps <= sooner.steps for sooner, later in itertools.pairwise(found)) else tuple(found)


def facts_of_stages(facts: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the facts of the trainings that a model comes from, the first one first; the last are its own.

    A training that began with another model's networks holds that model's facts as ``began_with``. Strangers may have
    written them, so they may hold anything.
    """
    found = [facts]
    while isinstance(before := found[0].get(BEGAN_WITH), dict) and before:
        found.insert(0, before)
    return found[-MOST_STAGES:]


# Curves of runs in folders


class RunCurve(NamedTuple):
    """The curve of one run."""

    folder: Path
    game: str
    players: int
    score: Score
    """Of the best model: what is measured, and against whom."""
    steps: np.ndarray
    """int64[n]."""
    values: dict[str, np.ndarray]
    """The score as ``"score"`` and, if there are several opponents, the result against each: float64[n]."""


def find_runs(folders: Iterable[Path]) -> tuple[list[RunCurve], list[Path]]:
    """Return the runs in folders or one level below, and the folders without any.

    Raises ParameterError if no folder holds a run.
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
    """Return the curve in a run's folder. Raises DamagedFileError or ModelError for a folder of anything else."""
    instead = "name the folder of a training, or remove this one"
    text = read_text(folder / CURVE_FILE, instead)
    about = model_file.facts(folder / "best.zip")
    try:
        head, *lines = csv.reader(text.splitlines())
        table = np.array([[float(cell) for cell in line] for line in lines])
        if not np.isfinite(table).all():
            raise ValueError("its curve holds a number that is not finite")
        values: dict[str, np.ndarray] = {}
        for name, column in zip(head[1:], table.T[1:], strict=True):  # an opponent may be called "score", too
            values[f"{name} ({len(values)})" if name in values else name] = column
        score = Score.from_json(about["score"])
        game, players, steps = str(about["game"]), int(about["players"]), table[:, 0].astype(np.int64)
        return RunCurve(folder, game, players, score, steps, values)
    except (TypeError, ValueError, KeyError, IndexError, OverflowError, csv.Error) as error:
        raise DamagedFileError(
            folder, f"does not hold what a training writes ({one_line(error, 120)})", instead
        ) from None


# Several runs as a band


class Band(NamedTuple):
    """Some runs at some times; all arrays are float64[n] but for the first two."""

    steps: np.ndarray
    """int64[n]: decisions of the learner."""
    runs: np.ndarray
    """int64[n]: runs that came this far."""
    mean: np.ndarray
    iqm: np.ndarray
    """Interquartile mean; the mean of fewer than `ENOUGH` runs."""
    low: np.ndarray
    """Lower end of its 95 % interval; NaN where fewer than `ENOUGH` runs came this far."""
    high: np.ndarray
    lowest: np.ndarray
    highest: np.ndarray


def interquartile_mean(values: np.ndarray, axis: int = 0) -> np.ndarray:
    """Return the mean of the middle half of ``values`` along ``axis``; the mean of fewer than `ENOUGH`."""
    from scipy.stats import trim_mean

    return np.asarray(trim_mean(values, 0.25, axis=axis), np.float64)


def band_of(steps: np.ndarray, values: np.ndarray) -> Band:
    """Return the band of some runs.

    Args:
        steps: int64[n], when.
        values: float64[runs, n], NaN where a run did not come this far (or is not known); no column of NaN alone.

    The same runs give the same intervals: the bootstrap draws from a generator of its own.
    """
    values = np.asarray(values, np.float64)
    there = ~np.isnan(values)
    n = values.shape[1]
    middle, low, high = (np.full(n, np.nan) for _ in range(3))
    for column in np.unique(there, axis=1).T if n else ():  # the set of runs changes a few times at most
        at = (there == column[:, None]).all(axis=0)
        known = values[np.ix_(column, at)]
        middle[at] = interquartile_mean(known)
        if len(known) >= ENOUGH:
            low[at], high[at] = _interval(known)
    mean, lowest, highest = (of(values, axis=0) for of in (np.nanmean, np.nanmin, np.nanmax))
    return Band(steps, there.sum(axis=0), mean, middle, low, high, lowest, highest)


def _interval(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both ends of the interval of the interquartile mean of float64[runs, n], each float64[n]."""
    from scipy.stats import bootstrap

    how: dict[str, Any] = {"n_resamples": RESAMPLES, "confidence_level": LEVEL, "method": "percentile"}
    rng = np.random.default_rng(0)
    found = bootstrap((values,), interquartile_mean, axis=0, vectorized=True, rng=rng, **how).confidence_interval
    return np.asarray(found.low), np.asarray(found.high)


def common_times(curves: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Return all times of some curves (steps, values), and float64[curves, times] of their values there.

    Between two points of a curve its value is interpolated; outside of them it is NaN.
    """
    steps = np.unique(np.concatenate([times for times, _ in curves]))
    rows = [np.interp(steps, times, values, left=np.nan, right=np.nan) for times, values in curves]
    return steps, np.array(rows)


@dataclass(frozen=True)
class Experiment:
    """A training, or the seeds of one."""

    label: str
    runs: tuple[RunCurve, ...]

    def band(self, name: str) -> Band:
        """Return the band of one of `names`, at the times of all evaluations of its runs."""
        found = [(run.steps, run.values[name]) for run in self.runs if name in run.values]
        steps, values = common_times(found)
        known = ~np.isnan(values).all(axis=0)
        return band_of(steps[known], values[:, known])

    @property
    def names(self) -> list[str]:
        """What there are curves of, ``"score"`` first."""
        return list(dict.fromkeys(name for run in self.runs for name in run.values))


def group_runs(runs: Sequence[RunCurve]) -> list[Experiment]:
    """Return runs by experiment, the seeds of one folder together; labels are folders' names."""
    groups: dict[Path, list[RunCurve]] = {}
    for run in runs:
        is_seed = run.folder.name.startswith(model_file.SEED_FOLDER)
        groups.setdefault(run.folder.parent if is_seed else run.folder, []).append(run)
    return [
        Experiment(f"{folder.name} ({len(members)} seeds)" if len(members) > 1 else folder.name, tuple(members))
        for folder, members in groups.items()
    ]
