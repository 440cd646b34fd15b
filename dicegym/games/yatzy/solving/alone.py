"""Yatzy for one, solved by one sweep over all positions.

A position between two turns is the set of filled boxes (a bit mask, box 0 lowest), and the sum of the upper boxes up to
where it counts no further.

All sums of one set of filled boxes see the same dice and the same boxes, and differ only in what follows. So every
step of a turn is done for all of them in one loop over neighbouring numbers, which processors do eight at a time. Sets
with equally many filled boxes need nothing of each other.
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
from dicegym.games.yatzy.rules import BONUS, BONUS_FROM
from dicegym.games.yatzy.solving.positions import ALL_FILLED, SAME_SUMS, UPPER_SETS
from dicegym.games.yatzy.solving.turn import FIRST_ROLL, N_SETS
from dicegym.games.yatzy.tables import BEST, BOXES, DICE, FACES, HANDS, KEEPS, ROLLS, SETS, UPPER, WITH

AT_ONCE = 8
"""Loops are as long as a multiple of this, as what is left over after the last eight numbers is slow."""
POINTS = BEST.astype(np.int64)
"""int64[252, 15]: what each hand scores in each box; in an upper box the points of the dice of its face."""
WAYS = np.where(np.arange(BOXES) < UPPER, POINTS // (np.arange(BOXES) + 1), 0)
"""int64[252, 15]: how many dice are scored in an upper box; 0 in a lower one."""


def _fewer() -> np.ndarray:
    numbers = {faces: number for number, faces in enumerate(SETS)}
    found = np.zeros((N_SETS, DICE), np.int64)
    for faces, number in numbers.items():
        less = sorted({numbers[faces[:i] + faces[i + 1 :]] for i in range(len(faces))})
        found[number] = (less + less[-1:] * DICE)[:DICE] if less else 0
    return found


FEWER = _fewer()
"""int64[462, 5]: the sets that are left of each when one die is taken away; the last repeated if there are fewer."""


@kernel
def after_boxes(values, filled, sums, n, out):
    """Write what scoring each open box is worth but for the points of a lower one to ``out``: [15, 6, sums].

    The second index is the number of dice scored in an upper box.
    """
    for box in range(BOXES):
        if not filled >> box & 1:
            for way in range(FACES if box < UPPER else 1):
                points = way * (box + 1) if box < UPPER else 0
                for k in range(n):
                    after = min(sums[k] + points, BONUS_FROM)
                    earned = points + (BONUS if after == BONUS_FROM and sums[k] < BONUS_FROM else 0)
                    out[box, way, k] = earned + values[filled | 1 << box, after]


@kernel
def score_sets(filled, n, follow, means):
    """Write what each hand is worth when no roll is left to ``means[KEEPS:]``, for ``n`` sums side by side.

    ``follow`` comes from `after_boxes`.
    """
    for hand in range(HANDS):
        mine = means[KEEPS + hand]
        first = True
        for box in range(BOXES):
            if not filled >> box & 1:
                later = follow[box, WAYS[hand, box]]
                plus = 0 if box < UPPER else POINTS[hand, box]
                if first:
                    for k in range(n):
                        mine[k] = later[k] + plus
                else:
                    for k in range(n):
                        mine[k] = max(mine[k], later[k] + plus)
                first = False


@kernel
def roll_and_keep(means, n):
    """Go back by one roll: hands, given in ``means[KEEPS:]``, come to be worth the best that their dice allow."""
    for kept in range(KEEPS - 1, -1, -1):  # one more die makes a set of a higher number
        a, b, c = means[WITH[kept, 0]], means[WITH[kept, 1]], means[WITH[kept, 2]]
        d, e, f = means[WITH[kept, 3]], means[WITH[kept, 4]], means[WITH[kept, 5]]
        mine = means[kept]
        for k in range(n):
            mine[k] = (a[k] + b[k] + c[k] + d[k] + e[k] + f[k]) / FACES
    for number in range(1, N_SETS):
        a, b, c = means[FEWER[number, 0]], means[FEWER[number, 1]], means[FEWER[number, 2]]
        d, e = means[FEWER[number, 3]], means[FEWER[number, 4]]
        mine = means[number]
        for k in range(n):
            mine[k] = max(mine[k], a[k], b[k], c[k], d[k], e[k])


@kernel
def solve_sets(values, sets):
    """Fill ``values[filled]`` for all sets of filled boxes ``filled`` in ``sets``, those with more being known.

    Args:
        values: float64[2**15, 64]; sums that cannot be stay as they are.
        sets: int64[n].
    """
    most = values.shape[1]
    width = (most + AT_ONCE - 1) // AT_ONCE * AT_ONCE
    means, follow = np.zeros((N_SETS, width)), np.zeros((BOXES, FACES, width))
    sums, start = np.zeros(width, np.int64), np.empty(width)
    for filled in sets:
        alike = SAME_SUMS[filled & (UPPER_SETS - 1)]  # of each filled box any points may have been scored
        n = 0
        for upper in range(most):
            if alike[upper] == upper:
                sums[n] = upper
                n += 1
        full = (n + AT_ONCE - 1) // AT_ONCE * AT_ONCE
        sums[n:full] = sums[n - 1]
        after_boxes(values, filled, sums, full, follow)
        score_sets(filled, full, follow, means)
        for _ in range(ROLLS):
            roll_and_keep(means, full)
        start[:] = 0.0
        for hand in range(HANDS):
            mine, chance = means[KEEPS + hand], FIRST_ROLL[hand]
            for k in range(full):
                start[k] += chance * mine[k]
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


# --- Yatzy, solved once in a program's life --------------------------------------------------------------------

LOOK_EVERY = 0.1
"""Seconds between two looks at how far the sweep has come."""


def values(progress: Progress | None = None) -> np.ndarray:
    """Return the mean of what is still to come in every position: float64[2**15, 64], read only.

    Indexed by the filled boxes (a bit mask, box 1 lowest) and the sum of the boxes 1 to 6, at most 63. Computed once;
    ``progress`` is told meanwhile of the sets of boxes that are done. Ctrl-C is answered at once: the computation goes
    on behind, as compiled code cannot be stopped, until it is done or the program ends.
    """
    sweep = _sweep()
    while sweep.is_alive():
        sweep.join(LOOK_EVERY)
        if progress is not None:
            progress(sweep.done, ALL_FILLED, "sets of boxes solved")
    return sweep.result()


class _Sweep(threading.Thread):
    """The computation of all values, beside the thread that waits for it."""

    def __init__(self) -> None:
        super().__init__(name="yatzy-values", daemon=True)
        self.values = new_values()
        self.done = 0
        self._error: BaseException | None = None
        self.start()

    def run(self) -> None:
        try:
            solve(self.values, told=self._tell)
        except BaseException as error:  # to be raised where somebody waits
            self._error = error
        self.values.setflags(write=False)

    def _tell(self, done: int) -> None:
        self.done = done

    def result(self) -> np.ndarray:
        """Return the values once it has ended. Raises what it ended with."""
        if self._error is not None:
            _sweep.cache_clear()
            raise self._error
        return self.values


@functools.cache
def _sweep() -> _Sweep:
    return _Sweep()
