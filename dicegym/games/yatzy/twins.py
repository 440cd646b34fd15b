"""Yatzy's twins: agents of ``agents/yatzy`` as kernels, each with the same strategy.

They answer like the files, with wide actions that name dice by places; of equal dice they take the first places.

`planner` values a hand in a box and maximises the mean at the end of the turn. Its file contains the same numbers. Of
choices that differ only by rounding it takes the first. Values are passed as ``by_dice`` float64[6, 6], for each upper
box scored with 0 to 5 dice of its number, and ``besides`` float64[15], to be added to the points of each other box.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import math

import numpy as np

from dicegym.engine.jit import kernel
from dicegym.engine.twin_kernels import twin
from dicegym.games.yatzy.rules import (
    BEST,
    BONUS,
    BONUS_FROM,
    BOXES,
    COUNTS,
    DICE,
    FACES,
    HANDFULS,
    HANDS,
    KEEPABLE,
    KEEPS,
    POINTS,
    ROLL_PLACES,
    SCORE_PLACES,
    SETS,
    UPPER,
    best_box,
    hand_of,
    keep_best,
    places_kept,
    roll_sets,
)

# --- rules of thumb --------------------------------------------------------------------------------------------------

_PART_THAT_SCORES = (KEEPABLE[:, :, None] * POINTS[:KEEPS]).argmax(axis=1)
PUT = np.where(POINTS[KEEPS:] == BEST, KEEPS + np.arange(HANDS)[:, None], _PART_THAT_SCORES)
"""int64[252, 15]: the set of dice of each hand that scores most in each box; all dice if nothing scores."""
COMMONEST = (COUNTS[KEEPS:] * (FACES + 1) + np.arange(1, FACES + 1)).argmax(axis=1)
"""int64[252]: the commonest face (from 0) of each hand, the highest of equally common ones."""
ALL_PLACES = HANDFULS - 1


@kernel
def score_best_dice(state, box):
    """Return the action that scores a box with its best dice, or with all dice if nothing scores."""
    return SCORE_PLACES + HANDFULS * box + places_kept(state.dice, PUT[hand_of(state.dice), box])


@twin("gather", file="9d2e1d259e363a30")
@kernel
def gather(state):
    """Keep the commonest number, then score the box with the most points."""
    if state.rolls_left > 0:
        most = COMMONEST[hand_of(state.dice)] + 1
        places = 0
        for place in range(DICE):
            places |= (state.dice[place] == most) << place
        if places != ALL_PLACES:
            return ROLL_PLACES + ALL_PLACES - places
    return score_best_dice(state, best_box(state))


@twin("in_order", file="c94327f7004ca43a")
@kernel
def in_order(state):
    """Score the first open box."""
    box = 0
    while state.scores[state.player, box] >= 0:
        box += 1
    return score_best_dice(state, box)


@twin("at_once", file="195da2671a7e627d")
@kernel
def at_once(state):
    """Score the first hand in the box with the most points."""
    return score_best_dice(state, best_box(state))


# --- looking ahead ---------------------------------------------------------------------------------------------------

_ALONE_AND_TOGETHER = """
2.96 -0.54 -0.29 0.16 0.62 0.79 -0.07 0.23 0.43 0.85 0.30 0.66 0.76 0.14 1.21
4.31 -0.16 -0.05 0.18 0.20 0.50 0.35 0.51 0.71 0.64 0.99 0.84 0.40 1.49
5.63 -0.13 -0.06 -0.04 0.61 0.60 0.60 1.00 1.00 1.15 0.70 0.71 1.62
7.53 -0.17 -0.15 0.97 0.79 0.57 0.94 1.04 1.26 0.53 0.92 1.69
8.32 -0.07 1.11 1.12 0.35 1.05 1.42 1.34 0.30 1.10 1.71
8.21 1.76 1.41 0.06 1.15 1.59 1.68 0.42 1.54 1.92
16.05 -0.14 0.04 0.95 -0.73 -0.08 0.88 -0.93 0.07
18.30 0.61 1.13 -0.02 0.21 1.07 -0.09 0.53
12.71 2.32 0.42 1.32 0.86 -0.04 2.01
4.95 0.88 1.36 1.69 1.11 2.83
6.51 0.02 0.75 -0.50 -0.09
4.76 1.14 0.29 1.10
10.66 1.08 1.50
26.27 0.73
2.80
"""
TOGETHER = np.zeros((BOXES, BOXES))
"""float64[15, 15], symmetric: the value of two open boxes together; on the diagonal, of a single one."""
TOGETHER[np.triu_indices(BOXES)] = [float(number) for number in _ALONE_AND_TOGETHER.split()]
TOGETHER = np.maximum(TOGETHER, TOGETHER.T) + np.minimum(TOGETHER, TOGETHER.T)
TOGETHER[np.diag_indices(BOXES)] /= 2
MEAN = np.array([3.57, 3.20, 3.18, 3.20, 3.23, 3.28]) * range(1, UPPER + 1)
VARIANCE = (np.array([0.91, 0.97, 0.94, 0.88, 0.75, 0.67]) * range(1, UPPER + 1)) ** 2
"""Mean and variance of the points to come in each open upper box, assumed to be normal."""
SHIFT, ROUNDING, WORST = -0.33, 1e-9, -1e9


@kernel
def bonus_chance(scores, upper, without):
    """Return the probability of the bonus, given a seat's boxes and upper sum; the box ``without`` is left out."""
    if upper >= BONUS_FROM:
        return 1.0
    mean, variance = 0.0, 0.0
    for box in range(UPPER):
        if scores[box] < 0 and box != without:
            mean += MEAN[box]
            variance += VARIANCE[box]
    if variance == 0.0:
        return 0.0
    return 0.5 * (1 + math.erf((mean + SHIFT - (BONUS_FROM - upper)) / math.sqrt(2 * variance)))


@kernel
def planner_worths(scores, upper, by_dice, besides):
    """Write the value of each open box: its points, everything that follows, and the bonus."""
    every = 0.0
    for box in range(BOXES):
        besides[box] = 0.0
        if scores[box] < 0:
            for other in range(BOXES):
                if scores[other] < 0:
                    besides[box] += TOGETHER[box, other]
                    every += TOGETHER[box, other] * (0.5 + 0.5 * (box == other))
    chance = bonus_chance(scores, upper, -1)
    for box in range(BOXES):
        if scores[box] < 0:
            besides[box] = every - besides[box]
            if box < UPPER:
                for dice in range(DICE + 1):
                    points = dice * (box + 1)
                    by_dice[box, dice] = points + besides[box] + BONUS * bonus_chance(scores, upper + points, box)
            else:
                besides[box] += BONUS * chance


@kernel
def worth(hand, box, by_dice, besides):
    """Return the value of a hand in an open box."""
    if box < UPPER:
        return by_dice[box, COUNTS[KEEPS + hand, box]]
    return BEST[hand, box] + besides[box]


@kernel
def look_ahead(state, by_dice, besides):
    """Return the action that keeps the best set of dice, or scores the best box if keeping all dice is best."""
    scores, hand = state.scores[state.player], hand_of(state.dice)
    most, chosen = WORST, 0
    for box in range(BOXES):
        if scores[box] < 0:
            most = max(most, worth(hand, box, by_dice, besides))
    for box in range(BOXES - 1, -1, -1):
        if scores[box] < 0 and worth(hand, box, by_dice, besides) > most - ROUNDING:
            chosen = box
    if state.rolls_left == 0:
        return score_best_dice(state, chosen)

    means = np.full(len(SETS), WORST)
    for box in range(BOXES):
        if scores[box] < 0:
            for other in range(HANDS):
                means[KEEPS + other] = max(means[KEEPS + other], worth(other, box, by_dice, besides))
    roll_sets(means)
    for _ in range(state.rolls_left - 1):
        keep_best(means)
        roll_sets(means)
    for kept in range(KEEPS):
        if KEEPABLE[hand, kept]:
            most = max(most, means[kept])
    for kept in range(KEEPS):
        if KEEPABLE[hand, kept] and means[kept] > most - ROUNDING:
            return ROLL_PLACES + ALL_PLACES - places_kept(state.dice, kept)
    return score_best_dice(state, chosen)


@twin("planner", file="d7690e1967069582")
@kernel
def planner(state):
    """Look ahead to the end of the turn, with values of pairs of open boxes."""
    by_dice, besides = np.empty((UPPER, DICE + 1)), np.empty(BOXES)
    planner_worths(state.scores[state.player], np.int64(state.upper[state.player]), by_dice, besides)
    return look_ahead(state, by_dice, besides)
