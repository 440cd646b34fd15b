"""Who sits where in a game, drawn from its key: the learner's seat, and each opponent from a weighted pool."""

# mypy: allow-untyped-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments.

from __future__ import annotations

import numpy as np

from dicegym.engine.dice import FINE, HOST_SEAT, draw, turn_stream
from dicegym.engine.jit import loop_kernel

RANDOM_SEAT, ALTERNATE_SEAT = -1, -2
"""Rules by which the learner's seat is found: drawn, or by the number of the episode. From 0 on, the seat itself."""


@loop_kernel
def learner_seat(rule, key, episode, players):
    """Return the learner's seat in the game with ``key`` (uint64), its seed's number ``episode`` (uint64)."""
    if rule == RANDOM_SEAT:
        return draw(turn_stream(key, HOST_SEAT, 0), 0, players)
    if rule == ALTERNATE_SEAT:
        return np.int64(np.uint64(episode) % np.uint64(players))
    return np.int64(rule)


@loop_kernel
def pool_member(bounds, key, seat):
    """Return which member of a pool sits in ``seat`` of the game with ``key`` (uint64).

    Member m is drawn by numbers below ``bounds[m]`` (int64[size], rising to `FINE`) unless one before it is.
    """
    last = len(bounds) - 1
    member = 0
    if last > 0:
        at = draw(turn_stream(key, HOST_SEAT, 0), 1 + seat, FINE)
        while member < last and bounds[member] <= at:
            member += 1
    return member
