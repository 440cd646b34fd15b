"""The pairs of a round of a Swiss tournament, as arithmetic: nothing here plays.

Pairs follow the FIDE (Dutch) System, FIDE Handbook C.04.3, without what it says of colours, which have no counterpart:
seats are drawn afresh for each game. Entries stand in the order of their points, and of their numbers among equals. In
a group of equal points the upper half plays the lower half, first against first; whom nobody of the group is left for
floats down, and meets the first of the next group. Nobody meets anybody twice, and nobody has two byes (C.04.1): if the
preferred opponent of somebody leaves others without one, the next preferred is tried.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile

MOST_STEPS = 20_000
"""Pairs that are tried before a round without rematches is given up: whether there is one can take forever to tell."""

Met = Callable[[str, str], int]
"""How often two have met."""


def pairs(order: Sequence[str], points: Mapping[str, float], met: Met) -> list[tuple[str, str]]:
    """Return the pairs of an even number of entries in ``order``.

    If there are none without rematches, or none are found in `MOST_STEPS`, each meets the one it has met least.
    """
    found = _without_rematches(order, points, met)
    if found is not None:
        return found
    left, again = list(order), []
    while left:
        above = left[0]
        below = least_met(_preferred(left, points), (above,), met)
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


def least_met(names: Iterable[str], sitting: Sequence[str], met: Met) -> str:
    """Return the first of ``names`` that have met those ``sitting`` there least."""
    return min(names, key=lambda name: sum(met(name, other) for other in sitting))


def byes(order: Sequence[str], number: int, had: Mapping[str, int]) -> list[str]:
    """Return the ``number`` of entries in ``order`` that have a bye: the lowest of those that have had the fewest."""
    rank = {name: number for number, name in enumerate(order)}
    return sorted(order, key=lambda name: (had.get(name, 0), -rank[name]))[:number]


def sizes(entries: int, seats: int, fewest: int) -> list[int]:
    """Return the sizes of the tables of a round: as equal as can be, none larger than ``seats``, the larger ones first.

    Where such tables would have fewer seats than ``fewest``, there are full tables alone, and the others have byes.
    """
    tables = math.ceil(entries / seats)
    least, larger = divmod(entries, tables) if tables else (0, 0)
    if least >= fewest:
        return [least + 1] * larger + [least] * (tables - larger)
    return [seats] * (entries // seats)


def tables(order: Sequence[str], seats: Sequence[int], met: Met) -> list[tuple[str, ...]]:
    """Return the tables: they are filled from above, each from as many as could sit at two of its size.

    Of these the one comes next that has met fewest of those that sit there already.
    """
    left, found = list(order), []
    for size in seats:
        table = [left.pop(0)]
        near = left[: 2 * size - 1]
        while len(table) < size:
            taken = least_met(near, table, met)
            near.remove(taken)
            left.remove(taken)
            table.append(taken)
        found.append(tuple(table))
    return found
