"""A contest as one page of HTML: it needs no network, runs no script but its own, and takes names of others for text.

How its parts are put together, and why nothing in it can do harm: `dicegym.arena.pages.template`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from dicegym.arena.incidents import misplay_lines
from dicegym.arena.pages.plots import PlacedBar, Plot, Tick, placed
from dicegym.arena.pages.template import asset, digest, environment, trusted
from dicegym.arena.report import Matrix, Report
from dicegym.columns import is_number

SHADES = 10
"""Steps of colour of a heat map on either side of the middle; ``page.css`` has as many."""


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


class ContestPage(NamedTuple):
    """What there is to show on a page."""

    title: str
    report: Report
    plots: Sequence[Plot] = ()
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
    """What a template shows of a contest, besides its matches."""

    parts: Sequence[tuple[str, _Heat | _Grid]]
    plots: Sequence[tuple[Plot, Sequence[Tick], Sequence[PlacedBar]]]
    struck: Sequence[tuple[str, str]]
    words: Sequence[str]
    faults: Sequence[str]
    remarks: Sequence[str]


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


def shown_report(page: ContestPage) -> ShownReport:
    """Return what a page says of its contest, for the macro ``report`` of ``parts.html``."""
    return ShownReport(
        [_part(table) for table in page.report.tables],
        [(plot, *placed(plot)) for plot in page.plots if plot.bars],
        [(bad.name, bad.reason) for bad in page.report.disqualified],
        page.report.words,
        misplay_lines(page.report.misplays),
        page.report.remarks,
    )


def _part(table: Any) -> tuple[str, _Heat | _Grid]:
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
