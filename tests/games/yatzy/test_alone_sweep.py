"""The sweep over all positions of a game of boxes: Yahtzee's published values, and what the result may depend on."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from dicegym.games.yatzy.solving.alone import (
    ALIKE,
    BLOCKED,
    FACE_FILLED,
    FACE_OPEN,
    SITUATIONS,
    YATZY,
    BoxRules,
    solve,
)
from dicegym.games.yatzy.tables import COUNTS, HANDS, KEEPS, SETS, UPPER

JOKER_BOX = 11
"""Of Yahtzee: the box for five equal dice."""


def yahtzee(forced: bool = True) -> BoxRules:
    """Return the rules of Yahtzee: thirteen boxes, 35 points from 63, 100 for every Yahtzee after the first.

    A Yahtzee when its box is filled is a joker: where the upper box of its face is open, that is scored; else it scores
    25 as a full house, 30 and 40 as a straight, or the sum of its dice.

    Args:
        forced: whether a joker must be used: in the upper box of its face; if that is filled, in a lower box; if these
            are filled, as 0 in an upper one. Otherwise any open box may be chosen, and the joker counts in lower boxes
            when the upper box of its face is filled.
    """
    three, four, full_house, small, large, yahtzee_box, chance = range(UPPER, UPPER + 7)
    points = np.zeros((SITUATIONS, HANDS, UPPER + 7), np.int64)
    points[:, :, :UPPER] = COUNTS[KEEPS:] * np.arange(1, UPPER + 1)
    for hand, faces in enumerate(SETS[KEEPS:]):
        most = max(Counter(faces).values())
        run = max(len(part) for part in "".join(str(face) if face in faces else " " for face in range(1, 7)).split())
        mine = points[:, hand]
        mine[:, three] = sum(faces) * (most >= 3)
        mine[:, four] = sum(faces) * (most >= 4)
        mine[:, full_house] = 25 * (sorted(Counter(faces).values()) == [2, 3])
        mine[:, small] = 30 * (run >= 4)
        mine[:, large] = 40 * (run >= 5)
        mine[:, yahtzee_box] = 50 * (most == 5)
        mine[:, chance] = sum(faces)
        face = int(ALIKE[hand])
        if face:
            mine[FACE_FILLED, [full_house, small, large]] = 25, 30, 40
            if forced:
                mine[FACE_OPEN, np.arange(UPPER + 7) != face - 1] = BLOCKED
                mine[FACE_FILLED, :UPPER] = BLOCKED
    return BoxRules(points, 63, 35, yahtzee_box, 100)


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
