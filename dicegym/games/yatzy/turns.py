"""One turn of Yatzy looked through: what sets of dice are worth before the last rolls, given what hands are worth.

Values are kept by set: float64[462], hands from `KEEPS` on.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

from dicegym.engine.jit import kernel
from dicegym.games.yatzy.tables import KEEPS, WITH


@kernel
def roll_sets(means):
    """Fill ``means`` (float64[462], hands given) with the mean value of each set when its missing dice are rolled."""
    faces = WITH.shape[1]
    for kept in range(KEEPS - 1, -1, -1):  # one more die makes a set of a higher number
        total = 0.0
        for face in range(faces):
            total += means[WITH[kept, face]]
        means[kept] = total / faces


@kernel
def keep_best(means):
    """Raise each hand's value to that of the best set that can be kept of it; spoils the sets."""
    for kept in range(KEEPS):
        for face in range(WITH.shape[1]):
            larger = WITH[kept, face]
            means[larger] = max(means[larger], means[kept])
