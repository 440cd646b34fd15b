"""How everybody's dice fell in a round of Lucky & Co, and how likely all else was: coins, basic dice, multipliers.

What fell is asked of the rules' own kernel, `dicegym.games.lucky.scoring.roll`, with fewer dice: coins are flipped
before basic dice roll, and these before multipliers, so what stays shows the same.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import functools

import numpy as np

from dicegym.engine.jit import kernel
from dicegym.games.lucky.catalogue import (
    AGAIN,
    ALL_AGAIN,
    CUBE,
    FIRST_ATTACK,
    FIRST_MULTIPLIER,
    SCALES,
    SQUARE,
    SUMS,
    WEIGHTS,
)
from dicegym.games.lucky.scoring import roll

MOST_FACTORS = 12
"""Rolls of multipliers of which all products are gone through: 12 make 2,100 of them. Beyond, products are no luck."""
_ONES = 0
"""The basic die that always rolls 1."""


@functools.cache
def products_of_faces() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (starts, products, chances): those of n fair dice stand from ``starts[n]`` to ``starts[n + 1]``."""
    chances = {1: 1.0}
    every, starts = [chances], [0, 1]
    for _ in range(MOST_FACTORS):
        longer: dict[int, float] = {}
        for product, chance in chances.items():
            for face in range(1, 7):
                longer[product * face] = longer.get(product * face, 0.0) + chance / 6
        chances = longer
        every.append(chances)
        starts.append(starts[-1] + len(chances))
    products = [float(product) for one in every for product in one]
    return np.array(starts), np.array(products), np.array([chance for one in every for chance in one.values()])


@kernel
def _number(total, twos, threes, fives):
    """Return points of `roll` before squares and cubes as a float."""
    return total * 2.0**twos * 3.0**threes * 5.0**fives


@kernel
def fallen(state, seat, coins):
    """Return how the dice of a seat fell: (sum of basic dice, product of multipliers, or 0 if the sum is 0).

    Args:
        state: a record whose ``played`` names the round; ``rolled`` of the seat is written to.
        seat: whose dice.
        coins: int64[4], filled with successes: once more, all once more, squares, cubes.
    """
    dice = state.dice[seat]
    total, twos, threes, fives, power, _, _ = roll(state, seat)
    both = _number(total, twos, threes, fives)
    kept = dice.copy()
    dice[FIRST_MULTIPLIER:FIRST_ATTACK] = 0
    total, twos, threes, fives, _, _, _ = roll(state, seat)
    basic = _number(total, twos, threes, fives)
    coins[:] = 0
    while power % 2 == 0:
        power //= 2
        coins[2] += 1
    while power % 3 == 0:
        power //= 3
        coins[3] += 1
    if dice[AGAIN] + dice[ALL_AGAIN] > 0:
        dice[:FIRST_MULTIPLIER] = 0
        dice[_ONES] = 1
        total, twos, threes, fives, _, _, _ = roll(state, seat)
        rolls = np.int64(round(_number(total, twos, threes, fives)))
        dice[_ONES] = 0
        dice[FIRST_MULTIPLIER] = 1  # rolls once, and once more for each success of 19
        roll(state, seat)
        for face in range(6):
            coins[1] += state.rolled[seat, face]
        coins[1] -= 1
        coins[0] = rolls - 1 - coins[1]
    dice[:] = kept
    return basic, both / basic if basic > 0 else 0.0


@kernel
def sums_of(dice, rolls):
    """Return float64[largest sum + 1], how likely each sum of basic dice is that roll so often."""
    count = 0
    for kind in range(FIRST_MULTIPLIER):
        count += dice[kind]
    chances = np.zeros(6 * count * rolls + 1)
    chances[0] = 1
    most = 0
    for kind in range(FIRST_MULTIPLIER):
        for _ in range(dice[kind] * rolls):
            for total in range(most + 6, -1, -1):
                chance = 0.0
                for face in range(1, min(6, total) + 1):
                    chance += chances[total - face] * WEIGHTS[kind, face - 1]
                chances[total] = chance / SUMS[kind]
            most += 6
    return chances


@kernel
def multipliers_of(dice, all_again):
    """Return (rolls of multipliers, what the product of their faces is multiplied by)."""
    rolls, scale = 0, 1.0
    for kind in range(FIRST_MULTIPLIER, FIRST_ATTACK):
        count = dice[kind] * (1 + all_again)
        rolls += count
        scale *= SCALES[kind - FIRST_MULTIPLIER] ** count
    return rolls, scale


@kernel
def chance_of_heads(coins, successes):
    """Return how likely so many of some coins succeed."""
    ways = 1.0
    for i in range(successes):
        ways *= (coins - i) / (i + 1)
    return ways * 0.5**coins


@kernel
def power_of(squares, cubes):
    """Return what points are raised to by so many successes."""
    return 2.0**squares * 3.0**cubes


@kernel
def coins_of(dice, coins):
    """Write how many coins there are: once more, all once more, squares, cubes."""
    coins[0], coins[1], coins[2], coins[3] = dice[AGAIN], dice[ALL_AGAIN], dice[SQUARE], dice[CUBE]
