"""Compiled twins of bots in ``agents/``."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import numpy as np

from dicegym.engine.jit import kernel
from dicegym.engine.twin_kernels import twin

from .rules import HOLD, ROLL


@twin("hold_at_20", file="74c9a81acfb69bf5")
@kernel
def hold_at_20(state):
    """Roll until the turn total is 20."""
    return np.int64(ROLL if state.total < 20 else HOLD)
