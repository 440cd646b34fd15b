"""In which order many matches are played, so that few processes of bots have to be started.

A referee keeps the processes of `dicegym.sandbox.hosts.MOST` entries. In a round robin of more, row by row, each match
would begin with the start of one, which takes longer than a match of Hog.
"""

from __future__ import annotations

from collections.abc import Sequence

from dicegym.arena.match import Match
from dicegym.sandbox.hosts import MOST


def nearest_first(jobs: Sequence[Match], numbers: Sequence[int], at_once: int = MOST) -> list[int]:
    """Return ``numbers`` of ``jobs`` in the order in which they are best played.

    Matches of two are played by squares of the table of who meets whom, ``at_once`` entries with processes of their own
    in each, and a square shares half of its entries with the one before. Where there are no more entries than that, or
    others sit at a table, the order stays.

    Args:
        jobs: matches.
        numbers: which of them.
        at_once: entries whose processes are there at the same time.
    """
    groups: dict[str, int] = {}
    for number in numbers:
        for entry in jobs[number].entries:
            if not entry.trusted:
                groups.setdefault(entry.name, len(groups) // max(1, at_once // 2))
    if len(groups) <= at_once or any(len(jobs[number].entries) != 2 for number in numbers):
        return list(numbers)

    def square(number: int) -> tuple[int, int]:
        row, column = sorted(groups.get(entry.name, 0) for entry in jobs[number].entries)
        return row, -column if row % 2 else column  # there and back, so that neighbours share a group

    return sorted(numbers, key=square)
