"""The learning curve of a training: what the learner scored when, against whom, and in which files that is kept.

All of it is made of one record, `Evaluation`. A run's checkpoint holds them, and from there they are written into

    curve.csv       steps and score, and the result against each opponent if there are several
    evaluations.csv the results with their intervals: steps, opponent, measure, value, low, high, games
    models' files   as the fact `CURVE`: ``columns``, the opponents of the evaluations, and ``points``, each a list of
                    steps, score, and a cell for each column: a number, or [number, lower, upper end of the 95 %
                    interval]. Strangers may write facts, so they are validated before they are used.

The same seed gives the same files. ``pace.csv`` says how fast a training is, which differs from time to time. No
PyTorch is loaded.
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

from pydantic import Field, Strict, TypeAdapter

from dicegym.errors import DamagedFileError, ParameterError
from dicegym.escape import cell, one_line
from dicegym.files import read_text, writing
from dicegym.learning.evaluate import Score
from dicegym.learning.run_folder import CURVE_FILE, EVALUATIONS_FILE, PACE_FILE

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
    points = [[one.steps, round(one.value, _DIGITS), *map(_plain_cell, one.scores)] for one in kept]
    return {CURVE: {"columns": columns, "points": points}}


def _plain_cell(score: Score) -> float | list[float]:
    value, low, high = (round(float(one), _DIGITS) for one in (score.value, score.low, score.high))
    return value if value == low == high else [value, low, high]


class _Column(NamedTuple):
    measure: Annotated[str, Field(max_length=LONGEST_NAME)]
    opponent: Annotated[str, Field(max_length=LONGEST_NAME)]
    games: _Whole


class _CurveFact(NamedTuple):
    columns: Annotated[list[_Column], Field(min_length=1, max_length=MOST_COLUMNS)]
    points: Annotated[list[list[_Whole | _Number | tuple[_Number, _Number, _Number]]], Field(max_length=MOST_POINTS)]


_FACT = TypeAdapter(_CurveFact)


def read_curve(fact: Any) -> tuple[Evaluation, ...]:
    """Return the evaluations in the fact `CURVE`. Raises ParameterError for anything else."""
    found = []
    try:
        columns, points = _FACT.validate_python(fact)
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
            f"invalid curve {one_line(fact, 100)} ({one_line(error, 80)}): only trainings write curves"
        ) from None
    return tuple(found)


def curve_in(facts: Mapping[str, Any]) -> tuple[Evaluation, ...]:
    """Return the curve in a model's facts; empty if no curve can be read."""
    try:
        return read_curve(facts[CURVE])
    except (LookupError, ParameterError):
        return ()


def facts_of_stages(facts: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the facts of the trainings that a model comes from, the first one first; the last are its own.

    A training that began with another model's networks holds that model's facts as ``began_with``. Strangers may have
    written them, so they may hold anything.
    """
    found = [facts]
    while isinstance(before := found[0].get(BEGAN_WITH), dict) and before:
        found.insert(0, before)
    return found[-MOST_STAGES:]
