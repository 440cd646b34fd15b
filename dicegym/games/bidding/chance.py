"""What chance decides in the games of hidden dice, one seat's roll at a time, for solvers that go through all of it.

A roll is given by how many of its dice show each face, so that five dice have 252 outcomes rather than 7,776.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

from dicegym.games.bidding.table import FACES


def undo(before: Any | None, after: Any) -> list[int]:
    """Take back the rolls of the step from ``before`` (None: the beginning) to ``after``; return whose they were."""
    if before is not None and before["finished"] == after["finished"]:
        return []
    after["hands"][:] = 0
    if after["over"]:
        return []  # nobody plays this hand
    return [seat for seat in range(int(after["players"])) if after["left"][seat] > 0]


def outcomes(state: Any, draw: int) -> list[tuple[float, str]]:
    """Return what the seat ``draw`` may roll: each roll's probability, and the roll in words."""
    return [(probability, text) for probability, text, _ in rolls(int(state["left"][draw]))]


def settle(state: Any, draw: int, outcome: int) -> None:
    """Let the seat ``draw`` have rolled number ``outcome`` of `outcomes`."""
    state["hands"][draw] = rolls(int(state["left"][draw]))[outcome][2]


@cache
def rolls(dice: int) -> list[tuple[float, str, tuple[int, ...]]]:
    """Return probability, text and number of dice on each face of every roll of ``dice`` dice."""
    found = []
    for counts in _counts(dice, FACES):
        ways = math.factorial(dice) // math.prod(math.factorial(count) for count in counts)
        faces = "".join(str(face + 1) * count for face, count in enumerate(counts))
        found.append((ways / FACES**dice, faces, counts))
    return found


def _counts(dice: int, faces: int) -> list[tuple[int, ...]]:
    """Return all ways to share ``dice`` dice among ``faces`` faces."""
    if faces == 1:
        return [(dice,)]
    return [(first, *rest) for first in range(dice, -1, -1) for rest in _counts(dice - first, faces - 1)]
