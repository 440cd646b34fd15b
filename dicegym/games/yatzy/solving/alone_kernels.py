"""The sweep over all positions of a game of boxes for one: sums of the upper boxes are computed side by side.

A position between two turns is the set of filled boxes (a bit mask, box 0 lowest), the sum of the upper boxes up to
where it counts no further, and a *layer*: what else is to be remembered. Rules come as tables
(`dicegym.games.yatzy.solving.alone_rules.BoxRules`).

All sums of one set of filled boxes see the same dice and the same boxes, and differ only in what follows. So every
step of a turn is done for all of them in one loop over neighbouring numbers, which processors do eight at a time. Sets
with equally many filled boxes need nothing of each other.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import numpy as np

from dicegym.engine.jit import kernel
from dicegym.games.yatzy.exact_kernels import after_box, filled_of, new_levels, turn_values
from dicegym.games.yatzy.hands import hand_of
from dicegym.games.yatzy.rules import BONUS_FROM, FIRST_BOX
from dicegym.games.yatzy.tables import (
    BEST,
    BOXES,
    DICE,
    FACES,
    HANDS,
    KEEPABLE,
    KEEPS,
    ROLLS,
    SETS,
    WITH,
    after_rolling,
)

UPPER = FACES
"""The first boxes, one for each face."""
N_SETS = len(SETS)
AT_ONCE = 8
"""Loops are as long as a multiple of this, as what is left over after the last eight numbers is slow."""
FIRST_ROLL = after_rolling(np.eye(HANDS))[0]
"""float64[252]: the probability of each hand when five dice are rolled."""
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
def possible_sums(filled, out):
    """Write to ``out`` (bool[n]) which sums of the upper boxes there can be when ``filled`` are filled.

    The last stands for itself and all above. Of each filled box any points may have been scored.
    """
    most = len(out) - 1
    out[:] = False
    out[0] = True
    for box in range(UPPER):
        if filled >> box & 1:
            for upper in range(most, -1, -1):
                if out[upper]:
                    for dice in range(1, DICE + 1):
                        out[min(upper + dice * (box + 1), most)] = True


@kernel
def different_sums(filled, possible, sums):
    """Write the sums that are worth different amounts to ``sums``, in rising order; return how many there are.

    Sums from which the bonus is out of reach are worth the same, and so are all when no upper box is open: the first
    of them stands for all.
    """
    most = len(possible) - 1
    more = 0
    for box in range(UPPER):
        if not filled >> box & 1:
            more += DICE * (box + 1)
    n = 0
    for upper in range(most + 1):
        if possible[upper] and (n == 0 or (more > 0 and upper + more >= most)):
            sums[n] = upper
            n += 1
    return n


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
    possible, sums, start = np.empty(most, np.bool_), np.zeros(width, np.int64), np.empty(width)
    for filled in sets:
        possible_sums(filled, possible)
        n = different_sums(filled, possible, sums)
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
            if possible[upper]:
                if k + 1 < n and sums[k + 1] == upper:
                    k += 1
                values[layer, filled, upper] = start[k]


@kernel
def action_values_rows(values, states, order, out):
    """Write what each action is worth in each of the games for one ``states``: float64[n, 225]; -1 for an illegal one.

    ``order`` (int64[n]) says which row comes when: a turn is looked through once for all that stand in the same
    position one after the other, which takes nearly all of the time.
    """
    levels = new_levels()
    seen_filled, seen_upper = -1, -1
    for row in order:
        state = states[row]
        filled, upper = filled_of(state.scores[0]), min(int(state.upper[0]), BONUS_FROM)
        hand, left = hand_of(state.dice), state.rolls_left
        if left > 0 and (filled != seen_filled or upper != seen_upper):
            turn_values(values, filled, upper, levels)
            seen_filled, seen_upper = filled, upper
        mine = out[row]
        for kept in range(KEEPS):
            mine[kept] = levels[left, kept] if left > 0 and KEEPABLE[hand, kept] else -1.0
        for box in range(BOXES):
            is_open = not filled >> box & 1
            mine[FIRST_BOX + box] = after_box(values, filled, upper, box, BEST[hand, box]) if is_open else -1.0
