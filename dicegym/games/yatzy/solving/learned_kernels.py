"""Yatzy for one, learned by playing: what positions are worth, from the points that were scored after them.

Temporal differences (Sutton 1988) in an n-tuple network, as learners of 2048 use it (Szubert and Jaskowski, "Temporal
difference learning of n-tuple networks for the game 2048", CIG 2014): a position's worth is the sum of one number of
each of some tables, chosen by parts of the position. The learner knows the dice, and so looks through its turn; what
follows a turn it knows from games alone.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import numpy as np

from dicegym.engine.dice import draw, key_of, turn_stream
from dicegym.engine.jit import kernel
from dicegym.games.yatzy.rules import PAR, PAR_STEPS
from dicegym.games.yatzy.solving.positions import ALL_FILLED, LOWER_SETS, MOST_POINTS, SCORES, SUMS, UPPER_SETS
from dicegym.games.yatzy.solving.turn import earned, look_through, new_leaves, new_levels, sum_after
from dicegym.games.yatzy.tables import BEST, BOXES, FACES, KEEPS, ROLLS, UPPER, WITH

PARS = 2 * PAR_STEPS + 1
BY_SUM, BY_BOXES, BY_PAR = 0, UPPER_SETS * SUMS, UPPER_SETS * SUMS + (1 << BOXES)
"""Where tables begin: by upper boxes and their sum; by all boxes; by lower boxes and how far the sum is from par."""
OPEN = BY_PAR + LOWER_SETS * PARS
"""From here on a number for each box, which counts while it is open: what few positions teach holds in all too."""
SIZE = OPEN + BOXES
TABLES = 3


@kernel
def entries(filled, upper):
    """Return the entry of a position in each table."""
    boxes = filled % UPPER_SETS
    par = upper
    for box in range(UPPER):
        if filled >> box & 1:
            par -= PAR * (box + 1)
    par = PAR_STEPS + max(-PAR_STEPS, min(par, PAR_STEPS))
    return BY_SUM + boxes * SUMS + upper, BY_BOXES + filled, BY_PAR + (filled // UPPER_SETS) * PARS + par


@kernel
def worth(weights, filled, upper):
    """Return what a position is worth by the tables; 0 at the end of the game."""
    if filled == ALL_FILLED:
        return 0.0
    one, two, three = entries(filled, upper)
    found = weights[one] + weights[two] + weights[three]
    for box in range(BOXES):
        if not filled >> box & 1:
            found += weights[OPEN + box]
    return found


@kernel
def move(weights, filled, upper, change):
    """Change what a position is worth, each of the numbers that make it up alike."""
    n = TABLES
    for box in range(BOXES):
        n += not filled >> box & 1
    one, two, three = entries(filled, upper)
    weights[one] += change / n
    weights[two] += change / n
    weights[three] += change / n
    for box in range(BOXES):
        if not filled >> box & 1:
            weights[OPEN + box] += change / n


@kernel
def play(weights, key, leaves, levels, chosen, positions, rewards):
    """Play a game by what positions are thought to be worth; write where each turn began, and what it earned.

    ``positions`` int64[15, 2]: filled boxes and upper sum. ``rewards`` float64[15].
    """
    filled, upper = np.int64(0), np.int64(0)
    for turn in range(BOXES):
        positions[turn, 0], positions[turn, 1] = filled, upper
        for box in range(BOXES):
            if not filled >> box & 1:
                for points in range(MOST_POINTS):
                    if SCORES[box, points]:
                        later = worth(weights, filled | 1 << box, sum_after(upper, box, points))
                        leaves[box, points] = earned(upper, box, points) + later
        look_through(leaves, filled, levels, chosen)
        stream = turn_stream(key, 0, turn)
        kept, rolled = np.int64(0), 0
        for left in range(ROLLS, -1, -1):
            while kept < KEEPS:
                kept = np.int64(WITH[kept, draw(stream, rolled, FACES)])
                rolled += 1
            if left > 0:
                kept = chosen[left, kept]
            if kept >= KEEPS:
                break
        box = chosen[0, kept]
        scored = np.int64(BEST[kept - KEEPS, box])
        rewards[turn] = earned(upper, box, scored)
        filled, upper = filled | 1 << box, sum_after(upper, box, scored)


@kernel
def learn(weights, seed, first, games, rate, trace):
    """Play games number ``first`` on, and learn from each; return the mean of their scores.

    Args:
        weights: float64[SIZE], changed.
        seed: uint64, whose games are played.
        first: number of the first game.
        games: how many are played.
        rate: how far a worth moves towards what was scored.
        trace: how much of what was scored is heard, from 0 (the next turn) to 1 (all of the game): TD's lambda.
    """
    leaves = new_leaves()
    levels, chosen = new_levels()
    positions, rewards = np.zeros((BOXES, 2), np.int64), np.zeros(BOXES)
    total = 0.0
    for game in range(games):
        play(weights, key_of(seed, first + game), leaves, levels, chosen, positions, rewards)
        after, scored = 0.0, 0.0  # the worth that follows, and what was scored then, as far as it is heard
        for turn in range(BOXES - 1, -1, -1):
            filled, upper = positions[turn, 0], positions[turn, 1]
            scored = rewards[turn] + trace * scored + (1.0 - trace) * after
            after = worth(weights, filled, upper)
            move(weights, filled, upper, rate * (scored - after))
            total += rewards[turn]
    return total / games


@kernel
def write_values(weights, values):
    """Write what every position is worth, nothing less than 0, to ``values`` (float64[2**15, 64])."""
    for filled in range(ALL_FILLED + 1):
        for upper in range(SUMS):
            values[filled, upper] = max(0.0, worth(weights, filled, upper))
