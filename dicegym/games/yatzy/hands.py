"""Sets of dice: which set lies in which places, and what sets are worth before a roll, given what hands are worth.

Places are bit masks, the sum of 2**place. Values go by set: float64[462], hands from `KEEPS` on.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import numpy as np

from dicegym.engine.jit import kernel
from dicegym.games.yatzy.tables import CODES, DICE, FACES, KEEPS, SET_OF, WITH

HANDFULS = 1 << DICE
"""Choices of places."""


@kernel
def set_of(dice, places):
    """Return the set of those dice whose places are in the bit mask ``places``."""
    index = np.int64(0)
    for place in range(DICE - 1, -1, -1):
        index *= FACES + 1
        if places >> place & 1:
            index += dice[place]
    return np.int64(SET_OF[index])


@kernel
def hand_of(dice):
    """Return the hand that five dice show."""
    return set_of(dice, HANDFULS - 1) - KEEPS


@kernel
def places_kept(dice, kept):
    """Return the bit mask of the first places whose dice are those of the set ``kept``."""
    return first_places(dice, CODES[kept])


@kernel
def first_places(dice, wanted):
    """Return the bit mask of the first places that show as many of each face as ``wanted`` says, coded as `CODES`."""
    places = np.int64(0)
    for place in range(DICE):
        shift = 4 * (np.int64(dice[place]) - 1)
        if wanted >> shift & 15:
            wanted -= np.int64(1) << shift
            places |= np.int64(1) << place
    return places


@kernel
def roll_sets(means):
    """Fill ``means`` (float64[462], hands given) with the mean value of each set when its missing dice are rolled."""
    for kept in range(KEEPS - 1, -1, -1):  # one more die makes a set of a higher number
        total = 0.0
        for face in range(FACES):
            total += means[WITH[kept, face]]
        means[kept] = total / FACES


@kernel
def keep_best(means):
    """Raise each hand's value to that of the best set that can be kept of it; spoils the sets."""
    for kept in range(KEEPS):
        for face in range(FACES):
            larger = WITH[kept, face]
            means[larger] = max(means[larger], means[kept])
