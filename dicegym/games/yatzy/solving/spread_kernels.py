"""How points spread: the whole distribution of what one player alone still scores, from every position.

The player takes positions to be worth what a table says, optimal play by what they are worth. One sweep backwards:
of every position, first how its turn ends, then what follows, shifted by the points and mixed.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import numpy as np

from dicegym.engine.jit import kernel
from dicegym.games.yatzy.exact_kernels import after_box, new_levels, turn_values
from dicegym.games.yatzy.rules import BONUS_FROM, bonus
from dicegym.games.yatzy.solving.alone_kernels import FIRST_ROLL, N_SETS, different_sums, possible_sums
from dicegym.games.yatzy.tables import BEST, BOXES, FACES, HANDS, KEEPS, MOST, ROLLS, UPPER, WITH

ALL_FILLED = (1 << BOXES) - 1
SUMS = BONUS_FROM + 1
WAYS = int(MOST.max()) + 1
"""Numbers of points that a box can score, 0 included."""


@kernel
def best_keeps(means, best, chosen):
    """Write which set is best kept of each hand to ``chosen[KEEPS:]``, and what it is worth to ``best[KEEPS:]``.

    ``means`` (float64[462]) is what keeping each set is worth; of equal ones the first is chosen.
    """
    for number in range(N_SETS):
        best[number] = means[number] if number < KEEPS else -1.0
        chosen[number] = number
    for kept in range(KEEPS):
        for face in range(FACES):
            larger = WITH[kept, face]
            if best[kept] > best[larger] or (best[kept] == best[larger] and chosen[kept] < chosen[larger]):
                best[larger] = best[kept]
                chosen[larger] = chosen[kept]


@kernel
def turn_ends(values, filled, upper, levels, best, chosen, mass, out):
    """Write the probability that a turn begun in a position ends in each way to ``out``: float64[boxes, points].

    The player does what is worth most by ``values``, of equal actions the first, as `choose_rows` does. The others
    are working space: ``levels`` of `new_levels`, float64[462], int64[462], float64[462].
    """
    turn_values(values, filled, upper, levels)
    out[:] = 0.0
    for number in range(N_SETS):
        mass[number] = FIRST_ROLL[number - KEEPS] if number >= KEEPS else 0.0
    for left in range(ROLLS, -1, -1):
        if left > 0:
            best_keeps(levels[left], best, chosen)
        for hand in range(HANDS):
            chance = mass[KEEPS + hand]
            if chance == 0.0:
                continue
            mass[KEEPS + hand] = 0.0
            if left > 0 and best[KEEPS + hand] >= levels[0, KEEPS + hand]:
                mass[chosen[KEEPS + hand]] += chance
                continue
            first, most = -1, -1.0
            for box in range(BOXES):
                if not filled >> box & 1:
                    worth = after_box(values, filled, upper, box, BEST[hand, box])
                    if worth > most:
                        first, most = box, worth
            out[first, BEST[hand, first]] += chance
        for kept in range(KEEPS):
            if mass[kept] > 0.0:
                for face in range(FACES):
                    mass[WITH[kept, face]] += mass[kept] / FACES
                mass[kept] = 0.0


@kernel
def sums_of(filled, alike, possible, sums):
    """Write the sums that are told apart with ``filled`` boxes filled to ``sums``; return how many there are.

    With ``alike`` those that are worth the same are one (`different_sums`).
    """
    possible_sums(filled, possible)
    if alike:
        return different_sums(filled, possible, sums)
    n = 0
    for upper in range(SUMS):
        if possible[upper]:
            sums[n] = upper
            n += 1
    return n


@kernel
def row_numbers(filled, alike, possible, sums, out):
    """Write the number of the row that stands for each possible sum to ``out``: int64[64]."""
    n = sums_of(filled, alike, possible, sums)
    row = 0
    for upper in range(SUMS):
        if possible[upper]:
            while row + 1 < n and sums[row + 1] <= upper:
                row += 1
            out[upper] = row


@kernel
def count_rows(alike, sets, out):
    """Write how many sums are told apart in each set of filled boxes to ``out``: int64[n]."""
    possible, sums = np.empty(SUMS, np.bool_), np.empty(SUMS, np.int64)
    for i in range(len(sets)):
        out[i] = sums_of(sets[i], alike, possible, sums)


@kernel
def spread_sets(values, alike, widths, later_at, later, at, now, sets):
    """Write the distribution of what is still to come for all positions with the filled boxes of each of ``sets``.

    Args:
        values: what the player takes positions to be worth: float64[2**15, 64].
        alike: as for `sums_of`.
        widths: int64[2**15]: by filled boxes, how many numbers of points can still come.
        later_at: int64[2**15]: where the rows of each set with one more box begin in ``later``, one after the other.
        later: float64[n].
        at: the same for the sets here, in ``now``, which is to be zeros.
        now: float64[m].
        sets: int64[k].
    """
    levels, ends = new_levels(), np.empty((BOXES, WAYS))
    best, chosen, mass = np.empty(N_SETS), np.empty(N_SETS, np.int64), np.empty(N_SETS)
    possible, sums, others = np.empty(SUMS, np.bool_), np.empty(SUMS, np.int64), np.empty(SUMS, np.int64)
    rows = np.zeros((BOXES, SUMS), np.int64)
    for filled in sets:
        for box in range(BOXES):
            if not filled >> box & 1:
                row_numbers(filled | 1 << box, alike, possible, others, rows[box])
        n, width = sums_of(filled, alike, possible, sums), widths[filled]
        for k in range(n):
            start = at[filled] + k * width
            turn_ends(values, filled, sums[k], levels, best, chosen, mass, ends)
            for box in range(BOXES):
                for points in range(WAYS):
                    chance = ends[box, points]
                    if chance > 0.0:
                        after = min(sums[k] + points, BONUS_FROM) if box < UPPER else sums[k]
                        earned = points + bonus(after) - bonus(sums[k])
                        child = filled | 1 << box
                        first = later_at[child] + rows[box, after] * widths[child]
                        part = later[first : first + widths[child]]
                        mine = now[start + earned : start + earned + widths[child]]
                        for i in range(len(part)):
                            mine[i] += chance * part[i]
