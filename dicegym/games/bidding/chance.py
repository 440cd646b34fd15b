"""The chance outcomes of games of hidden dice, one seat's roll at a time, for solvers that enumerate them.

A roll is given by the number of dice that show each face, so five dice have 252 outcomes rather than 7,776.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

from dicegym.games.bidding.table import FACES, N_BIDS, SEATS


def undo(before: Any | None, after: Any) -> list[int]:
    """Take back the rolls of the step from ``before`` (None: the beginning) to ``after``; return their seats."""
    if before is not None and before["finished"] == after["finished"]:
        return []
    after["hands"][:] = 0
    if after["over"]:
        return []  # no hand follows
    return [seat for seat in range(int(after["players"])) if after["left"][seat] > 0]


def outcomes(state: Any, draw: int) -> list[tuple[float, str]]:
    """Return the rolls of the seat ``draw``: each roll's probability, and the roll in words."""
    return [(probability, text) for probability, text, _ in _rolls_of(state, draw)]


def settle(state: Any, draw: int, outcome: int) -> None:
    """Write roll number ``outcome`` of `outcomes` for the seat ``draw``."""
    state["hands"][draw] = _rolls_of(state, draw)[outcome][2]


def unseen(state: Any, seat: int) -> list[int]:
    """Return the seats whose dice ``seat`` does not see, disqualified ones included, as their dice still count."""
    if state["over"]:
        return []
    return [other for other in range(int(state["players"])) if other != seat and state["rolled"][other] > 0]


def decisions(state: Any, draw: int) -> list[tuple[Any, int]]:
    """Return the ordinary bids of the seat ``draw`` in this hand: the record before each, and the bid."""
    found = []
    for number in range(int(state["n_bids"])):
        index, bidder = divmod(int(state["bids"][number]), SEATS)
        if bidder == draw and index < N_BIDS:
            before = state.copy()
            before["n_bids"], before["player"] = number, bidder
            found.append((before, index))
    return found


def _rolls_of(state: Any, seat: int) -> list[tuple[float, str, tuple[int, ...]]]:
    return rolls(int(state["rolled"][seat]), int(state["faces"]))


@cache
def rolls(dice: int, faces: int) -> list[tuple[float, str, tuple[int, ...]]]:
    """Return the probability, the text and the number of dice on each of six faces, of every roll."""
    found = []
    for counts in _counts(dice, faces):
        ways = math.factorial(dice) // math.prod(math.factorial(count) for count in counts)
        text = "".join(str(face + 1) * count for face, count in enumerate(counts))
        found.append((ways / faces**dice, text, (*counts, *[0] * (FACES - faces))))
    return found


def _counts(dice: int, faces: int) -> list[tuple[int, ...]]:
    """Return all ways to share ``dice`` dice among ``faces`` faces."""
    if faces == 1:
        return [(dice,)]
    return [(first, *rest) for first in range(dice, -1, -1) for rest in _counts(dice - first, faces - 1)]
