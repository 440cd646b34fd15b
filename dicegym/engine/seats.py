"""The seats of players, drawn from the game's key: the same in every environment and contest.

The host of a game draws as seat `HOST_SEAT`, so its draws are never a player's dice:

=================  ==================  =========================================================================
turn of the host   number of the draw  what is drawn
=================  ==================  =========================================================================
`LEARNER_TURN`     0                   the learner's seat, where environments draw it (`learner_seat`)
`LEARNER_TURN`     1 + s               the opponent in seat s, a member of the pool (`seat_pool`)
`MATCH_TURN`       n - 1, ..., 1       which of the n players of a match sits in each seat (`seating`)
=================  ==================  =========================================================================
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import numpy as np

from dicegym.engine.dice import FINE, HOST_SEAT, draw, draw_number, turn_stream
from dicegym.engine.jit import loop_kernel

LEARNER_TURN, MATCH_TURN = 0, 1
RANDOM_SEAT, ALTERNATE_SEAT = -1, -2
"""Rules for the learner's seat: drawn, or by the number of the episode. Numbers from 0 are seats."""


@loop_kernel
def learner_seat(rule, key, episode, players):
    """Return the learner's seat in the game with ``key`` (uint64), number ``episode`` (uint64) of its seed."""
    if rule == RANDOM_SEAT:
        return draw(turn_stream(key, HOST_SEAT, LEARNER_TURN), 0, players)
    if rule == ALTERNATE_SEAT:
        return np.int64(np.uint64(episode) % np.uint64(players))
    return np.int64(rule)


@loop_kernel
def seat_pool(bounds, key, learner, seats):
    """Write the member of a pool in each of ``seats`` of the game with ``key`` (uint64), and -1 for ``learner``.

    Member m is drawn by numbers from ``bounds[m - 1]`` to below ``bounds[m]`` (int64[size], ascending to `FINE`).
    """
    last = len(bounds) - 1
    stream = turn_stream(key, HOST_SEAT, LEARNER_TURN)
    for seat in range(len(seats)):
        member = 0
        if seat == learner:
            member = -1
        elif last > 0:
            at = draw(stream, 1 + seat, FINE)
            while member < last and bounds[member] <= at:
                member += 1
        seats[seat] = member


def seating(key: int, players: int) -> list[int]:
    """Return the player in each seat of the game with this key: a uniformly random permutation."""
    return permutation(key, HOST_SEAT, MATCH_TURN, players)


def permutation(key: int, seat: int, turn: int, n: int) -> list[int]:
    """Return 0 .. n - 1 in a uniformly random order, drawn in one turn of one seat (see `draw_number`).

    Source: R. Durstenfeld, "Algorithm 235: Random permutation", Communications of the ACM 7 (1964).
    """
    order = list(range(n))
    for last in range(n - 1, 0, -1):
        other = draw_number(key, seat, turn, last, last + 1)
        order[last], order[other] = order[other], order[last]
    return order
