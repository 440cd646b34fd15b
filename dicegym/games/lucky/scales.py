"""How numbers of Lucky & Co are put on scales of 0..1 for observations.

Divisions and logarithms took half the time of an observation. So what small whole numbers give stands in tables.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import numpy as np

from dicegym.engine.jit import kernel

MONEY_SCALES = np.array([10, 50, 250, 1250], np.int64)
S_50, S_250 = 2, 3
"""Where two of them stand in a row of `ON_SCALES`, after the logarithm."""


def _on_scales(most: int) -> np.ndarray:
    money = np.arange(most + 1)
    columns = [np.minimum(np.log2(1.0 + money) / 20, 1.0), *(money / (money + scale) for scale in MONEY_SCALES)]
    return np.stack(columns, axis=1).astype(np.float32)


ON_SCALES = _on_scales(511)
"""float32[512, 5]: the logarithm and the scales of as much money as most ever have."""
TENTHS = np.minimum(np.arange(128) / 10, 1.0).astype(np.float32)
"""float32[128]: numbers over 10, at most 1; and over 3."""
THIRDS = np.minimum(np.arange(128) / 3, 1.0).astype(np.float32)


@kernel
def share(value, scale):
    """Return s(value, scale) of the rules page."""
    return value / (value + scale)


@kernel
def centred(difference, lead):
    """Return a difference of -lead..lead as 0..1."""
    return min(max(0.5 + 0.5 * difference / lead, 0.0), 1.0)


@kernel
def logarithm(money):
    """Return money on a scale of powers of two, 1 from a million on."""
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
