"""Pictures of learning curves: of a model, from what its file says, and of the runs in folders.

Those of models are drawn as SVG by `dicegym.pictures.charts`, a line for each opponent over all stages. Those of runs
are drawn by matplotlib, which needs the extra ``train``: a panel for each game, a line for each experiment, bands over
its seeds.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dicegym.errors import DependencyError, ModelError, ParameterError, unknown_name
from dicegym.escape import one_line
from dicegym.files import write_text, writing
from dicegym.learning.curves import ENOUGH, Evaluation, Experiment, LearnedStage, RunCurve, experiments, stages_of
from dicegym.pictures.charts import Axis, ChartLine, Guide, chart
from dicegym.pictures.legend import with_legend
from dicegym.pictures.svg import Drawing
from dicegym.players import model as models

ENDINGS = (".png", ".svg")
"""Of the files that matplotlib writes pictures to."""
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
ChartPoint = tuple[float, float, float, float]
"""Steps, value, and the ends of its interval."""
PURPOSE = "the picture of a curve"
COLOURS = ("#1b4965", "#e07a1f", "#6a994e", "#8d6a9f", "#c1121f", "#5fa8d3", "#7f5539", "#222222")
"""Of lines, in their order."""
_BAND = 0.18
"""How opaque a band is."""


def short(number: float) -> str:
    """Return a large number as people say it: 12.3 M, 45 k."""
    for size, letter in ((1e6, " M"), (1e3, " k")):
        if number >= size:
            return f"{number / size:.3g}{letter}"
    return f"{number:.3g}"


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


def draw_learned(facts: Mapping[str, Any]) -> LearnedPicture | None:
    """Return the picture of how a model was learned, by what its file says; None if that tells no curve.

    A training that began with another model's networks goes on where that model was taken, and a line across tells the
    two apart. Beyond that, the earlier training's curve is not this model's.
    """
    told = stages_of(facts)
    if not any(stage.curve for stage in told):
        return None
    lines: dict[str, list[ChartPoint]] = {}
    borders, begin = [], 0
    for stage in told:
        last = stage is told[-1]
        if len(told) > 1:
            words = _stage_words(stage, len(told))
            borders.append(Guide(begin, words, str(stage.number) if words != str(stage.number) else ""))
        for name, points in _lines_of([one for one in stage.curve if last or one.steps <= stage.steps], begin).items():
            lines.setdefault(name, []).extend(points)
        if last and stage.curve and stage.steps < stage.curve[-1].steps:
            borders += _of_model(begin, stage.steps, stage.curve[-1].steps, borders)
        begin += stage.steps
    named = list(lines.items())[:MOST_LINES]
    drawn = []
    for name, points in named:
        band = [(low, high) for _, _, low, high in points]
        wide = any(low < high for low, high in band)
        drawn.append(ChartLine(name, [(at, value) for at, value, *_ in points], band if wide else ()))
    measured = (score for stage in told for one in stage.curve[:1] for score in one.scores)
    measures = list(dict.fromkeys(one_line(score.measure, 60) for score in measured))
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
    path, found = model.with_suffix(SUFFIX), draw_learned(models.facts(model))
    if found is None:
        path.unlink(missing_ok=True)
        return None
    write_text(path, found.alone().svg() + "\n")
    return path


def check_learned(model: Path) -> LearnedPicture:
    """Return the picture of how a model was learned. Raises ModelError if it is none, or its file tells no curve."""
    found = draw_learned(models.facts(model))
    if found is None:
        raise ModelError(
            f"{model} does not say how it was learned: only models of `dicegym train` carry a curve. "
            "`dicegym runs plot RUN_DIR` draws that of a training's folder"
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


def _lines_of(curve: Sequence[Evaluation], begin: int) -> dict[str, list[ChartPoint]]:
    """Return what a stage's curve adds to each line, by names; the stage began after so many steps."""
    found: dict[str, list[ChartPoint]] = {}
    if curve and len(curve[0].scores) > 1:
        found["the score"] = [(begin + one.steps, one.value, one.value, one.value) for one in curve]
    for number, first in enumerate(curve[0].scores if curve else ()):
        name = f"against {one_line(first.opponent, _LONGEST)}" if first.opponent else one_line(first.measure, 60)
        column = ((begin + one.steps, one.scores[number]) for one in curve)
        found.setdefault(name, [(steps, score.value, score.low, score.high) for steps, score in column])
    return found


# Runs, by matplotlib


def pyplot(purpose: str) -> Any:
    """Return `matplotlib.pyplot`, drawing into files. Raises DependencyError if it is not installed."""
    try:
        importlib.import_module("matplotlib").use("agg")
        return importlib.import_module("matplotlib.pyplot")
    except ImportError as error:
        raise DependencyError.for_extra("matplotlib", "train", purpose) from error


def check_picture(path: Path, purpose: str) -> None:
    """Raise DependencyError or ParameterError if no picture can be drawn to ``path``, before any work is done."""
    pyplot(purpose)
    if path.suffix not in ENDINGS:
        raise ParameterError(f"{path} is no kind of picture: name a file that ends in {' or '.join(ENDINGS)}")


class Shown(NamedTuple):
    """What is drawn of several runs: a line and a band, by the names of what `Band` has of them."""

    line: str
    low: str
    high: str
    middle: str
    """What the line is, in words."""
    words: str
    """What the band is, in words."""


BANDS = {
    "interval": Shown("iqm", "low", "high", "interquartile mean", "95 % intervals of the interquartile mean"),
    "quartiles": Shown("median", "lower_quartile", "upper_quartile", "median", "from the lower quartile to the upper"),
    "range": Shown("mean", "lowest", "highest", "mean", "from the lowest run to the highest"),
}
"""What may be drawn of several runs; see `dicegym.learning.curves`."""
AUTO = "auto"
"""The interval where each experiment of several runs has enough of them, else the range."""


def choose_band(band: str, groups: Sequence[Experiment]) -> Shown:
    """Return what ``band``, `AUTO` or one of `BANDS`, draws of experiments. Raises UnknownNameError."""
    if band not in (AUTO, *BANDS):
        raise unknown_name("band", band, [AUTO, *BANDS])
    if band != AUTO:
        return BANDS[band]
    several = [len(group.runs) for group in groups if len(group.runs) > 1]
    return BANDS["interval" if several and min(several) >= ENOUGH else "range"]


def draw_curves(runs: Sequence[RunCurve], path: Path, band: str = AUTO) -> None:
    """Write the curves of ``runs`` to ``path``.

    One experiment is drawn with a line for each opponent of its evaluations; several are drawn with a line each, by
    their score. ``band`` says what is drawn of runs that differ in their seed alone: see
    `choose_band`.

    Raises:
        ParameterError: ``path`` is no .png or .svg.
        UnknownNameError: there is no such band.
        DependencyError: matplotlib is not installed.
    """
    games = dict.fromkeys((run.game, run.players) for run in runs)
    panels = [experiments([run for run in runs if (run.game, run.players) == game]) for game in games]
    draw_experiments(panels, path, band)


def draw_experiments(panels: Sequence[Sequence[Experiment]], path: Path, band: str = AUTO) -> None:
    """Write a picture with a panel for each of ``panels``, whose experiments are of one game; see `draw_curves`."""
    check_picture(path, PURPOSE)
    what = choose_band(band, [group for groups in panels for group in groups])
    plt = pyplot(PURPOSE)
    figure, places = plt.subplots(
        len(panels), 1, figsize=(8, 0.8 + 3.9 * len(panels)), layout="constrained", squeeze=False
    )
    for axes, groups in zip(places[:, 0], panels, strict=True):
        _panel(axes, groups, what)
    with writing(path) as unfinished:
        figure.savefig(unfinished, dpi=150)
    plt.close(figure)


def _panel(axes: Any, groups: Sequence[Experiment], what: Shown) -> None:
    """Draw the curves of one game."""
    runs = [run for group in groups for run in group.runs]
    first = runs[0]
    measures = list(dict.fromkeys(run.score.measure for run in runs))
    rivals = list(dict.fromkeys(run.score.opponent for run in runs))
    lines = [(group, name) for group in groups for name in (group.names if len(groups) == 1 else ["score"])]
    for number, (group, name) in enumerate(lines):
        _line(axes, group, name, COLOURS[number % len(COLOURS)], _legend(group, name, len(groups) == 1, what), what)
    if first.players > 1:
        axes.axhline(1 / first.players, color="0.5", linewidth=1, linestyle=":", label="as good as the others")
    against = f" against {rivals[0]}" if len(rivals) == 1 and first.players > 1 else ""
    axes.set_title(f"{first.game}, {first.players} player{'s' if first.players > 1 else ''}", loc="left")
    if any(len(group.runs) > 1 for group in groups):
        axes.set_title(f"bands: {what.words}", loc="right", fontsize="small", color="0.4")
    axes.set_xlabel("decisions of the learner")
    axes.set_ylabel(f"{' / '.join(measures)}{against}", wrap=True)
    axes.xaxis.set_major_formatter(lambda value, _: short(value))
    axes.set_xlim(left=0)
    axes.grid(color="0.9")
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(frameon=False, fontsize="small", loc="best")


def _line(axes: Any, group: Experiment, name: str, colour: str, label: str, what: Shown) -> None:
    found = group.band(name)
    steps = found.steps
    main = name == "score"
    style = {"linewidth": 2.0 if main else 1.2, "marker": "o" if len(steps) == 1 else ""}
    axes.plot(steps, getattr(found, what.line), color=colour, label=label, **style)
    if len(group.runs) > 1:
        low, high = getattr(found, what.low), getattr(found, what.high)
        axes.fill_between(steps, low, high, color=colour, alpha=_BAND, linewidth=0)


def _legend(group: Experiment, name: str, alone: bool, what: Shown) -> str:
    """Return what a line is called: by its opponent where it is about one experiment."""
    if name != "score":
        return f"against {name}"
    if alone and len(group.names) > 1:
        score = group.runs[0].score
        return f"{score.measure} against {score.opponent}"
    return group.label.replace("mean of", f"{what.middle} of", 1) if alone else group.label
