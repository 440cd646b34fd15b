"""Checks of what users pass: one way for each kind of value, and one form of error.

Each check takes the name under which the value was passed and returns the value in the type that is worked with, or
raises ParameterError, which says what was passed, why it cannot be and what to write.
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
"""Seeds are numbers of 64 bits; see `dicegym.engine.dice.game_key`."""
PLAIN = (int, np.int64)
"""The types of nearly all actions, of which nothing has to be asked."""
MOST = 1 << 40
"""Nothing is counted further: no steps, no games."""


def is_whole_number(value: Any) -> TypeGuard[int | np.integer[Any]]:
    """Return whether ``value`` is a whole number, Python's or NumPy's; True and False do not count."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def whole_number(name: str, value: Any, low: int, high: int, what: str) -> int:
    """Return ``value`` as an int in ``low`` to ``high``, both included; ``what`` says in words what it stands for.

    Raises ParameterError for anything else than a whole number in the range.
    """
    if not is_whole_number(value) or not low <= int(value) <= high:
        wanted = f"exactly {low}" if low == high else f"a whole number from {low} to {high}"
        raise ParameterError(f"{name}={_shown(value)} cannot be used as {what}: give {wanted}")
    return int(value)


def _shown(value: Any) -> str:
    """Return a value as Python writes it; of whole numbers it writes no more than 4,300 digits."""
    return repr(value) if not is_whole_number(value) or abs(int(value)) < 1 << 128 else "a huge number"


def whole_numbers(name: str, values: Any, n: int, what: str) -> np.ndarray:
    """Return ``values`` as int64[n], copied only if they are anything else; ``what`` says in words what they fit.

    Raises ParameterError if there are more or fewer, or if they are not whole numbers of 64 bits with a sign.
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
    """Return ``value``, a seed or the number of an episode, as an int. Raises ParameterError."""
    return whole_number(name, value, 0, LARGEST_SEED, what)


def check_game_number(seed: Any, episode: Any = 0) -> tuple[int, int]:
    """Return a seed, which counts modulo 2**64, and the number of a game of it, as ints. Raises ParameterError."""
    seed = whole_number("seed", seed, -LARGEST_SEED, LARGEST_SEED, "a number that names games")
    return seed, whole_number("episode", episode, 0, LARGEST_SEED, "the number of a game")


def finite_number(name: str, value: Any, what: str, above: float | None = None) -> float:
    """Return ``value`` as a float; ``what`` as for `whole_number`.

    Raises ParameterError if it is not finite, or not greater than ``above``.
    """
    try:
        number = not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        number = False
    if not number or (above is not None and value <= above):
        wanted = "a number such as -1 or 0.5" if above is None else f"a number above {above:g}"
        raise ParameterError(f"{name}={_shown(value)} cannot be used as {what}: give {wanted}")
    return float(value)


def one_of(name: str, value: Any, known: Sequence[str]) -> str:
    """Return ``value``, one of the words ``known``. Raises ParameterError."""
    if not isinstance(value, str) or value not in known:
        raise ParameterError(f"{name}={_shown(value)} is unknown: give one of {', '.join(map(repr, known))}")
    return value


def as_int64(value: Any) -> int | None:
    """Return ``value`` as an int, or None if it is not a whole number of 64 bits: how actions are read.

    An array or tensor is a number only without a shape, as for Gymnasium's ``Discrete``: one of shape (1,) is a row.
    """
    if type(value) not in PLAIN and (isinstance(value, bool) or getattr(value, "shape", ()) != ()):
        return None
    try:
        number = operator.index(value)
    except TypeError:
        return None
    return number if -(1 << 63) <= number < 1 << 63 else None


def check_seat(game: Any, seat: Any) -> int:
    """Return ``seat`` as an int. Raises ParameterError if the game has no seat of that number."""
    if type(seat) is int and 0 <= seat < game.players:
        return seat
    return whole_number("seat", seat, 0, game.players - 1, f"a seat of {game!r}")
