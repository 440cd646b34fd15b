"""Reading an action, and saying what is wrong with one: the same words in every environment."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from dicegym.errors import IllegalActionError


def whole_number(action: Any, n_actions: int) -> int:
    """Return ``action`` as an int. Raises IllegalActionError if it is no whole number of 64 bits."""
    try:
        number = operator.index(action)
        if not -(1 << 63) <= number < 1 << 63:
            raise TypeError
        return number
    except TypeError:
        raise IllegalActionError(f"action {action!r} is no whole number: give one of 0 to {n_actions - 1}") from None


def illegal(action: int, mask: np.ndarray, who: str = "") -> IllegalActionError:
    """Return the error for ``action``, which ``mask`` (bool[n_actions]) does not allow; ``who`` was to move."""
    allowed = ", ".join(str(a) for a in np.flatnonzero(mask))
    return IllegalActionError(f"action {action} is not legal{who} now: give one of {allowed}")
