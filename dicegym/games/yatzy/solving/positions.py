"""Positions between two turns, numbered without gaps.

A position is the set of filled boxes and the sum of the upper ones, up to 63. The upper boxes and their sum make a
*place*, of which there are 2794; the lower boxes are any of 512 sets. Position ``place * 512 + lower``.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import numpy as np

from dicegym.engine.jit import kernel
from dicegym.games.yatzy.rules import BONUS_FROM, MOST_TOTAL, bonus
from dicegym.games.yatzy.tables import BEST, BOXES, DICE, UPPER

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
def earned(upper, box, points):
    """Return ``points`` and the bonus, if they reach it."""
    return points + bonus(sum_after(upper, box, points)) - bonus(upper)


@kernel
def filled_of(scores):
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
    return position_of(filled_of(state.scores[seat]), upper_of(state, seat))
