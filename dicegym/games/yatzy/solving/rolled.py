"""Which dice an action keeps."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

from dicegym.engine.jit import kernel
from dicegym.games.yatzy.hands import HANDFULS, set_of
from dicegym.games.yatzy.rules import N_ACTIONS, ROLL_PLACES


@kernel
def set_kept(state, action):
    """Return the set of dice that a legal action, of either kind, keeps when it rolls the others."""
    return action if action < N_ACTIONS else set_of(state.dice, HANDFULS - 1 - (action - ROLL_PLACES))
