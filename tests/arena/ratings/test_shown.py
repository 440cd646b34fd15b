"""Ratings in reports."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dicegym.arena.luck import Places
from dicegym.arena.ratings import AlphaShare, MatchPlaces, fit, residuals
from dicegym.arena.ratings.fitting import Rating
from dicegym.arena.ratings.shown import (
    FARTHEST,
    alpha_table,
    interval,
    rating_table,
    rating_words,
    residual_matrix,
    shown_bounds,
    won_matrix,
)


def won(name: str, other: str, wins: int, losses: int, draws: int = 0) -> MatchPlaces:
    return MatchPlaces((name, other), (((1, 2), wins), ((2, 1), losses), ((1, 1), draws)))


def test_a_row_for_each_entry() -> None:
    found = fit([won("a", "b", 99, 0), won("b", "c", 60, 40), won("c", "d", 99, 0)])
    _, titles, rows = rating_table(found)
    assert titles == ["place", "entry", "rating", "95% interval", "could be", "games"]
    assert [row[1] for row in rows] == ["a", "b", "c", "d"]
    assert all(len(row) == len(titles) for row in rows)
    assert rows[0][3].endswith(" or more")
    assert rows[1][3].count(" to ") == 1
    assert rows[3][3].endswith(" or less")
    assert rating_table(fit([won("a", "b", 6, 4)], replicates=0))[2][0][3] == "unknown"


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (-4651.0, 8332.0, "unknown"),
        (-math.inf, math.inf, "unknown"),
        (-math.inf, 8332.0, "unknown"),
        (1480.0, 8332.0, "1480 or more"),
        (-4651.0, 1535.0, "1535 or less"),
        (1480.0, 1535.0, "1480 to 1535"),
        (0.0, 3000.0, "0 to 3000"),
        (-1.0, 3001.0, "unknown"),
    ],
)
def test_bounds_that_say_nothing_are_unknown(low: float, high: float, words: str) -> None:
    row = Rating(1, "a", 1500.0, low, high, 9, 1, Places(1, 2))
    assert interval(row) == words
    assert all(math.isinf(bound) or abs(bound - 1500) <= FARTHEST for bound in shown_bounds(row))


def test_words_say_what_ratings_are_worth() -> None:
    some = [won("a", "b", 99, 0), won("b", "c", 60, 40), won("c", "d", 99, 0)]
    words = " ".join(rating_words(fit(some)))
    assert "Nothing bounds the rating of a from above" in words
    assert "Nothing bounds the rating of d from below" in words
    assert "fewer than 20 matches" in words
    many = [won("a", "b", wins, 9 - wins) for wins in range(10)] * 2
    assert rating_words(fit(many)) == [
        "By ratings: Places 1 to 2 cannot be told apart by these games: luck may have made the whole order."
    ]
    assert not rating_words(fit(many, replicates=0))
    assert "a and b; c and d" in " ".join(rating_words(fit([won("a", "b", 5, 5), won("c", "d", 7, 3)])))


def test_matrices_show_who_is_ahead_and_by_how_much_more_than_expected() -> None:
    matches = [won("a", "b", 60, 40), won("b", "c", 60, 40), won("c", "a", 60, 40), won("a", "d", 1, 1)]
    found = residuals(matches, fit(matches, replicates=0))
    order = [found.names.index(name) for name in "abcd"]
    expected, ahead = (
        np.array(matrix.cells)[np.ix_(order, order)] for matrix in (residual_matrix(found), won_matrix(found))
    )
    assert list(ahead[0]) == ["", "60%", "40%", "50%"]
    assert expected[0, 1].startswith("+")
    assert expected[1, 0] == expected[0, 1].replace("+", "-")
    assert expected[0, 0] == expected[1, 3] == ""
    assert "-0.0" not in expected
    assert "a" in "\n".join(residual_matrix(found).lines())


def test_alpha_shares_are_a_table() -> None:
    _, titles, rows = alpha_table([AlphaShare(1, "a", 0.75), AlphaShare(2, "b", 0.25)])
    assert rows == [["1", "a", "75.0%"], ["2", "b", "25.0%"]]
    assert len(titles) == 3
