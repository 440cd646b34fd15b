"""Scoring in Lucky & Co: all points of a round, attacks included, and the exact arithmetic of points.

Points are exact fractions: multipliers are products of 2, 3 and 5 and their inverses, so the points of a seat are
``(sum * 2**twos * 3**threes * 5**fives) ** power`` with whole exponents, ``twos`` and ``threes`` maybe negative.
Attacks take whole amounts or everything, so only whole parts of a fraction, or of a sum of fractions, are needed.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import math

import numpy as np

from dicegym.engine.dice import die, draw, turn_stream
from dicegym.engine.jit import kernel
from dicegym.games.lucky.catalogue import (
    AGAIN,
    ALL_AGAIN,
    CUBE,
    EVERYBODY,
    FACES,
    FIRST_ATTACK,
    FIRST_COIN,
    FIRST_MULTIPLIER,
    FIVES,
    MOST_PLAYERS,
    SCALE_THREES,
    SCALE_TWOS,
    SHIELD,
    SQUARE,
    STEALS,
    SUMS,
    TAKEN,
    TEN,
    THREES,
    TWOS,
)

# --- points ----------------------------------------------------------------------------------------------------------

MOST = np.int64(1 << 53)
"""Points and money saturate here."""
_LOG_3, _LOG_5 = math.log2(3), math.log2(5)
_MARGIN = 0.1  # logarithms below are right to 1e-10
_LIMB = 31  # bits of a number kept in a limb; a limb times a factor below 2**31 fits in 64 bits


@kernel
def reduced(total, twos, threes):
    """Return (total, twos, threes) after moving all factors of 2 and 3 from ``total`` into the exponents."""
    while total > 0 and total % 2 == 0:
        total //= 2
        twos += 1
    while total > 0 and total % 3 == 0:
        total //= 3
        threes += 1
    return total, twos, threes


@kernel
def _times(value, factor, times):
    for _ in range(times):
        value *= factor
    return value


@kernel
def whole_part(total, twos, threes, fives, power):
    """Return the whole part of points in `reduced` form, at most `MOST`."""
    if total == 0:
        return np.int64(0)
    size = power * (np.log2(total) + twos + _LOG_3 * threes + _LOG_5 * fives)
    if size > 53 + _MARGIN:
        return MOST
    if size < -_MARGIN:
        return np.int64(0)
    up = power * (np.log2(total) + max(twos, 0) + _LOG_3 * max(threes, 0) + _LOG_5 * fives)
    if up < 62:  # the numerator fits in 64 bits, and so does the denominator, as the points are at least 1
        value = _times(np.int64(1), total, power)
        value = _times(value, 2, power * max(twos, 0))
        value = _times(value, 3, power * max(threes, 0))
        value = _times(value, 5, power * fives)
        for _ in range(-power * twos):
            value //= 2
        for _ in range(-power * threes):
            value //= 3
        return min(value, MOST)
    down_2, down_3 = max(-power * twos, 0), max(-power * threes, 0)
    limbs = new_limbs(down_2, down_3)
    add_points(limbs, total, twos, threes, fives, power, down_2, down_3)
    return min(quotient(limbs, down_2, down_3), MOST)


@kernel
def new_limbs(down_2, down_3):
    """Return zero in limbs, with room for points below 2**58 times ``2**down_2 * 3**down_3``."""
    return np.zeros(int(58 + down_2 + _LOG_3 * down_3) // _LIMB + 2, np.int64)


@kernel
def _multiply(limbs, factor, times):
    """Multiply a number in limbs by a ``factor`` below 2**31, ``times`` times."""
    for _ in range(times):
        carry = np.int64(0)
        for i in range(len(limbs)):
            product = limbs[i] * factor + carry
            limbs[i] = product % (1 << _LIMB)
            carry = product >> _LIMB


@kernel
def _divide(limbs, divisor, times):
    """Divide a number in limbs by ``divisor``, ``times`` times, rounding down: the same as once by the power."""
    for _ in range(times):
        rest = np.int64(0)
        for i in range(len(limbs) - 1, -1, -1):
            part = (rest << _LIMB) + limbs[i]
            limbs[i] = part // divisor
            rest = part % divisor


@kernel
def add_points(limbs, total, twos, threes, fives, power, down_2, down_3):
    """Add points times ``2**down_2 * 3**down_3``, a whole number, to the number in ``limbs``."""
    term = np.zeros(len(limbs), np.int64)
    term[0] = 1
    _multiply(term, total, power)
    _multiply(term, 2, power * twos + down_2)
    _multiply(term, 3, power * threes + down_3)
    _multiply(term, 5, power * fives)
    carry = np.int64(0)
    for i in range(len(limbs)):
        both = limbs[i] + term[i] + carry
        limbs[i] = both % (1 << _LIMB)
        carry = both >> _LIMB


@kernel
def quotient(limbs, down_2, down_3):
    """Return the number in ``limbs`` over ``2**down_2 * 3**down_3``, rounded down; ``limbs`` are overwritten."""
    _divide(limbs, 2, down_2)
    _divide(limbs, 3, down_3)
    return limbs[0] + (limbs[1] << _LIMB)


# --- dice ------------------------------------------------------------------------------------------------------------


@kernel
def heads(stream, number, coins):
    """Return how many of ``coins`` succeed, from draw ``number`` on."""
    count = 0
    for i in range(coins):
        count += draw(stream, number + i, 2)
    return count


@kernel
def roll(state, seat):
    """Roll all dice of a seat except attacks, and write their faces to ``rolled``. Repeated calls in a round agree.

    Returns (total, twos, threes, fives, power, shields, number): its points in `reduced` form, its successful shields,
    and the draw of its first attack.
    """
    stream = turn_stream(state.key, seat, state.played)
    dice, rolled = state.dice[seat], state.rolled[seat]
    shields = heads(stream, 0, dice[SHIELD])
    number = np.int64(dice[SHIELD])
    again = heads(stream, number, dice[AGAIN])
    number += dice[AGAIN]
    all_again = heads(stream, number, dice[ALL_AGAIN])
    number += dice[ALL_AGAIN]
    squares = heads(stream, number, dice[SQUARE])
    number += dice[SQUARE]
    cubes = heads(stream, number, dice[CUBE])
    number += dice[CUBE]

    rolled[:] = 0
    total = np.int64(0)
    for _ in range(1 + again + all_again):
        for basic in range(FIRST_MULTIPLIER):
            for _ in range(dice[basic]):
                face = FACES[basic, draw(stream, number, SUMS[basic])]
                total += face
                rolled[face - 1] += 1
                number += 1
    twos, threes, fives = np.int64(0), np.int64(0), np.int64(0)
    for _ in range(1 + all_again):
        for kind in range(FIRST_ATTACK - FIRST_MULTIPLIER):
            for _ in range(dice[FIRST_MULTIPLIER + kind]):
                face = die(stream, number, 6)
                twos += TWOS[face] + SCALE_TWOS[kind]
                threes += THREES[face] + SCALE_THREES[kind]
                fives += FIVES[face]
                rolled[face - 1] += 1
                number += 1
    power = np.int64(1)
    for _ in range(squares):
        power *= 2
    for _ in range(cubes):
        power *= 3
    total, twos, threes = reduced(total, twos, threes)
    return total, twos, threes, fives, power, shields, number


# During attacks the points of a seat are a whole number, in `points`, plus the fractions that it holds. Each seat's
# roll makes at most one fraction, and an attack takes a whole amount or everything, so fractions are never divided.
# ``held`` contains the set of fractions of each seat: one number, with seven bits a seat.


@kernel
def fractions_of(held, seat):
    """Return the fractions that ``seat`` holds, as bits."""
    return (held >> (MOST_PLAYERS * seat)) & ((1 << MOST_PLAYERS) - 1)


@kernel
def carry(state, fractions):
    """Return the whole part of the sum of a set of fractions; 0 for a single one."""
    if fractions & (fractions - 1) == 0:
        return np.int64(0)
    down_2, down_3 = np.int64(0), np.int64(0)
    for seat in range(state.players):
        if fractions >> seat & 1:
            _, twos, threes, _, power, _, _ = roll(state, seat)
            down_2, down_3 = max(down_2, -power * twos), max(down_3, -power * threes)
    limbs = new_limbs(down_2, down_3)
    wholes = np.int64(0)
    for seat in range(state.players):
        if fractions >> seat & 1:
            total, twos, threes, fives, power, _, _ = roll(state, seat)
            add_points(limbs, total, twos, threes, fives, power, down_2, down_3)
            wholes += whole_part(total, twos, threes, fives, power)
    return quotient(limbs, down_2, down_3) - wholes


@kernel
def take(state, held, amount, victim, thief):
    """Take ``amount``, or everything, from the victim's points for the ``thief`` (-1: nobody). Return ``held``."""
    fractions = fractions_of(held, victim)
    if state.points[victim] + carry(state, fractions) >= amount:
        moved, fractions = amount, np.int64(0)
    else:
        moved = state.points[victim]
    state.points[victim] -= moved
    held ^= fractions << (MOST_PLAYERS * victim)
    if thief >= 0:
        state.points[thief] += moved
        held |= fractions << (MOST_PLAYERS * thief)
        own = fractions_of(held, thief)
        if state.points[thief] + carry(state, own) >= MOST:
            state.points[thief] = MOST
            held ^= own << (MOST_PLAYERS * thief)
    return held


@kernel
def attack(state, seat, number, shields, held):
    """Carry out the attacks of ``seat``, from draw ``number`` on; ``shields`` are seats as bits. Return ``held``."""
    stream = turn_stream(state.key, seat, state.played)
    for kind in range(FIRST_ATTACK, FIRST_COIN):
        for _ in range(state.dice[seat, kind]):
            if kind == EVERYBODY:
                amount = np.int64(die(stream, number, 6))
                for other in range(state.players):
                    if other != seat and not shields >> other & 1:
                        held = take(state, held, amount, other, -1)
            else:
                victim = (seat + 1 + draw(stream, number, state.players - 1)) % state.players
                if not shields >> victim & 1:
                    thief = seat if STEALS[kind - TEN] else -1
                    held = take(state, held, TAKEN[kind - TEN], victim, thief)
            number += 1
    return held


@kernel
def score(state):
    """Roll all dice and write the round's points to ``points``."""
    shields, attackers, held = np.int64(0), np.int64(0), np.int64(0)
    for seat in range(state.players):
        total, twos, threes, fives, power, shield, _ = roll(state, seat)
        state.points[seat] = whole_part(total, twos, threes, fives, power)
        if state.points[seat] < MOST and total > 0 and (twos < 0 or threes < 0):
            held |= 1 << (MOST_PLAYERS * seat + seat)
        if shield > 0:
            shields |= 1 << seat
        for kind in range(FIRST_ATTACK, FIRST_COIN):
            if state.dice[seat, kind] > 0:
                attackers |= 1 << seat
    if attackers == 0:
        return
    for seat in range(state.players):
        if attackers >> seat & 1:
            held = attack(state, seat, roll(state, seat)[6], shields, held)
    for seat in range(state.players):
        state.points[seat] += carry(state, fractions_of(held, seat))
