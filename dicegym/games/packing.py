"""Numbers, most of which are what is expected, as one whole number: an asymmetric numeral system (Duda, 2009).

Each symbol has a share of all that might be in its place, and takes as many bits as that share says, parts of a bit
included. Long integers of Python make it exact, and so small.
"""

from __future__ import annotations

from collections.abc import Sequence

UNIFORM = 1 << 12
"""Ranges up to this size are written as one of the range; of larger ones the number of bits, then the bits."""


class SymbolWriter:
    """Collects symbols."""

    def __init__(self) -> None:
        self._symbols: list[tuple[int, int, int]] = []

    def share(self, of: tuple[int, int], second: bool) -> None:
        """Write which of two things it is, that are supposed to be as likely as ``of[0]`` to ``of[1]``."""
        self._symbols.append((of[1], of[0], sum(of)) if second else (of[0], 0, sum(of)))

    def one_of(self, many: int, number: int) -> None:
        """Write a number from 0 to ``many`` - 1."""
        self._symbols.append((1, number, many))

    def number(self) -> int:
        """Return the number that stands for all symbols."""
        found = 1
        for own, below, whole in reversed(self._symbols):
            found = found // own * whole + below + found % own
        return found


class SymbolReader:
    """Reads symbols, in the order in which they were written."""

    def __init__(self, number: int) -> None:
        self._left = number

    def share(self, of: tuple[int, int]) -> bool:
        """Return which of two things it is: False for the first, True for the second."""
        at = self._left % sum(of)
        second = at >= of[0]
        own, below = (of[1], of[0]) if second else (of[0], 0)
        self._left = own * (self._left // sum(of)) + at - below
        return second

    def one_of(self, many: int) -> int:
        """Return a number from 0 to ``many`` - 1."""
        self._left, found = divmod(self._left, many)
        return found

    def finish(self) -> None:
        """Raise ValueError unless everything was read."""
        if self._left != 1:
            raise ValueError("more is written there than belongs to it")


def write(writer: SymbolWriter, value: int, usual: int, low: int, high: int) -> None:
    """Write a number of ``low``..``high`` that is not ``usual``."""
    if high - low < UNIFORM:
        writer.one_of(high - low + 1, value - low)
        return
    away = abs(value - usual)
    bits = away.bit_length()
    writer.one_of(2, int(value < usual))
    writer.one_of(65, bits)
    writer.one_of(1 << bits - 1, away - (1 << bits - 1))


def read(reader: SymbolReader, usual: int, low: int, high: int) -> int:
    """Return the number that `write` wrote. Raises ValueError for an unreadable number, or one out of range."""
    if high - low < UNIFORM:
        return low + reader.one_of(high - low + 1)
    sign = -1 if reader.one_of(2) else 1
    bits = reader.one_of(65)
    if bits == 0:
        raise ValueError("a number has no digits")
    value = usual + sign * ((1 << bits - 1) + reader.one_of(1 << bits - 1))
    if not low <= value <= high:
        raise ValueError(f"{value} is not from {low} to {high}")
    return value


class Habit:
    """How often something was as usual, by whether the one before was: what is learned while it is written or read."""

    def __init__(self) -> None:
        self._seen = [[1, 1], [1, 1]]
        self._before = 0

    @property
    def of(self) -> tuple[int, int]:
        """How likely the next one is as usual, to how likely it is not."""
        usual, unusual = self._seen[self._before]
        return usual, unusual

    def learn(self, unusual: bool) -> None:
        """Note what it was."""
        self._seen[self._before][unusual] += 2
        self._before = int(unusual)


def write_all(
    writer: SymbolWriter, values: Sequence[int], usual: Sequence[int], low: Sequence[int], high: Sequence[int]
) -> None:
    """Write numbers of one kind, each in its own range; those whose range is a single number take nothing."""
    habit = Habit()
    for value, expected, least, most in zip(values, usual, low, high, strict=True):
        if least == most:
            continue
        writer.share(habit.of, value != expected)
        habit.learn(value != expected)
        if value != expected:
            write(writer, value, expected, least, most)


def read_all(reader: SymbolReader, usual: Sequence[int], low: Sequence[int], high: Sequence[int]) -> list[int]:
    """Return the numbers that `write_all` wrote. Raises ValueError for an unreadable number or one out of range."""
    habit, found = Habit(), []
    for expected, least, most in zip(usual, low, high, strict=True):
        if least == most:
            found.append(least)
            continue
        unusual = reader.share(habit.of)
        habit.learn(unusual)
        found.append(read(reader, expected, least, most) if unusual else expected)
    return found
