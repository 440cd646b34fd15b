"""Luck in Lucky & Co: what the dice of each round are worth to all players, by an estimate of the winner.

A seat's share of the first place is taken to be proportional to ``(money + INCOMES * income + 1) ** POWER``, where
income is its expected points of a round, unless the lead ends the game. Both constants maximise the likelihood over
7,500 ends of rounds in 600 games of shipped agents. A better estimate would remove more luck. A worse one cannot bias
results, because luck is the estimate after a roll less its exact mean before.

The luck of a round is weighted by the money of the richest before it (`_weight`, fitted by least squares of results).
This money is known before any roll, so the mean stays 0.

Seats are processed in turn, each with its basic dice before its multipliers; a seat that has not rolled yet counts with
its expectation. The luck of coins, attacks and rounding stays in the result.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import functools

import numpy as np

from dicegym.engine.dice import turn_stream
from dicegym.engine.jit import kernel
from dicegym.games.lucky.catalogue import (
    AGAIN,
    ALL_AGAIN,
    CUBE,
    FIRST_ATTACK,
    FIRST_MULTIPLIER,
    MOST_PLAYERS,
    N_DICE,
    PRICES,
    SCALES,
    SHIELD,
    SQUARE,
    SUMS,
    WEIGHTS,
)
from dicegym.games.lucky.prospects import expect_points, means_of
from dicegym.games.lucky.scoring import heads, roll

# --- results of dice, and their probabilities ------------------------------------------------------------------------

MOST_FACTORS = 12
"""Up to this many rolls of multipliers, all products are enumerated (2,100 for 12); beyond, their luck is ignored."""


@functools.cache
def products_of_faces() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (starts, products, chances); those of n fair dice are at ``starts[n]`` to ``starts[n + 1]``."""
    every = [{1: 1.0}]
    for _ in range(MOST_FACTORS):
        longer: dict[int, float] = {}
        for product, chance in every[-1].items():
            for face in range(1, 7):
                longer[product * face] = longer.get(product * face, 0.0) + chance / 6
        every.append(longer)
    products = [float(product) for one in every for product in one]
    chances = [chance for one in every for chance in one.values()]
    return np.cumsum([0, *map(len, every)]), np.array(products), np.array(chances)


@kernel
def fallen(state, seat, coins):
    """Return (sum of basic dice, product of multipliers, or 0 if the sum is 0) of a seat's dice.

    The kernel of the rules rolls them twice, the second time without multipliers: basic dice come first, so they show
    the same.

    Args:
        state: a record whose ``played`` is the number of the round; ``rolled`` of the seat is overwritten.
        seat: whose dice.
        coins: int64[3], filled: how often all basic dice and all multipliers rolled, and the power of the points.
    """
    dice = state.dice[seat]
    stream, number = turn_stream(state.key, seat, state.played), np.int64(dice[SHIELD])
    again = heads(stream, number, dice[AGAIN])
    all_again = heads(stream, number + dice[AGAIN], dice[ALL_AGAIN])
    total, twos, threes, fives, power, _, _ = roll(state, seat)
    coins[:] = 1 + again + all_again, 1 + all_again, power
    both = total * 2.0**twos * 3.0**threes * 5.0**fives
    kept = dice[FIRST_MULTIPLIER:FIRST_ATTACK].copy()
    dice[FIRST_MULTIPLIER:FIRST_ATTACK] = 0
    total, twos, threes, fives, _, _, _ = roll(state, seat)
    dice[FIRST_MULTIPLIER:FIRST_ATTACK] = kept
    basic = total * 2.0**twos * 3.0**threes * 5.0**fives
    return basic, both / basic if basic > 0 else 0.0


@kernel
def sums_of(dice, rolls):
    """Return the probability of each sum of basic dice after ``rolls`` rolls of all: float64[largest sum + 1]."""
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


# --- the value of a result -------------------------------------------------------------------------------------------

INCOMES, POWER = 3.0, 2.4
"""Rounds of income that count as money; exponent of the estimated share."""
EARLY, LATE = 2.9, 0.7
"""Weight of luck early and late in a game."""
EARLY_MONEY, LATE_MONEY = 20.0, 45.0
"""Money of the richest up to which a game is early, and from which on it is late."""
MOST_MONEY = 1e15
"""More money than this makes no difference."""


@kernel
def _strength(money, income):
    return (min(money, MOST_MONEY) + INCOMES * income + 1) ** POWER


@kernel
def _weight(state):
    """Return the weight of luck in a round that begins with this record."""
    richest = 0.0
    for seat in range(state.players):
        richest = max(richest, float(state.money[seat]))
    past = min(max((richest - EARLY_MONEY) / (LATE_MONEY - EARLY_MONEY), 0.0), 1.0)
    return EARLY + past * (LATE - EARLY)


@kernel
def _income(state, seat):
    """Return a seat's expected points a round; squares and cubes give at most twice the lead that ends the game."""
    dice = state.dice[seat]
    basic, product = means_of(state, seat, 0)
    plain = expect_points(basic, product, dice[AGAIN], dice[ALL_AGAIN], 0, 0)
    missed = 0.5 ** (dice[SQUARE] + dice[CUBE])
    raised = max(plain, min(plain * plain, 2.0 * state.lead))
    return min(missed * plain + (1 - missed) * raised, MOST_MONEY)


@kernel
def _others(state, seat, moneys, incomes, strengths):
    """Return (richest other seat, its money, second largest money of the others, sum of the others' strengths)."""
    richest, first, second, total = -1, -1.0, -1.0, 0.0
    for other in range(state.players):
        if other != seat:
            strengths[other] = _strength(moneys[other], incomes[other])
            total += strengths[other]
            if moneys[other] > first:
                richest, first, second = other, moneys[other], first
            elif moneys[other] > second:
                second = moneys[other]
    return richest, first, second, total


@kernel
def _estimate(state, money, income, first, second, total, out):
    """Write float64[3]: the share of a seat with this money, of others per unit of strength, of the richest other."""
    out[:] = 0
    if state.played >= state.rounds or abs(money - first) >= state.lead:
        if money > first:
            out[0] = 1
            return
        if state.played >= state.rounds or first - max(money, second) >= state.lead:
            out[2] = 1
            return
    strength = _strength(money, income)
    out[0] = strength / (strength + total)
    out[1] = 1 / (strength + total)


@kernel
def _add_stage(state, seat, moneys, incomes, points, chances, came, luck):
    """Add to ``luck`` the shares with ``came`` points less their mean over ``points`` with ``chances`` (float64[n])."""
    money, income, strengths = moneys[seat], incomes[seat], np.empty(MOST_PLAYERS)
    richest, first, second, total = _others(state, seat, moneys, incomes, strengths)
    one, mean = np.zeros(3), np.zeros(3)
    for i in range(len(points)):
        _estimate(state, money + points[i], income, first, second, total, one)
        mean += chances[i] * one
    _estimate(state, money + came, income, first, second, total, one)
    luck[seat] += one[0] - mean[0]
    for other in range(state.players):
        if other != seat:
            luck[other] += strengths[other] * (one[1] - mean[1])
    luck[richest] += one[2] - mean[2]


@kernel
def seat_luck(state, rolling, seat, moneys, incomes, faces, luck):
    """Add the luck of a seat's dice to ``luck`` (float64[players]); return its points without attacks.

    Args:
        state: the record after the round.
        rolling: the same, with the number of the round that was played.
        seat: whose dice.
        moneys: float64[players], final or expected money of the others, and money before the round of the seat.
        incomes: float64[players], expected points of later rounds.
        faces: from `products_of_faces`.
        luck: by seat.
    """
    starts, products, chances_of_products = faces
    dice, coins = state.dice[seat], np.empty(3, np.int64)
    basic, product = fallen(rolling, seat, coins)
    rolls, times, power = coins
    expected = means_of(state, seat, 0)[1] ** times
    chances = sums_of(dice, rolls)
    points = np.minimum((np.arange(len(chances)) * expected) ** power, MOST_MONEY)
    _add_stage(state, seat, moneys, incomes, points, chances, min((basic * expected) ** power, MOST_MONEY), luck)

    came = min((basic * product) ** power, MOST_MONEY)
    factors, scale = 0, 1.0
    for kind in range(FIRST_MULTIPLIER, FIRST_ATTACK):
        factors += dice[kind] * times
        scale *= SCALES[kind - FIRST_MULTIPLIER] ** (dice[kind] * times)
    if 0 < factors <= MOST_FACTORS and basic > 0:
        begin, end = starts[factors], starts[factors + 1]
        points = np.minimum((basic * scale * products[begin:end]) ** power, MOST_MONEY)
        _add_stage(state, seat, moneys, incomes, points, chances_of_products[begin:end], came, luck)
    return came


@kernel
def luck_rows(before, rows, after, rolling, faces, luck):
    """Add the luck of a round's dice to ``luck`` (float64[games, players]).

    Args:
        before: records before the last order of the round, by game.
        rows: int64[k], games in which a round has just been played.
        after: records after it, by game.
        rolling: copies of ``after[rows]`` with the number of the round that was played; overwritten.
        faces: from `products_of_faces`.
        luck: by game and seat.
    """
    moneys, incomes, drawn = np.empty(MOST_PLAYERS), np.empty(MOST_PLAYERS), np.empty(MOST_PLAYERS)
    for k in range(len(rows)):
        was, now = before[rows[k]], after[rows[k]]
        drawn[:] = 0
        for seat in range(now.players):
            dice = now.dice[seat]
            money = was.money[seat]
            for kind in range(N_DICE):
                money -= (dice[kind] - was.dice[seat, kind]) * PRICES[kind]
            incomes[seat] = _income(now, seat)
            moneys[seat] = money + incomes[seat]
        for seat in range(now.players):
            moneys[seat] -= incomes[seat]
            moneys[seat] += seat_luck(now, rolling[k], seat, moneys, incomes, faces, drawn)
        weight = _weight(was)
        for seat in range(now.players):
            luck[rows[k], seat] += weight * drawn[seat]
