"""Distributions of the points still to come, a row for each position, for a player of the best mean or of a table.

A position's row is the mixture of the rows of the positions that its turn may end in: how likely the player ends it so,
shifted by the points earned. So one sweep backwards, from those with all boxes filled, computes them all.

Those of the best mean are kept on disk and mapped into memory, one copy for all processes: as whole numbers of 16 bits,
without the points that are less likely than a 65535th of the likeliest. Probabilities are these over their sum, and
1.43 million rows take some 400 MB.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import functools
import itertools
import threading
import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from dicegym.engine.game import Game
from dicegym.engine.jit import kernel
from dicegym.engine.threads import cores
from dicegym.errors import DamagedFileError, ParameterError
from dicegym.files import writing
from dicegym.games.solved import report_damage, tables_folder
from dicegym.games.worth import Progress
from dicegym.games.yatzy.rules import SPEC
from dicegym.games.yatzy.solving import alone
from dicegym.games.yatzy.solving.one_turn import (
    ALL_FILLED,
    END_BOXES,
    END_POINTS,
    LOWER_SETS,
    PLACES,
    POSITIONS,
    SAME_SUMS,
    SUMS,
    TOTALS,
    UPPER_SETS,
    earn,
    ends,
    level,
    look_through,
    mean_leaves,
    new_leaves,
    new_levels,
    position_of,
    sum_after,
)
from dicegym.games.yatzy.tables import BOXES, UPPER

NAME = "distributions"
KEPT_FOR = Game(SPEC, 2)
"""The tables are those of any number of players; they are kept with the ones for two."""
ARRAYS = {"weights": np.uint16, "starts": np.int64, "firsts": np.int64, "scales": np.float64}
"""The arrays of rows, by file, and the type of each; see `Rows`."""
SUMS_FILE = "sums.txt"
"""Written last: the checksum of each array, in turn."""

Rows = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Weights, one row after the other; where the row of each position begins and how long it is (int64[positions, 2]); for
how many points its first number is; and what its weights are multiplied by."""
FULL = np.iinfo(np.uint16).max
"""The weight of the likeliest points of a row."""
ROOM, SMALL_ROOM = 210_000_000, 1_000_000
"""Weights that the rows of all positions take at most (there are 173.7 million), and those of all positions in which
nine boxes or more are filled."""
BLOCK = 16_384
"""Positions whose rows are computed together, 8 bytes a number."""
PIECES = 8
"""In how many parts each thread takes its share of a block, as some positions take longer."""
MEMORY = 2 * ROOM + 8 * BLOCK * TOTALS + 64 * POSITIONS
"""Bytes that computing rows takes."""
DISK = 2 * ROOM + 32 * POSITIONS
"""Bytes that they take on disk."""


# --- rows ----------------------------------------------------------------------------------------------------------


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
        found: `Rows` of all positions with one box more filled.
        filled: int64[n].
        sums: int64[n].
        begin: the first k.
        end: one more than the last.
        out: float64[n, 375], zeros.
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
                add_row(found, after, earn(sums[k], box, points), likely[box, points], out[k])


@kernel
def keep_rows(rows, filled, sums, used, found):
    """Keep computed rows, in 16 bits a number if weights are such, else as they are; return how many weights are taken.

    Args:
        rows: float64[n, 375]; overwritten.
        filled: int64[n], as are ``sums``: whose rows they are.
        sums: see there.
        used: how many weights were taken before.
        found: `Rows`, written to.
    """
    weights, starts, firsts, scales = found
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
        for i in range(first, last + 1):
            weights[used + i - first] = row[i]
        starts[position, 0], starts[position, 1], firsts[position] = used, last - first + 1, first
        used += last - first + 1
    return used


def sweep(
    values: np.ndarray,
    weights: np.ndarray,
    *,
    first: bool,
    alike: bool,
    closed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Rows:
    """Return the rows of all positions, computed backwards from those with all boxes filled, after which nothing comes.

    Args:
        values: float64[2**15, 64], what the player takes each position to be worth.
        weights: room: uint16 for the rows of all positions, or float64[1], and then the rows of one number of filled
            boxes alone are kept, in an array of their own.
        first: whether the player takes the first of equal actions.
        alike: whether sums of the upper boxes from which as much is still to come (`SAME_SUMS`) have one row.
        closed: a bit mask of boxes that are filled in all positions that matter; others are left out.
        threads: how many work; default: one on each core. The result does not depend on it.
        progress: told of the positions that are done.
    """
    threads, apart = threads or cores(), weights.dtype == np.float64
    weights[0] = 1
    starts, firsts = np.tile(np.array([0, 1]), (POSITIONS, 1)), np.zeros(POSITIONS, np.int64)
    scales = np.ones(POSITIONS)
    levels = [level(n_filled, closed) for n_filled in range(BOXES - 1, int(closed).bit_count() - 1, -1)]
    used, done, total = 1, 0, sum(len(filled) for filled, _ in levels)
    with ThreadPoolExecutor(threads) as pool:
        for filled, sums in levels:
            upper_sets, lower = filled & (UPPER_SETS - 1), filled >> UPPER
            own = SAME_SUMS[upper_sets, sums] if alike else sums
            computed = filled[own == sums], sums[own == sums]
            later = weights, starts, firsts, scales
            if apart:
                used, weights = 0, np.zeros(len(computed[0]) * TOTALS)
            for begin in range(0, len(computed[0]), BLOCK):
                block = computed[0][begin : begin + BLOCK], computed[1][begin : begin + BLOCK]
                rows = np.zeros((len(block[0]), TOTALS))
                cuts = np.linspace(0, len(rows), threads * PIECES + 1).astype(int).tolist()
                work = functools.partial(distribute, values, first, later, *block)
                list(pool.map(work, cuts[:-1], cuts[1:], itertools.repeat(rows)))
                used = keep_rows(rows, *block, used, (weights, starts, firsts, scales))
                if progress is not None:
                    progress(done + begin + len(rows), total, "positions of Yatzy")
            done += len(filled)
            for array in (starts, firsts, scales):
                array[PLACES[upper_sets, sums] * LOWER_SETS + lower] = array[
                    PLACES[upper_sets, own] * LOWER_SETS + lower
                ]
    if progress is not None:
        progress(done, total, "positions of Yatzy")
    return weights[:used], starts, firsts, scales


def compute_distributions(progress: Progress | None = None, threads: int | None = None, closed: int = 0) -> Rows:
    """Return the distributions for the best mean, computed; arguments as of `sweep`."""
    values = alone.values(progress)
    room = np.zeros(SMALL_ROOM if closed else ROOM, np.uint16)
    return sweep(values, room, first=False, alike=True, closed=closed, threads=threads, progress=progress)


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
        raise ParameterError(f"closed={closed} names unknown boxes: give a bit mask of {BOXES} boxes")
    found = sweep(
        worth, np.zeros(1), first=True, alike=table is None, closed=closed, threads=threads, progress=progress
    )
    out = np.zeros(TOTALS)
    add_row(found, position_of(closed, 0), 0, 1.0, out)
    return np.trim_zeros(out, "b")


# --- rows that are kept --------------------------------------------------------------------------------------------


def is_kept(folder: Path) -> bool:
    """Return whether there are tables in ``folder``, whole or damaged."""
    return (folder / SUMS_FILE).is_file()


def write(folder: Path, rows: Sequence[np.ndarray]) -> None:
    """Write tables; `is_kept` once all are written."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / SUMS_FILE).unlink(missing_ok=True)
    for name, array in zip(ARRAYS, rows, strict=True):
        with writing(folder / f"{name}.npy") as unfinished, unfinished.open("wb") as stream:
            np.save(stream, array, allow_pickle=False)
    with writing(folder / SUMS_FILE) as unfinished:
        unfinished.write_text(" ".join(str(_sum(array)) for array in rows))


def read(folder: Path) -> Rows:
    """Return tables that `write` wrote, mapped; copy on write. Raises DamagedFileError if they do not fit together."""
    arrays = []
    for array_name, kind in ARRAYS.items():
        file = folder / f"{array_name}.npy"
        try:
            array = np.asarray(np.load(file, mmap_mode="c", allow_pickle=False))
        except (OSError, ValueError, EOFError) as error:
            raise _damaged(file, f"cannot be read ({error})") from None
        if array.dtype != kind or (array_name != "weights" and len(array) != POSITIONS):
            raise _damaged(file, f"holds {array.dtype}[{len(array)}]")
        arrays.append(array)
    weights, starts, firsts, scales = arrays
    if starts.shape != (POSITIONS, 2) or weights.ndim != 1 or firsts.ndim != 1 or scales.ndim != 1:
        raise _damaged(folder / "starts.npy", "has another shape than its rows")
    behind = starts.sum(axis=1)
    if starts.min() < 0 or behind.max() > len(weights) or firsts.min() < 0 or (firsts + starts[:, 1]).max() > TOTALS:
        raise _damaged(folder / "starts.npy", "leads beyond its rows")
    return weights, starts, firsts, scales


def check(folder: Path) -> None:
    """Raise DamagedFileError unless the tables in ``folder`` are what was written, to the last byte."""
    sums = (folder / SUMS_FILE).read_text(encoding="utf-8", errors="replace").split()
    for array_name, array, known in zip(ARRAYS, read(folder), [*sums, *ARRAYS], strict=False):
        if str(_sum(array)) != known:
            raise _damaged(folder / f"{array_name}.npy", "is not what was written")


def _sum(array: np.ndarray) -> int:
    return zlib.crc32(np.ascontiguousarray(array).data)


def _damaged(file: Path, reason: str) -> DamagedFileError:
    return report_damage(file, reason, KEPT_FOR, NAME)


def ready() -> bool:
    """Return whether they are at hand, or kept on this machine."""
    return bool(_known) or is_kept(tables_folder(KEPT_FOR, NAME))


_known: list[Rows] = []
_lock = threading.Lock()


def distributions(progress: Progress | None = None) -> Rows:
    """Return the distributions: read once in a program's life, or computed, which takes half a minute.

    Raises DamagedFileError if those that are kept cannot be used.
    """
    with _lock:
        if not _known:
            folder = tables_folder(KEPT_FOR, NAME)
            _known.append(read(folder) if is_kept(folder) else compute_distributions(progress))
        return _known[0]
