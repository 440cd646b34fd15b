"""How people are to read a part of an observation: what a declaration may say besides how long the part is.

Learners and kernels see numbers from 0 to 1 and need none of this; `dicegym.engine.description` does.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class OneHot(NamedTuple):
    """``rows`` times one of ``size`` whole numbers from ``first`` on: a 1 in its place, 0 elsewhere; if none, None."""

    size: int
    first: int = 0
    rows: int = 1

    @property
    def length(self) -> int:
        """How many elements it has."""
        return self.size * self.rows

    def fits(self, values: np.ndarray) -> bool:
        """Return whether float[length] ``values`` are written so."""
        return _binary(values) and bool((_rows(values, self.rows).sum(axis=1) <= 1).all())

    def read(self, values: np.ndarray) -> Any:
        """Return the number, or None; a list if there are several rows."""
        found = [int(row.argmax()) + self.first if row.any() else None for row in _rows(values, self.rows)]
        return found if self.rows > 1 else found[0]


class Ones(NamedTuple):
    """``rows`` times a number from 0 to ``most``, written as that many ones, then zeros."""

    most: int
    rows: int = 1

    @property
    def length(self) -> int:
        """How many elements it has."""
        return self.most * self.rows

    def fits(self, values: np.ndarray) -> bool:
        """Return whether float[length] ``values`` are written so."""
        return _binary(values) and bool((np.diff(_rows(values, self.rows), axis=1) <= 0).all())

    def read(self, values: np.ndarray) -> Any:
        """Return the number; a list if there are several rows."""
        found = [int(row.sum()) for row in _rows(values, self.rows)]
        return found if self.rows > 1 else found[0]


class Flags(NamedTuple):
    """``rows`` times ``size`` questions, numbered from ``first`` on: 1 is yes."""

    size: int
    first: int = 0
    rows: int = 1

    @property
    def length(self) -> int:
        """How many elements it has."""
        return self.size * self.rows

    def fits(self, values: np.ndarray) -> bool:
        """Return whether float[length] ``values`` are written so."""
        return _binary(values)

    def read(self, values: np.ndarray) -> Any:
        """Return the numbers of those with yes as a list; a list of lists if there are several rows."""
        found = [(np.flatnonzero(row) + self.first).tolist() for row in _rows(values, self.rows)]
        return found if self.rows > 1 else found[0]


class Over(NamedTuple):
    """``length`` whole numbers, each divided by ``by``, or by its own of as many."""

    by: int | tuple[int, ...]
    length: int = 1

    def fits(self, values: np.ndarray) -> bool:
        """Return whether float[length] ``values`` are written so."""
        numbers = values * self.by
        return bool((np.abs(numbers - np.rint(numbers)) < 0.01).all())

    def read(self, values: np.ndarray) -> Any:
        """Return the number, or a list of several."""
        found = np.rint(values * self.by).astype(int).tolist()
        return found if self.length > 1 else found[0]


Form = OneHot | Ones | Flags | Over


def _rows(values: np.ndarray, rows: int) -> np.ndarray:
    return values.reshape(rows, -1)


def _binary(values: np.ndarray) -> bool:
    return bool(((values == 0) | (values == 1)).all())
