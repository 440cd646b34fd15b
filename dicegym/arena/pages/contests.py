"""The page of a contest: of a result that has just been found, or of one that is stored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from dicegym.arena.luck import CONFIDENCE
from dicegym.arena.pages.page import ContestPage, ShownMatch, html
from dicegym.arena.pages.plots import Bar, Plot
from dicegym.arena.ratings import MatchPlaces, Ratings, fit
from dicegym.arena.ratings.shown import interval, shown_bounds, won_matrix
from dicegym.arena.report import Matrix, Report, without_options
from dicegym.arena.results import ContestResult
from dicegym.files import write_text

MOST_MATCHES = 5_000
"""Matches that a page lists."""
MOST_NAMES = 200
"""Entries of which a page shows who did what against whom: cells grow with their square."""


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
    plots: list[Plot] = []
    tables = [table for table in report.tables if not isinstance(table, Matrix) or len(table.names) <= MOST_NAMES]
    words = without_options(report.words)
    if found:
        ratings = fit(found) if ratings is None else ratings
        plots.append(rating_plot(ratings))
        if len(ratings.rows) <= MOST_NAMES:
            # A format's own matrix without colours says the same as the one that is made here.
            tables = [table for table in tables if not isinstance(table, Matrix) or table.shades]
            tables.append(won_matrix(found, [row.name for row in ratings.rows]))
    left = f"The newest {len(matches):,} of {total:,} matches; `dicegym arena show ID -o FILE.json` writes all of them."
    return ContestPage(
        title,
        report._replace(tables=tables, words=list(dict.fromkeys(words))),
        plots,
        matches,
        left if total > len(matches) else "",
    )


def rating_plot(ratings: Ratings) -> Plot:
    """Return ratings with their intervals as a plot."""
    share = f"{100 * CONFIDENCE:.0f}"
    bars = [
        Bar(
            (str(row.place), row.name, f"{row.rating:.0f}", interval(row)),
            shown_bounds(row)[0],
            row.rating,
            shown_bounds(row)[1],
            f"{row.name}: {row.rating:.0f}, {interval(row)}",
        )
        for row in ratings.rows
    ]
    return Plot(
        "Ratings",
        f"By all games at once, on the Elo scale; in {share} of 100 contests the interval holds what endless games "
        "would give. Who cannot be told apart from those above shares their place.",
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


def write_page(page: ContestPage, path: str | Path) -> None:
    """Write a page to a file. Raises OSError as `open` does, and DependencyError if Jinja2 is not installed."""
    write_text(path, html(page))
