"""Orders of Lucky & Co as twins make them: worked out whole every time, and placed die by die.

What an order lacks of a die is a *lack*, ``kind * 32 + count``; of several the smallest comes first, as in the adapter.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import numpy as np

from dicegym.engine.jit import kernel
from dicegym.games.lucky.rules import DONE, added

_BITS = 5  # a die has at most 20 copies
NOTHING = np.int64(DONE << _BITS)
"""The lack of an order that is complete."""
_added = kernel(added)


@kernel
def lack(state, kind, count):
    """Return what the order of the player to move lacks of ``count`` dice of a ``kind``."""
    missing = np.int64(count) - np.int64(state.order[state.player, kind])
    return (np.int64(kind) << _BITS) + missing if missing > 0 else NOTHING


@kernel
def next_action(first):
    """Return the action that orders what comes ``first`` of what is lacking."""
    if first == NOTHING:
        return np.int64(DONE)
    return np.int64(_added(first >> _BITS, first & ((1 << _BITS) - 1)))
