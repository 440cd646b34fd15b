"""Yatzy for one, solved once in a program's life, beside the thread that waits for it."""

from __future__ import annotations

import functools
import threading
from typing import Any

import numpy as np

from dicegym.games.worth import Progress
from dicegym.games.yatzy import exact_kernels as kernels
from dicegym.games.yatzy.rules import N_ACTIONS
from dicegym.games.yatzy.solving import alone_rules

LOOK_EVERY = 0.1
"""Seconds between two looks at how far the sweep has come."""


def values(progress: Progress | None = None) -> np.ndarray:
    """Return the mean of what is still to come in every position: float64[2**15, 64], read only.

    Indexed by the filled boxes (a bit mask, box 1 lowest) and the sum of the boxes 1 to 6, at most 63. Computed once;
    ``progress`` is told meanwhile of the sets of boxes that are done. Ctrl-C is answered at once: the computation goes
    on behind, as compiled code cannot be stopped, until it is done or the program ends.
    """
    sweep = _sweep()
    while sweep.is_alive():
        sweep.join(LOOK_EVERY)
        if progress is not None:
            progress(sweep.done, kernels.ALL_FILLED, "sets of boxes solved")
    return sweep.result()


class _Sweep(threading.Thread):
    """The computation of all values, beside the thread that waits for it."""

    def __init__(self) -> None:
        super().__init__(name="yatzy-values", daemon=True)
        self.values: np.ndarray = alone_rules.YATZY.new_values()[0]
        self.done = 0
        self._error: BaseException | None = None
        self.start()

    def run(self) -> None:
        try:
            alone_rules.solve(alone_rules.YATZY, self.values[None], told=self._tell)
        except BaseException as error:  # to be raised where somebody waits
            self._error = error
        self.values.setflags(write=False)

    def _tell(self, done: int) -> None:
        self.done = done

    def result(self) -> np.ndarray:
        """Return the values once it has ended. Raises what it ended with."""
        if self._error is not None:
            _sweep.cache_clear()
            raise self._error
        return self.values


@functools.cache
def _sweep() -> _Sweep:
    return _Sweep()


def action_values(state: Any, seat: int) -> np.ndarray:
    """Return the mean of what is still to come after each action: float64[225], -1 for an illegal one.

    ``seat`` is taken to roll the dice shown, and to play for points alone whoever else is there.
    """
    out = np.empty(N_ACTIONS)
    kernels.action_values(values(), state, seat, kernels.new_levels(), out)
    return out
