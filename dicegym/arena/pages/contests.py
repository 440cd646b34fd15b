"""A contest as one page of HTML: the ranking with its intervals first, then who did what against whom, then the rest.

The rest waits behind a click. A page needs no network, runs no script but its own, and takes names of others for text:
`dicegym.arena.pages.template` says how. Intervals are drawn at shares of the plot's width, so a plot is as wide as
there is room for, on paper and on a phone, and its letters keep their size.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from dicegym.arena.incidents import misplay_lines
from dicegym.arena.luck import CONFIDENCE
from dicegym.arena.pages.template import asset, digest, environment, trusted
from dicegym.arena.ratings import MatchPlaces, Rating, Ratings, fit
from dicegym.arena.ratings.shown import interval, shown_bounds, won_matrix
from dicegym.arena.report import Matrix, Report, ReportTable, without_options
from dicegym.arena.results import ContestResult
from dicegym.columns import is_number
from dicegym.files import write_text
from dicegym.pictures.charts import ticks_between

MOST_MATCHES = 5_000
"""Matches that a page lists."""
MOST_NAMES = 40
"""Entries of which a page shows who did what against whom: cells grow with their square."""
MARGIN = 4.0
"""Per cent of a plot's width that stay free on either side, so that no mark and no number is cut."""
SHADES = 10
"""Steps of colour of a heat map on either side of the middle; ``parts.css`` has as many."""
PLACES, NAMES = ("Ranking", "Place"), ("Entry", "Player")
"""Titles of the columns of a ranking that hold places and names."""


class ShownGame(NamedTuple):
    """A game that can be read on the page."""

    heading: str
    """Who played, where they sat, and what came out."""
    text: str
    """Move by move."""


class ShownMatch(NamedTuple):
    """A row of the list of matches."""

    id: str
    """What the store calls it; empty if it is in none."""
    entries: Sequence[str]
    scores: Sequence[str]
    """What each entry got, in words."""
    best: Sequence[bool]
    """Whether each entry won the match."""
    games: int
    faults: int
    command: str = ""
    """What shows its games; empty if nothing does."""
    replays: Sequence[ShownGame] = ()


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


class ContestPage(NamedTuple):
    """What there is to show on a page."""

    title: str
    report: Report
    plot: Plot | None = None
    """The ranking with its intervals; None: too little is played."""
    matches: Sequence[ShownMatch] = ()
    left_out: str = ""
    """A sentence on what there is besides and was left out, so that the page does not get too large."""
    back: str = ""
    """Address of the page that leads here, if one does."""


class _Heat(NamedTuple):
    """A matrix for the template: rows of (text, class of its colour)."""

    heading: str
    names: Sequence[str]
    rows: Sequence[Sequence[tuple[str, str]]]


class _Grid(NamedTuple):
    """A table for the template; ``numeric`` says of each column whether it holds numbers."""

    heading: str
    titles: Sequence[str]
    rows: Sequence[Sequence[str]]
    numeric: Sequence[bool]


class ShownReport(NamedTuple):
    """What a template shows of a contest, besides its matches: (kind of table, table) each."""

    plot: tuple[Plot, Sequence[Tick], Sequence[PlacedBar]] | None
    first: Sequence[tuple[str, _Heat | _Grid]]
    """Below the plot."""
    more: Sequence[tuple[str, _Heat | _Grid]]
    """Behind a click, as all that follows."""
    struck: Sequence[tuple[str, str]]
    words: Sequence[str]
    faults: Sequence[str]
    remarks: Sequence[str]


def page_of_result(result: ContestResult) -> ContestPage:
    """Return the page of a contest that is not stored: its games cannot be seen again."""
    rows = result.matches[-MOST_MATCHES:]
    matches = [
        ShownMatch(
            "",
            row.entries,
            tuple(map(str, row.wins)),
            winners(row.wins),
            row.games,
            sum(row.faults),
        )
        for row in rows
    ]
    page = contest_page(
        page_title(result.title, result.format), result.report(), result.match_places(), matches, len(result.matches)
    )
    date = [("date", moment(result.provenance.date))] if result.provenance else []
    return page._replace(report=page.report._replace(facts=[*page.report.facts, *date]))


def contest_page(
    title: str,
    report: Report,
    played: Iterable[MatchPlaces],
    matches: Sequence[ShownMatch],
    total: int,
    ratings: Ratings | None = None,
) -> ContestPage:
    """Return a page of what is known of a contest.

    Args:
        title: of the page.
        report: what its format says of it.
        played: what ratings are computed from.
        matches: those that are to be listed.
        total: how many there are.
        ratings: as `dicegym.arena.ratings.fit` found them (default: found here).
    """
    found = list(played)
    plot, names = None, dict(_places(report))
    tables = [table for table in report.tables if not isinstance(table, Matrix) or len(table.names) <= MOST_NAMES]
    if found:
        ratings = fit(found) if ratings is None else ratings
        names = names or {row.name: str(row.place) for row in ratings.rows}
        plot = ranking_plot(ratings, names)
        # A format's own matrix without colours says the same as the one that is made here.
        tables = [table for table in tables if not isinstance(table, Matrix) or table.shades]
        best = [row.name for row in _in_order(ratings, names)][:MOST_NAMES]
        matrix = won_matrix(found, best)
        of = f": the best {len(best)} of {len(ratings.rows)}" if len(best) < len(ratings.rows) else ""
        tables.append(matrix._replace(heading=matrix.heading + of))
    left = f"The newest {len(matches):,} of {total:,} matches; `dicegym arena show ID -o FILE.json` writes all of them."
    return ContestPage(
        title,
        report._replace(tables=tables, words=list(dict.fromkeys(without_options(report.words)))),
        plot,
        matches,
        left if total > len(matches) else "",
    )


def _places(report: Report) -> list[tuple[str, str]]:
    """Return name and place of each entry in the order of a report's ranking; nothing if it has none."""
    if not report.tables or isinstance(report.tables[0], Matrix):
        return []
    _, titles, rows = report.tables[0]
    name = next((at for at, title in enumerate(titles) if title in NAMES), None)
    if name is None:
        return []
    place = next((at for at, title in enumerate(titles) if title in PLACES), None)
    return [(row[name], str(number) if place is None else row[place]) for number, row in enumerate(rows, 1)]


def _in_order(ratings: Ratings, names: Iterable[str]) -> list[Rating]:
    """Return the ratings in the order of ``names``, and the others after them."""
    order = {name: number for number, name in enumerate(names)}
    return sorted(ratings.rows, key=lambda row: order.get(row.name, len(order)))


def ranking_plot(ratings: Ratings, places: Mapping[str, str]) -> Plot:
    """Return the ranking as a plot of ratings with their intervals; ``places``: of each entry, in its order."""
    share = f"{100 * CONFIDENCE:.0f}"
    bars = []
    for row in _in_order(ratings, places):
        low, high = shown_bounds(row)
        cells = places.get(row.name, "-"), row.name, f"{row.rating:.0f}", interval(row)
        bars.append(Bar(cells, low, row.rating, high, f"{row.name}: {row.rating:.0f}, {interval(row)}"))
    return Plot(
        "Ranking",
        f"Entries stand in the order of the contest. Ratings are on the Elo scale, by all games at once: in {share} of "
        "100 contests the interval holds what endless games would give.",
        ("Place", "Entry", "Rating", f"{share} % interval"),
        "Rating",
        bars,
    )


def page_title(game: str, form: str) -> str:
    """Return what a page is called."""
    return f"{game}: {form.replace('_', ' ')}" if form else game


def moment(text: str) -> str:
    """Return a time as ISO 8601 has it to the minute, in words."""
    return f"{text[:16].replace('T', ' ')} UTC"


def winners(wins: Sequence[int]) -> tuple[bool, ...]:
    """Return of each entry whether it alone won most games."""
    best = max(wins, default=0)
    return tuple(won == best and wins.count(best) == 1 for won in wins)


def html(page: ContestPage) -> str:
    """Return the page as the text of an HTML file.

    Raises DependencyError if Jinja2 is not installed.
    """
    style, script = asset("page.css") + asset("parts.css"), asset("tables.js")
    text: str = (
        environment()
        .get_template("page.html")
        .render(
            title=page.title,
            back=page.back,
            style=trusted(style),
            script=trusted(script),
            style_hash=digest(style),
            script_hash=digest(script),
            heading=page.report.heading,
            facts=page.report.facts,
            shown=shown_report(page),
            matches=page.matches,
            replays=[match for match in page.matches if match.replays],
            left_out=page.left_out,
        )
    )
    return text


def write_page(page: ContestPage, path: str | Path) -> None:
    """Write a page to a file. Raises OSError as `open` does, and DependencyError if Jinja2 is not installed."""
    write_text(path, html(page))


def shown_report(page: ContestPage) -> ShownReport:
    """Return what a page says of its contest, for the macro ``report`` of ``parts.html``.

    The plot comes first, or the ranking where there is none, then a matrix.
    """
    report, plot = page.report, page.plot
    first = [] if plot else list(report.tables[:1])
    first += [table for table in report.tables if isinstance(table, Matrix) and table not in first][:1]
    return ShownReport(
        None if plot is None else (plot, *placed(plot)),
        [_part(table) for table in first],
        [_part(table) for table in report.tables if table not in first],
        [(bad.name, bad.reason) for bad in report.disqualified],
        report.words,
        misplay_lines(report.misplays),
        report.remarks,
    )


def _part(table: ReportTable | Matrix) -> tuple[str, _Heat | _Grid]:
    if isinstance(table, Matrix):
        shades = table.shades or [[None] * len(table.names) for _ in table.names]
        rows = [
            [(text, _shade(shade)) for text, shade in zip(*row, strict=True)]
            for row in zip(table.cells, shades, strict=True)
        ]
        return "heat", _Heat(table.heading, table.names, rows)
    heading, titles, grid = table
    numeric = [bool(grid) and all(is_number(row[column]) for row in grid) for column in range(len(titles))]
    return "grid", _Grid(heading, titles, grid, numeric)


def _shade(value: float | None) -> str:
    """Return the class of a colour for -1 (the column is ahead) .. 1 (the row is)."""
    if value is None:
        return "none"
    step = round(SHADES * max(-1.0, min(1.0, value)))
    return f"up{step}" if step > 0 else f"down{-step}" if step < 0 else "even"


def placed(plot: Plot) -> tuple[list[Tick], list[PlacedBar]]:
    """Return the axis of a plot and its rows; both empty if it has none."""
    known = [value for bar in plot.bars for value in (bar.low, bar.value, bar.high) if math.isfinite(value)]
    if not known:
        return [], []
    low, high = min(known), max(known)
    if low == high:
        low, high = low - 1, high + 1

    def at(value: float) -> str:
        if math.isinf(value):  # to the edge
            return "100.00%" if value > 0 else "0.00%"
        return f"{MARGIN + (100 - 2 * MARGIN) * (value - low) / (high - low):.2f}%"

    ticks = [Tick(at(value), f"{value:,.10g}") for value in ticks_between(low, high)]
    bars = [PlacedBar(bar.cells, at(bar.low), at(bar.value), at(bar.high), bar.words) for bar in plot.bars]
    return ticks, bars
