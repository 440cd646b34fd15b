"""How the points still to come are distributed: of every position, for the best mean, or for any table of values.

A row for each position (`dicegym.games.yatzy.solving.rows`). Those of the best mean are kept as whole numbers of 16
bits, without the points that are less likely than a 65535th of the likeliest: probabilities are these over their sum,
and 1.43 million rows take some 400 MB.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import functools
import threading

import numpy as np

from dicegym.engine.jit import kernel
from dicegym.errors import ParameterError
from dicegym.games.worth import Progress
from dicegym.games.yatzy.solving import alone, rows
from dicegym.games.yatzy.solving.positions import (
    ALL_FILLED,
    END_BOXES,
    END_POINTS,
    POSITIONS,
    SUMS,
    TOTALS,
    earned,
    position_of,
    sum_after,
)
from dicegym.games.yatzy.solving.turn import (
    ends,
    look_through,
    mean_leaves,
    new_leaves,
    new_levels,
    prefer_first,
)
from dicegym.games.yatzy.tables import BOXES

NAME = "distributions"
FULL = np.iinfo(np.uint16).max
"""What the likeliest points of a row are kept as."""


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
        look_through(leaves, filled[k], levels, chosen)
        if first:
            prefer_first(levels, chosen)
        ends(chosen, likely)
        for box, points in zip(END_BOXES, END_POINTS):  # noqa: B905 - Numba knows no strict
            if not filled[k] >> box & 1 and likely[box, points] > 0.0:
                after = position_of(filled[k] | 1 << box, sum_after(sums[k], box, points))
                add_row(found, after, earned(sums[k], box, points), likely[box, points], out[k])


@kernel
def keep_short(rows, filled, sums, used, found):
    """Keep rows in 16 bits a number; see `dicegym.games.yatzy.solving.rows.sweep`."""
    weights, starts, firsts, scales = found
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


@kernel
def keep_exact(rows, filled, sums, used, found):
    """Keep rows as they are; see `dicegym.games.yatzy.solving.rows.sweep`."""
    weights, starts, firsts, _ = found
    for k in range(len(rows)):
        position = position_of(filled[k], sums[k])
        first, last = 0, TOTALS - 1
        while rows[k, first] == 0.0:
            first += 1
        while rows[k, last] == 0.0:
            last -= 1
        weights[used : used + last - first + 1] = rows[k, first : last + 1]
        starts[position, 0], starts[position, 1], firsts[position] = used, last - first + 1, first
        used += last - first + 1
    return used


def _new_rows(weights: np.ndarray) -> rows.Rows:
    """Return tables in which all boxes are filled in all positions, after which nothing comes."""
    weights[0] = 1
    starts = np.tile(np.array([0, 1]), (POSITIONS, 1))
    return weights, starts, np.zeros(POSITIONS, np.int64), np.ones(POSITIONS)


def compute(progress: Progress | None = None, threads: int | None = None, closed: int = 0) -> rows.Rows:
    """Return the distributions for the best mean, computed; arguments as of `rows.sweep`."""
    values = alone.values(progress)
    found = _new_rows(np.zeros(rows.ROOM if closed == 0 else rows.SMALL_ROOM, np.uint16))
    work = functools.partial(distribute, values, False)
    return rows.sweep(found, work, keep_short, closed=closed, threads=threads, progress=progress)


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
        keep_exact,
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
            _known.append(rows.read(folder, NAME) if rows.is_kept(folder) else compute(progress))
        return _known[0]
