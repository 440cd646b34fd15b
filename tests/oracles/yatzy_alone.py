"""Yatzy for one under any scoring of hands, by plain NumPy: slower than `points.solve`, and without its short cuts.

Nothing is left out because it cannot occur, so a scoring need not be that of the rules.
"""

from __future__ import annotations

import numpy as np

from dicegym.games.yatzy.rules import BONUS, BONUS_FROM, BOXES, HANDS, ROLLS, UPPER, after_rolling, best_part

AT_ONCE = 64
"""Sets of filled boxes that are solved together: 64 keep a step of theirs in a processor's cache."""


def mean_of_best_play(points: np.ndarray, closed: int = 0) -> float:
    """Return the mean of what best play still scores before a turn, with no points in the upper boxes.

    Args:
        points: int[252, 15], what each hand scores in each box.
        closed: bit mask of the boxes that are filled; 0 for the whole game, which takes about 20 seconds.
    """
    upper = np.arange(BONUS_FROM + 1)
    sets = np.arange(1 << BOXES)
    values = np.zeros((len(sets), len(upper)))
    sets = sets[sets & closed == closed]
    for number in range(BOXES - 1, -1, -1):
        level = sets[np.bitwise_count(sets) == number]
        for start in range(0, len(level), AT_ONCE):
            filled = level[start : start + AT_ONCE]
            hands = np.zeros((HANDS, len(filled), len(upper)))
            for box in range(BOXES):
                open_in = np.flatnonzero(filled >> box & 1 == 0)
                later = values[filled[open_in] | 1 << box]
                for score in np.unique(points[:, box]):
                    if box < UPPER:
                        sums = np.minimum(upper + score, BONUS_FROM)
                        bonus = BONUS * ((sums == BONUS_FROM) & (upper < BONUS_FROM))
                        worth = later[:, sums] + score + bonus
                    else:
                        worth = later + score
                    scoring = np.ix_(points[:, box] == score, open_in)
                    hands[scoring] = np.maximum(hands[scoring], worth)
            for _ in range(ROLLS):
                hands = best_part(after_rolling(hands))
            values[filled] = after_rolling(hands)[0]
    return float(values[closed, 0])
