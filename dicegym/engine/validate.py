"""Checks of what users pass: one way for each kind of value, and one form of error.

Each check takes the name under which the value was passed and returns the value in the type that is worked with, or
raises ParameterError, which says what was passed, why it cannot be and what to write.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np

from dicegym.errors import ParameterError

LARGEST_SEED = (1 << 64) - 1
"""Seeds are numbers of 64 bits; see `dicegym.engine.dice.game_key`."""


def whole_number(name: str, value: Any, low: int, high: int, what: str) -> int:
    """Return ``value`` as an int in ``low`` to ``high``, both included; ``what`` says in words what it stands for.

    True and False are no numbers here. Raises ParameterError for anything else than a whole number in the range.
    """
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or not low <= int(value) <= high:
        raise ParameterError(f"{name}={value!r} cannot be used as {what}: give a whole number from {low} to {high}")
    return int(value)


def seed_number(name: str, value: Any, what: str = "a number that names games") -> int:
    """Return ``value``, a seed or the number of an episode, as an int. Raises ParameterError."""
    return whole_number(name, value, 0, LARGEST_SEED, what)


def finite_number(name: str, value: Any, what: str) -> float:
    """Return ``value`` as a float; ``what`` as for `whole_number`. Raises ParameterError if it is not finite."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real) or not math.isfinite(value):
        raise ParameterError(f"{name}={value!r} cannot be used as {what}: give a number such as -1 or 0.5")
    return float(value)


def one_of(name: str, value: Any, known: Sequence[str]) -> str:
    """Return ``value``, one of the words ``known``. Raises ParameterError."""
    if not isinstance(value, str) or value not in known:
        raise ParameterError(f"{name}={value!r} is unknown: give one of {', '.join(map(repr, known))}")
    return value


def as_int64(value: Any) -> int | None:
    """Return ``value`` as an int, or None if it is no whole number of 64 bits: how actions are read."""
    try:
        number = operator.index(value)
    except TypeError:
        return None
    return number if -(1 << 63) <= number < 1 << 63 else None
