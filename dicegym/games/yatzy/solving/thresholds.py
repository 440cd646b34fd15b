"""The probabilities of `reach`, computed in a few minutes and kept by ``dicegym solve``."""

from __future__ import annotations

import functools
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from dicegym.engine.threads import cores
from dicegym.games.solved import unsolved
from dicegym.games.worth import Progress
from dicegym.games.yatzy.solving import reach, row_tables
from dicegym.games.yatzy.solving.positions import POSITIONS, TOTALS, level, position_of
from dicegym.games.yatzy.tables import BOXES

NAME = "thresholds"
ROOM = 210_000_000
"""Numbers that the rows of all positions take at most."""
SMALL_ROOM = 1_000_000
"""The same if at least nine boxes are closed."""
BLOCK = 16_384
"""Positions whose rows are held as they are, 4 bytes a number, at a time."""
PIECES = 8
"""In how many parts each thread takes its share of a block, as some positions take longer."""
MEMORY = 2 * ROOM + 4 * BLOCK * TOTALS + 64 * POSITIONS
"""Bytes that computing them takes."""
DISK = 2 * ROOM + 32 * POSITIONS
"""Bytes that they take on disk."""


def compute(progress: Progress | None = None, threads: int | None = None, closed: int = 0) -> row_tables.Rows:
    """Return the probabilities, computed; arguments as of `dicegym.games.yatzy.solving.distributions.compute`."""
    threads = threads or cores()
    found = reach.new_reach(ROOM if closed == 0 else SMALL_ROOM)
    used, done = 0, 1
    with ThreadPoolExecutor(threads) as pool:
        for n_filled in range(BOXES - 1, -1, -1):
            filled, sums = level(n_filled, closed)
            for first in range(0, len(filled), BLOCK):
                block, block_sums = filled[first : first + BLOCK], sums[first : first + BLOCK]
                rows, spans = np.zeros((len(block), TOTALS + 1), np.float32), np.zeros((len(block), 2), np.int64)
                cuts = np.linspace(0, len(block), threads * PIECES + 1).astype(int).tolist()
                work = functools.partial(_reach, found, block, block_sums, rows, spans)
                list(pool.map(work, cuts[:-1], cuts[1:]))
                used = reach.keep_rows(rows, spans, block, block_sums, used, found)
                done += len(block)
                if progress is not None:
                    progress(done, POSITIONS, "positions of Yatzy")
    return found[0][:used], found[1], found[2], np.full(POSITIONS, 1 / reach.FULL)


def _reach(found: Any, filled: np.ndarray, sums: np.ndarray, rows: Any, spans: Any, begin: int, end: int) -> None:
    reach.reach_rows(found, filled, sums, begin, end, rows, spans)


@functools.cache
def thresholds() -> row_tables.Rows:
    """Return the probabilities that are kept on this machine.

    Raises ParameterError, which names the command that solves them, if there are none; DamagedFileError.
    """
    folder = row_tables.folder_of(NAME)
    if not row_tables.is_kept(folder):
        raise unsolved(row_tables.KEPT_FOR, NAME)
    return row_tables.read(folder, NAME)


def chances(filled: int, upper: int, tables: row_tables.Rows | None = None) -> np.ndarray:
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
