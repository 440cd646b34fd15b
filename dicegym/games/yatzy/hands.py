"""Dice in their places: which set they are, and in which places the dice of a set lie.

Places are bit masks, the sum of 2**place.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import numpy as np

from dicegym.engine.jit import kernel
from dicegym.games.yatzy.tables import CODES, DICE, FACES, KEEPS, SET_OF

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
