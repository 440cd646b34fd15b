"""Figures of trainers as tables: one for each kind of settings, a line for each game, trainer and number of threads."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.figures import Figure, goal_text, number
from dicegym.arena.report import ReportTable

SECTION = "trainers"
SPEED, BESIDE_FIRST, BESIDE_ONE = "steps/s", "times MaskablePPO", "times one thread"
SHARES = ("% rollout", "% update", "% environment")
"""Units of a trainer's figures."""
_TITLES = ("game", "settings", "trainer", SPEED, "lowest", "highest", BESIDE_FIRST, BESIDE_ONE, *SHARES)


def tables(heading: str, figures: list[Figure], before: list[Figure] | None = None) -> Iterator[ReportTable]:
    """Yield heading, titles and rows; with the median speeds of ``before`` beside ours."""
    rows = []
    earlier = {_row_of(figure): figure.median for figure in before or () if figure.unit == SPEED}
    for row in dict.fromkeys(map(_row_of, figures)):
        by_unit = {figure.unit: figure for figure in figures if _row_of(figure) == row}
        speed = by_unit[SPEED]
        told = (number(by_unit[unit].median) if unit in by_unit else "" for unit in (BESIDE_FIRST, BESIDE_ONE, *SHARES))
        cells = [*row, number(speed.median), number(min(speed.values)), number(max(speed.values)), *told]
        if before is not None:
            cells += [number(earlier[row]), f"{speed.median / earlier[row]:.2f}"] if row in earlier else ["-", "-"]
        goals = (f"{goal_text(figure)} ({unit})" for unit, figure in by_unit.items() if figure.goal)
        rows.append([*cells, "; ".join(goals)])
    beside = [] if before is None else ["before", "times"]
    yield heading, [*_TITLES, *beside, "goal"], rows


def _row_of(figure: Figure) -> tuple[str, str, str]:
    """Return what tells a row from the others: game, settings, trainer."""
    return figure.subject, figure.mode, figure.what
