"""A contest as one page of HTML: it needs no network, runs no script but its own, and takes names of others for text.

The page is made by Jinja2, with everything that is put into it made harmless (`dicegym.escape`) and escaped, in one
place: no part of the template can forget it. A content security policy names its style and its script by their hashes,
so that a browser runs nothing else, whatever an entry is called.
"""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple

from dicegym.arena.incidents import misplay_lines
from dicegym.arena.matrix import Matrix
from dicegym.arena.pages.plots import Plot, placed
from dicegym.arena.report import Report
from dicegym.columns import is_number
from dicegym.errors import DependencyError
from dicegym.escape import harmless, lines

if TYPE_CHECKING:
    from jinja2 import Environment

SHADES = 10
"""Steps of colour of a heat map on either side of the middle; ``page.css`` has as many."""
LONGEST_TEXT = 4000
"""Characters of a line of others that is shown."""


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


def html(page: ContestPage) -> str:
    """Return the page as the text of an HTML file.

    Raises DependencyError if Jinja2 is not installed.
    """
    style, script = _asset("page.css"), _asset("page.js")
    text: str = (
        _environment()
        .get_template("page.html")
        .render(
            title=page.title,
            style=_trusted(style),
            script=_trusted(script),
            style_hash=_hash(style),
            script_hash=_hash(script),
            heading=page.report.heading,
            facts=page.report.facts,
            words=page.report.words,
            struck=[(bad.name, bad.reason) for bad in page.report.disqualified],
            remarks=page.report.remarks,
            faults=misplay_lines(page.report.misplays),
            parts=[_part(table) for table in page.report.tables],
            plots=[(plot, *placed(plot)) for plot in page.plots if plot.bars],
            matches=page.matches,
            replays=[match for match in page.matches if match.replays],
            left_out=page.left_out,
        )
    )
    return text


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


@functools.cache
def _environment() -> Environment:
    try:
        import jinja2
    except ImportError:
        raise DependencyError.for_extra("jinja2", "arena", "a page of HTML") from None
    from markupsafe import Markup

    def shown(value: Any) -> Any:
        """Make what is put into the page harmless; it is escaped besides."""
        return value if isinstance(value, Markup) or not isinstance(value, str) else harmless(value[:LONGEST_TEXT])

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_asset),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["text"] = lambda value: Markup.escape(lines(value))  # of several lines
    return environment


@functools.cache
def _asset(name: str) -> str:
    return (resources.files("dicegym.arena.pages") / name).read_text(encoding="utf-8")


def _trusted(text: str) -> Any:
    from markupsafe import Markup

    return Markup(text)  # a file of ours, in which no text of others stands


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
