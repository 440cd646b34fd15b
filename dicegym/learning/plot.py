"""Learning curves as a picture: a panel for each game, a line for each experiment, bands over its seeds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dicegym.errors import unknown_name
from dicegym.files import writing
from dicegym.learning.band import ENOUGH, Band
from dicegym.learning.curves import Experiment, RunCurve, experiments
from dicegym.learning.pictures import check_picture, pyplot, short

PURPOSE = "the picture of a curve"
COLOURS = ("#1b4965", "#e07a1f", "#6a994e", "#8d6a9f", "#c1121f", "#5fa8d3", "#7f5539", "#222222")
"""Of lines, in their order."""
_BAND = 0.18
"""How opaque a band is."""


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
"""What may be drawn of several runs; see `dicegym.learning.band`."""
AUTO = "auto"
"""The interval where each experiment of several runs has enough of them, else the range."""


def shown(band: str, groups: Sequence[Experiment]) -> Shown:
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
    `shown`.

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
    what = shown(band, [group for groups in panels for group in groups])
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
    axes.plot(steps, _of(found, what.line), color=colour, label=label, **style)
    if len(group.runs) > 1:
        low, high = _of(found, what.low), _of(found, what.high)
        axes.fill_between(steps, low, high, color=colour, alpha=_BAND, linewidth=0)


def _of(found: Band, name: str) -> np.ndarray:
    values: np.ndarray = getattr(found, name)
    return values


def _legend(group: Experiment, name: str, alone: bool, what: Shown) -> str:
    """Return what a line is called: by its opponent where it is about one experiment."""
    if name != "score":
        return f"against {name}"
    if alone and len(group.names) > 1:
        score = group.runs[0].score
        return f"{score.measure} against {score.opponent}"
    return group.label.replace("mean of", f"{what.middle} of", 1) if alone else group.label
