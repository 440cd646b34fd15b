"""Games of boxes for one, solved by one sweep over all positions: Yatzy, and Yahtzee as a proof.

A position between two turns is the set of filled boxes (a bit mask, box 0 lowest), the sum of the upper boxes up to
where it counts no further, and a *layer*: what else is to be remembered. Rules come as tables (`BoxRules`).

All sums of one set of filled boxes see the same dice and the same boxes, and differ only in what follows. So every
step of a turn is done for all of them in one loop over neighbouring numbers, which processors do eight at a time. Sets
with equally many filled boxes need nothing of each other.

Yahtzee is played with the same dice and has been solved in public, by its rules on jokers: 254.5877 points where a
joker must be used as the official rules have it, 254.5896 where any open box may be chosen. That the same sweep,
fed with Yahtzee's tables, comes to these numbers is evidence that what it says of Yatzy is true too.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from dicegym.engine.jit import kernel
from dicegym.engine.threads import cores
from dicegym.games.worth import Progress
from dicegym.games.yatzy.rules import BONUS, BONUS_FROM
from dicegym.games.yatzy.solving.positions import ALL_FILLED, SAME_SUMS, UPPER_SETS
from dicegym.games.yatzy.solving.turn import FIRST_ROLL, N_SETS
from dicegym.games.yatzy.tables import BEST, DICE, FACES, HANDS, KEEPS, ROLLS, SETS, UPPER, WITH

AT_ONCE = 8
"""Loops are as long as a multiple of this, as what is left over after the last eight numbers is slow."""
ALIKE = np.array([faces[0] if faces[0] == faces[-1] else 0 for faces in SETS[KEEPS:]], np.int64)
"""int64[252]: the face of a hand of five equal dice, 0 of any other."""
SITUATIONS = 4
NORMAL, FACE_OPEN, FACE_FILLED, UPPER_LEFT = range(SITUATIONS)
"""In which a hand is scored: by the plain rules; as a joker (five equal dice when the box for these is filled) while
the upper box of its face is open, when that is filled, and when moreover all lower boxes are."""


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
def situation_of(hand, filled, joker_box, all_filled):
    """Return which of the situations a hand is in."""
    if joker_box < 0 or ALIKE[hand] == 0 or not filled >> joker_box & 1:
        return NORMAL
    if not filled >> (ALIKE[hand] - 1) & 1:
        return FACE_OPEN
    return UPPER_LEFT if filled >> UPPER == all_filled >> UPPER else FACE_FILLED


@kernel
def after_boxes(values, layer, filled, sums, n, boxes, bonus, joker_box, out):
    """Write what scoring each open box is worth but for the points of a lower one to ``out``: [boxes, 6, sums].

    The second index is the number of dice scored in an upper box; in ``joker_box`` it is 1 if anything is, else 0.
    """
    most = values.shape[2] - 1
    for box in range(boxes):
        if not filled >> box & 1:
            for way in range(FACES if box < UPPER else 2 if box == joker_box else 1):
                to = 1 if box == joker_box and way else layer
                points = way * (box + 1) if box < UPPER else 0
                for k in range(n):
                    after = min(sums[k] + points, most)
                    earned = points + (bonus if after == most and sums[k] < most else 0)
                    out[box, way, k] = earned + values[to, filled | 1 << box, after]


@kernel
def score_sets(points, ways, filled, n, joker_box, extra, follow, means):
    """Write what each hand is worth when no roll is left to ``means[KEEPS:]``, for ``n`` sums side by side.

    ``extra`` is what a joker earns besides; ``follow`` comes from `after_boxes`.
    """
    boxes = points.shape[2]
    for hand in range(HANDS):
        situation = situation_of(hand, filled, joker_box, (1 << boxes) - 1)
        mine = means[KEEPS + hand]
        more = extra if situation != NORMAL else 0
        first = True
        for box in range(boxes):
            scored = points[situation, hand, box]
            if scored >= 0 and not filled >> box & 1:
                later = follow[box, ways[situation, hand, box]]
                plus = more + (0 if box < UPPER else scored)
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
def solve_sets(points, ways, bonus, joker_box, extra, layer, values, sets):
    """Fill ``values[layer, filled]`` for all sets of filled boxes ``filled`` in ``sets``, those with more being known.

    Args:
        points: int64[4, 252, boxes]; see `BoxRules`.
        ways: int64[4, 252, boxes]; see `after_boxes`.
        bonus: what reaching the last sum earns.
        joker_box: the box for five equal dice, if more of these are jokers; else -1.
        extra: what each joker earns in layer 1.
        layer: 0, or 1 if ``joker_box`` has been scored with something.
        values: float64[layers, 2**boxes, sums]; sums that cannot be stay as they are.
        sets: int64[n].
    """
    boxes, most = points.shape[2], values.shape[2]
    width = (most + AT_ONCE - 1) // AT_ONCE * AT_ONCE
    means, follow = np.zeros((N_SETS, width)), np.zeros((boxes, FACES, width))
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
        after_boxes(values, layer, filled, sums, full, boxes, bonus, joker_box, follow)
        score_sets(points, ways, filled, full, joker_box, extra if layer else 0, follow, means)
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
                values[layer, filled, upper] = start[k]


# --- rules, and the whole game ---------------------------------------------------------------------------------

BLOCKED = -1


class BoxRules(NamedTuple):
    """What five dice score in the boxes of a game."""

    points: np.ndarray
    """int64[4, 252, boxes]: by situation (`NORMAL` and the next three), hand and box; -1 for a box that
    may not be chosen. The first six boxes are the upper ones, where the points are those of the dice of their face."""
    bonus_from: int
    bonus: int
    joker_box: int = -1
    """The box for five equal dice, if more of these are jokers once it is filled."""
    extra: int = 0
    """Points for every joker after the first five equal dice were scored in their box."""

    @property
    def boxes(self) -> int:
        """Return the number of boxes."""
        return int(self.points.shape[2])

    def new_values(self) -> np.ndarray:
        """Return an array for all positions: float64[layers, 2**boxes, sums], zeros."""
        return np.zeros((2 if self.extra else 1, 1 << self.boxes, self.bonus_from + 1))


YATZY = BoxRules(np.repeat(BEST[None].astype(np.int64), SITUATIONS, axis=0), BONUS_FROM, BONUS)


def solve(
    rules: BoxRules, values: np.ndarray, closed: int = 0, *, threads: int = 0, told: Callable[[int], None] | None = None
) -> None:
    """Fill ``values`` for all positions of a game in which at least the boxes of the bit mask ``closed`` are filled.

    Args:
        rules: the game.
        values: as of `BoxRules.new_values`: the mean of what is still to come. 0 where all boxes are filled; sums that
            cannot be stay as they are. Of each closed upper box any points may have been scored.
        closed: boxes; 0 for the whole game.
        threads: how many, the caller's among them; 0: as many as there are cores. Values do not depend on it.
        told: told how many sets of boxes have been solved, after each number of filled boxes.
    """
    points = rules.points
    ways = np.where(np.arange(rules.boxes) < UPPER, points // (np.arange(rules.boxes) + 1), points > 0)
    ways[:, :, [box for box in range(UPPER, rules.boxes) if box != rules.joker_box]] = 0
    fixed = points, ways, rules.bonus, rules.joker_box, rules.extra
    count = threads or cores()
    sets = np.arange(1 << rules.boxes)
    sets = sets[sets & closed == closed]
    filled, done = np.bitwise_count(sets), 0
    with ThreadPoolExecutor(count) as pool:
        for number in range(rules.boxes - 1, -1, -1):
            level = sets[filled == number]
            for layer in range(len(values)):
                mine = level[level >> rules.joker_box & 1 == 1] if layer else level
                work = functools.partial(solve_sets, *fixed, layer, values)
                list(pool.map(work, [mine[part::count] for part in range(count)]))
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
        self.values: np.ndarray = YATZY.new_values()[0]
        self.done = 0
        self._error: BaseException | None = None
        self.start()

    def run(self) -> None:
        try:
            solve(YATZY, self.values[None], told=self._tell)
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
