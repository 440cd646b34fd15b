"""Intervals as a plot: a row for each entry, with its figure and how far that may be off, below one axis.

Positions are shares of the plot's width, in per cent: so a plot is as wide as there is room for, on paper and on a
phone, and its letters keep their size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from dicegym.pictures.charts import ticks_between

MARGIN = 4.0
"""Per cent of the width that stay free on either side, so that no mark and no number is cut."""


class Bar(NamedTuple):
    """One row of a plot."""

    cells: Sequence[str]
    """What stands beside it."""
    low: float
    value: float
    high: float
    """The interval is from ``low`` to ``high``, which may be infinite."""
    words: str
    """The same for whoever hears the page."""


class Plot(NamedTuple):
    """A table with a picture in each row."""

    heading: str
    note: str
    """A sentence below the heading: what the bars mean."""
    titles: Sequence[str]
    """Of the cells beside the bars."""
    axis: str
    """What is plotted."""
    bars: Sequence[Bar]
    reverse: bool = False
    """Whether less is better, and stands to the right."""


class PlacedBar(NamedTuple):
    """A row of a plot, placed: ``low``, ``value`` and ``high`` in per cent of the width, ``low`` to the left."""

    cells: Sequence[str]
    low: str
    value: str
    high: str
    words: str


class Tick(NamedTuple):
    """A number on an axis, and where."""

    at: str
    text: str


def placed(plot: Plot) -> tuple[list[Tick], list[PlacedBar]]:
    """Return the axis of a plot and its rows; both empty if it has none."""
    if not plot.bars:
        return [], []
    known = [value for bar in plot.bars for value in (bar.low, bar.value, bar.high) if math.isfinite(value)]
    low, high = min(known), max(known)
    if low == high:
        low, high = low - 1, high + 1

    def at(value: float) -> str:
        if math.isinf(value):  # to the edge
            return "100.00%" if (value > 0) != plot.reverse else "0.00%"
        share = (value - low) / (high - low)
        return f"{MARGIN + (100 - 2 * MARGIN) * (1 - share if plot.reverse else share):.2f}%"

    ticks = [Tick(at(value), f"{value:,.10g}") for value in ticks_between(low, high)]
    bars = [
        PlacedBar(
            bar.cells,
            *(
                (at(bar.high), at(bar.value), at(bar.low))
                if plot.reverse
                else (at(bar.low), at(bar.value), at(bar.high))
            ),
            bar.words,
        )
        for bar in plot.bars
    ]
    return ticks, bars
