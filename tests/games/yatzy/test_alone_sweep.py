"""The sweep over all positions of Yatzy for one: what the result may depend on."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.yatzy_alone import mean_of_best_play

from dicegym.games.yatzy.solving.points import ALL_FILLED, solve
from dicegym.games.yatzy.tables import BEST, COUNTS, KEEPS, TWO_PAIRS
from dicegym.games.yatzy.values import score_single_pairs


def few(still_open: tuple[int, ...], threads: int) -> np.ndarray:
    return solve(ALL_FILLED - sum(1 << box for box in still_open), threads=threads)


def test_threads_change_nothing() -> None:
    boxes = (0, 3, 5, 8, 9, 11)
    assert np.array_equal(few(boxes, 1), few(boxes, 3))


def test_sums_side_by_side_are_those_one_by_one() -> None:
    """Sums from which the bonus is out of reach, or had, are worth the same; between them more is better."""
    values = few((0, 1, 14), 1)
    filled = (1 << 15) - 1 - 0b100000000000011
    assert np.unique(values[filled, : 63 - 15]).tolist() == [values[filled, 63]]
    near = values[filled, 63 - 16 : 63]
    assert near[0] == values[filled, 63]
    assert (np.diff(near) > 0).all()


@pytest.mark.parametrize("boxes", [(7,), (2, 7, 14), (3, 4, 5), (0, 6, 7, 12, 13)])
def test_any_scoring_is_solved_and_the_rules_give_the_same(boxes: tuple[int, ...]) -> None:
    closed = ALL_FILLED - sum(1 << box for box in boxes)
    assert mean_of_best_play(BEST, closed) == pytest.approx(few(boxes, 1)[closed, 0], rel=1e-12)
    singles = score_single_pairs()
    assert mean_of_best_play(singles, closed) == pytest.approx(solve(closed, scores=singles)[closed, 0], rel=1e-12)


def test_one_pair_alone_scores_in_two_pairs_where_it_is_said() -> None:
    points = score_single_pairs()[:, TWO_PAIRS]
    found = {tuple(counts): score for counts, score in zip(COUNTS[KEEPS:].tolist(), points.tolist(), strict=True)}
    assert found[1, 2, 0, 1, 1, 0] == 4
    assert found[0, 0, 0, 0, 0, 5] == 12
    assert found[0, 2, 0, 0, 3, 0] == 14
    assert found[1, 1, 1, 1, 1, 0] == 0
