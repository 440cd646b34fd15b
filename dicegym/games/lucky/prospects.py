"""What dice are worth in Lucky & Co, for observations: expected points a round, and how many more by one more die."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

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
def plain_points(basic, product, again):
    """Return the expected points a round of dice without the coins 19 to 21; see `expected_points`."""
    return basic * (1 + again / 2) * product


@kernel
def expected_points(basic, product, again, all_again, squares, cubes):
    """Return the expected points a round, attacks left out.

    ``basic`` is the mean sum of the basic dice, ``product`` the mean product of the multipliers, then come numbers of
    coins. Exact without squares and cubes; those are taken of the mean, at most 1e12.
    """
    points = plain_points(basic, product, again)
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
    """Return (mean sum of basic dice, mean product of multipliers) of a seat's dice, with its order if ``ordered``."""
    basic, product = 0.0, 1.0
    for kind in range(FIRST_MULTIPLIER):
        basic += MEANS[kind] * (state.dice[seat, kind] + ordered * state.order[seat, kind])
    for kind in range(FIRST_MULTIPLIER, FIRST_ATTACK):
        count = state.dice[seat, kind] + ordered * state.order[seat, kind]
        product *= PRODUCTS[kind - FIRST_MULTIPLIER, min(count, STOCK[FIRST_MULTIPLIER])]
    return basic, product


@kernel
def grown(product, kind):
    """Return the mean ``product`` of multipliers with one more of a ``kind``."""
    return product * 3.5 * SCALES[kind - FIRST_MULTIPLIER]


@kernel
def more_points(kind, basic, product, again, all_again, squares, cubes, now, threat, rivals):
    """Return how many points a round one more die of a ``kind`` is worth to dice that make ``now`` of them.

    Attacks count for what they take from all others together divided by their number, plus what they steal, if all
    was there; 17 for half of ``threat``, what the attacks of others are expected to take.
    """
    if kind < FIRST_MULTIPLIER:
        return expected_points(basic + MEANS[kind], product, again, all_again, squares, cubes) - now
    if kind < FIRST_ATTACK:
        return max(0.0, expected_points(basic, grown(product, kind), again, all_again, squares, cubes) - now)
    if kind == EVERYBODY:
        return 3.5
    if kind < FIRST_COIN:
        return TAKEN[kind - TEN] * (1 / rivals + STEALS[kind - TEN])
    if kind == SHIELD:
        return min(threat, now) / 2
    more_again, more_all = again + (kind == AGAIN), all_again + (kind == ALL_AGAIN)
    more_squares, more_cubes = squares + (kind == SQUARE), cubes + (kind == CUBE)
    return max(0.0, expected_points(basic, product, more_again, more_all, more_squares, more_cubes) - now)


@kernel
def more_of_plain_dice(kind, basic, product, again, now):
    """Return `more_points` of a basic die or a multiplier where there are no coins 19 to 21, without a branch.

    Most hands are of that kind, and compilers count many kinds at once in a loop that calls this.
    """
    if kind < FIRST_MULTIPLIER:
        return plain_points(basic + MEANS[kind], product, again) - now
    return max(0.0, plain_points(basic, grown(product, kind), again) - now)
