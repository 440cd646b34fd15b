"""The bar chart: decisions a second of every environment and peer, on a logarithmic axis."""

from __future__ import annotations

import importlib
import textwrap
from pathlib import Path
from typing import Any

from benchmarks.figures import Figure
from benchmarks.modes import LOOP_MODES
from benchmarks.ratios import DECISIONS
from benchmarks.report import facts
from benchmarks.result import BenchResult
from dicegym.errors import DependencyError, ParameterError
from dicegym.files import writing
from dicegym.learning.curve_pictures import ENDINGS, format_short

COLOURS = {
    "batch": "#1b4965",
    "make_vec": "#5fa8d3",
    "sb3": "#8ecae6",
    "make": "#e07a1f",
    "state": "#8d6a9f",
    "aec": "#6a994e",
    "parallel": "#b5c99a",
}
"""By mode; a peer has the colour of the mode that it is compared with, hatched."""
PURPOSE = "the chart of the bench"
BAR = 0.215
"""Inches that a bar takes."""


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


def check_chart(path: Path) -> None:
    """Raise DependencyError or ParameterError if no chart can be drawn to ``path``, before anything is measured."""
    check_picture(path, PURPOSE)


def groups(figures: list[Figure]) -> list[tuple[str, list[Figure]]]:
    """Return (name, its bars) for every environment, then for every peer, bars in the order of `COLOURS`."""
    shown = [f for f in figures if f.section == "speed" and f.unit == DECISIONS]
    order, found = list(COLOURS), []
    for peer in (False, True):
        subjects = dict.fromkeys(f.subject for f in shown if f.peer == peer)
        made = [(name, [f for f in shown if f.subject == name and f.peer == peer]) for name in subjects]
        found += [(name, sorted(bars, key=lambda bar: order.index(bar.mode))) for name, bars in made]
    return found


def draw(result: BenchResult, path: Path) -> None:
    """Write the chart of ``result`` to ``path`` (.png or .svg).

    Raises:
        ParameterError: nothing in the result can be drawn, or the file's ending is another one.
        DependencyError: matplotlib is not installed.
    """
    check_chart(path)
    plt = pyplot(PURPOSE)
    rows = groups(result.figures)
    if not rows:
        raise ParameterError("this result holds no loop to draw: measure a mode such as batch or aec")
    bars = sum(len(bars) for _, bars in rows)
    height = BAR * (bars + sum(_gap(members) for _, members in rows)) + 1.9
    figure, axes = plt.subplots(figsize=(9, height), layout="constrained")
    place, ticks = 0.0, []
    for name, members in rows:
        ticks.append((place + (len(members) - 1) / 2, name))
        for bar in members:
            _bar(axes, place, bar)
            place += 1
        place += _gap(members)
    axes.set_yticks([at for at, _ in ticks], [name for _, name in ticks])
    axes.set_ylim(place - _gap(rows[-1][1]) - 0.4, -0.6)
    axes.set_xscale("log")
    highest = max(bar.median for _, members in rows for bar in members)
    axes.set_xlim(left=min(100.0, min(bar.median for _, members in rows for bar in members) / 2), right=highest * 4)
    axes.set_xlabel("decisions a second, all players together (logarithmic)")
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", which="major", color="#dddddd", linewidth=0.7)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    _legend(figure, plt, [bar for _, members in rows for bar in members])
    small = "\n".join(textwrap.wrap(f"Medians of {result.options['repeats']} runs. {facts(result)}", 175))
    figure.supxlabel(small, fontsize=6.5, color="#555555", x=0.01, ha="left")
    # Nothing of the time or the machine's name goes into the file, so that equal figures make equal files.
    metadata = {"Date": None} if path.suffix == ".svg" else {"Software": None}
    with writing(path) as unfinished:
        figure.savefig(unfinished, dpi=110, metadata=metadata)
    plt.close(figure)


def _bar(axes: Any, place: float, bar: Figure) -> None:
    style: dict[str, Any] = {"color": COLOURS[bar.mode]}
    if bar.peer:
        style = {"facecolor": "white", "edgecolor": COLOURS[bar.mode], "hatch": "////", "linewidth": 0.8}
    axes.barh(place, bar.median, height=0.85, **style)
    axes.text(bar.median * 1.08, place, format_short(bar.median), va="center", fontsize=7, color="#333333")


def _gap(members: list[Figure]) -> float:
    """Return the bars' widths that are left free below a group."""
    return 0.15 if len(members) == 1 and members[0].peer else 0.8


def _legend(figure: Any, plt: Any, bars: list[Figure]) -> None:
    used = {bar.mode for bar in bars}
    patches = [
        plt.Rectangle((0, 0), 1, 1, color=colour, label=LOOP_MODES[mode])
        for mode, colour in COLOURS.items()
        if mode in used
    ]
    if any(bar.peer for bar in bars):
        style: dict[str, Any] = {"facecolor": "white", "edgecolor": "#555555", "hatch": "////"}
        patches.append(plt.Rectangle((0, 0), 1, 1, label="another library, in the mode of that colour", **style))
    figure.legend(
        handles=patches,
        loc="outside upper left",
        ncols=3,
        fontsize=7.5,
        frameon=False,
        alignment="left",
        title="Random legal play: dicegym and its peers",
        title_fontproperties={"weight": "bold", "size": 12},
    )
