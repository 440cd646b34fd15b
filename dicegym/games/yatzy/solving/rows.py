"""A row of numbers for each position, made from the rows of those that follow; kept on disk, mapped into memory.

Rows go by points: a row says something of each number of points that may still come (`Rows`). Mapped files are one copy
that all processes share.
"""

from __future__ import annotations

import functools
import itertools
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from dicegym.engine.game import Game
from dicegym.engine.threads import cores
from dicegym.errors import DamagedFileError
from dicegym.files import writing
from dicegym.games.solved import damaged, tables_folder
from dicegym.games.worth import Progress
from dicegym.games.yatzy.rules import SPEC
from dicegym.games.yatzy.solving.turn import LOWER_SETS, PLACES, POSITIONS, SAME_SUMS, TOTALS, UPPER_SETS, level
from dicegym.games.yatzy.tables import BOXES, UPPER

KEPT_FOR = Game(SPEC, 2)
"""The tables are those of any number of players; they are kept with the ones for so many."""
ARRAYS = {"weights": np.uint16, "starts": np.int64, "firsts": np.int64, "scales": np.float64}
"""The arrays of rows, by file, and the type of each; see `Rows`."""
SUMS_FILE = "sums.txt"
"""Written last: the checksum of each array, in turn."""

Rows = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Weights, one row after the other; where the row of each position begins and how long it is (int64[positions, 2]); for
how many points its first number is; and what its weights are multiplied by."""
ROOM, SMALL_ROOM = 210_000_000, 1_000_000
"""Numbers that the rows of all positions take at most (distributions have 173.7 million), and those of all positions in
which nine boxes or more are filled."""
BLOCK = 16_384
"""Positions whose rows are held as they are, 8 bytes a number, at a time."""
PIECES = 8
"""In how many parts each thread takes its share of a block, as some positions take longer."""
MEMORY = 2 * ROOM + 8 * BLOCK * (TOTALS + 1) + 64 * POSITIONS
"""Bytes that computing rows takes."""
DISK = 2 * ROOM + 32 * POSITIONS
"""Bytes that they take on disk."""


def sweep(
    found: Rows,
    compute: Callable[[Rows, np.ndarray, np.ndarray, int, int, np.ndarray], None],
    keep: Callable[[np.ndarray, np.ndarray, np.ndarray, int, Rows], int],
    *,
    closed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
    apart: bool = False,
    alike: bool = True,
) -> Rows:
    """Return the rows of all positions, computed backwards from those with all boxes filled.

    Args:
        found: rows of the positions with all boxes filled, and room for all.
        compute: a kernel (rows of what follows, filled boxes, sums, begin, end, out) that writes float64[376], the row
            of position k, to ``out[k]`` for k from ``begin`` to ``end``. What it writes does not depend on threads.
        keep: a kernel (rows as computed, filled boxes, sums, weights taken, ``found``) that keeps rows and returns how
            many weights are taken then.
        closed: a bit mask of boxes that are filled in all positions that matter; others are then left out.
        threads: how many work. Default: one on each core.
        progress: told of the positions that are done.
        apart: whether weights are kept for one number of filled boxes alone, in an array of their own.
        alike: whether sums of the upper boxes from which as much is still to come (`SAME_SUMS`) have one row.
    """
    threads = threads or cores()
    levels = [level(n_filled, closed) for n_filled in range(BOXES - 1, int(closed).bit_count() - 1, -1)]
    weights, starts, firsts, scales = found
    used, done, total = int(starts[-1].sum()), 0, sum(len(filled) for filled, _ in levels)
    with ThreadPoolExecutor(threads) as pool:
        for filled, sums in levels:
            upper_sets, lower = filled & (UPPER_SETS - 1), filled >> UPPER
            own = SAME_SUMS[upper_sets, sums] if alike else sums
            computed = filled[own == sums], sums[own == sums]
            if apart:
                used, weights = 0, np.zeros(len(computed[0]) * (TOTALS + 1), weights.dtype)
            for first in range(0, len(computed[0]), BLOCK):
                block = computed[0][first : first + BLOCK], computed[1][first : first + BLOCK]
                rows = np.zeros((len(block[0]), TOTALS + 1))
                cuts = np.linspace(0, len(rows), threads * PIECES + 1).astype(int).tolist()
                list(pool.map(functools.partial(compute, found, *block), cuts[:-1], cuts[1:], itertools.repeat(rows)))
                used = keep(rows, *block, used, (weights, starts, firsts, scales))
                if progress is not None:
                    progress(done + first + len(rows), total, "positions of Yatzy")
            done += len(filled)
            for array in (starts, firsts, scales):
                array[PLACES[upper_sets, sums] * LOWER_SETS + lower] = array[
                    PLACES[upper_sets, own] * LOWER_SETS + lower
                ]
            found = weights, starts, firsts, scales
    if progress is not None:
        progress(done, total, "positions of Yatzy")
    return weights[:used], starts, firsts, scales


def folder_of(name: str) -> Path:
    """Return where the tables ``name`` are kept; the folder need not exist."""
    return tables_folder(KEPT_FOR, name)


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


def read(folder: Path, name: str) -> Rows:
    """Return tables that `write` wrote, mapped; copy on write. Raises DamagedFileError if they do not fit together."""
    arrays = []
    for array_name, kind in ARRAYS.items():
        file = folder / f"{array_name}.npy"
        try:
            array = np.asarray(np.load(file, mmap_mode="c", allow_pickle=False))
        except (OSError, ValueError, EOFError) as error:
            raise _damaged(file, f"cannot be read ({error})", name) from None
        if array.dtype != kind or (array_name != "weights" and len(array) != POSITIONS):
            raise _damaged(file, f"holds {array.dtype}[{len(array)}]", name)
        arrays.append(array)
    weights, starts, firsts, scales = arrays
    if starts.shape != (POSITIONS, 2) or weights.ndim != 1 or firsts.ndim != 1 or scales.ndim != 1:
        raise _damaged(folder / "starts.npy", "has another shape than its rows", name)
    ends = starts.sum(axis=1)
    if starts.min() < 0 or ends.max() > len(weights) or firsts.min() < 0 or (firsts + starts[:, 1]).max() > TOTALS + 1:
        raise _damaged(folder / "starts.npy", "leads beyond its rows", name)
    return weights, starts, firsts, scales


def check(folder: Path, name: str) -> None:
    """Raise DamagedFileError unless the tables in ``folder`` are what was written, to the last byte."""
    sums = (folder / SUMS_FILE).read_text(encoding="utf-8", errors="replace").split()
    for array_name, array, known in zip(ARRAYS, read(folder, name), [*sums, *ARRAYS], strict=False):
        if str(_sum(array)) != known:
            raise _damaged(folder / f"{array_name}.npy", "is not what was written", name)


def _sum(array: np.ndarray) -> int:
    return zlib.crc32(np.ascontiguousarray(array).data)


def _damaged(file: Path, reason: str, name: str) -> DamagedFileError:
    return damaged(file, reason, KEPT_FOR, name)
