"""Places of games, from which ratings are computed."""

from __future__ import annotations

import pytest

from dicegym.arena.ratings import MatchPlaces, match_places, places_of
from dicegym.arena.ratings.match_places import group_matches
from dicegym.errors import ParameterError


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
