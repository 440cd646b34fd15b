"""Elo: the ruling's figures, and what must hold for any game."""

from __future__ import annotations

import random
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dicegym.arena.ratings.elo import GRAIN, START, UNRATED, expect_score, margin, update_ratings

RATINGS = st.integers(0, 3000 * 1024).map(lambda grains: grains * GRAIN)


def test_equal_ratings_and_a_win() -> None:
    assert update_ratings([START, START], [231, 198]) == [1216, 1184]
    assert update_ratings([START, START], [198, 231]) == [1184, 1216]


def test_equal_ratings_and_a_tie_change_nothing() -> None:
    assert update_ratings([START, START], [200, 200]) == [1200, 1200]


@pytest.mark.parametrize(
    ("behind", "score"),
    [(0, 0.5), (-400, 10 / 11), (400, 1 / 11), (-200, 0.759747), (200, 0.240253), (100000, 0), (-100000, 1)],
)
def test_expected_scores(behind: float, score: float) -> None:
    assert expect_score(1500, 1500 + behind) == pytest.approx(score, abs=1e-6)


def test_the_weaker_wins_more_by_a_win_and_something_by_a_tie() -> None:
    assert update_ratings([1000, 1400], [1, 0]) == pytest.approx([1000 + 32 * 10 / 11, 1400 - 32 * 10 / 11], abs=GRAIN)
    assert update_ratings([1000, 1400], [1, 1]) == pytest.approx([1000 + 32 * 9 / 22, 1400 - 32 * 9 / 22], abs=GRAIN)


@pytest.mark.parametrize("players", [2, 3, 4, 5, 6])
def test_each_pair_counts_as_a_game_for_its_share(players: int) -> None:
    """The first wins K / 2 and the last loses it, whatever the number of players."""
    after = update_ratings([START] * players, list(range(players)))
    step = 32 / (players - 1)
    assert after == pytest.approx([START + step * (i - (players - 1) / 2) for i in range(players)], abs=players * GRAIN)
    assert max(after) == pytest.approx(1216, abs=players * GRAIN)


def test_three_players_of_different_strength() -> None:
    """By hand: 16 points a pair, expectations by the ratings before the game."""
    a, b, c = 1300, 1200, 1100
    ab, ac, bc = (16 / (1 + 10 ** ((y - x) / 400)) for x, y in ((a, b), (a, c), (b, c)))
    after = update_ratings([a, b, c], [100, 200, 100])  # b beats both, a and c tie
    assert after == pytest.approx([a - ab + 8 - ac, b + ab + 16 - bc, c - 8 + ac - 16 + bc], abs=3 * GRAIN)


@settings(max_examples=40)
@given(st.lists(st.tuples(RATINGS, st.integers(0, 5)), min_size=2, max_size=6))
def test_the_sum_is_conserved_to_the_last_bit(table: list[tuple[float, int]]) -> None:
    ratings, scores = [rating for rating, _ in table], [score for _, score in table]
    assert sum(update_ratings(ratings, scores)) == sum(ratings)


@settings(max_examples=20)
@given(st.lists(st.tuples(RATINGS, st.integers(0, 5)), min_size=2, max_size=6), st.randoms())
def test_seats_make_no_difference(table: list[tuple[float, int]], random: Random) -> None:
    order = list(range(len(table)))
    random.shuffle(order)
    after = update_ratings(*zip(*table, strict=True))
    shuffled = update_ratings(*zip(*(table[i] for i in order), strict=True))
    assert shuffled == pytest.approx([after[i] for i in order], abs=len(table) * GRAIN)


def test_ratings_and_scores_belong_together() -> None:
    with pytest.raises(ValueError, match="shorter"):
        update_ratings([1200, 1200], [1])


def test_the_interval_of_a_rating_shrinks_with_its_games() -> None:
    margins = [margin(games) for games in range(200)]
    assert margins == sorted(margins, reverse=True)
    assert margins[0] == pytest.approx(1.96 * UNRATED)
    assert margins[-1] == pytest.approx(104.6, abs=0.1), "each game moves it, so it stays uncertain"


def test_nineteen_of_twenty_ratings_are_within_their_interval() -> None:
    draw = random.Random(5)
    inside = 0
    for _ in range(1000):
        rating, strength = START, draw.gauss(START, 150)
        for _ in range(100):
            opponent = strength  # whose rating is known
            won = float(draw.random() < 0.5)
            rating += 32 * (won - expect_score(rating, opponent))
        inside += abs(rating - strength) <= margin(100)
    assert 925 <= inside <= 975
