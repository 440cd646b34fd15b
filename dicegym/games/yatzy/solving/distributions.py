"""How many points are still to come, in every position: a row of numbers each (`dicegym.games.yatzy.solving.rows`).

*Distributions* say how likely each number of points is for one who plays for the best mean, or by any table of values.
Those of the best mean are kept as whole numbers of 16 bits, without the points that are less likely than a 65535th of
the likeliest: probabilities are these over their sum, and 1.43 million rows take some 400 MB.

*Thresholds* say how likely so many points and more are for one who plays for just these: who needs 60 more keeps other
dice than who needs 20. A row goes from the first number of points that is not sure to the last that can be;
probabilities are kept as whole numbers out of 65535.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import functools
import threading

import numpy as np

from dicegym.engine.jit import kernel
from dicegym.errors import ParameterError
from dicegym.games.solved import unsolved
from dicegym.games.worth import Progress
from dicegym.games.yatzy.solving import alone, rows
from dicegym.games.yatzy.solving.turn import (
    ALL_FILLED,
    END_BOXES,
    END_POINTS,
    N_ENDS,
    N_SETS,
    POSITIONS,
    SUMS,
    TOTALS,
    earned,
    ends,
    look_through,
    mean_leaves,
    new_leaves,
    new_levels,
    play_turn,
    position_of,
    raise_hands,
    sum_after,
)
from dicegym.games.yatzy.tables import BOXES, KEEPS

NAME, THRESHOLDS = "distributions", "thresholds"
FULL = np.iinfo(np.uint16).max
"""What the likeliest points of a distribution are kept as, and a probability of 1 among thresholds."""


@kernel
def store_row(row, first, last, position, used, found):
    """Keep the numbers ``first`` to ``last`` of a row for a position; return how many weights are taken then."""
    weights, starts, firsts, _ = found
    for i in range(first, last + 1):
        weights[used + i - first] = row[i]
    starts[position, 0], starts[position, 1], firsts[position] = used, last - first + 1, first
    return used + last - first + 1


# --- distributions -------------------------------------------------------------------------------------------------


@kernel
def add_row(found, position, shift, likely, out):
    """Add the distribution of a position, ``shift`` points higher and ``likely`` times, to ``out``."""
    weights, starts, firsts, scales = found
    start, n = starts[position, 0], starts[position, 1]
    factor = likely * scales[position]
    first = firsts[position] + shift
    for i in range(n):
        out[first + i] += factor * weights[start + i]


@kernel
def distribute(values, first, found, filled, sums, begin, end, out):
    """Write how the points to come are distributed: ``out[k]`` of position ``filled[k], sums[k]``.

    Args:
        values: float64[2**15, 64], what the player takes each position to be worth.
        first: whether it takes the first of equal actions, as `dicegym.games.yatzy.exact.OptimalPlayer` does.
        found: rows of all positions with one box more filled.
        filled: int64[n].
        sums: int64[n].
        begin: the first k.
        end: one more than the last.
        out: float64[n, 376], zeros.
    """
    leaves, likely = new_leaves(), new_leaves()
    levels, chosen = new_levels()
    for k in range(begin, end):
        mean_leaves(values, filled[k], sums[k], leaves)
        look_through(leaves, filled[k], first, levels, chosen)
        ends(chosen, likely)
        for box, points in zip(END_BOXES, END_POINTS):  # noqa: B905 - Numba knows no strict
            if not filled[k] >> box & 1 and likely[box, points] > 0.0:
                after = position_of(filled[k] | 1 << box, sum_after(sums[k], box, points))
                add_row(found, after, earned(sums[k], box, points), likely[box, points], out[k])


@kernel
def keep_distributions(rows, filled, sums, used, found):
    """Keep rows: in 16 bits a number if weights are such, else as they are; see `rows.sweep`."""
    weights, _, _, scales = found
    short = weights.itemsize < rows.itemsize
    for k in range(len(rows)):
        row, position = rows[k], position_of(filled[k], sums[k])
        unit = row.max() / FULL
        least = 0.5 * unit if short else 0.0
        first, last = 0, TOTALS - 1
        while row[first] <= least:
            first += 1
        while row[last] <= least:
            last -= 1
        if short:
            together = 0.0
            for i in range(first, last + 1):
                row[i] = np.floor(row[i] / unit + 0.5)
                together += row[i]
            scales[position] = 1.0 / together
        used = store_row(row, first, last, position, used, found)
    return used


def _new_rows(weights: np.ndarray) -> rows.Rows:
    """Return tables in which all boxes are filled in all positions, after which nothing comes."""
    weights[0] = 1
    starts = np.tile(np.array([0, 1]), (POSITIONS, 1))
    return weights, starts, np.zeros(POSITIONS, np.int64), np.ones(POSITIONS)


def compute_distributions(progress: Progress | None = None, threads: int | None = None, closed: int = 0) -> rows.Rows:
    """Return the distributions for the best mean, computed; arguments as of `rows.sweep`."""
    values = alone.values(progress)
    found = _new_rows(np.zeros(rows.ROOM if closed == 0 else rows.SMALL_ROOM, np.uint16))
    work = functools.partial(distribute, values, False)
    return rows.sweep(found, work, keep_distributions, closed=closed, threads=threads, progress=progress)


def of_scores(
    table: np.ndarray | None = None, *, closed: int = 0, threads: int | None = None, progress: Progress | None = None
) -> np.ndarray:
    """Return the probability of each number of points that are still to come: float64[n], index 0 for no points.

    About 20 seconds of two cores, and 1.1 GB of memory, for the whole game; half as much again for another table.

    Args:
        table: what the player takes each position to be worth, beyond the points it has: float64[2**15, 64], as
            `dicegym.games.yatzy.solving.alone.values` returns, which is the default: optimal play. Zeros play for the
            points of each turn. In a turn the player does what is best by the table, of equal actions the first.
        closed: boxes that are filled, as a bit mask, box 1 lowest: each upper one of them with 0 points.
        threads: how many; None: as many as there are cores. The result does not depend on it.
        progress: told of the positions that are done.

    Raises:
        ParameterError: ``table`` has another shape, or holds what is no finite number; ``closed`` has other boxes.
    """
    worth = alone.values(progress) if table is None else np.ascontiguousarray(table, np.float64)
    shape = (ALL_FILLED + 1, SUMS)
    if worth.shape != shape or not np.isfinite(worth).all():
        raise ParameterError(
            f"a table of shape {worth.shape} cannot be read: give what each position is worth, finite numbers of shape "
            f"{shape}, as dicegym.games.yatzy.solving.alone.values() returns"
        )
    if not 0 <= closed <= ALL_FILLED:
        raise ParameterError(f"closed={closed} names boxes that are none: give a bit mask of {BOXES} boxes")
    work = functools.partial(distribute, worth, True)
    found = rows.sweep(
        _new_rows(np.zeros(1)),
        work,
        keep_distributions,
        closed=closed,
        threads=threads,
        progress=progress,
        apart=True,
        alike=table is None,
    )
    out = np.zeros(TOTALS)
    add_row(found, position_of(closed, 0), 0, 1.0, out)
    return np.trim_zeros(out, "b")


def ready() -> bool:
    """Return whether they are at hand, or kept on this machine."""
    return bool(_known) or rows.is_kept(rows.folder_of(NAME))


_known: list[rows.Rows] = []
_lock = threading.Lock()


def distributions(progress: Progress | None = None) -> rows.Rows:
    """Return the distributions: read once in a program's life, or computed, which takes half a minute.

    Raises DamagedFileError if those that are kept cannot be used.
    """
    with _lock:
        if not _known:
            folder = rows.folder_of(NAME)
            _known.append(rows.read(folder, NAME) if rows.is_kept(folder) else compute_distributions(progress))
        return _known[0]


# --- thresholds ----------------------------------------------------------------------------------------------------


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
    least, high = np.full(BOXES, TOTALS), 0
    for end in range(N_ENDS):
        box, points = END_BOXES[end], END_POINTS[end]
        if not filled >> box & 1:
            after = position_of(filled | 1 << box, sum_after(upper, box, points))
            first = firsts[after] + earned(upper, box, points)
            least[box] = min(least[box], first)
            high = max(high, first + starts[after, 1])
    low = 0
    for box in range(BOXES):
        if not filled >> box & 1:
            low = max(low, least[box])
    return low, high


@kernel
def reach_rows(found, filled, sums, begin, end, out):
    """Write how likely each number of points and more is when it is played for; see `rows.sweep`.

    Numbers are float32 meanwhile.
    """
    weights, starts, firsts, _ = found
    hands, leaf = np.zeros((N_SETS, TOTALS + 1), np.float32), np.zeros(TOTALS + 1, np.float32)
    mean = np.zeros(TOTALS + 1, np.float32)
    for k in range(begin, end):
        low, high = range_of(found, filled[k], sums[k])
        n = high - low
        hands[KEEPS:, :n] = 0
        for one in range(N_ENDS):
            box, points = END_BOXES[one], END_POINTS[one]
            if not filled[k] >> box & 1:
                after = position_of(filled[k] | 1 << box, sum_after(sums[k], box, points))
                first = firsts[after] + earned(sums[k], box, points)
                open_row(weights, starts[after, 0], starts[after, 1], first, low, n, leaf)
                raise_hands(hands, one, leaf, n)
        play_turn(hands, n, mean)
        out[k, :low] = 1.0
        out[k, low:high] = mean[:n]


@kernel
def keep_thresholds(rows, filled, sums, used, found):
    """Keep rows in 16 bits a number; see `rows.sweep`."""
    for k in range(len(rows)):
        row, first, last = rows[k], 0, TOTALS
        while first <= TOTALS and row[first] * FULL >= FULL - 0.5:
            first += 1
        while last >= first and row[last] * FULL < 0.5:
            last -= 1
        for i in range(first, last + 1):
            row[i] = np.floor(row[i] * FULL + 0.5)
        used = store_row(row, first, last, position_of(filled[k], sums[k]), used, found)
    return used


def compute_thresholds(progress: Progress | None = None, threads: int | None = None, closed: int = 0) -> rows.Rows:
    """Return the probabilities, computed; arguments as of `rows.sweep`.

    With all boxes filled 0 points are sure, and 1 is not.
    """
    weights = np.zeros(rows.ROOM if closed == 0 else rows.SMALL_ROOM, np.uint16)
    starts, firsts = np.zeros((POSITIONS, 2), np.int64), np.ones(POSITIONS, np.int64)
    found = weights, starts, firsts, np.full(POSITIONS, 1 / FULL)
    return rows.sweep(found, reach_rows, keep_thresholds, closed=closed, threads=threads, progress=progress)


@functools.cache
def thresholds() -> rows.Rows:
    """Return the probabilities that are kept on this machine.

    Raises ParameterError, which names the command that solves them, if there are none; DamagedFileError.
    """
    folder = rows.folder_of(THRESHOLDS)
    if not rows.is_kept(folder):
        raise unsolved(rows.KEPT_FOR, THRESHOLDS)
    return rows.read(folder, THRESHOLDS)


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
