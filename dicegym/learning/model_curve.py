"""The curve of a model's training, which its file carries: all evaluations, stage by stage. No PyTorch is loaded.

A training notes it as the fact `CURVE`: ``columns``, whom it was measured against, and ``points``, each a list of the
steps, the score (by which `run.best_by` may choose), and a cell for each column: a number, or [number, lower, upper
end of the 95 % interval]. Facts may be anybody's, so what is no curve is refused before anything is made of it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from dicegym.errors import ParameterError
from dicegym.escape import one_line
from dicegym.learning.diary import Evaluation
from dicegym.learning.evaluate import BY_LAST, Score

CURVE = "curve"
"""Where a model's facts hold the curve of its training."""
CHOSEN = "chosen"
"""Where they say whether a model is the one that its training's evaluations chose, see `chosen_fact`."""
BEGAN_WITH = "began_with"
"""Where they hold those of the model whose networks the training began with."""
MOST_STAGES = 100
"""Of a training, the last ones that are told of."""
MOST_POINTS = 1_000
"""Of a curve: of more, every second one is left out, as often as needed; the best and the last stay."""
MOST_COLUMNS = 64
LONGEST_NAME = 1_000
"""Letters of what is measured, and of an opponent's name."""
MOST_STEPS = 1 << 53
LARGEST = 1e12
"""No score is further from 0."""
_DIGITS = 9
"""Of a score behind the point, as in ``curve.csv``."""

Cell = tuple[float, float, float]
"""A result with the ends of its interval: three times the same number, where it is exact or nobody noted them."""


def chosen_fact(is_best: bool, best_by: str) -> dict[str, bool]:
    """Return the fact `CHOSEN` of a model, that which is ``best.zip`` or that at the end, by its training's settings.

    Nothing of one that is the last so far: whether its training ended with it, nobody knows yet.
    """
    if is_best and best_by == BY_LAST:
        return {}
    return {CHOSEN: is_best}


class CurveColumn(NamedTuple):
    """Whom a learner was measured against, and by what."""

    measure: str
    opponent: str
    games: int
    """Of each evaluation; 0: it is exact."""


class CurvePoint(NamedTuple):
    """An evaluation."""

    steps: int
    score: float
    cells: tuple[Cell, ...]


class ModelCurve(NamedTuple):
    """The evaluations of one training."""

    columns: tuple[CurveColumn, ...]
    points: tuple[CurvePoint, ...]
    """By steps."""

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "columns": [column._asdict() for column in self.columns],
            "points": [[one.steps, one.score, *map(_plain_cell, one.cells)] for one in self.points],
        }

    @classmethod
    def from_json(cls, said: Any) -> ModelCurve:
        """Return what `to_json` told of. Raises ParameterError for anything else."""
        try:
            columns, points = list(said["columns"]), said["points"]
            if not (isinstance(points, list) and 1 <= len(columns) <= MOST_COLUMNS and 1 <= len(points) <= MOST_POINTS):
                raise ValueError(f"it has {len(columns)} columns and {len(points)} points")
            found = cls(tuple(map(_column, columns)), tuple(_point(one, len(columns)) for one in points))
        except (LookupError, TypeError, ValueError, OverflowError) as error:
            raise ParameterError(
                f"{one_line(said, 100)} is no curve ({one_line(error, 80)}): a training writes them, and nobody else"
            ) from None
        steps = [one.steps for one in found.points]
        if any(later <= sooner for sooner, later in itertools.pairwise(steps)):
            raise ParameterError("a curve's points are not in the order of their steps: a training writes them so")
        return found


class LearnedStage(NamedTuple):
    """A training that a model comes from."""

    number: int
    """From 1 on."""
    taught: bool
    """Whether it learned by imitation."""
    steps: int | None
    """At which the model was taken that went on; None: its file does not say."""
    curve: ModelCurve | None
    """None: its file has none, or none that can be read."""


def curve_of(
    points: Iterable[tuple[int, Sequence[float]]], latest: Sequence[Score], evaluations: Sequence[Evaluation]
) -> ModelCurve | None:
    """Return the curve of a training; None if nothing was measured.

    Args:
        points: steps and values, as `dicegym.learning.curve.Curve` has them.
        latest: the results of the last evaluation, one for each opponent.
        evaluations: with their intervals, as far as the training has noted them.
    """
    noted: dict[int, list[Score]] = {}
    for at, result in evaluations:
        noted.setdefault(at, []).append(result)
    found = []
    for steps, (score, *several) in points:
        values, told = several or [score], noted.get(steps, [])
        if len(values) != len(latest):
            continue
        cells = [_cell(one.value, one.low, one.high) for one in told]
        if len(cells) != len(values):
            cells = [_cell(value, value, value) for value in values]
        found.append(CurvePoint(int(steps), _rounded(score), tuple(cells)))
    if not found:
        return None
    return ModelCurve(tuple(map(_column_of, latest)), tuple(_thinned(found)))


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
    return [
        LearnedStage(number, bool(one.get("taught_by")), _steps_of(one), readable(one))
        for number, one in enumerate(stages(facts), 1)
    ]


def readable(facts: Mapping[str, Any]) -> ModelCurve | None:
    """Return the curve that facts hold; None if they hold none that can be read."""
    try:
        return ModelCurve.from_json(facts[CURVE])
    except (LookupError, ParameterError):
        return None


def _steps_of(facts: Mapping[str, Any]) -> int | None:
    said = facts.get("timesteps")
    return said if type(said) is int and 0 <= said <= MOST_STEPS else None


def _thinned(points: list[CurvePoint]) -> list[CurvePoint]:
    """Return `MOST_POINTS` of the points at most."""
    kept = points
    if len(kept) > MOST_POINTS:
        while len(kept) > MOST_POINTS - 2:
            kept = kept[::2]
    best = max(points, key=lambda one: one.score)
    return sorted({*kept, best, points[-1]}, key=lambda one: one.steps)


def _column_of(score: Score) -> CurveColumn:
    return CurveColumn(score.measure[:LONGEST_NAME], score.opponent[:LONGEST_NAME], score.games)


def _cell(value: float, low: float, high: float) -> Cell:
    if not (math.isfinite(low) and math.isfinite(high)):
        low = high = value
    return _rounded(value), _rounded(low), _rounded(high)


def _rounded(value: float) -> float:
    return round(float(value), _DIGITS)


def _plain_cell(cell: Cell) -> float | list[float]:
    return cell[0] if cell[0] == cell[1] == cell[2] else list(cell)


def _column(said: Any) -> CurveColumn:
    measure, opponent, games = said["measure"], said["opponent"], said["games"]
    for one in (measure, opponent):
        if not (isinstance(one, str) and len(one) <= LONGEST_NAME):
            raise TypeError("a column has no name")
    return CurveColumn(measure, opponent, _whole(games))


def _point(said: Any, columns: int) -> CurvePoint:
    if not (isinstance(said, list) and len(said) == columns + 2):
        raise TypeError("a point has not as many cells as there are columns")
    steps, score, *cells = said
    return CurvePoint(_whole(steps), _number(score), tuple(map(_read_cell, cells)))


def _read_cell(said: Any) -> Cell:
    value, low, high = said if isinstance(said, list) else (said, said, said)
    return _number(value), _number(low), _number(high)


def _whole(said: Any) -> int:
    if type(said) is not int or not 0 <= said <= MOST_STEPS:
        raise ValueError("what counts something is no whole number")
    return said


def _number(said: Any) -> float:
    if type(said) not in (int, float) or not -LARGEST <= said <= LARGEST:
        raise ValueError("a score is no finite number")
    return float(said)
