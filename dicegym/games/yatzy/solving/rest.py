"""How the points still to come are distributed, for one who plays for the highest mean: of every position, exactly.

A row for each position (`dicegym.games.yatzy.solving.positions`), without the points that are less likely than a
65535th of the likeliest, as whole numbers of 16 bits: probabilities are these over their sum. 1.43 million rows take
some 400 MB.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import numpy as np

from dicegym.engine.jit import kernel
from dicegym.games.yatzy.solving.positions import MOST_POINTS, POSITIONS, SCORES, TOTALS, position_of
from dicegym.games.yatzy.solving.turn import (
    earned,
    ends,
    look_through,
    mean_leaves,
    new_leaves,
    new_levels,
    sum_after,
)
from dicegym.games.yatzy.tables import BOXES

FULL = np.iinfo(np.uint16).max
"""What the likeliest points of a row are kept as."""


@kernel
def add_row(rest, position, shift, likely, out):
    """Add the distribution of a position, ``shift`` points higher and ``likely`` times, to ``out``."""
    weights, starts, firsts, scales = rest
    start, n = starts[position, 0], starts[position, 1]
    factor = likely * scales[position]
    first = firsts[position] + shift
    for i in range(n):
        out[first + i] += factor * weights[start + i]


@kernel
def distribute(values, rest, filled, sums, begin, end, rows):
    """Write how the points to come are distributed: ``rows[k]`` (float64[375]) of position ``filled[k], sums[k]``.

    ``begin`` and ``end`` say which k. ``rest`` holds all positions with one box more filled.
    """
    leaves, likely = new_leaves(), new_leaves()
    levels, chosen = new_levels()
    for k in range(begin, end):
        mean_leaves(values, filled[k], sums[k], leaves)
        look_through(leaves, filled[k], levels, chosen)
        ends(chosen, likely)
        rows[k, :] = 0.0
        for box in range(BOXES):
            if not filled[k] >> box & 1:
                for points in range(MOST_POINTS):
                    if SCORES[box, points] and likely[box, points] > 0.0:
                        after = position_of(filled[k] | 1 << box, sum_after(sums[k], box, points))
                        add_row(rest, after, earned(sums[k], box, points), likely[box, points], rows[k])


@kernel
def keep_rows(rows, filled, sums, used, rest):
    """Keep rows, ``weights[:used]`` being taken; return how many are taken then."""
    weights, starts, firsts, scales = rest
    for k in range(len(rows)):
        position = position_of(filled[k], sums[k])
        unit = rows[k].max() / FULL
        first, last = 0, TOTALS - 1
        while rows[k, first] < 0.5 * unit:
            first += 1
        while rows[k, last] < 0.5 * unit:
            last -= 1
        together = 0.0
        for i in range(first, last + 1):
            weight = np.floor(rows[k, i] / unit + 0.5)
            weights[used + i - first] = weight
            together += weight
        starts[position, 0], starts[position, 1] = used, last - first + 1
        firsts[position], scales[position] = first, 1.0 / together
        used += last - first + 1
    return used


def new_rest(room: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return tables for all positions, rows of ``room`` numbers in all: weights, starts (and lengths), firsts, scales.

    They hold the positions with all boxes filled, after which nothing comes.
    """
    weights = np.zeros(room, np.uint16)
    starts = np.zeros((POSITIONS, 2), np.int64)
    firsts, scales = np.zeros(POSITIONS, np.int64), np.ones(POSITIONS)
    weights[0] = 1
    starts[:, 1] = 1
    return weights, starts, firsts, scales
