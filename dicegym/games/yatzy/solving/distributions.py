"""The distributions of `rest`, computed in half a minute or read from where ``dicegym solve`` has kept them."""

from __future__ import annotations

import functools
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from dicegym.engine.threads import cores
from dicegym.games.worth import Progress
from dicegym.games.yatzy.solving import alone, rest, row_tables
from dicegym.games.yatzy.solving.positions import POSITIONS, TOTALS, level
from dicegym.games.yatzy.tables import BOXES

NAME = "distributions"
ROOM = 240_000_000
"""Numbers that the rows of all positions take at most; 230.3 million were measured."""
SMALL_ROOM = 1_000_000
"""The same if at least nine boxes are closed."""
BLOCK = 16_384
"""Positions whose rows are held as they are, 8 bytes a number, at a time."""
PIECES = 8
"""In how many parts each thread takes its share of a block, as some positions take longer."""
MEMORY = 2 * ROOM + 8 * BLOCK * TOTALS + 64 * POSITIONS
"""Bytes that computing them takes."""
DISK = 2 * ROOM + 32 * POSITIONS
"""Bytes that they take on disk."""


def compute(progress: Progress | None = None, threads: int | None = None, closed: int = 0) -> row_tables.Rows:
    """Return the distributions, computed.

    Args:
        progress: told of the positions that are done.
        threads: how many work; the result does not depend on it. Default: one on each core.
        closed: a bit mask of boxes that are filled in all positions that matter; others are then left out.
    """
    values = alone.values(progress)
    threads = threads or cores()
    found = rest.new_rest(ROOM if closed == 0 else SMALL_ROOM)
    used, done = 1, 1
    with ThreadPoolExecutor(threads) as pool:
        for n_filled in range(BOXES - 1, -1, -1):
            filled, sums = level(n_filled, closed)
            for first in range(0, len(filled), BLOCK):
                block, block_sums = filled[first : first + BLOCK], sums[first : first + BLOCK]
                rows = np.zeros((len(block), TOTALS))
                cuts = np.linspace(0, len(block), threads * PIECES + 1).astype(int).tolist()
                work = functools.partial(_distribute, values, found, block, block_sums, rows)
                list(pool.map(work, cuts[:-1], cuts[1:]))
                used = rest.keep_rows(rows, block, block_sums, used, found)
                done += len(block)
                if progress is not None:
                    progress(done, POSITIONS, "positions of Yatzy")
    weights, *others = found
    return weights[:used], others[0], others[1], others[2]


def _distribute(
    values: np.ndarray,
    found: row_tables.Rows,
    filled: np.ndarray,
    sums: np.ndarray,
    rows: np.ndarray,
    begin: int,
    end: int,
) -> None:
    rest.distribute(values, found, filled, sums, begin, end, rows)


def ready() -> bool:
    """Return whether they are at hand, or kept on this machine."""
    return bool(_known) or row_tables.is_kept(row_tables.folder_of(NAME))


_known: list[row_tables.Rows] = []
_lock = threading.Lock()


def distributions(progress: Progress | None = None) -> row_tables.Rows:
    """Return the distributions: read once in a program's life, or computed, which takes half a minute.

    Raises DamagedFileError if those that are kept cannot be used.
    """
    with _lock:
        if not _known:
            folder = row_tables.folder_of(NAME)
            _known.append(row_tables.read(folder, NAME) if row_tables.is_kept(folder) else compute(progress))
        return _known[0]
