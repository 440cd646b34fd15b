"""All curves of a folder on one page: a picture with a panel for each environment, and a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dicegym.files import writing
from dicegym.learning.band import ENOUGH, LEVEL, Band
from dicegym.learning.pictures import check_picture, pyplot
from dicegym.learning.plot import COLOURS
from dicegym.learning.untuned.folder import UntunedCurves, UntunedPanel
from dicegym.learning.untuned.ways import WAYS, way_named

PURPOSE = "the picture of the curves"
_ACROSS = 3
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
        learned = "-" if self.learned is None else f"{self.learned:.2f} min"
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
    low, high = _around(len(curves), band)
    last = max(1, len(band.iqm) // 10)
    minutes = min(curve.minutes for curve in curves)
    speed = float(np.mean([curve.steps / (60 * curve.minutes) for curve in curves]))
    end, below, above = (float(column[-last:].mean()) for column in (band.iqm, low, high))
    return UntunedRow(
        panel.environment, way, len(curves), minutes, speed, panel.random, end, below, above, panel.learned(way)
    )


def markdown(found: UntunedCurves) -> str:
    """Return the table for a page, with what it was measured by."""
    lines = ["| " + " | ".join(TITLES) + " |", "|" + "---|" * len(TITLES)]
    lines += ["| " + " | ".join(row.cells()) + " |" for row in rows(found)]
    lengths = " and ".join(f"{minutes:g}" for minutes in found.minutes)
    used = [way for way in WAYS if any(way.name in panel.curves for panel in found.panels)]
    lines += ["", "| way | in Python |", "|---|---|", *(f"| {way.name} | `{way.says()}` |" for way in used)]
    versions = ", ".join(f"{package} {version}" for package, version in found.versions.items())
    lines += [
        "",
        f"Each curve had {lengths} minutes of one processor's time, on {found.machine}, with {versions}. The results "
        "at the end are of the episodes that ended in the last tenth of it, while the learner still drew its actions; "
        f"intervals are {LEVEL:.0%} ones of the interquartile mean over seeds, of fewer than {ENOUGH} the range.",
        "",
    ]
    return "\n".join(lines)


def draw(found: UntunedCurves, path: Path) -> None:
    """Draw a panel for each environment, a line with a band for each way, into a .png or .svg.

    Raises:
        ParameterError: ``path`` is neither.
        DependencyError: matplotlib is not installed.
    """
    check_picture(path, PURPOSE)
    plt = pyplot(PURPOSE)
    across = min(_ACROSS, len(found.panels))
    down = -(-len(found.panels) // across)
    figure, grid = plt.subplots(
        down, across, figsize=(4.2 * across, 0.9 + 3.0 * down), layout="constrained", squeeze=False
    )
    labels: dict[str, Any] = {}
    for axes, panel in zip(grid.flat, found.panels, strict=False):
        labels |= _panel(axes, panel)
    for axes in grid.flat[len(found.panels) :]:
        axes.set_axis_off()
    figure.supxlabel("minutes of one processor", fontsize="medium")
    figure.supylabel("mean result of an episode", fontsize="medium")
    figure.legend(labels.values(), labels.keys(), loc="outside upper center", ncols=2, frameon=False, fontsize="small")
    with writing(path) as unfinished:
        figure.savefig(unfinished, dpi=100)
    plt.close(figure)


def _panel(axes: Any, panel: UntunedPanel) -> dict[str, Any]:
    """Draw the curves of an environment; return what the legend shows, by label."""
    shown: dict[str, Any] = {}
    names = [way.name for way in WAYS]
    for way, curves in panel.curves.items():
        band, colour = panel.band(way), COLOURS[names.index(way)]
        minutes = panel.times(way)
        low, high = _around(len(curves), band)
        (shown[way_named(way).title],) = axes.plot(minutes, band.iqm, color=colour, linewidth=1.8)
        if len(curves) > 1:
            axes.fill_between(minutes, low, high, color=colour, alpha=0.2, linewidth=0)
    shown["random play"] = axes.axhline(panel.random, color="0.4", linewidth=1, linestyle=":")
    axes.set_title(panel.environment, loc="left", fontsize="medium")
    axes.set_xlim(left=0)
    axes.grid(color="0.9")
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return shown


def _around(seeds: int, band: Band) -> tuple[np.ndarray, np.ndarray]:
    """Return both ends of what is drawn around a line."""
    return (band.low, band.high) if seeds >= ENOUGH else (band.lowest, band.highest)
