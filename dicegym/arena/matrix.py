"""A square table that fits a terminal: who did what against whom, columns by number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dicegym.escape import one_line

WIDTH = 80
"""Columns of text where nobody says how many there are."""
LONGEST = 24
"""Characters of a name that are shown."""


class Matrix(NamedTuple):
    """Cells by the same entries in rows and columns."""

    heading: str
    names: Sequence[str]
    cells: Sequence[Sequence[str]]
    shades: Sequence[Sequence[float | None]] = ()
    """Of each cell how far the row is ahead of the column, for pages that show it in colours: -1 .. 1, None: nothing is
    known; empty: no colours."""

    def lines(self, width: int = WIDTH) -> Iterator[str]:
        """Yield the lines; where the columns do not fit in ``width`` characters they go on in another block."""
        numbers = [str(number) for number in range(1, len(self.names) + 1)]
        names = [_short(name) for name in self.names]
        left = max(map(len, numbers), default=1)
        middle = max(map(len, names), default=1)
        cell = 1 + max(map(len, (*numbers, *(text for row in self.cells for text in row))), default=1)
        at_once = max(1, (width - left - middle - 3) // cell)
        for first in range(0, len(names), at_once):
            columns = range(first, min(first + at_once, len(names)))
            if first:
                yield ""
            yield " " * (left + 2 + middle + 1) + "".join(numbers[j].rjust(cell) for j in columns)
            for number, name, row in zip(numbers, names, self.cells, strict=True):
                yield f"{number:>{left}}  {name:<{middle}} " + "".join(row[j].rjust(cell) for j in columns)


def _short(name: str) -> str:
    return one_line(name, LONGEST)
