"""A contest as an HTML page: the ranking with its intervals, the matrix, and the rest behind clicks.

A page needs no network, runs only its own script, and shows names of others as text (`dicegym.arena.pages.template`).
Positions in plots are percentages of the width, so a plot fills the width of a screen or of paper, and its letters keep
their size.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from dicegym.arena.pages.template import render
from dicegym.arena.ratings import MatchPlaces, Rating, Ratings, fit
from dicegym.arena.ratings.fitting import CONFIDENCE
from dicegym.arena.ratings.rating_tables import build_won_matrix, clip_bounds, interval
from dicegym.arena.report import Matrix, Report, ReportTable
from dicegym.arena.store.stored_rows import StoredMatch
from dicegym.columns import write_count
from dicegym.files import write_text
from dicegym.pictures.charts import ticks_between

MOST_MATCHES = 5_000
"""Most matches that a page lists."""
MOST_NAMES = 40
"""Most entries of a matrix on a page: its cells grow with their square."""
MARGIN = 4.0
"""Free per cent on either side of a plot, so that no mark and no number is cut."""


class Bar(NamedTuple):
    """A row of a plot; ``low``, ``value`` and ``high`` are per cent of its width from the left."""

    cells: Sequence[str]
    """Place, entry, rating, and its interval as text."""
    low: str
    value: str
    high: str


class Plot(NamedTuple):
    """The ranking as a table with a picture of each interval."""

    note: str
    """A sentence that explains the bars."""
    ticks: Sequence[tuple[str, str]]
    """Position and text of each number on the axis."""
    bars: Sequence[Bar]


class ContestPage(NamedTuple):
    """The content of a page."""

    title: str
    report: Report
    plot: Plot | None = None
    """The ranking with its intervals; None: too few games."""
    matches: Sequence[StoredMatch] = ()
    left_out: str = ""
    """A sentence on what was left out to keep the page small."""
    at: str = ""
    """The option that names the store in commands; empty for the default store."""

    @property
    def first(self) -> list[ReportTable | Matrix]:
        """The tables below the plot: the ranking if there is no plot, and a matrix."""
        found = [] if self.plot else list(self.report.tables[:1])
        return found + [table for table in self.report.tables if isinstance(table, Matrix) and table not in found][:1]

    @property
    def more(self) -> list[ReportTable | Matrix]:
        """The other tables, which are behind a click."""
        return [table for table in self.report.tables if table not in self.first]


def contest_page(
    title: str,
    report: Report,
    played: Sequence[MatchPlaces],
    matches: Sequence[StoredMatch],
    total: int,
    ratings: Ratings | None = None,
    at: str = "",
) -> ContestPage:
    """Return the page of a contest, which lists ``matches`` of ``total``; for ``at`` see `ContestPage`.

    ``ratings`` are those of the games ``played``, computed here if they are None.
    """
    plot, left = None, ""
    tables = [table for table in report.tables if not isinstance(table, Matrix) or len(table.names) <= MOST_NAMES]
    if played:
        ratings = fit(played) if ratings is None else ratings
        places = _places(report) or {row.name: str(row.place) for row in ratings.rows}
        order = {name: number for number, name in enumerate(places)}
        rows = sorted(ratings.rows, key=lambda row: order.get(row.name, len(order)))
        plot = ranking_plot(rows, places)
        if not any(isinstance(table, Matrix) for table in tables):
            best = [row.name for row in rows[:MOST_NAMES]]
            matrix = build_won_matrix(played, best)
            of = f": the best {len(best)} of {len(rows)}" if len(best) < len(rows) else ""
            tables.append(matrix._replace(heading=matrix.heading + of))
    if total > len(matches):
        counts = f"{len(matches):,} of {write_count(total, 'match')}"
        left = f"The newest {counts}; `dicegym arena show ID -o FILE.json` has all."
    return ContestPage(title, report._replace(tables=tables), plot, matches, left, at)


def _places(report: Report) -> dict[str, str]:
    """Return name -> place of each entry in the order of a report's ranking; empty if it has none."""
    if not report.tables or isinstance(report.tables[0], Matrix):
        return {}
    _, titles, rows = report.tables[0]
    if "Entry" not in titles:
        return {}
    name = titles.index("Entry")  # after the place, if there is one
    return {row[name]: row[0] if name else str(number) for number, row in enumerate(rows, 1)}


def ranking_plot(rows: Sequence[Rating], places: Mapping[str, str]) -> Plot:
    """Return ratings as a plot with their intervals; ``places``: name -> place in the contest."""
    at, ticks = make_scale(value for row in rows for value in (row.rating, *clip_bounds(row)))
    bars = []
    for row in rows:
        low, high = map(at, clip_bounds(row))
        cells = places.get(row.name, "-"), row.name, f"{row.rating:.0f}", interval(row)
        bars.append(Bar(cells, low, at(row.rating), high))
    note = (
        "Entries are in the order of the contest. Ratings are on the Elo scale, by all games at once: in "
        f"{100 * CONFIDENCE:.0f} of 100 contests the interval holds what endless games would give."
    )
    return Plot(note, ticks, bars)


def make_scale(values: Iterable[float]) -> tuple[Callable[[float], str], list[tuple[str, str]]]:
    """Return the function from a value to its position on an axis for ``values``, in per cent, and the axis's ticks.

    Infinite values are at the ends.
    """
    known = [value for value in values if math.isfinite(value)]
    low, high = min(known), max(known)
    if low == high:
        low, high = low - 1, high + 1

    def at(value: float) -> str:
        if math.isinf(value):
            return "100.00%" if value > 0 else "0.00%"
        return f"{MARGIN + (100 - 2 * MARGIN) * (value - low) / (high - low):.2f}%"

    return at, [(at(value), f"{value:,.10g}") for value in ticks_between(low, high)]


def page_title(report: Report, form: str, label: str = "") -> str:
    """Return the title of a contest's page: its game, its format and its label."""
    game = report.heading.partition(":")[0]
    return (f"{game}: {form.replace('_', ' ')}" if form else game) + (f" ({label})" if label else "")


def moment(text: str) -> str:
    """Return an ISO 8601 time as text, to the minute."""
    return f"{text[:16].replace('T', ' ')} UTC"


def html(page: ContestPage) -> str:
    """Return the page as HTML. Raises DependencyError if Jinja2 is not installed."""
    return render("page.html", ("page.css", "parts.css"), "tables.js", page=page)


def write_page(page: ContestPage, path: str | Path) -> None:
    """Write a page to a file. Raises OSError as `open` does, and DependencyError if Jinja2 is not installed."""
    write_text(path, html(page))
