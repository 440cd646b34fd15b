"""The highest probability with which so many points can still be reached, of every position.

Each number of points has a play of its own: who needs 60 more keeps other dice than who needs 20. A row for each
position (`dicegym.games.yatzy.solving.positions`), from the first number of points that is not sure to the last that
can be; probabilities as whole numbers out of 65535. One backward sweep over vectors.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import numpy as np

from dicegym.engine.jit import kernel
from dicegym.games.yatzy.solving.alone_kernels import FIRST_ROLL
from dicegym.games.yatzy.solving.positions import MOST_POINTS, POSITIONS, SCORES, TOTALS, position_of
from dicegym.games.yatzy.solving.turn import earned, sum_after
from dicegym.games.yatzy.tables import BEST, BOXES, HANDS, KEEPS, ROLLS, SETS, WITH

FULL = np.iinfo(np.uint16).max
"""What a probability of 1 is kept as."""
N_SETS = len(SETS)
SIXTH = np.float32(1 / WITH.shape[1])


@kernel
def raise_row(out, row, n):
    """Raise the first ``n`` numbers of ``out`` to those of ``row`` that are higher."""
    for w in range(n):
        out[w] = row[w] if row[w] > out[w] else out[w]


@kernel
def mean_row(out, a, b, c, d, e, f, n):
    """Write the means of six rows' first ``n`` numbers."""
    for w in range(n):
        out[w] = (a[w] + b[w] + c[w] + d[w] + e[w] + f[w]) * SIXTH


@kernel
def copy_row(out, row, n):
    """Copy the first ``n`` numbers."""
    for w in range(n):
        out[w] = row[w]


@kernel
def add_times(out, row, likely, n):
    """Add the first ``n`` numbers of ``row``, ``likely`` times."""
    for w in range(n):
        out[w] += likely * row[w]


@kernel
def open_row(weights, start, length, first, low, n, out):
    """Write a row, whose numbers begin at ``first`` points, as probabilities for ``low`` .. ``low + n - 1`` points."""
    for w in range(min(max(first - low, 0), n)):
        out[w] = 1.0
    for w in range(max(first - low, 0), min(max(first + length - low, 0), n)):
        out[w] = weights[start + w + low - first] * np.float32(1 / FULL)
    for w in range(max(first + length - low, 0), n):
        out[w] = 0.0


@kernel
def range_of(reach, filled, upper):
    """Return the first number of points that is not sure in a position, and one more than can be had at most."""
    _, starts, firsts = reach
    low, high = 0, 0
    for box in range(BOXES):
        if not filled >> box & 1:
            least = TOTALS
            for points in range(MOST_POINTS):
                if SCORES[box, points]:
                    after = position_of(filled | 1 << box, sum_after(upper, box, points))
                    first = firsts[after] + earned(upper, box, points)
                    least = min(least, first)
                    high = max(high, first + starts[after, 1])
            low = max(low, least)
    return low, high


@kernel
def reach_position(reach, filled, upper, hands, sets, leaf, out):
    """Write how likely ``low`` and more points are when they are played for; return (low, numbers written)."""
    weights, starts, firsts = reach
    low, high = range_of(reach, filled, upper)
    n = high - low
    for hand in range(HANDS):
        row = hands[hand]
        for w in range(n):
            row[w] = 0.0
    for box in range(BOXES):
        if not filled >> box & 1:
            for points in range(MOST_POINTS):
                if SCORES[box, points]:
                    after = position_of(filled | 1 << box, sum_after(upper, box, points))
                    first = firsts[after] + earned(upper, box, points)
                    open_row(weights, starts[after, 0], starts[after, 1], first, low, n, leaf)
                    for hand in range(HANDS):
                        if BEST[hand, box] == points:
                            raise_row(hands[hand], leaf, n)
    for hand in range(HANDS):
        copy_row(sets[KEEPS + hand], hands[hand], n)
    for _ in range(ROLLS):
        for kept in range(KEEPS - 1, -1, -1):
            a, b, c = sets[WITH[kept, 0]], sets[WITH[kept, 1]], sets[WITH[kept, 2]]
            d, e, f = sets[WITH[kept, 3]], sets[WITH[kept, 4]], sets[WITH[kept, 5]]
            mean_row(sets[kept], a, b, c, d, e, f, n)
        for hand in range(HANDS):
            copy_row(sets[KEEPS + hand], hands[hand], n)
        for kept in range(KEEPS):
            row = sets[kept]
            for face in range(WITH.shape[1]):
                raise_row(sets[WITH[kept, face]], row, n)
    for w in range(n):
        out[w] = 0.0
    for hand in range(HANDS):
        add_times(out, sets[KEEPS + hand], np.float32(FIRST_ROLL[hand]), n)
    return low, n


@kernel
def reach_rows(reach, filled, sums, begin, end, rows, spans):
    """Write the rows of positions ``begin`` to ``end`` to ``rows[k]`` (float32[375]), and (low, numbers) to ``spans``.

    ``reach`` holds all positions with one box more filled: weights, starts (and lengths), firsts.
    """
    hands, sets = np.zeros((HANDS, TOTALS + 1), np.float32), np.zeros((N_SETS, TOTALS + 1), np.float32)
    leaf = np.zeros(TOTALS + 1, np.float32)
    for k in range(begin, end):
        low, n = reach_position(reach, filled[k], sums[k], hands, sets, leaf, rows[k])
        spans[k, 0], spans[k, 1] = low, n


@kernel
def keep_rows(rows, spans, filled, sums, used, reach):
    """Keep rows, ``weights[:used]`` being taken; return how many are taken then."""
    weights, starts, firsts = reach
    for k in range(len(rows)):
        position = position_of(filled[k], sums[k])
        low, n = spans[k, 0], spans[k, 1]
        first, last = 0, n - 1
        while first < n and rows[k, first] * FULL >= FULL - 0.5:
            first += 1
        while last >= first and rows[k, last] * FULL < 0.5:
            last -= 1
        for i in range(first, last + 1):
            weights[used + i - first] = np.uint16(rows[k, i] * FULL + 0.5)
        starts[position, 0], starts[position, 1] = used, last - first + 1
        firsts[position] = low + first
        used += last - first + 1
    return used


@kernel
def chance(reach, position, wanted):
    """Return the highest probability of so many points, and more, from a position."""
    weights, starts, firsts = reach
    at = wanted - firsts[position]
    if at < 0:
        return 1.0
    if at >= starts[position, 1]:
        return 0.0
    return weights[starts[position, 0] + at] / FULL


def new_reach(room: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return tables for all positions, rows of ``room`` numbers in all: weights, starts (and lengths), firsts.

    They hold the positions with all boxes filled, after which 0 points are sure and 1 is not.
    """
    return np.zeros(room, np.uint16), np.zeros((POSITIONS, 2), np.int64), np.ones(POSITIONS, np.int64)
