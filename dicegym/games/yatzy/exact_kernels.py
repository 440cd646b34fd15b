"""Yatzy alone by dynamic programming: loops over all positions between two turns.

A position is the set of filled boxes (a bit mask, box 0 lowest) and the sum of the upper boxes, which counts up to
63 and no further. ``values[filled, upper]`` is the mean of what is still to come from it, the bonus included when the
sum reaches 63: float64[2**15, 64], 0 when all boxes are filled.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import numpy as np

from dicegym.engine.jit import kernel
from dicegym.games.yatzy.hands import HANDFULS, hand_of, set_of
from dicegym.games.yatzy.rules import BONUS_FROM, FIRST_BOX, N_ACTIONS, ROLL_PLACES, bonus, step, total
from dicegym.games.yatzy.tables import BEST, BOXES, HANDS, KEEPABLE, KEEPS, ROLLS, SETS, UPPER
from dicegym.games.yatzy.turns import keep_best, roll_sets

ALL_FILLED = (1 << BOXES) - 1
SUMS = BONUS_FROM + 1
N_SETS = len(SETS)


@kernel
def after_box(values, filled, upper, box, points):
    """Return what scoring ``points`` in ``box`` is worth: them, the bonus if they reach it, and what follows."""
    sum_after = min(upper + points, BONUS_FROM) if box < UPPER else upper
    earned = points + bonus(sum_after) - bonus(upper)
    return earned + values[filled | 1 << box, sum_after]


@kernel
def score_hands(values, filled, upper, out):
    """Write the value of each hand when no roll is left to ``out[KEEPS:]``."""
    for hand in range(HANDS):
        best = -1.0
        for box in range(BOXES):
            if not filled >> box & 1:
                best = max(best, after_box(values, filled, upper, box, BEST[hand, box]))
        out[KEEPS + hand] = best


@kernel
def turn_values(values, filled, upper, levels):
    """Write what each set is worth in a turn that began in a position to ``levels``: float64[3 + 1, 462].

    By rolls left; of a hand: if it is shown; of a set of fewer dice: if it is kept and the others are rolled, which
    none can be in the first row. The last row is scratch.
    """
    score_hands(values, filled, upper, levels[0])
    scratch = levels[ROLLS + 1]
    for left in range(1, ROLLS + 1):
        for hand in range(KEEPS, N_SETS):
            levels[left, hand] = levels[left - 1, hand]
        roll_sets(levels[left])
        for number in range(N_SETS):
            scratch[number] = levels[left, number]
        keep_best(scratch)
        for hand in range(KEEPS, N_SETS):
            levels[left, hand] = scratch[hand]


@kernel
def new_levels():
    """Return the array that `turn_values` fills."""
    return np.full((ROLLS + 2, N_SETS), -1.0)


@kernel
def filled_of(scores):
    """Return the bit mask of the filled boxes among fifteen scores."""
    filled = 0
    for box in range(BOXES):
        filled |= int(scores[box] >= 0) << box
    return filled


@kernel
def action_values(values, state, seat, levels, out):
    """Write what each action is worth to ``seat`` to ``out`` (float64[225]), -1 for an illegal one.

    The dice shown are taken for its own, and its points for all that counts.
    """
    filled, upper = filled_of(state.scores[seat]), min(int(state.upper[seat]), BONUS_FROM)
    hand, left = hand_of(state.dice), state.rolls_left
    turn_values(values, filled, upper, levels)
    for kept in range(KEEPS):
        out[kept] = levels[left, kept] if left > 0 and KEEPABLE[hand, kept] else -1.0
    for box in range(BOXES):
        is_open = not filled >> box & 1
        out[FIRST_BOX + box] = after_box(values, filled, upper, box, BEST[hand, box]) if is_open else -1.0


@kernel
def choose_rows(values, states, rows, seats, out):
    """Write the most valuable action (of equal ones the first) for each game ``states[rows[k]]`` to ``out[k]``."""
    levels = new_levels()
    worth = np.empty(N_ACTIONS)
    for k in range(len(rows)):
        action_values(values, states[rows[k]], seats[k], levels, worth)
        best = 0
        for action in range(N_ACTIONS):
            if worth[action] > worth[best]:
                best = action
        out[k] = best


@kernel
def play_rows(values, states, rows, actions, costs):
    """Play ``actions[k]`` in each game for one ``states[rows[k]]``; add to ``costs[rows[k]]`` what it gives away.

    That is the difference between the best that the position, dice included, is worth and what it is worth after
    the decision, before chance has a say.
    """
    levels = new_levels()
    worth = np.empty(N_ACTIONS)
    for k in range(len(rows)):
        state, action = states[rows[k]], actions[k]
        action_values(values, state, 0, levels, worth)
        left, points, before = state.rolls_left, total(state, 0), filled_of(state.scores[0])
        rolled = (action - ROLL_PLACES) % HANDFULS
        kept = action if action < N_ACTIONS else set_of(state.dice, HANDFULS - 1 - rolled)
        if step(state, action) == 0 and filled_of(state.scores[0]) == before:
            costs[rows[k]] += worth.max() - levels[left, kept]
        elif filled_of(state.scores[0]) != before:
            later = values[filled_of(state.scores[0]), min(int(state.upper[0]), BONUS_FROM)]
            costs[rows[k]] += worth.max() - (total(state, 0) - points) - later
