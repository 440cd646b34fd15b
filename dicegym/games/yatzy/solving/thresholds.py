"""The highest probability with which so many points can still be reached, of every position.

Each number of points has a play of its own: who needs 60 more keeps other dice than who needs 20. A row for each
position (`dicegym.games.yatzy.solving.rows`), from the first number of points that is not sure to the last that
can be; probabilities as whole numbers out of 65535.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import functools

import numpy as np

from dicegym.engine.jit import kernel
from dicegym.games.solved import unsolved
from dicegym.games.worth import Progress
from dicegym.games.yatzy.solving import rows
from dicegym.games.yatzy.solving.positions import (
    END_BOXES,
    END_POINTS,
    POSITIONS,
    TOTALS,
    earned,
    position_of,
    sum_after,
)
from dicegym.games.yatzy.solving.turn import FIRST_ROLL, N_SETS
from dicegym.games.yatzy.tables import BEST, BOXES, HANDS, KEEPS, ROLLS, WITH

NAME = "thresholds"
FULL = np.iinfo(np.uint16).max
"""What a probability of 1 is kept as."""
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
def range_of(found, filled, upper):
    """Return the first number of points that is not sure in a position, and one more than can be had at most."""
    _, starts, firsts, _ = found
    low, high = 0, 0
    for box in range(BOXES):
        if not filled >> box & 1:
            least = TOTALS
            for other, points in zip(END_BOXES, END_POINTS):  # noqa: B905 - Numba knows no strict
                if other == box:
                    after = position_of(filled | 1 << box, sum_after(upper, box, points))
                    first = firsts[after] + earned(upper, box, points)
                    least = min(least, first)
                    high = max(high, first + starts[after, 1])
            low = max(low, least)
    return low, high


@kernel
def reach_position(found, filled, upper, hands, sets, leaf, mean, out):
    """Write how likely each number of points and more is when it is played for; 1 where it is sure.

    ``hands``, ``sets``, ``leaf`` and ``mean`` (float32[252, 376], [462, 376], [376] twice) are room to work in.
    """
    weights, starts, firsts, _ = found
    low, high = range_of(found, filled, upper)
    n = high - low
    for hand in range(HANDS):
        row = hands[hand]
        for w in range(n):
            row[w] = 0.0
    for box, points in zip(END_BOXES, END_POINTS):  # noqa: B905 - Numba knows no strict
        if not filled >> box & 1:
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
        mean[w] = 0.0
    for hand in range(HANDS):
        add_times(mean, sets[KEEPS + hand], np.float32(FIRST_ROLL[hand]), n)
    for w in range(low):
        out[w] = 1.0
    for w in range(n):
        out[low + w] = mean[w]


@kernel
def reach_rows(found, filled, sums, begin, end, out):
    """Write the rows of positions ``begin`` to ``end``; see `dicegym.games.yatzy.solving.rows.sweep`."""
    hands, sets = np.zeros((HANDS, TOTALS + 1), np.float32), np.zeros((N_SETS, TOTALS + 1), np.float32)
    leaf, mean = np.zeros(TOTALS + 1, np.float32), np.zeros(TOTALS + 1, np.float32)
    for k in range(begin, end):
        reach_position(found, filled[k], sums[k], hands, sets, leaf, mean, out[k])


@kernel
def keep_rows(rows, filled, sums, used, found):
    """Keep rows; see `dicegym.games.yatzy.solving.rows.sweep`."""
    weights, starts, firsts, _ = found
    for k in range(len(rows)):
        position = position_of(filled[k], sums[k])
        first, last = 0, TOTALS
        while first <= TOTALS and rows[k, first] * FULL >= FULL - 0.5:
            first += 1
        while last >= first and rows[k, last] * FULL < 0.5:
            last -= 1
        for i in range(first, last + 1):
            weights[used + i - first] = np.uint16(rows[k, i] * FULL + 0.5)
        starts[position, 0], starts[position, 1] = used, last - first + 1
        firsts[position] = first
        used += last - first + 1
    return used


def compute(progress: Progress | None = None, threads: int | None = None, closed: int = 0) -> rows.Rows:
    """Return the probabilities, computed; arguments as of `rows.sweep`.

    With all boxes filled 0 points are sure, and 1 is not.
    """
    weights = np.zeros(rows.ROOM if closed == 0 else rows.SMALL_ROOM, np.uint16)
    starts, firsts = np.zeros((POSITIONS, 2), np.int64), np.ones(POSITIONS, np.int64)
    found = weights, starts, firsts, np.full(POSITIONS, 1 / FULL)
    return rows.sweep(found, reach_rows, keep_rows, closed=closed, threads=threads, progress=progress)


@functools.cache
def thresholds() -> rows.Rows:
    """Return the probabilities that are kept on this machine.

    Raises ParameterError, which names the command that solves them, if there are none; DamagedFileError.
    """
    folder = rows.folder_of(NAME)
    if not rows.is_kept(folder):
        raise unsolved(rows.KEPT_FOR, NAME)
    return rows.read(folder, NAME)


def chances(filled: int, upper: int, tables: rows.Rows | None = None) -> np.ndarray:
    """Return the highest probability of at least w points still to come, for every w: float64[376].

    Args:
        filled: the filled boxes, a bit mask, box 1 lowest.
        upper: the sum of the boxes 1 to 6, at most 63, as they can be filled.
        tables: default: `thresholds`.
    """
    weights, starts, firsts, scales = thresholds() if tables is None else tables
    position = position_of(filled, upper)
    start, n = starts[position]
    out = np.zeros(TOTALS + 1)
    out[: firsts[position]] = 1.0
    out[firsts[position] : firsts[position] + n] = weights[start : start + n] * scales[position]
    return out
