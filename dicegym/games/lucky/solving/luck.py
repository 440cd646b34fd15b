"""What the dice of a round of Lucky & Co were worth to everybody, by an estimate of who will win.

The estimate: a seat's share of the first place is in proportion to ``(money + INCOMES * income + 1) ** POWER``, with
its expected points of a round as income, unless the lead ends the game. Both constants were fitted (greatest
likelihood) to 7,500 ends of rounds in 600 games of shipped agents, two to seven at a table. A better estimate would
take out more of the luck; none can make results wrong, since what it says after a roll is compared with its own exact
mean before.

How much of that counts is a matter of the money that the richest has before the round: by least squares of results,
the estimate makes a third of what the first rounds decide, and too much of those that follow (the same in games of two,
four and seven of `investor`, `strategist` and `ppo`). As this is known before anything rolls, the mean stays 0.

A round is gone through seat by seat, and for each seat from coins over basic dice to multipliers: whoever has not
rolled yet stands there with what it expects. Attacks, and the rounding of points, are left where they are.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import numpy as np

from dicegym.engine.jit import kernel
from dicegym.games.lucky.catalogue import AGAIN, ALL_AGAIN, CUBE, MOST_PLAYERS, N_DICE, PRICES, SQUARE
from dicegym.games.lucky.prospects import expected_points, means_of
from dicegym.games.lucky.solving.rolls import (
    MOST_FACTORS,
    chance_of_heads,
    coins_of,
    fallen,
    multipliers_of,
    power_of,
    sums_of,
)

INCOMES, POWER = 3.0, 2.4
"""Rounds of income that count as money; how much more the richer one wins."""
EARLY, LATE = 2.9, 0.7
"""What luck is multiplied by while the richest has next to nothing, and when that is past."""
EARLY_MONEY, LATE_MONEY = 20.0, 45.0
"""Money of the richest up to which it is early, and from which on it is late."""
MOST_MONEY = 1e15
"""Above this nobody is richer."""


@kernel
def _strength(money, income):
    return (min(money, MOST_MONEY) + INCOMES * income + 1) ** POWER


@kernel
def _weight(state):
    """Return what the luck of a round counts for that begins with this record."""
    richest = 0.0
    for seat in range(state.players):
        richest = max(richest, float(state.money[seat]))
    past = min(max((richest - EARLY_MONEY) / (LATE_MONEY - EARLY_MONEY), 0.0), 1.0)
    return EARLY + past * (LATE - EARLY)


@kernel
def _income(state, seat):
    """Return what a seat may expect a round: squares and cubes count for no more than what ends the game twice."""
    dice = state.dice[seat]
    basic, product = means_of(state, seat, 0)
    plain = expected_points(basic, product, dice[AGAIN], dice[ALL_AGAIN], 0, 0)
    missed = 0.5 ** (dice[SQUARE] + dice[CUBE])
    raised = max(plain, min(plain * plain, 2.0 * state.lead))
    return min(missed * plain + (1 - missed) * raised, MOST_MONEY)


@kernel
def _others(state, seat, moneys, incomes, strengths):
    """Return (richest other seat, its money, that of the second of the others, sum of the others' strengths)."""
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
    """Estimate what a seat with so much money wins: its share, the share of a unit of other strength, the richest's.

    ``out`` is float64[3]. The last two make the shares of the others.
    """
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
def _points(basic, product, rolls, power):
    return min((basic * rolls * product) ** power, MOST_MONEY)


@kernel
def _share_out(state, seat, richest, strengths, came, mean, luck):
    """Add to ``luck`` (by seat) what an estimate is above its mean."""
    luck[seat] += came[0] - mean[0]
    for other in range(state.players):
        if other != seat:
            luck[other] += strengths[other] * (came[1] - mean[1])
    luck[richest] += came[2] - mean[2]


@kernel
def seat_luck(state, rolling, seat, moneys, incomes, faces, luck):
    """Add to ``luck`` what the dice of a seat brought, and return its points as if nobody attacked.

    Args:
        state: the record after the round.
        rolling: the same, with the number of the round that was played.
        seat: whose dice.
        moneys: float64[players], what the others have in the end, or are expected to; of the seat what it has before.
        incomes: float64[players], expected points of the rounds to come.
        faces: `dicegym.games.lucky.solving.rolls.products_of_faces`.
        luck: float64[players].
    """
    starts, products, chances_of_products = faces
    dice = state.dice[seat]
    money, income = moneys[seat], incomes[seat]
    strengths = np.empty(MOST_PLAYERS)
    richest, first, second, total = _others(state, seat, moneys, incomes, strengths)
    came, mean, one = np.zeros(3), np.zeros(3), np.zeros(3)
    coins, heads = np.empty(4, np.int64), np.empty(4, np.int64)
    coins_of(dice, coins)
    basic, product = fallen(rolling, seat, heads)
    mean_basic, mean_product = means_of(state, seat, 0)

    if coins.sum() > 0:
        for again in range(coins[0] + 1):
            for all_again in range(coins[1] + 1):
                for squares in range(coins[2] + 1):
                    for cubes in range(coins[3] + 1):
                        chance = chance_of_heads(coins[0], again) * chance_of_heads(coins[1], all_again)
                        chance *= chance_of_heads(coins[2], squares) * chance_of_heads(coins[3], cubes)
                        rolls, power = 1 + again + all_again, power_of(squares, cubes)
                        points = _points(mean_basic, mean_product ** (1 + all_again), rolls, power)
                        _estimate(state, money + points, income, first, second, total, one)
                        mean += chance * one
                        if again == heads[0] and all_again == heads[1] and squares == heads[2] and cubes == heads[3]:
                            came[:] = one
        _share_out(state, seat, richest, strengths, came, mean, luck)

    rolls, power = 1 + heads[0] + heads[1], power_of(heads[2], heads[3])
    expected = mean_product ** (1 + heads[1])
    chances = sums_of(dice, rolls)
    mean[:] = 0
    for thrown in range(len(chances)):
        if chances[thrown] > 0:
            _estimate(state, money + _points(thrown, expected, 1, power), income, first, second, total, one)
            mean += chances[thrown] * one
    _estimate(state, money + _points(basic, expected, 1, power), income, first, second, total, came)
    _share_out(state, seat, richest, strengths, came, mean, luck)

    factors, scale = multipliers_of(dice, heads[1])
    if 0 < factors <= MOST_FACTORS and basic > 0:
        mean[:] = 0
        for i in range(starts[factors], starts[factors + 1]):
            _estimate(state, money + _points(basic, scale * products[i], 1, power), income, first, second, total, one)
            mean += chances_of_products[i] * one
        _estimate(state, money + _points(basic, product, 1, power), income, first, second, total, came)
        _share_out(state, seat, richest, strengths, came, mean, luck)
    return _points(basic, product, 1, power)


@kernel
def luck_rows(before, rows, after, rolling, faces, luck):
    """Add to ``luck`` (float64[games, players]) what the dice of a round brought to everybody.

    Args:
        before: records before the last order of the round, by game.
        rows: int64[k], games in which a round has just been played.
        after: records after it, by game.
        rolling: copies of ``after[rows]`` with the number of the round that was played; scratch.
        faces: `dicegym.games.lucky.solving.rolls.products_of_faces`.
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
