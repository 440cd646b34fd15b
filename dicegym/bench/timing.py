"""How loops are timed, and the random numbers that they choose by."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import cycle

import numpy as np

AT_A_TIME = 100
"""Steps of a single environment between two looks at the clock."""

Work = Callable[[], int]
"""A loop: plays on for a moment and returns how many steps it took."""


def rate(work: Work, seconds: float) -> float:
    """Call ``work`` for about ``seconds``; return what it counted per second."""
    done, began = 0, time.perf_counter()
    while True:
        done += work()
        spent = time.perf_counter() - began
        if spent >= seconds:
            return done / spent


def random_numbers() -> Iterator[int]:
    """Return random whole numbers without end, drawn in advance so that no loop pays for them."""
    return cycle(np.random.default_rng(0).integers(0, 1 << 30, 10_007).tolist())
