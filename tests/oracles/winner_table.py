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
from dicegym.games.yatzy.rules import (
    BEST,
    BONUS_FROM,
    BOXES,
    DICE,
    FACES,
    HANDS,
    KEEPS,
    ROLLS,
    SPEC,
    UPPER,
    WITH,
    roll_sets,
)
from dicegym.games.yatzy.solving.points import (
    END_BOXES,
    END_POINTS,
    FIRST_ROLL,
    N_SETS,
    SUMS,
    WORST,
    earn,
    sum_after,
)

RANKS = (8, 5, 6, 4)
ERRORS = (0.08, 4.0, 0.0015, 0.02)
"""Columns of each number, and what rounding may add to its error in each."""
UPPER_SETS, LOWER_SETS = 1 << UPPER, 1 << (BOXES - UPPER)


def _places() -> np.ndarray:
    possible = np.zeros((UPPER_SETS, SUMS), np.bool_)
    possible[0, 0] = True
    for boxes in range(1, UPPER_SETS):
        box = boxes.bit_length() - 1
        for points in range(0, (DICE + 1) * (box + 1), box + 1):
            sums = np.minimum(np.flatnonzero(possible[boxes ^ 1 << box]) + points, BONUS_FROM)
            possible[boxes, sums] = True
    numbers = np.full(possible.shape, -1, np.int32)
    numbers[possible] = np.arange(possible.sum())
    return numbers


PLACES: np.ndarray = _places()
"""int32[64, 64]: the number of each set of upper boxes and their sum; -1 if it cannot be."""
N_PLACES = int(PLACES.max()) + 1
POSITIONS = N_PLACES * LOWER_SETS


def level(n_filled: int, closed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return the filled boxes and the upper sums (int64 both) of all positions with ``n_filled`` filled boxes.

    Those of the bit mask ``closed`` are among them.
    """
    upper_sets, sums = np.nonzero(PLACES >= 0)
    lower = np.arange(LOWER_SETS)
    n_lower, n_upper = np.bitwise_count(lower), np.bitwise_count(upper_sets)
    which, low = np.nonzero(n_upper[:, None] + n_lower == n_filled)
    filled = upper_sets[which] | lower[low] << UPPER
    wanted = filled & closed == closed
    return filled[wanted], sums[which][wanted]


@kernel
def position_of(filled: int, upper: int) -> np.int64:
    """Return the number of a position."""
    return np.int64(PLACES[filled & (UPPER_SETS - 1), upper]) * LOWER_SETS + (filled >> UPPER)


@kernel
def mean_leaves(values: np.ndarray, filled: int, upper: int, leaves: np.ndarray) -> None:
    """Write the points of each end of a turn, and the mean of what follows by ``values`` (float64[2**15, 64])."""
    for box, points in zip(END_BOXES, END_POINTS):  # noqa: B905 - Numba knows no strict
        if not filled >> box & 1:
            later = values[filled | 1 << box, sum_after(upper, box, points)]
            leaves[box, points] = earn(upper, box, points) + later


@kernel
def best_box(leaves: np.ndarray, filled: int, hand: int) -> int:
    """Return the open box in which a hand is worth most, of equal ones the first."""
    chosen, most = -1, WORST
    for box in range(BOXES):
        if not filled >> box & 1 and leaves[box, BEST[hand, box]] > most:
            chosen, most = box, leaves[box, BEST[hand, box]]
    return chosen


@kernel
def look_through(leaves: np.ndarray, filled: int, levels: np.ndarray, chosen: np.ndarray) -> None:
    """Write what sets are worth in a turn to ``levels`` (float64[3, 462]), by rolls left.

    Of a hand: if it is shown; of fewer dice: if they are kept and the others are rolled, which none can be in the first
    row. ``chosen`` (int64[3, 462]): what is best kept of each hand, itself if it is scored, then in ``chosen[0]`` in
    which box.
    """
    for hand in range(HANDS):
        box = best_box(leaves, filled, hand)
        chosen[0, KEEPS + hand] = box
        levels[0, KEEPS + hand] = leaves[box, BEST[hand, box]]
    for left in range(1, ROLLS + 1):
        worths, best = levels[left], chosen[left]
        worths[KEEPS:] = levels[left - 1, KEEPS:]
        roll_sets(worths)
        raised = worths.copy()
        raised[KEEPS:] = levels[0, KEEPS:]
        for number in range(N_SETS):
            best[number] = number
        for kept in range(KEEPS):
            for face in range(FACES):
                larger = WITH[kept, face]
                if raised[kept] > raised[larger]:
                    raised[larger], best[larger] = raised[kept], best[kept]
        worths[KEEPS:] = raised[KEEPS:]


@kernel
def ends(chosen: np.ndarray, out: np.ndarray) -> None:
    """Write how likely each end of a turn is for a player that chooses so: float64[15, 51], by box and points."""
    out[:] = 0.0
    final, rolled = np.zeros(N_SETS), np.zeros(N_SETS)
    for hand in range(HANDS):
        rolled[KEEPS + hand] = FIRST_ROLL[hand]
    for left in range(ROLLS, 0, -1):
        for hand in range(KEEPS, N_SETS):
            likely = rolled[hand]
            rolled[hand] = 0.0
            kept = chosen[left, hand]
            if kept >= KEEPS:
                final[hand] += likely
            else:
                rolled[kept] += likely
        for kept in range(KEEPS):
            likely = rolled[kept] / FACES
            rolled[kept] = 0.0
            if likely > 0.0:
                for face in range(FACES):
                    rolled[WITH[kept, face]] += likely
    for hand in range(HANDS):
        box = chosen[0, KEEPS + hand]
        out[box, BEST[hand, box]] += final[KEEPS + hand] + rolled[KEEPS + hand]


@kernel
def add_level(values: np.ndarray, filled: np.ndarray, sums: np.ndarray, moments: np.ndarray) -> None:
    """Write moments of positions whose successors are known: float64[positions, 2, 3], without and with the bonus.

    Sums of probability, of points and of their squares.
    """
    leaves, likely = np.zeros((BOXES, 51)), np.zeros((BOXES, 51))
    levels, chosen = np.full((ROLLS + 1, N_SETS), WORST), np.zeros((ROLLS + 1, N_SETS), np.int64)
    for k in range(len(filled)):
        mean_leaves(values, filled[k], sums[k], leaves)
        look_through(leaves, filled[k], levels, chosen)
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
