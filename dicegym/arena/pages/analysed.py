"""An analysis as a part of a page: what the game was worth, move by move, with marks, and its worst decisions.

The picture is SVG, whose points are links to the list of decisions.
"""

from __future__ import annotations

from typing import NamedTuple

from dicegym.analysis.decisions import Analysis, PricedDecision
from dicegym.analysis.valuers import MARKS, UNITS, amount
from dicegym.arena.pages.contest_page import Tick
from dicegym.columns import is_number
from dicegym.pictures.charts import ticks_between

WIDTH, HEIGHT = 800.0, 300.0
"""Of the picture, without its letters, in its own units."""
WORST = 3
"""Decisions that are shown with the table before them, unless told otherwise."""


class Point(NamedTuple):
    """A mark on a line of the picture."""

    x: str
    y: str
    sign: str
    seat: int
    level: str
    move: int
    words: str


class Chart(NamedTuple):
    """What the game was worth to each seat, placed in a field of `WIDTH` times `HEIGHT`."""

    across: list[Tick]
    """Moves."""
    up: list[Tick]
    """Values."""
    lines: list[tuple[int, str, str]]
    """Of each seat: its number, its points as SVG has them, its name."""
    points: list[Point]


class Worst(NamedTuple):
    """One of the worst decisions."""

    move: int
    player: str
    sign: str
    words: str
    scene: str


def chart(analysis: Analysis) -> Chart:
    """Return the picture of an analysis."""
    values = analysis.values
    unit, moves = analysis.unit, len(values) - 1
    low, high = (0.0, UNITS[unit]) if unit == "win rate" else (float(values.min()), float(values.max()))
    if not low < high:
        low, high = low - 1, high + 1
    room = 0.0 if unit == "win rate" else 0.05 * (high - low)
    low, high = low - room, high + room

    def x(move: float) -> str:
        return f"{WIDTH * move / max(1, moves):.1f}"

    def y(value: float) -> str:
        return f"{HEIGHT * (high - value) / (high - low):.1f}"

    points = [
        Point(
            x(one.number - 1),
            y(one.values[one.seat]),
            mark.sign,
            one.seat,
            mark.level,
            one.number,
            f"move {one.number}, {analysis.names[one.seat]}: {analysis.explain(one)}",
        )
        for one in analysis.decisions
        if (mark := one.mark(unit)) is not None
    ]
    lines = [
        (seat, " ".join(f"{x(move)},{y(value)}" for move, value in enumerate(values[:, seat].tolist())), name)
        for seat, name in enumerate(analysis.names)
    ]
    across = [Tick(x(move), f"{move:.0f}") for move in ticks_between(0, max(1, moves), 12) if move == int(move)]
    up = [Tick(y(value), _axis(value, analysis)) for value in ticks_between(low, high, 6)]
    return Chart(across, up, lines, points)


def _axis(value: float, analysis: Analysis) -> str:
    return f"{100 * value:.0f}%" if analysis.unit == "win rate" else f"{value:g}"


class ShownAnalysis(NamedTuple):
    """What a template shows of an analysis, by the macro ``sections`` of ``analysed_parts.html``."""

    chart: Chart
    size: tuple[float, float]
    what: str
    marks: list[tuple[str, str, str]]
    totals: _Grid
    decisions: tuple[_Grid, list[tuple[str, int]]]
    worst: list[Worst]
    notes: list[str]


def present_analysis(analysis: Analysis, worst: int = WORST) -> ShownAnalysis:
    """Return what a template shows of an analysis, with ``worst`` of its worst decisions."""
    return ShownAnalysis(
        chart(analysis),
        (WIDTH, HEIGHT),
        {"win rate": "Win probability", "points": "Points to be expected", "return": "Return to be expected"}[
            analysis.unit
        ],
        [(mark.sign, mark.noun, mark.level) for mark in MARKS],
        _grid(*analysis.total_table()),
        _decisions(analysis),
        [_worst(analysis, one) for one in analysis.worst(worst)],
        analysis.remarks(),
    )


class _Grid(NamedTuple):
    titles: list[str]
    rows: list[list[str]]
    numeric: list[bool]


def _grid(titles: list[str], rows: list[list[str]]) -> _Grid:
    cells = [[cell.strip() for cell in row] for row in rows]
    numeric = [bool(cells) and all(is_number(row[at].lstrip("+-")) for row in cells) for at in range(len(titles))]
    return _Grid(titles, cells, numeric)


def _decisions(analysis: Analysis) -> tuple[_Grid, list[tuple[str, int]]]:
    """Return the list of decisions, and of each row the level of its mark and its move."""
    unit = analysis.unit
    levels = [(mark.level if (mark := one.mark(unit)) else "", one.number) for one in analysis.decisions]
    grid = _grid(*analysis.decision_table())
    numeric = [title not in ("player", "", "chose", "best") for title in grid.titles]
    return grid._replace(numeric=numeric), levels


def _worst(analysis: Analysis, decision: PricedDecision) -> Worst:
    mark = decision.mark(analysis.unit)
    between = f"{amount(decision.value, analysis.unit)} instead of {amount(decision.best_value, analysis.unit)}"
    return Worst(
        decision.number,
        analysis.names[decision.seat],
        mark.sign if mark else "",
        f"{analysis.explain(decision)} ({between})",
        analysis.scene(decision).text(),
    )
