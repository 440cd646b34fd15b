"""Checks of user input: one function for each kind of value.

Each check takes the argument's name and value and returns the value in the type that code needs. It raises
ParameterError, which says what was passed, why it cannot be used and what to write.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from numbers import Real
from typing import Any, TypeGuard

import numpy as np

from dicegym.errors import ParameterError

LARGEST_SEED = (1 << 64) - 1
"""Seeds are 64-bit numbers; see `dicegym.engine.dice.game_key`."""
PLAIN = (int, np.int64)
"""The types of nearly all actions, which need no further checks."""
MOST = 1 << 40
"""Bound of all counts of steps and games."""


def is_whole_number(value: Any) -> TypeGuard[int | np.integer[Any]]:
    """Return whether ``value`` is a whole number of Python or NumPy, not a bool."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def whole_number(name: str, value: Any, low: int, high: int, what: str) -> int:
    """Return ``value`` as an int from ``low`` to ``high``; ``what`` describes it in the error.

    Raises ParameterError unless it is a whole number in the range.
    """
    if type(value) is int and low <= value <= high:  # nearly all: games are begun a million times a second
        return value
    if not is_whole_number(value) or not low <= int(value) <= high:
        wanted = f"exactly {low}" if low == high else f"a whole number from {low} to {high}"
        raise ParameterError(f"{name}={_shown(value)} cannot be used as {what}: give {wanted}")
    return int(value)


def _shown(value: Any) -> str:
    """Return ``repr(value)``, which fails for whole numbers of more than 4,300 digits."""
    return repr(value) if not is_whole_number(value) or abs(int(value)) < 1 << 128 else "a huge number"


def whole_numbers(name: str, values: Any, n: int, what: str) -> np.ndarray:
    """Return ``values`` as int64[n], copied only if necessary; ``what`` describes in the error what they must fit.

    Raises ParameterError for another shape, or anything but signed 64-bit whole numbers.
    """
    found = np.asarray(values)
    too_large = found.dtype == np.uint64 and bool((found >> 63).any())
    if found.shape != (n,) or found.dtype.kind not in "iu" or too_large:
        raise ParameterError(
            f"{name} of shape {found.shape} and dtype {found.dtype} do not fit {what}: "
            f"give {n} whole numbers{' below 2**63' if too_large else ''}, one a game"
        )
    return found.astype(np.int64, copy=False)


def seed_number(name: str, value: Any, what: str = "a number that names games") -> int:
    """Return a seed or the number of an episode as an int. Raises ParameterError."""
    return whole_number(name, value, 0, LARGEST_SEED, what)


def check_game_number(seed: Any, episode: Any = 0) -> tuple[int, int]:
    """Return a seed, which counts modulo 2**64, and an episode as ints. Raises ParameterError."""
    seed = whole_number("seed", seed, -LARGEST_SEED, LARGEST_SEED, "a number that names games")
    return seed, whole_number("episode", episode, 0, LARGEST_SEED, "the number of a game")


def finite_number(name: str, value: Any, what: str, above: float | None = None) -> float:
    """Return ``value`` as a float; ``what`` describes it in the error.

    Raises ParameterError unless it is finite and greater than ``above``.
    """
    try:
        number = not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)
    except OverflowError:  # a whole number beyond the range of floats
        number = False
    if not number or (above is not None and value <= above):
        wanted = "a number such as -1 or 0.5" if above is None else f"a number above {above:g}"
        raise ParameterError(f"{name}={_shown(value)} cannot be used as {what}: give {wanted}")
    return float(value)


def one_of(name: str, value: Any, known: Sequence[str]) -> str:
    """Return ``value`` if it is one of the words ``known``. Raises ParameterError."""
    if not isinstance(value, str) or value not in known:
        raise ParameterError(f"{name}={_shown(value)} is unknown: give one of {', '.join(map(repr, known))}")
    return value


def as_int64(value: Any) -> int | None:
    """Return an action as an int, or None if it is not a signed 64-bit whole number.

    An array or tensor counts only with shape (), as for Gymnasium's ``Discrete``.
    """
    if type(value) not in PLAIN and (isinstance(value, bool) or getattr(value, "shape", ()) != ()):
        return None
    try:
        number = operator.index(value)
    except TypeError:
        return None
    return number if -(1 << 63) <= number < 1 << 63 else None


def check_seat(game: Any, seat: Any) -> int:
    """Return ``seat`` as an int. Raises ParameterError if the game has no such seat."""
    if type(seat) is int and 0 <= seat < game.players:
        return seat
    return whole_number("seat", seat, 0, game.players - 1, f"a seat of {game!r}")
