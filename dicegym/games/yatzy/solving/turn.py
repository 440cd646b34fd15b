"""One turn looked through, given what its ends are worth.

The ends of a turn, *leaves*, go by box and points: float64[15, 51]; those that cannot be are not read.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import numpy as np

from dicegym.engine.jit import kernel
from dicegym.games.yatzy.hands import HANDFULS, roll_sets, set_of
from dicegym.games.yatzy.rules import N_ACTIONS, ROLL_PLACES
from dicegym.games.yatzy.solving.positions import END_BOXES, END_POINTS, MOST_POINTS, earned, sum_after
from dicegym.games.yatzy.tables import BEST, BOXES, HANDS, KEEPS, ROLLS, SETS, WITH, after_rolling

N_SETS = len(SETS)
FIRST_ROLL = after_rolling(np.eye(HANDS))[0]
"""float64[252]: the probability of each hand when five dice are rolled."""
WORST = -1e9
"""Below every worth."""


@kernel
def new_leaves():
    """Return room for what the ends of a turn are worth."""
    return np.zeros((BOXES, MOST_POINTS))


@kernel
def mean_leaves(values, filled, upper, leaves):
    """Write the points of each end of a turn, and the mean of what follows by ``values`` (float64[2**15, 64])."""
    for box, points in zip(END_BOXES, END_POINTS):  # noqa: B905 - Numba knows no strict
        if not filled >> box & 1:
            later = values[filled | 1 << box, sum_after(upper, box, points)]
            leaves[box, points] = earned(upper, box, points) + later


@kernel
def best_box(leaves, filled, hand):
    """Return the open box in which a hand is worth most, of equal ones the first."""
    chosen, most = -1, WORST
    for box in range(BOXES):
        if not filled >> box & 1 and leaves[box, BEST[hand, box]] > most:
            chosen, most = box, leaves[box, BEST[hand, box]]
    return chosen


@kernel
def best_sets(worths, chosen):
    """Raise what each hand is worth to the best of the sets that can be kept of it, and say which.

    ``worths`` float64[462]: of sets when they are kept and the other dice are rolled, of hands when they are scored.
    ``chosen`` int64[462]: the best set, a hand itself if it is scored.
    """
    for number in range(N_SETS):
        chosen[number] = number
    for kept in range(KEEPS):
        for face in range(WITH.shape[1]):
            larger = WITH[kept, face]
            if worths[kept] > worths[larger]:
                worths[larger], chosen[larger] = worths[kept], chosen[kept]


@kernel
def look_through(leaves, filled, levels, chosen):
    """Write what sets are worth in a turn to ``levels`` (float64[3, 462]), by rolls left.

    Of a hand: if it is shown; of fewer dice: if they are kept and the others are rolled, which none can be in the first
    row. ``chosen`` (int64[3, 462]): what is best kept of each hand, itself if it is scored, then in ``chosen[0]`` in
    which box.
    """
    for hand in range(HANDS):
        box = best_box(leaves, filled, hand)
        chosen[0, KEEPS + hand] = box
        levels[0, KEEPS + hand] = leaves[box, BEST[hand, box]]
    for left in range(1, ROLLS + 1):
        for hand in range(KEEPS, N_SETS):
            levels[left, hand] = levels[left - 1, hand]
        roll_sets(levels[left])
        raised = levels[left].copy()
        for hand in range(KEEPS, N_SETS):
            raised[hand] = levels[0, hand]
        best_sets(raised, chosen[left])
        for hand in range(KEEPS, N_SETS):
            levels[left, hand] = raised[hand]


@kernel
def follow(leaves, levels, chosen):
    """Write what sets are worth to another seat while the mover chooses as ``chosen`` says; see `look_through`."""
    for hand in range(HANDS):
        levels[0, KEEPS + hand] = leaves[chosen[0, KEEPS + hand], BEST[hand, chosen[0, KEEPS + hand]]]
    for left in range(1, ROLLS + 1):
        for hand in range(KEEPS, N_SETS):
            levels[left, hand] = levels[left - 1, hand]
        roll_sets(levels[left])
        for hand in range(KEEPS, N_SETS):
            kept = chosen[left, hand]
            levels[left, hand] = levels[left, kept] if kept < KEEPS else levels[0, hand]


@kernel
def prefer_first(levels, chosen):
    """Let ``chosen`` be the first of all that is worth the most, sets before boxes, as players choose by values."""
    worths = np.empty(N_SETS)
    for left in range(1, ROLLS + 1):
        best = chosen[left]
        for number in range(N_SETS):
            worths[number] = levels[left, number] if number < KEEPS else levels[0, number]
            best[number] = number
        for kept in range(KEEPS):
            for face in range(WITH.shape[1]):
                larger = WITH[kept, face]
                if worths[kept] > worths[larger] or (worths[kept] == worths[larger] and best[kept] < best[larger]):
                    worths[larger], best[larger] = worths[kept], best[kept]


@kernel
def new_levels():
    """Return the arrays that `look_through` fills."""
    return np.full((ROLLS + 1, N_SETS), WORST), np.zeros((ROLLS + 1, N_SETS), np.int64)


@kernel
def before_rolling(worths):
    """Return the mean of what hands are worth (float64[462]) when five dice are rolled."""
    mean = 0.0
    for hand in range(HANDS):
        mean += FIRST_ROLL[hand] * worths[KEEPS + hand]
    return mean


@kernel
def ends(chosen, out):
    """Write how likely each end of a turn is for one who chooses so: float64[15, 51], by box and points."""
    out[:] = 0.0
    final, rolled = np.zeros(N_SETS), np.zeros(N_SETS)
    for hand in range(HANDS):
        rolled[KEEPS + hand] = FIRST_ROLL[hand]
    for left in range(ROLLS, 0, -1):
        for hand in range(KEEPS, N_SETS):
            likely = rolled[hand]
            rolled[hand] = 0.0
            kept = chosen[left, hand]
            if kept >= KEEPS:
                final[hand] += likely
            else:
                rolled[kept] += likely
        for kept in range(KEEPS):
            likely = rolled[kept] / WITH.shape[1]
            rolled[kept] = 0.0
            if likely > 0.0:
                for face in range(WITH.shape[1]):
                    rolled[WITH[kept, face]] += likely
    for hand in range(HANDS):
        box = chosen[0, KEEPS + hand]
        out[box, BEST[hand, box]] += final[KEEPS + hand] + rolled[KEEPS + hand]


@kernel
def set_kept(state, action):
    """Return the set of dice that a legal action, of either kind, keeps when it rolls the others."""
    return action if action < N_ACTIONS else set_of(state.dice, HANDFULS - 1 - (action - ROLL_PLACES))
