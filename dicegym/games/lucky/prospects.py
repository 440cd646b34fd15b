"""Parts of Lucky & Co's observations: expected points of dice, and numbers scaled to 0..1.

Divisions and logarithms took half the time of an observation, so tables contain the results for small whole numbers.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import numpy as np

from dicegym.engine.jit import kernel
from dicegym.games.lucky.catalogue import (
    AGAIN,
    ALL_AGAIN,
    CUBE,
    EVERYBODY,
    FIRST_ATTACK,
    FIRST_COIN,
    FIRST_MULTIPLIER,
    MEANS,
    PRODUCTS,
    SCALES,
    SHIELD,
    SQUARE,
    STEALS,
    STOCK,
    TAKEN,
    TEN,
)


@kernel
def expect_points(basic, product, again, all_again, squares, cubes):
    """Return the expected points a round without attacks.

    ``basic`` is the mean sum of the basic dice, ``product`` the mean product of the multipliers; the others are numbers
    of coins. Exact without squares and cubes, which are applied to the mean, up to 1e12.
    """
    points = basic * (1 + again / 2) * product
    if all_again > 0:
        rolls = 1 + again / 2
        points, ways, power = 0.0, 1.0, product
        for success in range(all_again + 1):
            points += ways * basic * (rolls + success) * power
            ways = ways * (all_again - success) / (success + 1)
            power *= product
        for _ in range(all_again):
            points /= 2
    for _ in range(squares):
        points = min((points + points * points) / 2, 1e12)
    for _ in range(cubes):
        points = min((points + points * points * points) / 2, 1e12)
    return points


@kernel
def means_of(state, seat, ordered):
    """Return (mean sum of basic dice, mean product of multipliers) of a seat, with its order if ``ordered`` is 1."""
    basic, product = 0.0, 1.0
    for kind in range(FIRST_MULTIPLIER):
        basic += MEANS[kind] * (state.dice[seat, kind] + ordered * state.order[seat, kind])
    for kind in range(FIRST_MULTIPLIER, FIRST_ATTACK):
        count = state.dice[seat, kind] + ordered * state.order[seat, kind]
        product *= PRODUCTS[kind - FIRST_MULTIPLIER, min(count, STOCK[FIRST_MULTIPLIER])]
    return basic, product


@kernel
def grow(product, kind):
    """Return the mean ``product`` of multipliers after adding one of a ``kind``."""
    return product * 3.5 * SCALES[kind - FIRST_MULTIPLIER]


@kernel
def more_points(kind, basic, product, again, all_again, squares, cubes, now, threat, rivals):
    """Return the points a round gained by one more die of a ``kind``; without it they are ``now``.

    The gain of an attack is the mean loss of the others, plus the points it steals, assuming that the victim has
    enough. The gain of a shield (17) is half of ``threat``, the expected loss by attacks of others.
    """
    if kind < FIRST_MULTIPLIER:
        return expect_points(basic + MEANS[kind], product, again, all_again, squares, cubes) - now
    if kind < FIRST_ATTACK:
        return max(0.0, expect_points(basic, grow(product, kind), again, all_again, squares, cubes) - now)
    if kind == EVERYBODY:
        return 3.5
    if kind < FIRST_COIN:
        return TAKEN[kind - TEN] * (1 / rivals + STEALS[kind - TEN])
    if kind == SHIELD:
        return min(threat, now) / 2
    more_again, more_all = again + (kind == AGAIN), all_again + (kind == ALL_AGAIN)
    more_squares, more_cubes = squares + (kind == SQUARE), cubes + (kind == CUBE)
    return max(0.0, expect_points(basic, product, more_again, more_all, more_squares, more_cubes) - now)


@kernel
def more_of_plain_dice(kind, basic, product, again, now):
    """Return `more_points` of a basic die or multiplier without coins 19 to 21.

    Most hands have no such coins. Without branches, compilers can compute several kinds at once in a loop.
    """
    if kind < FIRST_MULTIPLIER:
        return (basic + MEANS[kind]) * (1 + again / 2) * product - now
    return max(0.0, basic * (1 + again / 2) * grow(product, kind) - now)


# --- scales ----------------------------------------------------------------------------------------------------------

MONEY_SCALES = np.array([10, 50, 250, 1250], np.int64)
S_50, S_250 = 2, 3
"""Columns of the scales 50 and 250 in `ON_SCALES`; column 0 is the logarithm."""
_MONEY = np.arange(512)
ON_SCALES = np.stack(
    [np.minimum(np.log2(1.0 + _MONEY) / 20, 1.0), *(_MONEY / (_MONEY + scale) for scale in MONEY_SCALES)], axis=1
).astype(np.float32)
"""float32[512, 5]: the logarithm and the scales of amounts below 512, which most players never exceed."""
TENTHS = np.minimum(np.arange(128) / 10, 1.0).astype(np.float32)
"""float32[128]: numbers over 10, at most 1; below, numbers over 3."""
THIRDS = np.minimum(np.arange(128) / 3, 1.0).astype(np.float32)


@kernel
def share(value, scale):
    """Return s(value, scale) of the rules page."""
    return value / (value + scale)


@kernel
def centre(difference, lead):
    """Map a difference from -lead..lead to 0..1."""
    return min(max(0.5 + 0.5 * difference / lead, 0.0), 1.0)


@kernel
def logarithm(money):
    """Return money on a logarithmic scale, 1 from a million on."""
    return min(np.log2(1.0 + money) / 20, 1.0)


@kernel
def observe_money(amount, at, out):
    """Write an amount of money on five scales."""
    if amount < len(ON_SCALES):
        for i in range(1 + len(MONEY_SCALES)):
            out[at + i] = ON_SCALES[np.uint64(amount), i]
    else:
        out[at] = logarithm(amount)
        for i in range(len(MONEY_SCALES)):
            out[at + 1 + i] = share(amount, MONEY_SCALES[i])


@kernel
def observe_rivals_money(amount, at, out):
    """Write the money of another player on three scales."""
    if amount < len(ON_SCALES):
        out[at] = ON_SCALES[np.uint64(amount), 0]
        out[at + 1] = ON_SCALES[np.uint64(amount), S_50]
        out[at + 2] = ON_SCALES[np.uint64(amount), S_250]
    else:
        out[at] = logarithm(amount)
        out[at + 1] = share(amount, 50)
        out[at + 2] = share(amount, 250)


@kernel
def observe_income(points, at, out):
    """Write points a round on three scales."""
    out[at] = share(points, 10)
    out[at + 1] = share(points, 100)
    out[at + 2] = share(points, 1000)
