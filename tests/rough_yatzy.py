"""A rough table of what positions of Yatzy are worth, in the place of the solved one, which takes five seconds."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import numpy as np
import pytest

from dicegym.games.yatzy.solving import points

MEANS = (2, 5, 8, 12, 15, 19, 9, 14, 13, 9, 7, 10, 15, 22, 15)
"""What boxes bring on average, from ones to Yatzy."""


@contextlib.contextmanager
def rough_table() -> Iterator[None]:
    """Let open boxes bring their means; the last turn is as exact as ever, as nothing comes after it."""
    are_open = ~(np.arange(1 << points.BOXES)[:, None] >> np.arange(points.BOXES)) & 1
    table = np.repeat((are_open @ np.array(MEANS, np.float64))[:, None], points.SUMS, axis=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(points, "_solved", [table])
        yield
