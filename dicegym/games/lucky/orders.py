"""Orders of Lucky & Co: the actions that make one up, and how twins place theirs.

Twins work an order out whole every time and place it die by die. What it lacks of a die is a *lack*,
``kind * 32 + count``; of several the smallest comes first, as in the adapter.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dicegym.engine.jit import kernel
from dicegym.games.lucky.catalogue import N_DICE, PRICES, STOCK

DONE = N_DICE
N_ACTIONS = N_DICE + 1
INVALID = N_ACTIONS + N_DICE * (int(STOCK.max()) - 1)


def added(kind: int, count: int) -> int:
    """Return the action that adds ``count`` dice of a ``kind`` to the order, for a count of 1 to 20."""
    return kind if count == 1 else N_ACTIONS + (count - 2) * N_DICE + kind


def order_actions(counts: Sequence[int]) -> list[int]:
    """Return the actions that order ``counts[kind]`` dice of each kind and complete the order."""
    return [added(kind, count) for kind, count in enumerate(counts) if count] + [DONE]


def order_limits(state: Any, seat: int) -> list[int]:
    """Return how many dice of each kind ``seat`` could order if it ordered no others."""
    limits: list[int] = np.minimum(state["shop"], state["money"][seat] // PRICES).tolist()
    return limits


def is_open(state: Any) -> bool:
    """Return whether nobody has ordered anything yet in the present round."""
    return int(state["player"]) == 0 and not state["order"].any()


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
