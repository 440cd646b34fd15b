"""Yatzy for one: positions between two turns, and one turn looked through, given what its ends are worth.

A position is the set of filled boxes (a bit mask, box 0 lowest) and the sum of the upper ones, up to 63. The upper
boxes and their sum make a *place*, of which there are 2794; the lower boxes are any of 512 sets. Numbered without gaps,
a position is ``place * 512 + lower``.

The *ends* of a turn are what can be scored in an open box. `look_through` goes back from their worth to each set of
dice that may be kept, by means over rolls and maxima over choices, and says what to do. Leaves go by box and points,
float64[15, 51]; those that cannot be are not read. `dicegym.games.yatzy.solving.alone` does the same for many upper
sums at once, where only the worth of the whole turn is asked for.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import numpy as np

from dicegym.engine.jit import kernel
from dicegym.games.yatzy.rules import BONUS_FROM, MOST_TOTAL, N_ACTIONS, ROLL_PLACES, bonus
from dicegym.games.yatzy.tables import (
    BEST,
    BOXES,
    DICE,
    FACES,
    HANDFULS,
    HANDS,
    KEEPS,
    ROLLS,
    SETS,
    UPPER,
    WITH,
    after_rolling,
    roll_sets,
    set_of,
)

ALL_FILLED = (1 << BOXES) - 1
SUMS = BONUS_FROM + 1
LOWER_SETS = 1 << (BOXES - UPPER)
UPPER_SETS = 1 << UPPER
TOTALS = MOST_TOTAL + 1
"""Totals that a player can have at the end: 0..374."""
MOST_POINTS = int(BEST.max()) + 1
_SCORED = [(box, points) for box in range(BOXES) for points in np.unique(BEST[:, box]).tolist()]
END_BOXES, END_POINTS = np.array(_SCORED, np.int64).T.copy()
"""int64[n] each: all ends that a turn can have, by box and points; which boxes can be filled with which points."""
N_ENDS = len(_SCORED)
_SCORING = [np.flatnonzero(BEST[:, box] == points) for box, points in _SCORED]
END_HANDS, END_STARTS = np.concatenate(_SCORING), np.cumsum([0, *map(len, _SCORING)])
"""int64[3780], the hands that score in each end; those of end e stand from ``END_STARTS[e]`` to the next."""


def _places() -> np.ndarray:
    possible = np.zeros((UPPER_SETS, SUMS), np.bool_)
    possible[0, 0] = True
    for boxes in range(1, UPPER_SETS):
        box = boxes.bit_length() - 1
        for points in range(0, (DICE + 1) * (box + 1), box + 1):
            sums = np.minimum(np.flatnonzero(possible[boxes ^ 1 << box]) + points, BONUS_FROM)
            possible[boxes, sums] = True
    numbers = np.full(possible.shape, -1, np.int32)
    numbers[possible] = np.arange(possible.sum())
    return numbers


PLACES: np.ndarray = _places()
"""int32[64, 64]: the number of each set of upper boxes and their sum; -1 if it cannot be."""
N_PLACES = int(PLACES.max()) + 1


def _same_sums() -> np.ndarray:
    still_open = ~np.arange(UPPER_SETS)[:, None] >> np.arange(UPPER) & 1
    more = still_open @ (DICE * np.arange(1, UPPER + 1))
    sums = np.arange(SUMS)
    apart = (more[:, None] > 0) & (sums + more[:, None] >= BONUS_FROM)  # the bonus can be reached, or has been
    return np.where(PLACES < 0, -1, np.where(apart, sums, (PLACES >= 0).argmax(axis=1)[:, None]))


SAME_SUMS: np.ndarray = _same_sums()
"""int64[64, 64]: by set of upper boxes and their sum, the lowest sum from which as much is still to come: from all sums
that leave the bonus out of reach, and from all when no upper box is open. -1 if it cannot be."""
POSITIONS = N_PLACES * LOWER_SETS


def level(n_filled: int, closed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return the filled boxes and the upper sums (int64 both) of all positions with ``n_filled`` filled boxes.

    Those of the bit mask ``closed`` are among them.
    """
    upper_sets, sums = np.nonzero(PLACES >= 0)
    lower = np.arange(LOWER_SETS)
    n_lower, n_upper = np.bitwise_count(lower), np.bitwise_count(upper_sets)
    which, low = np.nonzero(n_upper[:, None] + n_lower == n_filled)
    filled = upper_sets[which] | lower[low] << UPPER
    wanted = filled & closed == closed
    return filled[wanted], sums[which][wanted]


@kernel
def position_of(filled, upper):
    """Return the number of a position."""
    return np.int64(PLACES[filled & (UPPER_SETS - 1), upper]) * LOWER_SETS + (filled >> UPPER)


@kernel
def sum_after(upper, box, points):
    """Return the sum of the upper boxes, up to 63, once ``points`` are in ``box``."""
    return min(upper + points, BONUS_FROM) if box < UPPER else upper


@kernel
def earn(upper, box, points):
    """Return ``points`` and the bonus, if they reach it."""
    return points + bonus(sum_after(upper, box, points)) - bonus(upper)


@kernel
def mask_filled(scores):
    """Return the bit mask of the filled boxes among fifteen scores."""
    filled = 0
    for box in range(BOXES):
        filled |= int(scores[box] >= 0) << box
    return filled


@kernel
def upper_of(state, seat):
    """Return the sum of a seat's upper boxes, up to 63."""
    return min(int(state.upper[seat]), BONUS_FROM)


@kernel
def position_in(state, seat):
    """Return the number of a seat's position."""
    return position_of(mask_filled(state.scores[seat]), upper_of(state, seat))


# --- a turn, and what to do in it ----------------------------------------------------------------------------------

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
            leaves[box, points] = earn(upper, box, points) + later


@kernel
def best_box(leaves, filled, hand):
    """Return the open box in which a hand is worth most, of equal ones the first."""
    chosen, most = -1, WORST
    for box in range(BOXES):
        if not filled >> box & 1 and leaves[box, BEST[hand, box]] > most:
            chosen, most = box, leaves[box, BEST[hand, box]]
    return chosen


@kernel
def look_through(leaves, filled, first, levels, chosen):
    """Write what sets are worth in a turn to ``levels`` (float64[3, 462]), by rolls left.

    Of a hand: if it is shown; of fewer dice: if they are kept and the others are rolled, which none can be in the first
    row. ``chosen`` (int64[3, 462]): what is best kept of each hand, itself if it is scored, then in ``chosen[0]`` in
    which box. With ``first`` that is the first of all that is worth the most, sets before boxes, as players choose by
    values.
    """
    for hand in range(HANDS):
        box = best_box(leaves, filled, hand)
        chosen[0, KEEPS + hand] = box
        levels[0, KEEPS + hand] = leaves[box, BEST[hand, box]]
    for left in range(1, ROLLS + 1):
        worths, best = levels[left], chosen[left]
        worths[KEEPS:] = levels[left - 1, KEEPS:]
        roll_sets(worths)
        raised = worths.copy()
        raised[KEEPS:] = levels[0, KEEPS:]
        for number in range(N_SETS):
            best[number] = number
        for kept in range(KEEPS):
            for face in range(FACES):
                larger = WITH[kept, face]
                equal = first and raised[kept] == raised[larger] and best[kept] < best[larger]
                if raised[kept] > raised[larger] or equal:
                    raised[larger], best[larger] = raised[kept], best[kept]
        worths[KEEPS:] = raised[KEEPS:]


@kernel
def follow(leaves, levels, chosen):
    """Write what sets are worth to another seat while the mover chooses as ``chosen`` says; see `look_through`."""
    for hand in range(HANDS):
        levels[0, KEEPS + hand] = leaves[chosen[0, KEEPS + hand], BEST[hand, chosen[0, KEEPS + hand]]]
    for left in range(1, ROLLS + 1):
        levels[left, KEEPS:] = levels[left - 1, KEEPS:]
        roll_sets(levels[left])
        for hand in range(KEEPS, N_SETS):
            kept = chosen[left, hand]
            levels[left, hand] = levels[left, kept] if kept < KEEPS else levels[0, hand]


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
    """Write how likely each end of a turn is for a player that chooses so: float64[15, 51], by box and points."""
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
            likely = rolled[kept] / FACES
            rolled[kept] = 0.0
            if likely > 0.0:
                for face in range(FACES):
                    rolled[WITH[kept, face]] += likely
    for hand in range(HANDS):
        box = chosen[0, KEEPS + hand]
        out[box, BEST[hand, box]] += final[KEEPS + hand] + rolled[KEEPS + hand]


@kernel
def set_kept(state, action):
    """Return the set of dice that a legal action, of either kind, keeps when it rolls the others."""
    return action if action < N_ACTIONS else set_of(state.dice, HANDFULS - 1 - (action - ROLL_PLACES))
