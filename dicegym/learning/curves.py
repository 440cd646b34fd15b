"""Learning curves: a learner's scores over its training, their files, and bands over several runs.

A curve is a sequence of `Evaluation`. A run's checkpoint holds it; from there it is written into ``curve.csv`` and
``evaluations.csv`` (`dicegym.learning.run_folder`), and into models' files as the fact `CURVE`: ``columns``, the
opponents, and ``points``, each a list of steps, score, and a cell for each column, which is a number, or [number,
lower, upper end of the 95 % interval]. Anyone may write a model's file, so a fact that no chart can draw is ignored.
The same seed gives the same files, except ``pace.csv``, the speed of the training.

Training depends on luck, so a single curve says little. The centre of several runs is the interquartile mean (the mean
of the middle half), with an interval by the percentile bootstrap over runs, as Agarwal, Schwarzer, Castro, Courville
and Bellemare recommend for few runs ("Deep reinforcement learning at the edge of the statistical precipice", NeurIPS
2021): it is less sensitive to a lucky run than the mean, and more efficient than the median. Fewer than `ENOUGH` runs
have their mean and range instead. No PyTorch is loaded.
"""

from __future__ import annotations

import csv
import io
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from dicegym.errors import DamagedFileError, ParameterError
from dicegym.escape import cell, one_line
from dicegym.files import read_text, writing
from dicegym.learning.evaluate import Score
from dicegym.learning.run_folder import CURVE_FILE, EVALUATIONS_FILE, PACE_FILE
from dicegym.players import model_file

if TYPE_CHECKING:
    from stable_baselines3.common.logger import Logger

CURVE = "curve"
"""The fact with the curve of a model's training."""
BEGAN_WITH = "began_with"
"""The fact with the facts of the model that the training started from."""
MOST_STAGES = 100
"""Last stages of a model's training that are read."""
MOST_POINTS, MOST_COLUMNS = 1_000, 64
"""Points of a curve in a model's file. Longer curves are halved until they fit; the best and the last point stay."""
MOST_STEPS = 1 << 53
"""Most steps, and the largest number in a chart."""
ENOUGH = 4
"""Least runs for the interquartile mean, which leaves out a quarter at each end."""
RESAMPLES = 2_000
"""Resamples of the bootstrap: enough to know the ends of an interval to a fraction of its width."""
LEVEL = 0.95
"""Confidence level of intervals over runs."""
PACE_EVERY = 2.0
"""Seconds between lines of ``pace.csv``."""
_DIGITS = 9
"""Decimals of scores in ``curve.csv`` and in models' files."""
_INSTEAD = "name the folder of a training: `dicegym train` writes it there"

_Row = TypeVar("_Row")


class Evaluation(NamedTuple):
    """An evaluation of a learner after some of its decisions."""

    steps: int
    value: float
    """The score, which normally selects the best model; NaN if only the results are known."""
    scores: tuple[Score, ...]
    """The result against each opponent."""


@dataclass
class Curve:
    """The evaluations of a run so far, and the best score."""

    evaluations: tuple[Evaluation, ...] = ()
    """Sorted by steps."""
    best: float = -math.inf
    """Score of the best model."""
    score: Score | None = None
    """The latest score."""

    @property
    def scores(self) -> tuple[Score, ...]:
        """The latest results, against each opponent."""
        return self.evaluations[-1].scores if self.evaluations else ()

    def add(self, steps: int, score: Score, scores: Sequence[Score], takes_last: bool = False) -> bool:
        """Add an evaluation; return whether its model is the best so far, which ``takes_last`` always affirms.

        It replaces one with the same steps: a finished run that is resumed measures its end again.
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
    """Return the evaluations of a run with intervals; none if the file is missing. Raises DamagedFileError."""

    def result(row: dict[str, str]) -> tuple[int, Score]:
        value, low, high = (float(row[name]) for name in ("value", "low", "high"))
        return int(row["steps"]), Score(row["measure"], row["opponent"], value, low, high, int(row["games"]))

    found: dict[int, list[Score]] = {}
    for steps, score in _read_csv(folder / EVALUATIONS_FILE, result):
        found.setdefault(steps, []).append(score)
    return [Evaluation(steps, math.nan, tuple(scores)) for steps, scores in found.items()]


class Pace(NamedTuple):
    """The progress of a training at some time."""

    seconds: float
    """Seconds of training, without breaks between sessions."""
    steps: int
    games: int
    """Games that the learner has finished."""


class PaceLog:
    """Logs the pace of a training in its folder.

    Args:
        folder: the run's folder.
        steps: steps of the run; later lines, from a session that was killed, are dropped.
    """

    def __init__(self, folder: Path, steps: int = 0) -> None:
        self._path, self._due, self._steps = folder / PACE_FILE, 0.0, -1
        try:
            kept = [one for one in read_pace(folder) if one.steps <= steps]
        except (DamagedFileError, ParameterError):  # the log starts over: a training is more important
            kept = []
        write_csv(self._path, Pace._fields, kept)
        if kept:
            self._steps = kept[-1].steps

    def note(self, seconds: float, steps: int, games: int, now: bool = False) -> None:
        """Write a line if one is due, or ``now``."""
        if steps > self._steps and (now or time.monotonic() >= self._due):
            self._steps, self._due = steps, time.monotonic() + PACE_EVERY
            with self._path.open("a", encoding="utf-8", newline="") as file:
                csv.writer(file).writerow((round(seconds, 2), steps, games))


def read_pace(folder: Path) -> list[Pace]:
    """Return the pace of a run; none if the file is missing. Raises DamagedFileError."""
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
        raise DamagedFileError(path, f"was not written by a training ({one_line(error, 100)})", _INSTEAD) from None


# Curves in models' files


def curve_fact(evaluations: Sequence[Evaluation]) -> dict[str, Any]:
    """Return the fact `CURVE` for a model's file; empty without evaluations."""
    if not evaluations:
        return {}
    last = evaluations[-1].scores
    columns = [{"measure": one.measure, "opponent": one.opponent, "games": one.games} for one in last]
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


def curve_in(facts: Mapping[str, Any]) -> tuple[Evaluation, ...]:
    """Return the curve in a model's facts; empty without one that a chart can draw."""
    try:
        columns, points = (facts[CURVE][name] for name in ("columns", "points"))
        if not 0 < len(columns) <= MOST_COLUMNS or len(points) > MOST_POINTS:
            return ()
        kinds = [(str(one["measure"]), str(one["opponent"]), int(one["games"])) for one in columns]
        rows = [[cell if isinstance(cell, list) else [cell] * 3 for cell in point] for point in points]
        table = np.array(rows, np.float64)  # of steps, value and each column: number, low, high
    except (LookupError, TypeError, ValueError, OverflowError):
        return ()
    if table.shape[1:] != (2 + len(kinds), 3) or not (np.abs(table) <= MOST_STEPS).all():  # NaN too
        return ()
    found = []
    for (steps, *_), (value, *_), *cells in table.tolist():
        named = zip(kinds, cells, strict=True)
        scores = (
            Score(measure, rival, number, low, high, games) for (measure, rival, games), (number, low, high) in named
        )
        found.append(Evaluation(int(steps), value, tuple(scores)))
    return tuple(found)


def facts_of_stages(facts: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the facts of all training stages of a model, in order; the last are its own.

    A training that started from another model has that model's facts as ``began_with``. They may hold anything.
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
    """The score of the best model."""
    steps: np.ndarray
    """int64[n]."""
    values: dict[str, np.ndarray]
    """``"score"``, and by name each of several opponents: float64[n]."""


def find_runs(folders: Iterable[Path]) -> tuple[list[RunCurve], list[Path]]:
    """Return the runs in ``folders`` or one level below, and the folders without one.

    Raises ParameterError if there is no run.
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
    """Return the curve in a run's folder. Raises DamagedFileError or ModelError if it cannot be read."""
    instead = "name the folder of a training, or remove this one"
    text = read_text(folder / CURVE_FILE, instead)
    about = model_file.facts(folder / "best.zip")
    try:
        head, *lines = csv.reader(text.splitlines())
        table = np.array([[float(cell) for cell in line] for line in lines])
        if not np.isfinite(table).all():
            raise ValueError("its curve holds a number that is not finite")
        values: dict[str, np.ndarray] = {}
        for name, column in zip(head[1:], table.T[1:], strict=True):  # an opponent may also have the name "score"
            values[f"{name} ({len(values)})" if name in values else name] = column
        score = Score.from_json(about["score"])
        game, players, steps = str(about["game"]), int(about["players"]), table[:, 0].astype(np.int64)
        return RunCurve(folder, game, players, score, steps, values)
    except (TypeError, ValueError, KeyError, IndexError, OverflowError, csv.Error) as error:
        raise DamagedFileError(
            folder, f"does not hold the files of a training ({one_line(error, 120)})", instead
        ) from None


# Several runs as a band


class Band(NamedTuple):
    """Statistics of several runs at n times; arrays are float64[n] except the first two."""

    steps: np.ndarray
    """int64[n]: decisions of the learner."""
    runs: np.ndarray
    """int64[n]: number of runs with a value."""
    mean: np.ndarray
    iqm: np.ndarray
    """Interquartile mean; the mean of fewer than `ENOUGH` runs."""
    low: np.ndarray
    """Lower end of its 95 % interval; NaN with fewer than `ENOUGH` runs."""
    high: np.ndarray
    lowest: np.ndarray
    highest: np.ndarray


def interquartile_mean(values: np.ndarray, axis: int = 0) -> np.ndarray:
    """Return the mean of the middle half of ``values`` along ``axis``; the mean of fewer than `ENOUGH`."""
    from scipy.stats import trim_mean

    return np.asarray(trim_mean(values, 0.25, axis=axis), np.float64)


def band_of(steps: np.ndarray, values: np.ndarray) -> Band:
    """Return the band of several runs. The bootstrap has a fixed seed, so the same runs give the same intervals.

    Args:
        steps: int64[n], the times.
        values: float64[runs, n], NaN where a run has no value; no column is all NaN.
    """
    values = np.asarray(values, np.float64)
    there = ~np.isnan(values)
    n = values.shape[1]
    middle, low, high = (np.full(n, np.nan) for _ in range(3))
    for column in np.unique(there, axis=1).T if n else ():  # few different sets of runs
        at = (there == column[:, None]).all(axis=0)
        known = values[np.ix_(column, at)]
        middle[at] = interquartile_mean(known)
        if len(known) >= ENOUGH:
            low[at], high[at] = _interval(known)
    mean, lowest, highest = (of(values, axis=0) for of in (np.nanmean, np.nanmin, np.nanmax))
    return Band(steps, there.sum(axis=0), mean, middle, low, high, lowest, highest)


def _interval(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both ends of the interquartile mean's interval for float64[runs, n], each float64[n]."""
    from scipy.stats import bootstrap

    how: dict[str, Any] = {"n_resamples": RESAMPLES, "confidence_level": LEVEL, "method": "percentile"}
    rng = np.random.default_rng(0)
    found = bootstrap((values,), interquartile_mean, axis=0, vectorized=True, rng=rng, **how).confidence_interval
    return np.asarray(found.low), np.asarray(found.high)


@dataclass(frozen=True)
class Experiment:
    """A training, or several seeds of one."""

    label: str
    runs: tuple[RunCurve, ...]

    def band(self, name: str) -> Band:
        """Return the band of one of `names` at the times of all evaluations.

        Values of a run are interpolated between its evaluations, and NaN outside them.
        """
        runs = [run for run in self.runs if name in run.values]
        steps = np.unique(np.concatenate([run.steps for run in runs]))
        rows = [np.interp(steps, run.steps, run.values[name], left=np.nan, right=np.nan) for run in runs]
        values = np.array(rows)
        known = ~np.isnan(values).all(axis=0)
        return band_of(steps[known], values[:, known])

    @property
    def names(self) -> list[str]:
        """The names of the curves, ``"score"`` first."""
        return list(dict.fromkeys(name for run in self.runs for name in run.values))


def group_runs(runs: Sequence[RunCurve]) -> list[Experiment]:
    """Group runs by experiment, the seeds in one folder together; labels are names of folders."""
    groups: dict[Path, list[RunCurve]] = {}
    for run in runs:
        is_seed = run.folder.name.startswith(model_file.SEED_FOLDER)
        groups.setdefault(run.folder.parent if is_seed else run.folder, []).append(run)
    return [
        Experiment(f"{folder.name} ({len(members)} seeds)" if len(members) > 1 else folder.name, tuple(members))
        for folder, members in groups.items()
    ]
