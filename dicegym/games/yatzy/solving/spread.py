"""The whole distribution of what a player alone scores, exactly: no games are played."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from dicegym.engine.threads import cores
from dicegym.errors import ParameterError
from dicegym.games.worth import Progress
from dicegym.games.yatzy.rules import BONUS
from dicegym.games.yatzy.solving import alone
from dicegym.games.yatzy.solving import spread_kernels as kernels
from dicegym.games.yatzy.tables import BOXES, MOST

POSITIONS = (kernels.ALL_FILLED + 1, kernels.SUMS)
"""The shape of a table."""
PARTS = 64
"""Parts in which a number of filled boxes is done, so that it can be told how far it has come."""


def distribution(
    table: np.ndarray | None = None, *, closed: int = 0, threads: int = 0, progress: Progress | None = None
) -> np.ndarray:
    """Return the probability of each number of points that are still to come: float64[n], index 0 for no points.

    About 15 seconds of two cores, and 1 GB of memory, for the whole game.

    Args:
        table: what the player takes each position to be worth, beyond the points it has: float64[2**15, 64], as
            `dicegym.games.yatzy.solving.alone.values` returns, which is the default: optimal play. Zeros play for the
            points of each turn. In a turn the player does what is best by the table, of equal actions the first.
        closed: boxes that are filled, as a bit mask, box 1 lowest: each upper one of them with 0 points.
        threads: how many; 0: as many as there are cores. The result does not depend on it.
        progress: told of the sets of boxes that are done.

    Raises:
        ParameterError: ``table`` has another shape, or holds what is no finite number; ``closed`` has other boxes.
    """
    alike = table is None
    worth = alone.values(progress) if table is None else np.ascontiguousarray(table, np.float64)
    if worth.shape != POSITIONS or not np.isfinite(worth).all():
        raise ParameterError(
            f"a table of shape {worth.shape} cannot be read: give what each position is worth, finite numbers of shape "
            f"{POSITIONS}, as dicegym.games.yatzy.solving.alone.values() returns"
        )
    if not 0 <= closed <= kernels.ALL_FILLED:
        raise ParameterError(f"closed={closed} names boxes that are none: give a bit mask of {BOXES} boxes")
    sets = np.arange(kernels.ALL_FILLED + 1)
    sets = sets[sets & closed == closed]
    still_open = ~np.arange(len(worth))[:, None] >> np.arange(BOXES) & 1
    widths = still_open @ MOST.astype(np.int64) + BONUS + 1
    filled, done = np.bitwise_count(sets), 0
    at, rows = np.zeros((2, len(worth)), np.int64), np.zeros(len(worth), np.int64)
    kernels.count_rows(alike, sets, rows_of_sets := np.empty(len(sets), np.int64))
    rows[sets] = rows_of_sets
    later = np.zeros(rows[-1] * widths[-1])
    later[:: widths[-1]] = 1.0  # all boxes are filled: nothing is to come
    with ThreadPoolExecutor(threads or cores()) as pool:
        for number in range(BOXES - 1, int(closed).bit_count() - 1, -1):
            level = sets[filled == number]
            sizes = rows[level] * widths[level]
            now_at, later_at = at[number % 2], at[1 - number % 2]
            now_at[level] = np.cumsum(sizes) - sizes
            now = np.zeros(int(sizes.sum()))
            work = partial(kernels.spread_sets, worth, alike, widths, later_at, later, now_at, now)
            parts = [part for start in range(PARTS) if len(part := level[start::PARTS])]
            for part, _ in zip(parts, pool.map(work, parts), strict=True):
                done += len(part)
                if progress is not None:
                    progress(done, len(sets) - 1, "sets of boxes, with all that they may score")
            later = now
    return np.trim_zeros(later[: widths[closed]], "b")
