"""The dice of Lucky & Co, their prices and stock, and orders as sequences of actions.

Twins compute a whole order at each decision and place it die by die. A *lack*, ``kind * 32 + count``, is the number of
dice of a kind that the order so far is missing; the smallest lack comes first, as in the adapter.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dicegym.engine.jit import kernel

PRICES = np.array([1, 3, 6, 9, 12, 16, 21, 10, 13, 22, 34, 50, 35, 45, 60, 60, 90, 65, 90, 110, 120, 170], np.int64)
STOCK = np.array([20] * 7 + [10] * 10 + [3] * 5, np.int64)
WEIGHTS = np.array(
    [
        [100, 0, 0, 0, 0, 0],
        [50, 25, 13, 7, 3, 2],
        [22, 22, 22, 11, 11, 11],
        [17, 17, 17, 17, 17, 17],
        [11, 11, 11, 22, 22, 22],
        [2, 3, 7, 13, 25, 50],
        [0, 0, 0, 0, 0, 100],
    ],
    np.int64,
)
"""Weights of the faces 1 to 6 of each basic die."""

N_DICE = len(PRICES)
MOST_PLAYERS = 7
FIRST_MULTIPLIER, FIRST_ATTACK, FIRST_COIN = len(WEIGHTS), 12, 17
EVERYBODY, TEN, TEN_STOLEN, TWENTY_FIVE, TWENTY_FIVE_STOLEN = range(FIRST_ATTACK, FIRST_COIN)
SHIELD, AGAIN, ALL_AGAIN, SQUARE, CUBE = range(FIRST_COIN, N_DICE)
TAKEN = np.array([10, 10, 25, 25], np.int64)
"""The most points that each attack from `TEN` on takes from its victim."""
STEALS = np.array([False, True, False, True])
"""Whether the attacker gets them."""
SCALES = np.array([1 / 3, 1 / 2, 1, 2, 3])
"""Factor of r for each multiplier from `FIRST_MULTIPLIER` on; below, its exponents of 2 and 3."""
SCALE_TWOS, SCALE_THREES = np.array([0, -1, 0, 1, 0], np.int64), np.array([-1, 0, 0, 0, 1], np.int64)
TWOS = np.array([0, 0, 1, 0, 2, 0, 1], np.int64)
"""Exponent of 2 in each face; below, those of 3 and 5."""
THREES, FIVES = np.array([0, 0, 0, 1, 0, 0, 1], np.int64), np.array([0, 0, 0, 0, 0, 1, 0], np.int64)

SUMS = WEIGHTS.sum(axis=1)
ONE_OF_STOCK = 1 / STOCK
FACES = np.zeros((len(WEIGHTS), SUMS.max()), np.int64)
"""Face of each basic die, by a random number below the sum of its weights."""
for _i, _weights in enumerate(WEIGHTS):
    FACES[_i, : SUMS[_i]] = np.repeat(np.arange(1, 7), _weights)
MEANS = WEIGHTS @ np.arange(1, 7) / SUMS
"""Mean of each basic die."""
PRODUCTS = (3.5 * SCALES)[:, np.newaxis] ** np.arange(STOCK[FIRST_MULTIPLIER] + 1)
"""Mean product of 0, 1, ... copies of each multiplier."""

# --- orders ----------------------------------------------------------------------------------------------------------

DONE = N_DICE
N_ACTIONS = N_DICE + 1
INVALID = N_ACTIONS + N_DICE * (int(STOCK.max()) - 1)


def add_dice(kind: int, count: int) -> int:
    """Return the action that adds ``count`` (1 to 20) dice of a ``kind`` to the order."""
    return kind if count == 1 else N_ACTIONS + (count - 2) * N_DICE + kind


def order_actions(counts: Sequence[int]) -> list[int]:
    """Return the actions that order ``counts[kind]`` dice of each kind and complete the order."""
    return [add_dice(kind, count) for kind, count in enumerate(counts) if count] + [DONE]


def all_order_limits(state: Any) -> list[list[int]]:
    """Return for each seat how many dice of each kind it could add to its order if it added no others."""
    affordable = state["left"][:, np.newaxis] // PRICES
    limits: list[list[int]] = np.minimum(state["shop"] - state["order"], affordable).tolist()
    return limits


def order_limits(state: Any, seat: int) -> list[int]:
    """Return how many dice of each kind ``seat`` could add to its order if it added no others."""
    return all_order_limits(state)[seat]


def is_open(state: Any) -> bool:
    """Return whether nobody has ordered anything in the present round."""
    return int(state["player"]) == 0 and not state["order"].any()


def withdraw(state: Any, seat: int) -> None:
    """Take back what ``seat`` has ordered in this round."""
    state["order"][seat] = 0
    state["left"][seat] = state["money"][seat]


_BITS = 5  # a die has at most 20 copies
NOTHING = np.int64(DONE << _BITS)
"""The lack of a complete order."""
_add_dice = kernel(add_dice)


@kernel
def lack(state, kind, count):
    """Return the lack in the order of the player to move, if it wants ``count`` dice of a ``kind``."""
    missing = np.int64(count) - np.int64(state.order[state.player, kind])
    return (np.int64(kind) << _BITS) + missing if missing > 0 else NOTHING


@kernel
def next_action(state, first):
    """Return the action that orders the ``first`` lack, or as much of it as the money left pays for.

    If somebody else has begun the order, the money may not suffice. Ordering more than it pays for makes an order void.
    """
    kind = first >> _BITS
    if first == NOTHING or state.left[state.player] < PRICES[kind]:
        return np.int64(DONE)
    return np.int64(_add_dice(kind, min(first & ((1 << _BITS) - 1), state.left[state.player] // PRICES[kind])))
