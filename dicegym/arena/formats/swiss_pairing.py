"""The pairs of a round of a Swiss tournament, as arithmetic: nothing here plays.

Pairs follow the FIDE (Dutch) System, FIDE Handbook C.04.3, without what it says of colours, which have no counterpart:
seats are drawn afresh for each game. Entries are in the order of their points, and of their numbers among equals. In
a group of equal points the upper half plays the lower half, first against first; whom nobody of the group is left for
floats down, and meets the first of the next group. Nobody meets anybody twice, and nobody has two byes (C.04.1): if the
preferred opponent of somebody leaves others without one, the next preferred is tried.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile

MOST_STEPS = 20_000
"""Pairs that are tried before a round without rematches is given up: whether there is one can take forever to tell."""

Met = Callable[[str, str], int]
"""How often two have met."""


def pairs(order: Sequence[str], points: Mapping[str, float], met: Met) -> list[tuple[str, str]]:
    """Return the pairs of an even number of entries in ``order``.

    If every pairing has rematches, or `MOST_STEPS` find none without, each meets the one it has met least.
    """
    found = _without_rematches(order, points, met)
    if found is not None:
        return found
    left, again = list(order), []
    while left:
        above = left[0]
        below = min(_preferred(left, points), key=lambda name: met(above, name))
        again.append((above, below))
        left = [name for name in left if name not in (above, below)]
    return again


def _without_rematches(order: Sequence[str], points: Mapping[str, float], met: Met) -> list[tuple[str, str]] | None:
    """Return pairs that have never met, or None; upper entries get the opponents they prefer where that is possible."""
    stack = [(list(order), _preferred(order, points))]
    chosen: list[tuple[str, str]] = []
    steps = 0
    while stack[-1][0]:
        left, preferred = stack[-1]
        below = next((name for name in preferred if not met(left[0], name)), None)
        steps += 1
        if steps > MOST_STEPS:
            return None
        if below is None:  # back to the pair before
            stack.pop()
            if not stack:
                return None
            chosen.pop()
            continue
        chosen.append((left[0], below))
        rest = [name for name in left[1:] if name != below]
        stack.append((rest, _preferred(rest, points)))
    return chosen


def _preferred(left: Sequence[str], points: Mapping[str, float]) -> Iterator[str]:
    """Yield the opponents that the first of ``left`` may meet, the preferred ones first."""
    if not left:
        return
    size = sum(1 for _ in takewhile(lambda name: points[name] == points[left[0]], left))
    half = size // 2
    if half:
        yield from left[half:size]
        yield from left[half - 1 : 0 : -1]
    yield from left[size:]


def bye(order: Sequence[str], had: Mapping[str, int]) -> str:
    """Return the entry of ``order`` that has a bye: the lowest of those that have had the fewest."""
    return min(reversed(order), key=lambda name: had.get(name, 0))


def usual_rounds(entries: int) -> int:
    """Return the fewest rounds after which at most one entry can have won all of its pairs."""
    return max(1, math.ceil(math.log2(max(2, entries))))
