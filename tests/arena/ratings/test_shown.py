"""Ratings in reports."""

from __future__ import annotations

import math

import pytest
from arena.ratings.fields import won

from dicegym.arena.ratings import MatchPlaces, fit, match_places, places_of
from dicegym.arena.ratings.fitting import Rating
from dicegym.arena.ratings.match_places import count_pairs, group_matches
from dicegym.arena.ratings.rating_tables import (
    FARTHEST,
    build_won_matrix,
    clip_bounds,
    interval,
    rating_table,
    rating_words,
)
from dicegym.errors import ParameterError


def test_a_row_for_each_entry() -> None:
    found = fit([won("a", "b", 99, 0), won("b", "c", 60, 40), won("c", "d", 99, 0)])
    _, titles, rows = rating_table(found)
    assert titles == ["place", "entry", "rating", "95% interval", "games"]
    assert [row[1] for row in rows] == ["a", "b", "c", "d"]
    assert all(len(row) == len(titles) for row in rows)
    assert rows[0][3].endswith(" or more")
    assert rows[1][3].count(" to ") == 1
    assert rows[3][3].endswith(" or less")


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
    row = Rating(1, "a", 1500.0, low, high, 9, 1)
    assert interval(row) == words
    assert all(math.isinf(bound) or abs(bound - 1500) <= FARTHEST for bound in clip_bounds(row))


def test_words_say_what_ratings_are_worth() -> None:
    some = [won("a", "b", 99, 0), won("b", "c", 60, 40), won("c", "d", 99, 0)]
    words = " ".join(rating_words(fit(some)))
    assert "Nothing bounds the rating of a from above" in words
    assert "Nothing bounds the rating of d from below" in words
    assert "fewer than 20 matches" in words
    many = [won("a", "b", wins, 9 - wins) for wins in range(10)] * 2
    assert not rating_words(fit(many))
    assert "a and b; c and d" in " ".join(rating_words(fit([won("a", "b", 5, 5), won("c", "d", 7, 3)])))


def test_the_matrix_shows_how_often_each_is_ahead() -> None:
    matches = [won("a", "b", 60, 40, 5), won("b", "c", 60, 40), won("c", "a", 60, 40), won("a", "d", 1, 1)]
    found = build_won_matrix(matches, "abcd")
    assert list(found.cells[0]) == ["", "60%", "40%", "50%"]
    assert found.shades[0] == [None, pytest.approx(0.2), pytest.approx(-0.2), 0.0]
    assert found.cells[1][3] == ""


def test_at_larger_tables_every_two_are_compared_as_often_as_a_match_was_played() -> None:
    match = MatchPlaces(("a", "b", "c"), (((1, 2, 2), 3), ((3, 1, 2), 1)), times=2)
    assert count_pairs([match], "abc")[0].tolist() == [[0, 6, 6], [2, 0, 2], [2, 0, 0]]
    assert count_pairs([match], "ca")[0].tolist() == [[0, 2], [6, 0]]


# --- places of games --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("results", "places"),
    [
        *(([1, -1], (1, 2)), ([0, 0], (1, 1)), ([5, 9, 9, 1], (3, 1, 1, 4)), ([3], (1,))),
        *(([1.0, -0.2, -0.2], (1, 2, 2)), ([9, 8, 8, 8, 7, 6, 6], (1, 2, 2, 2, 5, 6, 6)), ([1, 5, 5], (3, 1, 1))),
    ],
)
def test_more_is_better_and_equals_share_a_place(results: list[float], places: tuple[int, ...]) -> None:
    assert places_of(results) == places


def test_games_of_a_match_that_came_out_equal_are_counted() -> None:
    match = match_places(["a", "b"], [(1, -1), (-1, 1), (1, -1)])
    assert match == MatchPlaces(("a", "b"), (((1, 2), 2), ((2, 1), 1)), 1)


def test_equal_matches_are_one_whatever_the_order_of_anything() -> None:
    matches = [
        MatchPlaces(("a", "b", "c"), (((1, 2, 2), 3), ((1, 3, 2), 1))),
        MatchPlaces(("c", "a", "b"), (((2, 1, 4), 1), ((7, 0, 7), 2), ((5, 3, 5), 1)), 2),
        MatchPlaces(("a", "b"), (((1, 2), 0),)),
        MatchPlaces(("a", "b"), (((1, 2), 1),), 0),
    ]
    assert group_matches(matches) == [MatchPlaces(("a", "b", "c"), (((0, 1, 1), 3), ((0, 2, 1), 1)), 3)]
    assert group_matches(reversed(matches)) == group_matches(matches)


@pytest.mark.parametrize(
    ("match", "complaint"),
    [
        (MatchPlaces(("a", "a"), (((1, 2), 1),)), "each once"),
        (MatchPlaces(("a",), (((1,), 1),)), "two or more"),
        (MatchPlaces(("a", "b"), (((1, 2, 3), 1),)), "place for each"),
    ],
)
def test_what_is_no_match_is_refused(match: MatchPlaces, complaint: str) -> None:
    with pytest.raises(ParameterError, match=complaint):
        group_matches([match])
