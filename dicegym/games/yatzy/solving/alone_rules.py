"""Games of boxes for one as tables, and how they are solved: Yatzy, and Yahtzee as a proof.

Yahtzee is played with the same dice and has been solved in public, by its rules on jokers: 254.5877 points where a
joker must be used as the official rules have it, 254.5896 where any open box may be chosen. That the same sweep,
fed with Yahtzee's tables, comes to these numbers is evidence that what it says of Yatzy is true too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

import numpy as np

from dicegym.engine.threads import cores
from dicegym.games.yatzy import rules
from dicegym.games.yatzy.solving import alone_kernels as kernels
from dicegym.games.yatzy.solving.alone_kernels import ALIKE, FACE_FILLED, FACE_OPEN, SITUATIONS, UPPER
from dicegym.games.yatzy.tables import BEST, COUNTS, HANDS, KEEPS, SETS

BLOCKED = -1


class BoxRules(NamedTuple):
    """What five dice score in the boxes of a game."""

    points: np.ndarray
    """int64[4, 252, boxes]: by situation (`alone_kernels.NORMAL` and the next three), hand and box; -1 for a box that
    may not be chosen. The first six boxes are the upper ones, where the points are those of the dice of their face."""
    bonus_from: int
    bonus: int
    joker_box: int = -1
    """The box for five equal dice, if more of these are jokers once it is filled."""
    extra: int = 0
    """Points for every joker after the first five equal dice were scored in their box."""

    @property
    def boxes(self) -> int:
        """Return the number of boxes."""
        return int(self.points.shape[2])

    def new_values(self) -> np.ndarray:
        """Return an array for all positions: float64[layers, 2**boxes, sums], zeros."""
        return np.zeros((2 if self.extra else 1, 1 << self.boxes, self.bonus_from + 1))


YATZY = BoxRules(np.repeat(BEST[None].astype(np.int64), SITUATIONS, axis=0), rules.BONUS_FROM, rules.BONUS)


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


def solve(
    rules: BoxRules, values: np.ndarray, closed: int = 0, *, threads: int = 0, told: Callable[[int], None] | None = None
) -> None:
    """Fill ``values`` for all positions of a game in which at least the boxes of the bit mask ``closed`` are filled.

    Args:
        rules: the game.
        values: as of `BoxRules.new_values`: the mean of what is still to come. 0 where all boxes are filled; sums that
            cannot be stay as they are. Of each closed upper box any points may have been scored.
        closed: boxes; 0 for the whole game.
        threads: how many, the caller's among them; 0: as many as there are cores. Values do not depend on it.
        told: told how many sets of boxes have been solved, after each number of filled boxes.
    """
    points = rules.points
    ways = np.where(np.arange(rules.boxes) < UPPER, points // (np.arange(rules.boxes) + 1), points > 0)
    ways[:, :, [box for box in range(UPPER, rules.boxes) if box != rules.joker_box]] = 0
    fixed = points, ways, rules.bonus, rules.joker_box, rules.extra
    count = threads or cores()
    sets = np.arange(1 << rules.boxes)
    sets = sets[sets & closed == closed]
    filled, done = np.bitwise_count(sets), 0
    with ThreadPoolExecutor(count) as pool:
        for number in range(rules.boxes - 1, -1, -1):
            level = sets[filled == number]
            for layer in range(len(values)):
                mine = level[level >> rules.joker_box & 1 == 1] if layer else level
                work = partial(kernels.solve_sets, *fixed, layer, values)
                list(pool.map(work, [mine[part::count] for part in range(count)]))
            done += len(level)
            if told is not None:
                told(done)
