"""The picture of how a model was learned, drawn from what its file says: a line for each opponent over all stages."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from dicegym.errors import ModelError
from dicegym.escape import one_line
from dicegym.files import write_text
from dicegym.learning.model_curve import Cell, LearnedStage, ModelCurve, stages_of
from dicegym.learning.pictures import short
from dicegym.pictures.charts import Axis, ChartLine, Guide, chart
from dicegym.pictures.legend import with_legend
from dicegym.pictures.svg import Drawing
from dicegym.players import model as models

SUFFIX = ".curve.svg"
"""Of the file beside a model that shows how it was learned."""
MOST_LINES = 8
"""Of one picture: more are not told apart."""
FEW_STAGES = 5
"""More are numbered alone, as there is no room for words."""
ROOM = 0.2
"""Of a picture's width: what is left beside a stage's words, which then say too that the model is of it."""
_THIS = "this model"
_LONGEST = 100
"""Letters of a name in a picture."""


class LearnedPicture(NamedTuple):
    """How a model was learned."""

    chart: Drawing
    """Without legend, for pages that write their own."""
    names: list[str]
    """Of its lines, in their order."""
    remarks: list[str]
    """What its marks mean."""

    def alone(self) -> Drawing:
        """Return it as a picture that needs nothing beside it."""
        return with_legend(self.chart, self.names, self.remarks)


def score_axis(measure: str) -> Axis:
    """Return the axis of what is measured: shares of games in per cent."""
    if "rate" in measure:
        return Axis(measure, lambda value: f"{100 * value:.3g} %")
    return Axis(measure, lambda value: f"{value:,.10g}")


def steps_axis() -> Axis:
    """Return the axis of how long a learner has learned."""
    return Axis("decisions of the learner", lambda number: short(number) if number else "0", 0)


def even_marks(players: int, measure: str) -> tuple[Guide, ...]:
    """Return what equals come to, if it is shares of games that are measured."""
    return (Guide(1 / players, "as good as the others"),) if players > 1 and "rate" in measure else ()


def learned(facts: Mapping[str, Any]) -> LearnedPicture | None:
    """Return the picture of how a model was learned, by what its file says; None if that tells no curve.

    A training that began with another model's networks goes on where that model was taken, and a line across tells the
    two apart. Beyond that, the earlier training's curve is not this model's.
    """
    told = stages_of(facts)
    curves = [stage.curve for stage in told if stage.curve is not None]
    if not curves:
        return None
    lines: dict[str, list[tuple[float, Cell]]] = {}
    borders, begin = [], 0
    for stage in told:
        last = stage is told[-1]
        if len(told) > 1:
            words = _stage_words(stage, len(told))
            borders.append(Guide(begin, words, str(stage.number) if words != str(stage.number) else ""))
        for name, points in _lines_of(stage, None if last else stage.steps).items():
            lines.setdefault(name, []).extend((begin + steps, cell) for steps, cell in points)
        taken = _taken(stage)
        if last and stage.curve is not None and taken < stage.curve.points[-1].steps:
            borders += _of_model(begin, taken, stage.curve.points[-1].steps, borders)
        begin += taken
    named = list(lines.items())[:MOST_LINES]
    drawn = [
        ChartLine(
            name, [(at, cell[0]) for at, cell in points], [cell[1:] for _, cell in points] if _wide(points) else ()
        )
        for name, points in named
    ]
    measures = list(dict.fromkeys(one_line(column.measure, 60) for curve in curves for column in curve.columns))
    measure = " / ".join(measures[:3])
    players = facts.get("players")
    marks = even_marks(players, measure) if type(players) is int and 1 < players < 100 else ()
    title = f"Learning curve: {measure} by decisions of the learner, {begin:,} for this model"
    remarks = ["Bands are 95 % intervals."] if any(line.band for line in drawn) else []
    if len(lines) > len(named):
        remarks.append(f"{len(lines) - len(named)} more opponents are left out.")
    picture = chart(title, drawn, steps_axis(), score_axis(measure), marks, borders)
    return LearnedPicture(picture, [name for name, _ in named], remarks)


def write_learned(model: Path) -> Path | None:
    """Write the picture of how a model was learned beside its file; return its path.

    None: its file tells no curve. Then a picture that lies there is of another model, and is removed.

    Raises ModelError if it is no model.
    """
    path, found = model.with_suffix(SUFFIX), learned(models.facts(model))
    if found is None:
        path.unlink(missing_ok=True)
        return None
    write_text(path, found.alone().svg() + "\n")
    return path


def check_learned(model: Path) -> LearnedPicture:
    """Return the picture of how a model was learned. Raises ModelError if it is none, or its file tells no curve."""
    found = learned(models.facts(model))
    if found is None:
        raise ModelError(
            f"{model} does not say how it was learned: only models of `dicegym train` carry a curve. "
            "`dicegym plot RUN_DIR` draws that of a training's folder"
        )
    return found


def _of_model(begin: int, taken: int, end: int, borders: list[Guide]) -> list[Guide]:
    """Return what marks where the model was taken from its training, which went on to ``end``.

    Where there is no room for words, those of the stage's border say it too.
    """
    if borders and taken < ROOM * (begin + end):
        borders[-1] = borders[-1]._replace(words=f"{borders[-1].words}, {_THIS}")
        return [Guide(begin + taken, "")]
    return [Guide(begin + taken, _THIS)]


def _stage_words(stage: LearnedStage, of: int) -> str:
    if of > FEW_STAGES:
        return str(stage.number)
    return f"{stage.number}: taught" if stage.taught else f"stage {stage.number}"


def _taken(stage: LearnedStage) -> int:
    """Return after how many steps of a stage the model was taken that went on."""
    if stage.steps is not None:
        return stage.steps
    return stage.curve.points[-1].steps if stage.curve is not None else 0


def _lines_of(stage: LearnedStage, until: int | None) -> dict[str, list[tuple[int, Cell]]]:
    """Return what a stage adds to each line, by names: all of it, or ``until`` so many steps."""
    curve: ModelCurve | None = stage.curve
    if curve is None:
        return {}
    points = [one for one in curve.points if until is None or one.steps <= until]
    found: dict[str, list[tuple[int, Cell]]] = {}
    if len(curve.columns) > 1:
        found["the score"] = [(one.steps, (one.score, one.score, one.score)) for one in points]
    for number, column in enumerate(curve.columns):
        against = f"against {one_line(column.opponent, _LONGEST)}" if column.opponent else one_line(column.measure, 60)
        found.setdefault(against, [(one.steps, one.cells[number]) for one in points])
    return found


def _wide(points: list[tuple[float, Cell]]) -> bool:
    """Return whether any result has an interval."""
    return any(low < high for _, (_, low, high) in points)
