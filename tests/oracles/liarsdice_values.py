"""What Liar's Dice for two with one die each is worth, by a linear program over its game tree; shares no code.

The sequence form of Koller, Megiddo and von Stengel ("Fast algorithms for finding randomized strategies in game
trees", STOC 1994). Bids above all dice are surely false: of those one quantity is enough.
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_matrix, hstack, lil_matrix

Bid = tuple[int, int]


def opener_wins(faces: int, spot_on: bool) -> float:
    """Return how likely who opens wins between two who play an equilibrium."""
    bids = [(quantity, face) for quantity in range(1, 4 if spot_on else 3) for face in range(1, faces + 1)]
    calls = ["liar", "spot on"] if spot_on else ["liar"]

    def worth(bid: Bid) -> tuple[int, int]:
        quantity, face = bid
        return (quantity * (2 if face == faces else 1), 0) if spot_on else (quantity, face)

    def opener_has_won(made: tuple[Bid, ...], call: str, dice: tuple[int, int]) -> bool:
        quantity, face = made[-1]
        found = sum(die == face or (spot_on and die == faces) for die in dice)
        caller_is_right = found < quantity if call == "liar" else found == quantity
        return caller_is_right == (len(made) % 2 == 0)

    sequences: list[dict[Hashable, int]] = [{None: 0}, {None: 0}]
    choices: list[dict[Any, tuple[int, list[int]]]] = [{}, {}]
    payoffs: dict[tuple[int, int], float] = {}

    def walk(made: tuple[Bid, ...], dice: tuple[int, int], reached: tuple[int, int]) -> None:
        mover = len(made) % 2
        known = dice[mover], made
        options: list[Any] = [bid for bid in bids if not made or worth(bid) > worth(made[-1])]
        options += calls if made else []
        numbers = [sequences[mover].setdefault((known, option), len(sequences[mover])) for option in options]
        choices[mover][known] = reached[mover], numbers
        for option, number in zip(options, numbers, strict=True):
            now = (number, reached[1]) if mover == 0 else (reached[0], number)
            if option in calls:
                payoffs[now] = payoffs.get(now, 0.0) + opener_has_won(made, option, dice) / faces**2
            else:
                walk((*made, option), dice, now)

    for one, other in product(range(1, faces + 1), repeat=2):
        walk((), (one, other), (0, 0))
    payoff = lil_matrix((len(sequences[0]), len(sequences[1])))
    for (row, column), value in payoffs.items():
        payoff[row, column] = value
    (first, begin), (second, end) = (_realisable(choices[seat], len(sequences[seat])) for seat in (0, 1))
    rows = second.shape[0]
    found = linprog(
        np.concatenate([np.zeros(len(sequences[0])), -end]),
        A_ub=hstack([-payoff.T.tocsr(), second.T]),
        b_ub=np.zeros(len(sequences[1])),
        A_eq=hstack([first, csr_matrix((first.shape[0], rows))]),
        b_eq=begin,
        bounds=[(0, None)] * len(sequences[0]) + [(None, None)] * rows,
        method="highs",
    )
    return float(-found.fun)


def _realisable(choices: dict[Any, tuple[int, list[int]]], size: int) -> tuple[Any, np.ndarray]:
    """Return the constraints on how likely a player lets each sequence of its own choices come about."""
    matrix, right = lil_matrix((len(choices) + 1, size)), np.zeros(len(choices) + 1)
    matrix[0, 0] = right[0] = 1
    for row, (before, after) in enumerate(choices.values(), 1):
        matrix[row, before] = -1
        for number in after:
            matrix[row, number] = 1
    return matrix.tocsr(), right
