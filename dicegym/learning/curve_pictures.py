"""Pictures of learning curves as SVG or PNG, of a model or of runs in folders.

The picture of a model has a line for each opponent in its file. Runs have a picture for each game, with a line for each
experiment and bands over its seeds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dicegym.errors import DependencyError, ParameterError
from dicegym.escape import one_line
from dicegym.files import write_text, writing
from dicegym.learning.curves import ENOUGH, Experiment, RunCurve, curve_in, group_runs
from dicegym.pictures.captions import with_legend
from dicegym.pictures.charts import Axis, ChartLine, Guide, chart
from dicegym.pictures.raster import can_draw_pixels, png
from dicegym.pictures.svg import Drawing, Tile, element
from dicegym.players import model_file

ENDINGS = (".png", ".svg")
"""Supported formats of pictures."""
SUFFIX = ".curve.svg"
"""Of the picture beside a model."""
MOST_LINES = 8
"""Lines in one picture: more cannot be distinguished."""
SCALE = 3
"""Pixels of a .png for each unit of a drawing."""
_LONGEST = 100
"""Letters of a name in a picture."""


def format_short(number: float) -> str:
    """Return a large number in short form: 12.3 M, 45 k."""
    for size, letter in ((1e6, " M"), (1e3, " k")):
        if number >= size:
            return f"{number / size:.3g}{letter}"
    return f"{number:.3g}"


class CurvePicture(NamedTuple):
    """A chart of curves with its legend, remarks and table."""

    chart: Drawing
    """Without legend, for pages that write their own."""
    names: list[str]
    """Names of the lines, in order."""
    remarks: list[str]
    """Explanations of the marks."""
    titles: Sequence[str] = ()
    """Titles of the table's columns; empty without a table."""
    rows: Sequence[Sequence[str]] = ()
    """Rows of the table, one for each experiment."""

    def with_legend(self) -> Drawing:
        """Return the chart with its legend and remarks."""
        return with_legend(self.chart, self.names, self.remarks)


def score_axis(measure: str) -> Axis:
    """Return the axis for a measure: shares of games in per cent."""
    if "rate" in measure:
        return Axis(measure, lambda value: f"{100 * value:.3g} %")
    return Axis(measure, lambda value: f"{value:,.10g}")


def steps_axis() -> Axis:
    """Return the axis for decisions of the learner."""
    return Axis("decisions of the learner", lambda number: format_short(number) if number else "0", 0)


def even_marks(players: int, measure: str) -> tuple[Guide, ...]:
    """Return the line at equal strength, if shares of games are measured."""
    return (Guide(1 / players, "as good as the others"),) if players > 1 and "rate" in measure else ()


# Of a model


def draw_learned(facts: Mapping[str, Any]) -> CurvePicture | None:
    """Return the picture of the curve in a model's facts; None without a curve.

    A vertical line marks the model, if its training continued.
    """
    curve = curve_in(facts)
    if not curve:
        return None
    lines = []
    if len(curve[0].scores) > 1:
        lines.append(ChartLine("the score", [(one.steps, one.value) for one in curve]))
    for number, first in enumerate(curve[0].scores):
        name = f"against {one_line(first.opponent, _LONGEST)}" if first.opponent else one_line(first.measure, 60)
        column = [(one.steps, one.scores[number]) for one in curve]
        wide = any(score.low < score.high for _, score in column)
        band = [(score.low, score.high) for _, score in column] if wide else ()
        lines.append(ChartLine(name, [(steps, score.value) for steps, score in column], band))
    drawn = lines[:MOST_LINES]
    measure = " / ".join(list(dict.fromkeys(one_line(score.measure, 60) for score in curve[0].scores))[:3])
    players, taken = facts.get("players"), facts.get("timesteps")
    marks = even_marks(players, measure) if type(players) is int and 1 < players < 100 else ()
    remarks = ["Bands are 95 % intervals."] if any(line.band for line in drawn) else []
    if len(lines) > len(drawn):
        remarks.append(f"{len(lines) - len(drawn)} more opponents are left out.")
    title = f"Learning curve: {measure} by decisions of the learner"
    across = [Guide(taken, "this model")] if isinstance(taken, int) and 0 <= taken < curve[-1].steps else []
    picture = chart(title, drawn, steps_axis(), score_axis(measure), marks, across)
    return CurvePicture(picture, [line.name for line in drawn], remarks)


def write_learned(model: Path) -> Path | None:
    """Write the picture of a model's curve beside its file; return its path. Raises ModelError.

    Without a curve, return None and remove the picture there, which belongs to another model.
    """
    path, found = model.with_suffix(SUFFIX), draw_learned(model_file.facts(model))
    if found is None:
        path.unlink(missing_ok=True)
        return None
    write_picture(found.with_legend(), path)
    return path


# Of runs


def draw_runs(runs: Sequence[RunCurve]) -> dict[tuple[str, int], CurvePicture]:
    """Return a picture for each game and number of players in ``runs``; see `draw_experiments`."""
    games = dict.fromkeys((run.game, run.players) for run in runs)
    panels = {game: group_runs([run for run in runs if (run.game, run.players) == game]) for game in games}
    return {game: draw_experiments(groups) for game, groups in panels.items()}


def draw_experiments(groups: Sequence[Experiment]) -> CurvePicture:
    """Return the picture of experiments of one game, with a table of the best score of each.

    One experiment has a line for each opponent of its evaluations; several have one line each, of their score. Runs
    that differ only in their seed are one line. Its band is the 95 % interval of the interquartile mean if all such
    lines have `ENOUGH` runs, otherwise the range around the mean.
    """
    first, alone = groups[0].runs[0], len(groups) == 1
    several = [len(group.runs) for group in groups if len(group.runs) > 1]
    sure = bool(several) and min(several) >= ENOUGH
    what, around = (
        ("interquartile mean", "95 % intervals of the interquartile mean")
        if sure
        else ("mean", "from the lowest run to the highest")
    )
    lines, rows = [], []
    wanted = [(group, name) for group in groups for name in (group.names if alone else ["score"])]
    for group, name in wanted[:MOST_LINES]:
        found = group.band(name)
        shown = (found.iqm, found.low, found.high) if sure else (found.mean, found.lowest, found.highest)
        steps, middle, low, high = (one.tolist() for one in (found.steps, *shown))
        band = list(zip(low, high, strict=True)) if len(group.runs) > 1 else ()
        label = one_line(_legend(group, name, alone, what), _LONGEST)
        lines.append(ChartLine(label, list(zip(steps, middle, strict=True)), band))
        if name == "score":
            best = max(range(len(steps)), key=middle.__getitem__)
            interval = f"{low[best]:.4f} to {high[best]:.4f}" if band and math.isfinite(low[best]) else ""
            rows.append([group.label, str(len(group.runs)), f"{middle[best]:.4f}", interval, f"{steps[best]:,}"])
    scores = [run.score for group in groups for run in group.runs]
    measure = " / ".join(dict.fromkeys(one_line(score.measure, 60) for score in scores))
    rivals = list(dict.fromkeys(one_line(score.opponent, 60) for score in scores))
    title = f"{first.game}, {first.players} player{'s' if first.players > 1 else ''}: {measure}"
    if len(rivals) == 1 and first.players > 1:
        title += f" against {rivals[0]}"
    remarks = [f"Lines of several seeds: {what}; bands: {around}."] if any(one.band for one in lines) else []
    if len(wanted) > len(lines):
        remarks.append(f"{len(wanted) - len(lines)} more are left out: choose fewer.")
    drawn = chart(title, lines, steps_axis(), score_axis(measure), even_marks(first.players, measure))
    titles = ["experiment", "runs", f"best {what}", around, "at steps"]
    return CurvePicture(drawn, [line.name for line in lines], remarks, titles, rows)


def _legend(group: Experiment, name: str, alone: bool, what: str) -> str:
    """Return the name of a line."""
    if name != "score":
        return f"against {name}"
    if alone and len(group.names) > 1:
        score = group.runs[0].score
        return f"{score.measure} against {score.opponent}"
    return f"{what} of {group.label}" if alone and len(group.runs) > 1 else group.label


# Files


def check_picture(path: Path) -> None:
    """Raise DependencyError or ParameterError if no picture can be written to ``path``."""
    if path.suffix not in ENDINGS:
        raise ParameterError(f"{path} cannot hold a picture: name a file that ends in {' or '.join(ENDINGS)}")
    if path.suffix == ".png" and not can_draw_pixels():
        raise DependencyError.for_extra("resvg-py", "render", "a picture of a curve as PNG")


def write_picture(drawing: Drawing, path: Path) -> None:
    """Write a drawing as SVG or PNG, by the suffix of ``path``. Raises as `check_picture` does."""
    check_picture(path)
    if path.suffix == ".svg":
        write_text(path, drawing.svg() + "\n")
        return
    width, height = SCALE * drawing.width, SCALE * drawing.height
    body = element("g", drawing.body, transform=f"scale({SCALE})")
    content = png(Drawing(width, height, (Tile(0, 0, width, height, body),), drawing.title))
    with writing(path) as unfinished:
        unfinished.write_bytes(content)


def write_curves(pictures: Sequence[CurvePicture], path: Path) -> None:
    """Write pictures below each other, each with its title. Raises as `check_picture` does."""
    tiles: list[Tile] = []
    height = 0
    for one in pictures:
        panel = one._replace(remarks=[f"{one.chart.title}.", *one.remarks]).with_legend()
        tiles += [tile._replace(y=tile.y + height) for tile in panel.tiles]
        height += panel.height
    title = "; ".join(one.chart.title for one in pictures)
    write_picture(Drawing(max(one.chart.width for one in pictures), height, tuple(tiles), title), path)
