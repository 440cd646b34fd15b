"""The sweep over all positions of a game of boxes: Yahtzee's published values, and what the result may depend on."""

from __future__ import annotations

import numpy as np
import pytest

from dicegym.games.yatzy.solving.alone import YATZY, BoxRules, solve, yahtzee
from dicegym.games.yatzy.tables import HANDS, KEEPS, SETS

JOKER_BOX = 11
"""Of Yahtzee: the box for five equal dice."""


@pytest.mark.parametrize(("forced", "mean"), [(True, 254.5877), (False, 254.5896)])
def test_published_values_of_yahtzee(forced: bool, mean: float) -> None:
    """The same sweep, fed with Yahtzee's tables, comes to what others have found."""
    rules = yahtzee(forced)
    values = rules.new_values()
    solve(rules, values)
    assert values[0, 0, 0] == pytest.approx(mean, abs=0.00005)


def test_what_jokers_may_do() -> None:
    sixes = KEEPS + HANDS - 1
    assert SETS[sixes] == (6,) * 5
    _, face_open, face_filled, only_upper = (points[HANDS - 1].tolist() for points in yahtzee().points)
    assert face_open == [-1] * 5 + [30] + [-1] * 7
    assert face_filled == [-1] * 6 + [30, 30, 25, 30, 40, 50, 30]
    assert only_upper[:6] == [0, 0, 0, 0, 0, 30]
    assert yahtzee(forced=False).points[1, -1].tolist() == [0, 0, 0, 0, 0, 30, 30, 30, 0, 0, 0, 50, 30]


def few(rules: BoxRules, still_open: tuple[int, ...], threads: int) -> np.ndarray:
    values = rules.new_values()
    solve(rules, values, (1 << rules.boxes) - 1 - sum(1 << box for box in still_open), threads=threads)
    return values


@pytest.mark.parametrize("rules", [YATZY, yahtzee()], ids=["yatzy", "yahtzee"])
def test_threads_change_nothing(rules: BoxRules) -> None:
    boxes = (0, 3, 5, 8, 9, 11)
    assert np.array_equal(few(rules, boxes, 1), few(rules, boxes, 3))


def test_a_joker_earns_its_extra_points_only_after_fifty() -> None:
    """With the box for four of a kind left alone: it is worth more once five equal dice have scored."""
    values = few(yahtzee(), (7,), 1)
    filled = (1 << 13) - 1 - (1 << 7)
    plain, lucky = values[:, filled, 0]
    # Three rolls of one who wants nothing else bring five equal dice in 0.04603 of turns.
    assert 0.04 < (lucky - plain) / 100 < 0.04603


def test_sums_side_by_side_are_those_one_by_one() -> None:
    """Sums from which the bonus is out of reach, or had, are worth the same; between them more is better."""
    values = few(YATZY, (0, 1, 14), 1)[0]
    filled = (1 << 15) - 1 - 0b100000000000011
    assert np.unique(values[filled, 3 : 63 - 15]).tolist() == [values[filled, 63]]
    near = values[filled, 63 - 16 : 63]
    assert near[0] == values[filled, 63]
    assert (np.diff(near) > 0).all()
    assert values[filled, [1, 2]].tolist() == [0, 0]  # nobody has one or two points of threes and more
