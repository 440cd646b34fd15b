"""Lucky & Co's twins: agents of ``agents/lucky`` as kernels, each with the same strategy.

Each returns the action for the first lack in the order of the player to move; see `dicegym.games.lucky.catalogue`.
`investor` and `strategist` estimate the value of every affordable order at the end of the game. They compute the same
sums in the same order as ``agents/lucky/_sums.py``, which explains them, because rounding decides between equal orders.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import numpy as np

from dicegym.engine.jit import kernel
from dicegym.engine.twin_kernels import twin
from dicegym.games.lucky.catalogue import (
    AGAIN,
    ALL_AGAIN,
    CUBE,
    FIRST_ATTACK,
    FIRST_MULTIPLIER,
    MEANS,
    MOST_PLAYERS,
    N_DICE,
    NOTHING,
    PRICES,
    SCALES,
    SQUARE,
    lack,
    next_action,
)

# --- values of orders ------------------------------------------------------------------------------------------------

FACTORS = 3.5 / (1 / SCALES)
"""Mean of each multiplier, with the rounding of 3.5 over 3, 2, 1, 1/2 and 1/3."""
LEAD = 200
LONGEST = 4
CAP = 1e6
MOST_BUNDLES = 200
FEW_BUNDLES = 40
MOST_COPIES = 3
ESPECIAL = np.array([*range(CUBE, AGAIN - 1, -1), *range(FIRST_ATTACK - 1, FIRST_MULTIPLIER - 1, -1)])
"""The dice of bundles; a bundle is a number with two bits for each of them, the first lowest."""
_ROOM = (MOST_COPIES + 1) * MOST_BUNDLES + 1
CHOOSE = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [1, 2, 1, 0], [1, 3, 3, 1]])
ROOTS = np.array([[CAP ** (1 / (2**s * 3**c)) for c in range(4)] for s in range(4)])
"""By numbers of squares and cubes: points above this exceed `CAP` afterwards."""


@kernel
def means_of(state, seat):
    """Return (mean sum of basic dice, mean product of multipliers) of a seat, computed die by die."""
    basic, product = 0.0, 1.0
    for kind in range(FIRST_MULTIPLIER):
        for _ in range(state.dice[seat, kind]):
            basic += MEANS[kind]
    for kind in range(FIRST_MULTIPLIER, FIRST_ATTACK):
        for _ in range(state.dice[seat, kind]):
            product *= FACTORS[kind - FIRST_MULTIPLIER]
    return basic, product


@kernel
def cap_points(basic, product, again, every, squares, cubes):
    """Return the expected points of a round, with each outcome of the coins capped at `CAP`."""
    if every + squares + cubes == 0:
        return min(basic * (1 + again / 2) * product, CAP)
    total = 0.0
    for e in range(every + 1):
        points = min(basic * (1 + again / 2 + e) * product ** np.float64(1 + e), CAP)
        for s in range(squares + 1):
            for c in range(cubes + 1):
                weight = CHOOSE[every, e] * CHOOSE[squares, s] * CHOOSE[cubes, c]
                total += weight * (CAP if points > ROOTS[s, c] else points ** np.float64(2**s * 3**c))
    return total / 2 ** (every + squares + cubes)


@kernel
def rounds_to_play(state):
    """Return after how many rounds, at mean incomes, somebody is `LEAD` ahead of everybody else; at most `LONGEST`."""
    incomes = np.empty(MOST_PLAYERS)
    for seat in range(state.players):
        basic, product = means_of(state, seat)
        again, every, squares, cubes = coins_of(state, seat)
        incomes[seat] = cap_points(basic, product, again, every, squares, cubes)
    for rounds in range(1, LONGEST):
        first, second = -1.0, -1.0
        for seat in range(state.players):
            reached = state.money[seat] + rounds * incomes[seat]
            if reached > first:
                first, second = reached, first
            elif reached > second:
                second = reached
        if first - second >= LEAD:
            return rounds
    return LONGEST


@kernel
def write_fair_shares(state, player, limits):
    """Write the most of each die that a player asks for, such that all players who can afford it could do the same."""
    for kind in range(N_DICE):
        rivals = 0
        for seat in range(state.players):
            rivals += seat != player and state.money[seat] >= PRICES[kind]
        stock = np.int64(state.shop[kind])
        limits[kind] = min(stock, max(stock // (1 + rivals), np.int64(rivals < stock)))


@kernel
def bundles(money, limits, most, found, lefts):
    """Write about ``most`` bundles, the empty one first, and the money left after each; return their number."""
    found[0], lefts[0] = 0, money
    n = 1
    for i in range(len(ESPECIAL)):
        kind = ESPECIAL[i]
        price = PRICES[kind]
        if price <= money and limits[kind] > 0:
            for before in range(n):
                left = lefts[before]
                for count in range(1, min(limits[kind], left // price, MOST_COPIES) + 1):
                    found[n], lefts[n] = found[before] | count << 2 * i, left - count * price
                    n += 1
            if n > most:
                break
    return n


@kernel
def copies(bundle, i):
    """Return the number of ``ESPECIAL[i]`` in a bundle."""
    return bundle >> 2 * i & 3


@kernel
def buy_basics(left, limits, rate, counts):
    """Write how many of each basic die to buy if a point is worth ``rate``; return the money left.

    Buys as many as possible of each die that pays. Cheaper dice give more for their price, so they come first.
    """
    for kind in range(FIRST_MULTIPLIER):
        price = PRICES[kind]
        counts[kind] = max(min(limits[kind], left // price), 0) if rate * MEANS[kind] > price else np.int64(0)
        left -= counts[kind] * price
    return left


@kernel
def coins_of(state, seat):
    """Return a seat's numbers of `AGAIN`, `ALL_AGAIN`, `SQUARE` and `CUBE`."""
    own = state.dice[seat]
    return np.int64(own[AGAIN]), np.int64(own[ALL_AGAIN]), np.int64(own[SQUARE]), np.int64(own[CUBE])


@kernel
def with_bundle(bundle, product, coins):
    """Return (mean product of the multipliers, coins) after adding a bundle."""
    again, every, squares, cubes = coins
    if bundle:
        cubes += copies(bundle, 0)
        squares += copies(bundle, 1)
        every += copies(bundle, 2)
        again += copies(bundle, 3)
        for i in range(4, len(ESPECIAL)):
            for _ in range(copies(bundle, i)):
                product *= FACTORS[ESPECIAL[i] - FIRST_MULTIPLIER]
    return product, (again, every, squares, cubes)


@kernel
def best_order(state, seat, limits, rounds, most, order):
    """Write the best order of a player over ``rounds`` rounds among about ``most`` bundles: int64[N_DICE]."""
    found, lefts = np.empty(_ROOM, np.int64), np.empty(_ROOM, np.int64)
    n = bundles(state.money[seat], limits, most, found, lefts)

    own_basic, own_product = means_of(state, seat)
    own_coins = coins_of(state, seat)
    best, chosen, counts = -1.0, 0, np.empty(FIRST_MULTIPLIER, np.int64)
    order[:] = 0
    for k in range(n):
        product, (again, every, squares, cubes) = with_bundle(found[k], own_product, own_coins)
        left = buy_basics(lefts[k], limits, rounds * product * (1 + again / 2), counts)
        basic = own_basic
        for kind in range(FIRST_MULTIPLIER):
            basic += counts[kind] * MEANS[kind]
        value = rounds * cap_points(basic, product, again, every, squares, cubes) + left
        if value > best:
            best, chosen = value, k
            order[:FIRST_MULTIPLIER] = counts
    for i in range(len(ESPECIAL)):
        order[ESPECIAL[i]] = copies(found[chosen], i)


@kernel
def place_order(state, order):
    """Return the action for the first die of ``order`` that the player to move has not ordered yet."""
    first = NOTHING
    for kind in range(N_DICE):
        first = min(first, lack(state, kind, order[kind]))
    return next_action(state, first)


@twin("investor", file="98fe8595672165cf")
@kernel
def investor(state):
    """Buy the dice that pay for themselves soonest."""
    me, rounds = state.player, rounds_to_play(state)
    limits, order = np.empty(N_DICE, np.int64), np.empty(N_DICE, np.int64)
    write_fair_shares(state, me, limits)
    best_order(state, me, limits, rounds, MOST_BUNDLES, order)
    return place_order(state, order)


@twin("strategist", file="1f4d34c99758935b")
@kernel
def strategist(state):
    """Buy what rivals like `investor` would leave in the shop; play like `investor` after a refused order."""
    me, rounds = state.player, rounds_to_play(state)
    limits, order, own = np.empty(N_DICE, np.int64), np.empty(N_DICE, np.int64), np.empty(N_DICE, np.int64)
    if state.refused[me]:
        write_fair_shares(state, me, own)
    else:
        own[:] = state.shop
        for seat in range(state.players):
            if seat != me:
                write_fair_shares(state, seat, limits)
                best_order(state, seat, limits, rounds, FEW_BUNDLES, order)
                own -= order
    best_order(state, me, own, rounds, MOST_BUNDLES, order)
    return place_order(state, order)


# --- simple agents ---------------------------------------------------------------------------------------------------

HUNDREDTHS = np.rint(100 * MEANS).astype(np.int64)
"""Means of the basic dice in hundredths of a point: whole numbers, so sums are exact. Cheaper dice give more for their
price, so the best ones have the lowest numbers."""
BY_PRICE = np.argsort(PRICES, kind="stable")


@kernel
def points_of_basics(state):
    """Return the mean sum of the basic dice of the player to move, in `HUNDREDTHS`."""
    points = np.int64(0)
    for kind in range(FIRST_MULTIPLIER):
        points += state.dice[state.player, kind] * HUNDREDTHS[kind]
    return points


@kernel
def basics(state, left, points, enough):
    """Buy basic dice by number, at most a fair share of each, until the points are ``enough``.

    Returns (first lack, money left, points).
    """
    first = NOTHING
    for kind in range(FIRST_MULTIPLIER):
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
    """Buy basic dice up to a foundation, then the most expensive multiplier affordable within two rounds."""
    foundation = 1200
    me = state.player
    first, left, points = basics(state, state.money[me], points_of_basics(state), foundation)
    if points < foundation:
        return next_action(state, first)
    income = points / 100
    for kind in range(FIRST_MULTIPLIER, FIRST_ATTACK):
        for _ in range(state.dice[me, kind]):
            income *= FACTORS[kind - FIRST_MULTIPLIER]
    for kind in range(FIRST_ATTACK - 1, FIRST_MULTIPLIER, -1):
        if state.shop[kind] > 0 and PRICES[kind] <= left + income:
            if PRICES[kind] <= left:
                first = min(first, lack(state, kind, 1))
            break
    return next_action(state, first)


@twin("cheapest", file="9606a715e2f08987")
@kernel
def cheapest(state):
    """Spend all money on the cheapest dice."""
    first, left = NOTHING, state.money[state.player]
    for kind in BY_PRICE:
        count = min(np.int64(state.shop[kind]), left // PRICES[kind])
        left -= count * PRICES[kind]
        first = min(first, lack(state, kind, count))
    return next_action(state, first)


@twin("thrifty", file="fed3355735dc55d9")
@kernel
def thrifty(state):
    """Spend all money on fair shares of basic dice."""
    never = np.iinfo(np.int64).max
    return next_action(state, basics(state, state.money[state.player], np.int64(0), never)[0])


@twin("gambler", file="4eba3acd78cc007d")
@kernel
def gambler(state):
    """Buy a foundation of basic dice, cubes and squares, and one multiplier."""
    some, enough, multiplier = 1000, 1500, FIRST_MULTIPLIER + 2
    me = state.player
    first, left, points = NOTHING, state.money[me], points_of_basics(state)
    for coin in (CUBE, SQUARE):
        if points >= some and state.shop[coin] > 0 and left >= PRICES[coin]:
            first = min(first, lack(state, coin, 1))
            left -= PRICES[coin]
    of_basics, left, points = basics(state, left, points, enough)
    first = min(first, of_basics)
    affordable = state.shop[multiplier] > 0 and left >= PRICES[multiplier]
    if points >= enough and affordable and state.dice[me, multiplier] == 0:
        first = min(first, lack(state, multiplier, 1))
    return next_action(state, first)
