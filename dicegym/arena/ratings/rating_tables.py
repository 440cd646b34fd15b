"""Ratings as tables, matrices and sentences of a report."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from dicegym.arena.ratings.fitting import CONFIDENCE, FEWEST_MATCHES, Rating, Ratings
from dicegym.arena.ratings.match_places import MatchPlaces, count_pairs
from dicegym.arena.report import Matrix, ReportTable

MOST_NAMED = 6
"""Most entries that a sentence names."""
FARTHEST = 1500.0
"""Largest distance in points from a rating to a bound that is shown: 5,600 wins for each loss."""


def clip_bounds(row: Rating) -> tuple[float, float]:
    """Return the bounds of a rating to show: infinite if they are farther than `FARTHEST`."""
    low = row.low if row.rating - row.low <= FARTHEST else -math.inf
    return low, row.high if row.high - row.rating <= FARTHEST else math.inf


def interval(row: Rating) -> str:
    """Return the interval of a rating as text: ``1480 to 1535``, ``1809 or more``, ``unknown``."""
    low, high = clip_bounds(row)
    if math.isinf(low) and math.isinf(high):
        return "unknown"
    if math.isinf(high):
        return f"{low:.0f} or more"
    if math.isinf(low):
        return f"{high:.0f} or less"
    return f"{low:.0f} to {high:.0f}"


def rating_table(ratings: Ratings) -> ReportTable:
    """Return the ranking by ratings: place, rating with its interval, games."""
    titles = ["place", "entry", "rating", f"{100 * CONFIDENCE:.0f}% interval", "games"]
    rows = [[str(row.place), row.name, f"{row.rating:.0f}", interval(row), str(row.games)] for row in ratings.rows]
    return "ratings, by all games at once", titles, rows


def _list_names(names: Sequence[str]) -> str:
    """Return names as part of a sentence, only the first ones of many."""
    if len(names) > MOST_NAMED:
        return f"{', '.join(names[: MOST_NAMED - 1])} and {len(names) - MOST_NAMED + 1} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def rating_words(ratings: Ratings) -> list[str]:
    """Return sentences on how reliable the ratings are."""
    rows = ratings.rows
    sentences = []
    if len(ratings.fields) > 1:
        groups = "; ".join(_list_names(field) for field in ratings.fields)
        sentences.append(f"These have never met, directly or through others, and cannot be compared: {groups}.")
    if top := [row.name for row in rows if math.isinf(row.high) and math.isfinite(row.low)]:
        sentences.append(f"Nothing bounds the rating of {_list_names(top)} from above: no other was ever ahead.")
    if bottom := [row.name for row in rows if math.isinf(row.low) and math.isfinite(row.high)]:
        sentences.append(
            f"Nothing bounds the rating of {_list_names(bottom)} from below: never ahead of another entry."
        )
    if any(row.matches < FEWEST_MATCHES for row in rows):
        sentences.append(
            f"Intervals of entries with fewer than {FEWEST_MATCHES} matches come from their games, not their matches."
        )
    return sentences


def build_won_matrix(matches: Iterable[MatchPlaces], names: Sequence[str]) -> Matrix:
    """Return the share of games in which the row was ahead of the column, without ties."""
    won, _ = count_pairs(matches, names)
    games = won + won.T
    cells, shades = [], []
    for ahead, played in zip(won.tolist(), games.tolist(), strict=True):
        cells.append([f"{100 * a / n:.0f}%" if n else "" for a, n in zip(ahead, played, strict=True)])
        shades.append([2 * a / n - 1 if n else None for a, n in zip(ahead, played, strict=True)])
    return Matrix("Games in which the row was ahead of the column, without ties", names, cells, shades)
