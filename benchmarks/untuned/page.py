"""All curves of a folder on one page: a picture with a panel for each environment, and a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.chart import check_picture, pyplot
from benchmarks.untuned.agreement import UntunedAgreement, agreements, ends_of
from benchmarks.untuned.folder import UntunedCurves, UntunedPanel
from benchmarks.untuned.ways import WAYS, way_named
from dicegym.errors import unknown_name
from dicegym.files import writing
from dicegym.learning.curves import ENOUGH, LEVEL

PURPOSE = "the picture of the curves"
COLOURS = ("#1b4965", "#e07a1f", "#6a994e", "#8d6a9f", "#c1121f", "#5fa8d3", "#7f5539", "#222222")
"""Of lines, in their order."""
_ACROSS = 3
MEASURES = ("minutes", "steps")
"""What curves can be drawn against: time tells how soon, and decisions do not depend on the machine."""
_SHORT = 2.0
"""Minutes below which curves are drawn over seconds."""
_GAP = 0.075
"""Between two names at the ends of lines, as a share of a panel's height."""
AGREEMENT_TITLES = ["environment", "ways", "decisions", "at the end", "bands share"]
TITLES = ["environment", "way", "seeds", "minutes", "steps/s", "random play", "at the end", "interval", "above random"]


class UntunedRow(NamedTuple):
    """What the seeds of one way came to in one environment."""

    environment: str
    way: str
    seeds: int
    minutes: float
    steps_a_second: float
    """Of the learner, a second of processor time."""
    random: float
    """Mean result of random play."""
    end: float
    """Interquartile mean over seeds of the mean result of the last tenth of the time; of few seeds the mean."""
    low: float
    """Lower end of its interval over the seeds, or of few seeds the lowest."""
    high: float
    learned: float | None
    """As `UntunedPanel.learned` has it."""

    def cells(self) -> list[str]:
        """Return it as a line of the table."""
        learned = "-" if self.learned is None else f"{60 * self.learned:.0f} s"
        return [
            self.environment,
            self.way,
            str(self.seeds),
            f"{self.minutes:g}",
            f"{self.steps_a_second:,.0f}",
            f"{self.random:.2f}",
            f"{self.end:.2f}",
            f"{self.low:.2f} to {self.high:.2f}",
            learned,
        ]


def rows(found: UntunedCurves) -> list[UntunedRow]:
    """Return the table: a row for each way in each environment."""
    return [_row(panel, way) for panel in found.panels for way in panel.curves]


def _row(panel: UntunedPanel, way: str) -> UntunedRow:
    curves, band = panel.curves[way], panel.band(way)
    low, high = ends_of(len(curves), band)
    last = max(1, len(band.iqm) // 10)
    minutes = min(curve.minutes for curve in curves)
    speed = float(np.mean([curve.steps / (60 * curve.minutes) for curve in curves]))
    end, below, above = (float(column[-last:].mean()) for column in (band.iqm, low, high))
    return UntunedRow(
        panel.environment, way, len(curves), minutes, speed, panel.random, end, below, above, panel.learned(way)
    )


def markdown(found: UntunedCurves) -> str:
    """Return the table for a page, with what it was measured by."""
    table = rows(found)
    shown = [at for at, title in enumerate(TITLES) if title not in ("seeds", "minutes")]  # which the text below says
    every = [TITLES, *(row.cells() for row in table)]
    titles, *lines = ["| " + " | ".join(cells[at] for at in shown) + " |" for cells in every]
    lines = [titles, "|" + "---|" * len(shown), *lines]
    both = agreements(found)
    if both:
        lines += ["", "| " + " | ".join(AGREEMENT_TITLES) + " |", "|" + "---|" * len(AGREEMENT_TITLES)]
        lines += ["| " + " | ".join(agreement_cells(one)) + " |" for one in both]
    seeds = " or ".join(str(number) for number in sorted({row.seeds for row in table}))
    lengths = " and ".join(f"{minutes:g}" for minutes in found.minutes)
    versions = ", ".join(f"{package} {version}" for package, version in found.versions.items())
    lines += [
        "",
        f"Each curve had {lengths} minutes of one processor's time, and each way {seeds} seeds, on {found.machine}, "
        f"with {versions}. The results at the end are those of the last tenth of the episodes, while the learner "
        f"sampled its actions; intervals are {LEVEL:.0%} ones of the interquartile mean over seeds, or the range of "
        f"fewer than {ENOUGH}.",
        "",
    ]
    return "\n".join(lines)


def agreement_cells(found: UntunedAgreement) -> list[str]:
    """Return how two ways compare as a line of a table."""
    first, second = found.ends
    return [
        found.environment,
        f"{found.first}, {found.second}",
        f"{found.steps:,}",
        f"{first:.2f}, {second:.2f}",
        f"{found.shared:.0%}",
    ]


def draw(found: UntunedCurves, path: Path, against: str = "minutes") -> None:
    """Draw a panel for each environment, a line with a band for each way, into a .png or .svg.

    Args:
        found: the curves.
        path: of the picture.
        against: one of `MEASURES`; decisions are drawn by their logarithm, as ways differ in them by so much.

    Raises:
        UnknownNameError: curves cannot be drawn against that.
        ParameterError: ``path`` is neither.
        DependencyError: matplotlib is not installed.
    """
    if against not in MEASURES:
        raise unknown_name("measure", against, list(MEASURES))
    check_picture(path, PURPOSE)
    plt = pyplot(PURPOSE)
    across = min(_ACROSS, len(found.panels))
    down = -(-len(found.panels) // across)
    figure, grid = plt.subplots(
        down, across, figsize=(4.2 * across, 0.9 + 3.0 * down), layout="constrained", squeeze=False
    )
    unit, said = (1.0, "minutes") if max(found.minutes) >= _SHORT else (60.0, "seconds")
    labels: dict[str, Any] = {}
    for axes, panel in zip(grid.flat, found.panels, strict=False):
        labels |= _panel(axes, panel, against, unit)
    for axes in grid.flat[len(found.panels) :]:
        axes.set_axis_off()
    below = "decisions of the learner" if against == "steps" else f"{said} of one processor"
    figure.supxlabel(below, fontsize="medium")
    figure.supylabel("mean result of an episode", fontsize="medium")
    figure.legend(labels.values(), labels.keys(), loc="outside upper center", ncols=2, frameon=False, fontsize="small")
    with writing(path) as unfinished:
        figure.savefig(unfinished, dpi=100)
    plt.close(figure)


def _panel(axes: Any, panel: UntunedPanel, against: str, unit: float) -> dict[str, Any]:
    """Draw the curves of an environment, a minute being ``unit`` long; return what the legend shows, by label."""
    shown: dict[str, Any] = {}
    names = [way.name for way in WAYS]
    ends: list[tuple[float, float, str, str]] = []
    for way, curves in panel.curves.items():
        colour = COLOURS[names.index(way)]
        band = panel.band(way) if against == "minutes" else panel.band_by_steps(way)
        places = unit * panel.times(way) if against == "minutes" else band.steps
        low, high = ends_of(len(curves), band)
        (shown[f"{way}: {way_named(way).title}"],) = axes.plot(places, band.iqm, color=colour, linewidth=1.8)
        if len(curves) > 1:
            axes.fill_between(places, low, high, color=colour, alpha=0.2, linewidth=0)
        ends.append((float(places[-1]), float(band.iqm[-1]), way, colour))
    shown["random play"] = axes.axhline(panel.random, color="0.4", linewidth=1, linestyle=":")
    axes.set_title(panel.environment, loc="left", fontsize="medium")
    longest = max(x for x, *_ in ends)
    if against == "minutes":
        axes.set_xlim(0, 1.16 * longest)
    else:
        axes.set_xscale("log")
        axes.set_xlim(right=4 * longest)
    _name_ends(axes, ends)
    axes.grid(color="0.9")
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return shown


def _name_ends(axes: Any, ends: list[tuple[float, float, str, str]]) -> None:
    """Write the name of each line (x, y, name, colour of its end) beside its end, none upon another."""
    low, high = axes.get_ylim()
    ends = sorted(ends, key=lambda end: end[1])
    heights = [(y - low) / (high - low) for _, y, *_ in ends]
    for number in range(1, len(heights)):
        heights[number] = max(heights[number], heights[number - 1] + _GAP)
    for (x, _, name, colour), height in zip(ends, heights, strict=True):
        axes.annotate(
            name,
            (x, low + height * (high - low)),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            color=colour,
            fontsize="small",
            annotation_clip=False,
        )
