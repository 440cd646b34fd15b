"""What the rolls of one who plays Yatzy alone brought beyond their mean, in points."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

from dicegym.engine.jit import kernel
from dicegym.games.yatzy.exact_kernels import filled_of
from dicegym.games.yatzy.hands import hand_of
from dicegym.games.yatzy.solving.rolled import set_kept
from dicegym.games.yatzy.solving.turn import before_rolling, look_through, mean_leaves, new_leaves, new_levels
from dicegym.games.yatzy.solving.winning import upper_of
from dicegym.games.yatzy.tables import KEEPS, ROLLS


@kernel
def look(values, state, leaves, levels, chosen):
    """Look through the turn of one who plays for points alone."""
    filled = filled_of(state.scores[0])
    mean_leaves(values, filled, upper_of(state, 0), leaves)
    look_through(leaves, filled, levels, chosen)


@kernel
def begin_rows(values, states, rows, luck):
    """Add the first roll of each game to ``luck`` (float64[games, 1])."""
    leaves = new_leaves()
    levels, chosen = new_levels()
    for k in range(len(rows)):
        state = states[rows[k]]
        look(values, state, leaves, levels, chosen)
        luck[rows[k], 0] += levels[ROLLS, KEEPS + hand_of(state.dice)] - before_rolling(levels[ROLLS])


@kernel
def add_rows(values, before, rows, actions, after, luck):
    """Add to ``luck`` (float64[games, 1]) what the dice brought when ``actions[k]`` were played."""
    leaves = new_leaves()
    levels, chosen = new_levels()
    for k in range(len(rows)):
        old, new = before[rows[k]], after[rows[k]]
        if new.over:
            continue
        hand = KEEPS + hand_of(new.dice)
        if new.round_number != old.round_number:
            look(values, new, leaves, levels, chosen)
            luck[rows[k], 0] += levels[ROLLS, hand] - before_rolling(levels[ROLLS])
        elif new.rolls_left != old.rolls_left:
            look(values, old, leaves, levels, chosen)
            luck[rows[k], 0] += levels[new.rolls_left, hand] - levels[old.rolls_left, set_kept(old, actions[k])]
