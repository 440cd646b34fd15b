"""Points of Lucky & Co as exact fractions: what multipliers, squares and cubes make of a sum of dice.

Multipliers are products of 2, 3 and 5 and their inverses, so the points of a seat are
``(sum * 2**twos * 3**threes * 5**fives) ** power`` with whole exponents, of which some may be negative. That
form is exact whatever was rolled. Attacks take whole amounts or everything, so of the fractions only this is ever
asked: what is the whole part of one, or of a sum of several?
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import math

import numpy as np

from dicegym.engine.jit import kernel

MOST = np.int64(1 << 53)
"""Points and money saturate here."""
_LOG_3, _LOG_5 = math.log2(3), math.log2(5)
_MARGIN = 0.1  # logarithms below are right to 1e-10
_LIMB = 31  # bits of a number kept in a limb; a limb times a factor below 2**31 fits in 64 bits


@kernel
def reduced(total, twos, threes):
    """Return (total, twos, threes) with all factors of 2 and 3 moved from ``total`` into the exponents."""
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
def is_whole(total, twos, threes):
    """Return whether points in `reduced` form are a whole number."""
    return total == 0 or (twos >= 0 and threes >= 0)


@kernel
def saturates(total, twos, threes, fives, power):
    """Return whether points are certainly above `MOST`: by a tenth of a power of two or more."""
    if total == 0:
        return False
    return power * (np.log2(total) + twos + _LOG_3 * threes + _LOG_5 * fives) > 53 + _MARGIN


@kernel
def whole_part(total, twos, threes, fives, power):
    """Return the whole part of points in `reduced` form, at most `MOST`."""
    if total == 0:
        return np.int64(0)
    if saturates(total, twos, threes, fives, power):
        return MOST
    if power * (np.log2(total) + twos + _LOG_3 * threes + _LOG_5 * fives) < -_MARGIN:
        return np.int64(0)
    up = power * (np.log2(total) + max(twos, 0) + _LOG_3 * max(threes, 0) + _LOG_5 * fives)
    if up < 62:  # numerator, and denominator as the points are not below 1, fit in 64 bits
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
    """Return a zero in limbs, with room for points below 2**58 times ``2**down_2 * 3**down_3``."""
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
    """Divide a number in limbs by ``divisor``, ``times`` times, rounding down: that is dividing once by the power."""
    for _ in range(times):
        rest = np.int64(0)
        for i in range(len(limbs) - 1, -1, -1):
            part = (rest << _LIMB) + limbs[i]
            limbs[i] = part // divisor
            rest = part % divisor


@kernel
def add_points(limbs, total, twos, threes, fives, power, down_2, down_3):
    """Add points, times ``2**down_2 * 3**down_3`` which makes them whole, to the number in ``limbs``."""
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
    """Return the number in ``limbs`` (which is used up) over ``2**down_2 * 3**down_3``, rounded down."""
    _divide(limbs, 2, down_2)
    _divide(limbs, 3, down_3)
    return limbs[0] + (limbs[1] << _LIMB)
