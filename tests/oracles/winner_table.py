"""Four numbers for each position, as products of a few columns: what ``agents/yatzy/winner.py`` has beside it.

Of the points still to come under play for the highest mean: mean and variance of those without the bonus, the chance of
the bonus, and the covariance of the two. As matrices of 2794 places by 512 sets of lower boxes they are nearly of low
rank.
"""

from __future__ import annotations

import json
import zlib

import numpy as np

from dicegym.engine.jit import kernel
from dicegym.games.yatzy.rules import BONUS_FROM, SPEC
from dicegym.games.yatzy.solving.one_turn import (
    END_BOXES,
    END_POINTS,
    LOWER_SETS,
    N_PLACES,
    POSITIONS,
    ends,
    level,
    look_through,
    mean_leaves,
    new_leaves,
    new_levels,
    position_of,
    sum_after,
)
from dicegym.games.yatzy.tables import BOXES

RANKS = (8, 5, 6, 4)
ERRORS = (0.08, 4.0, 0.0015, 0.02)
"""Columns of each number, and what rounding may add to its error in each."""


@kernel
def add_level(values: np.ndarray, filled: np.ndarray, sums: np.ndarray, moments: np.ndarray) -> None:
    """Write moments of positions whose successors are known: float64[positions, 2, 3], without and with the bonus.

    Sums of probability, of points and of their squares.
    """
    leaves, likely = new_leaves(), new_leaves()
    levels, chosen = new_levels()
    for k in range(len(filled)):
        mean_leaves(values, filled[k], sums[k], leaves)
        look_through(leaves, filled[k], False, levels, chosen)
        ends(chosen, likely)
        out = moments[position_of(filled[k], sums[k])]
        out[:] = 0.0
        for box, points in zip(END_BOXES, END_POINTS):  # noqa: B905 - Numba knows no strict
            p = likely[box, points]
            if not filled[k] >> box & 1 and p > 0.0:
                later = sum_after(sums[k], box, points)
                rest = moments[position_of(filled[k] | 1 << box, later)]
                reached = later == BONUS_FROM and sums[k] < BONUS_FROM
                for had in range(2):
                    now = max(had, int(reached))
                    n, mean, square = rest[had, 0], rest[had, 1], rest[had, 2]
                    out[now, 0] += p * n
                    out[now, 1] += p * (mean + points * n)
                    out[now, 2] += p * (square + 2 * points * mean + points * points * n)


def numbers(values: np.ndarray) -> np.ndarray:
    """Return the four numbers of every position, given their means: float64[4, 2794, 512]."""
    moments = np.zeros((POSITIONS, 2, 3))
    moments[:, 0, 0] = 1.0
    for n_filled in range(BOXES - 1, -1, -1):
        add_level(values, *level(n_filled), moments)
    _, mean, square = moments.sum(axis=1).T
    bonus = moments[:, 1, 0]
    found = np.array([mean, square - mean**2, bonus, moments[:, 1, 1] - bonus * mean])
    return found.reshape(4, N_PLACES, LOWER_SETS)


def written(values: np.ndarray) -> bytes:
    """Return what stands in the agent's table, given the means of all positions.

    A line of JSON, with the columns of each number and the steps in which they are rounded; then, compressed, the low
    bytes of all columns, and the high ones.
    """
    columns, steps = [], []
    for matrix, rank, error in zip(numbers(values), RANKS, ERRORS, strict=True):
        left, sizes, right = np.linalg.svd(matrix, full_matrices=False)
        by_place, by_lower = (left * np.sqrt(sizes)).T[:rank], (right * np.sqrt(sizes)[:, None])[:rank]
        for mine, other in ((by_place, by_lower), (by_lower, by_place)):
            step = np.array([float(f"{x:.4g}") for x in error / np.sqrt((other**2).mean(axis=1))])
            columns.append(np.rint(mine / step[:, None]).astype(np.int64).ravel() + (1 << 15))
            steps += step.tolist()
    whole = np.concatenate(columns)
    line = json.dumps({"game": SPEC.name, "ranks": RANKS, "steps": steps})
    return (
        line.encode() + b"\n" + zlib.compress(np.concatenate([whole % 256, whole // 256]).astype(np.uint8).tobytes(), 9)
    )
