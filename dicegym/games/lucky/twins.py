"""Lucky & Co's twins: agents of ``agents/lucky`` as kernels, each the same strategy.

Each returns what comes first of what the order of the player to move lacks; see `dicegym.games.lucky.orders`.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import numpy as np

from dicegym.engine.dice import bot_stream, draw
from dicegym.engine.jit import kernel
from dicegym.engine.twins import twin
from dicegym.games.lucky import twins_investor
from dicegym.games.lucky.catalogue import (
    CUBE,
    FIRST_ATTACK,
    FIRST_MULTIPLIER,
    MEANS,
    N_DICE,
    PRICES,
    SQUARE,
    TEN_STOLEN,
    TWENTY_FIVE_STOLEN,
)
from dicegym.games.lucky.orders import NOTHING, lack, next_action
from dicegym.games.lucky.twins_investor import FACTORS

HUNDREDTHS = np.rint(100 * MEANS).astype(np.int64)
"""Means of the basic dice in hundredths of a point: whole numbers, so that sums are exact. The dearer of two basic dice
gives less for its price, so whoever wants the best for the price first goes through them by number."""
BY_PRICE = np.argsort(PRICES, kind="stable")


@kernel
def points_of(state, kinds):
    """Return the mean sum of the first ``kinds`` basic dice of the player to move, in `HUNDREDTHS`."""
    points = np.int64(0)
    for kind in range(kinds):
        points += state.dice[state.player, kind] * HUNDREDTHS[kind]
    return points


@kernel
def basics(state, kinds, left, points, enough):
    """Buy the first ``kinds`` basic dice by number, a fair share of each at most, while the points are not enough.

    Returns (what comes first of what the order lacks, money left, points).
    """
    first = NOTHING
    for kind in range(kinds):
        price = PRICES[kind]
        share = min(np.int64(state.shop[kind]), max(1, np.int64(state.shop[kind]) // state.players))
        count = 0
        while count < share and left >= price and points < enough:
            count += 1
            left -= price
            points += HUNDREDTHS[kind]
        first = min(first, lack(state, kind, count))
    return first, left, points


@twin("compound", file="dfd8e4835743ba9e")
@kernel
def compound(state):
    """Basic dice up to a foundation, then the dearest multiplier within two rounds' reach."""
    foundation = 1200
    me = state.player
    points = points_of(state, FIRST_MULTIPLIER)
    first, left, points = basics(state, FIRST_MULTIPLIER, state.money[me], points, foundation)
    if points < foundation:
        return next_action(first)
    income = points / 100
    for kind in range(FIRST_MULTIPLIER, FIRST_ATTACK):
        for _ in range(state.dice[me, kind]):
            income *= FACTORS[kind - FIRST_MULTIPLIER]
    for kind in range(FIRST_ATTACK - 1, FIRST_MULTIPLIER, -1):
        if state.shop[kind] > 0 and PRICES[kind] <= left + income:
            if PRICES[kind] <= left:
                first = min(first, lack(state, kind, 1))
            break
    return next_action(first)


@twin("cheapest", file="9606a715e2f08987")
@kernel
def cheapest(state):
    """All the money for the cheapest dice there are."""
    first, left = NOTHING, state.money[state.player]
    for kind in BY_PRICE:
        count = min(np.int64(state.shop[kind]), left // PRICES[kind])
        left -= count * PRICES[kind]
        first = min(first, lack(state, kind, count))
    return next_action(first)


@twin("thrifty", file="fed3355735dc55d9")
@kernel
def thrifty(state):
    """All the money for fair shares of basic dice."""
    never = np.iinfo(np.int64).max
    first, _, _ = basics(state, FIRST_MULTIPLIER, state.money[state.player], np.int64(0), never)
    return next_action(first)


@twin("gambler", file="4eba3acd78cc007d")
@kernel
def gambler(state):
    """A foundation, cubes and squares, and one multiplier."""
    some, enough, multiplier = 1000, 1500, FIRST_MULTIPLIER + 2
    me = state.player
    first, left, points = NOTHING, state.money[me], points_of(state, FIRST_MULTIPLIER)
    for coin in (CUBE, SQUARE):
        if points >= some and state.shop[coin] > 0 and left >= PRICES[coin]:
            first = min(first, lack(state, coin, 1))
            left -= PRICES[coin]
    of_basics, left, points = basics(state, FIRST_MULTIPLIER, left, points, enough)
    first = min(first, of_basics)
    affordable = state.shop[multiplier] > 0 and left >= PRICES[multiplier]
    if points >= enough and affordable and state.dice[me, multiplier] == 0:
        first = min(first, lack(state, multiplier, 1))
    return next_action(first)


@twin("raider", file="4085f41574aa0cfa")
@kernel
def raider(state):
    """A small foundation, then thieves and attacks for all the money."""
    enough, kinds = 1000, 4
    first, left, points = basics(state, kinds, state.money[state.player], points_of(state, kinds), enough)
    if points >= enough:
        for kind in (TWENTY_FIVE_STOLEN, TEN_STOLEN, FIRST_ATTACK):
            count = min(np.int64(state.shop[kind]), left // PRICES[kind])
            left -= count * PRICES[kind]
            first = min(first, lack(state, kind, count))
    return next_action(first)


@twin("haphazard", file="e14a3827a6d04701")
@kernel
def haphazard(state):
    """Dice at random until the money is gone or, before each with one chance in five, a coin says stop."""
    me = state.player
    stream = bot_stream(state.key, me, state.played)
    counts, left = np.zeros(N_DICE, np.int64), state.money[me]
    number = 0
    while draw(stream, number, 5) > 0:
        choices = 0
        for kind in range(N_DICE):
            choices += counts[kind] < state.shop[kind] and PRICES[kind] <= left
        if choices == 0:
            break
        place = draw(stream, number + 1, choices)
        for kind in range(N_DICE):
            if counts[kind] < state.shop[kind] and PRICES[kind] <= left:
                if place == 0:
                    counts[kind] += 1
                    left -= PRICES[kind]
                    break
                place -= 1
        number += 2
    first = NOTHING
    for kind in range(N_DICE):
        first = min(first, lack(state, kind, counts[kind]))
    return next_action(first)


@twin("investor", file="98fe8595672165cf")
@kernel
def investor(state):
    """What pays for itself soonest; see `twins_investor.investor`."""
    return next_action(twins_investor.investor(state))


@twin("strategist", file="1f4d34c99758935b")
@kernel
def strategist(state):
    """What others, who think the same, leave; see `twins_investor.strategist`."""
    return next_action(twins_investor.strategist(state))


@twin("idle", file="38c86100e8ad2c1a")
@kernel
def idle(state):
    """Nothing at all."""
    return next_action(NOTHING)
