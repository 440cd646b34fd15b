"""The dice of Lucky & Co: what the shop sells and to how many, as tables that kernels read."""

from __future__ import annotations

import numpy as np

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
"""Of the faces 1 to 6 of each basic die."""

N_DICE = len(PRICES)
MOST_PLAYERS = 7
FIRST_MULTIPLIER, FIRST_ATTACK, FIRST_COIN = len(WEIGHTS), 12, 17
EVERYBODY, TEN, TEN_STOLEN, TWENTY_FIVE, TWENTY_FIVE_STOLEN = range(FIRST_ATTACK, FIRST_COIN)
SHIELD, AGAIN, ALL_AGAIN, SQUARE, CUBE = range(FIRST_COIN, N_DICE)
TAKEN = np.array([10, 10, 25, 25], np.int64)
"""By `TEN` and the attacks after it: what the victim gets less, at most."""
STEALS = np.array([False, True, False, True])
"""Likewise: whether the attacker gets it."""
SCALES = np.array([1 / 3, 1 / 2, 1, 2, 3])
"""By `FIRST_MULTIPLIER` and the multipliers after it: what r is multiplied by; in powers of 2 and 3: the next two."""
SCALE_TWOS, SCALE_THREES = np.array([0, -1, 0, 1, 0], np.int64), np.array([-1, 0, 0, 0, 1], np.int64)
TWOS = np.array([0, 0, 1, 0, 2, 0, 1], np.int64)
"""Powers of 2 in each face; of 3 and 5 below."""
THREES, FIVES = np.array([0, 0, 0, 1, 0, 0, 1], np.int64), np.array([0, 0, 0, 0, 0, 1, 0], np.int64)

SUMS = WEIGHTS.sum(axis=1)
ONE_OF_STOCK = 1 / STOCK
FACES = np.zeros((len(WEIGHTS), SUMS.max()), np.int64)
"""Face of each basic die by a number drawn below the sum of its weights."""
for _i, _weights in enumerate(WEIGHTS):
    FACES[_i, : SUMS[_i]] = np.repeat(np.arange(1, 7), _weights)
MEANS = WEIGHTS @ np.arange(1, 7) / SUMS
"""Of each basic die."""
PRODUCTS = (3.5 * SCALES)[:, np.newaxis] ** np.arange(STOCK[FIRST_MULTIPLIER] + 1)
"""Mean product of so many copies of each multiplier."""
