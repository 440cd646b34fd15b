"""Yatzy for one, solved by one sweep over all positions; see `dicegym.games.yatzy.solving.one_turn`.

Backward induction: the value of a position is the mean over the first roll of the best that its turn can lead to, which
is points plus the value of a position with one box more filled (Verhoeff and Scheffers, "Optimal solitaire Yahtzee
strategies", 1999). Only the boxes, and the upper sum up to the bonus, matter.

All sums of one set of filled boxes see the same dice and the same boxes, and differ only in what follows. So every
step of a turn is done for all of them side by side, which processors do eight at a time. Sets with equally many filled
boxes need nothing of each other.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from dicegym.engine.jit import kernel
from dicegym.engine.threads import cores
from dicegym.games.worth import Progress
from dicegym.games.yatzy.rules import BONUS_FROM
from dicegym.games.yatzy.solving.one_turn import (
    ALL_FILLED,
    END_BOXES,
    END_HANDS,
    END_POINTS,
    END_STARTS,
    FIRST_ROLL,
    N_ENDS,
    N_SETS,
    SAME_SUMS,
    UPPER_SETS,
    earn,
    sum_after,
)
from dicegym.games.yatzy.tables import BOXES, FACES, HANDS, KEEPS, ROLLS, WITH

AT_ONCE = 8
"""Loops are as long as a multiple of this, as what is left over after the last eight numbers is slow."""


@kernel
def raise_hands(rows, end, leaf, n):
    """Raise the first ``n`` numbers of all hands that score in an end to those of ``leaf`` that are higher."""
    for place in range(END_STARTS[end], END_STARTS[end + 1]):
        mine = rows[KEEPS + END_HANDS[place]]
        for k in range(n):
            mine[k] = max(mine[k], leaf[k])


@kernel
def play_turn(rows, n, out):
    """Write what a turn is worth before it begins to ``out[:n]``, all dice being kept as is best.

    Args:
        rows: float64[462, m], of hands what they are worth when they are scored; overwritten. Each of two steps goes
            back by one roll: a set of fewer dice is worth the mean over one more die, and a hand the best of its parts.
        n: how many numbers of each row matter.
        out: float64[m].
    """
    for _ in range(ROLLS):
        for kept in range(KEEPS - 1, -1, -1):  # one more die makes a set of a higher number
            a, b, c = rows[WITH[kept, 0]], rows[WITH[kept, 1]], rows[WITH[kept, 2]]
            d, e, f = rows[WITH[kept, 3]], rows[WITH[kept, 4]], rows[WITH[kept, 5]]
            mine = rows[kept]
            for k in range(n):
                mine[k] = (a[k] + b[k] + c[k] + d[k] + e[k] + f[k]) / FACES
        for kept in range(KEEPS):
            mine = rows[kept]
            for face in range(FACES):
                larger = rows[WITH[kept, face]]
                for k in range(n):
                    larger[k] = max(larger[k], mine[k])
    for k in range(n):
        out[k] = 0
    for hand in range(HANDS):
        mine, chance = rows[KEEPS + hand], FIRST_ROLL[hand]
        for k in range(n):
            out[k] += chance * mine[k]


@kernel
def solve_sets(values, sets):
    """Fill ``values[filled]`` for all sets of filled boxes ``filled`` in ``sets``, those with more being known.

    Args:
        values: float64[2**15, 64]; sums that cannot be stay as they are.
        sets: int64[n].
    """
    most = values.shape[1]
    width = (most + AT_ONCE - 1) // AT_ONCE * AT_ONCE
    rows, leaf, start = np.zeros((N_SETS, width)), np.empty(width), np.empty(width)
    sums = np.zeros(width, np.int64)
    for filled in sets:
        alike = SAME_SUMS[filled & (UPPER_SETS - 1)]  # of each filled box any points may have been scored
        n = 0
        for upper in range(most):
            if alike[upper] == upper:
                sums[n] = upper
                n += 1
        full = (n + AT_ONCE - 1) // AT_ONCE * AT_ONCE
        sums[n:full] = sums[n - 1]
        rows[KEEPS:] = 0.0
        for end in range(N_ENDS):
            box, points = END_BOXES[end], END_POINTS[end]
            if not filled >> box & 1:
                later = values[filled | 1 << box]
                for k in range(full):
                    leaf[k] = earn(sums[k], box, points) + later[sum_after(sums[k], box, points)]
                raise_hands(rows, end, leaf, full)
        play_turn(rows, full, start)
        k = 0
        for upper in range(most):
            if alike[upper] >= 0:
                if k + 1 < n and sums[k + 1] == upper:
                    k += 1
                values[filled, upper] = start[k]


def new_values() -> np.ndarray:
    """Return an array for all positions: float64[2**15, 64], zeros."""
    return np.zeros((1 << BOXES, BONUS_FROM + 1))


def solve(values: np.ndarray, closed: int = 0, *, threads: int = 0, told: Callable[[int], None] | None = None) -> None:
    """Fill ``values`` for all positions in which at least the boxes of the bit mask ``closed`` are filled.

    Args:
        values: as of `new_values`: the mean of what is still to come. 0 where all boxes are filled; sums that
            cannot be stay as they are. Of each closed upper box any points may have been scored.
        closed: boxes; 0 for the whole game.
        threads: how many, the caller's among them; 0: as many as there are cores. Values do not depend on it.
        told: told how many sets of boxes have been solved, after each number of filled boxes.
    """
    count = threads or cores()
    sets = np.arange(1 << BOXES)
    sets = sets[sets & closed == closed]
    filled, done = np.bitwise_count(sets), 0
    with ThreadPoolExecutor(count) as pool:
        for number in range(BOXES - 1, -1, -1):
            level = sets[filled == number]
            list(pool.map(functools.partial(solve_sets, values), [level[part::count] for part in range(count)]))
            done += len(level)
            if told is not None:
                told(done)


_solved: list[np.ndarray] = []
_lock = threading.Lock()


def values(progress: Progress | None = None) -> np.ndarray:
    """Return the mean of what is still to come in every position: float64[2**15, 64], read only.

    Indexed by the filled boxes (a bit mask, box 1 lowest) and the sum of the boxes 1 to 6, at most 63. Computed once in
    a program's life, within seconds; ``progress`` is told meanwhile of the sets of boxes that are done.
    """

    def told(done: int) -> None:
        if progress is not None:
            progress(done, ALL_FILLED, "sets of boxes solved")

    with _lock:
        if not _solved:
            found = new_values()
            solve(found, told=told)
            found.setflags(write=False)
            _solved.append(found)
        return _solved[0]
