"""The seats of players, drawn from a game's own key: the same game has the same seats in every environment and contest.

The host of a game draws as seat `HOST_SEAT`, so that its draws never meet a player's dice:

=================  ==================  =========================================================================
turn of the host   number of the draw  what is drawn
=================  ==================  =========================================================================
`LEARNER_TURN`     0                   the learner's seat, where environments draw it (`learner_seat`)
`LEARNER_TURN`     1 + s               the opponent in seat s, a member of the pool (`seat_pool`)
`LEARNER_TURN`     `ALIKE`             whether one member has all seats instead, any or one of the last, or each a
                                       different one, where a pool asks for such tables
`LEARNER_TURN`     `ALIKE` + 1         which member that is
`LEARNER_TURN`     `ALIKE` + 2 + k     which of the members that are left is the opponent number k
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
ALIKE = 1 << 16
RANDOM_SEAT, ALTERNATE_SEAT = -1, -2
"""Rules by which the learner's seat is found: drawn, or by the number of the episode. From 0 on, the seat itself."""


@loop_kernel
def learner_seat(rule, key, episode, players):
    """Return the learner's seat in the game with ``key`` (uint64), its seed's number ``episode`` (uint64)."""
    if rule == RANDOM_SEAT:
        return draw(turn_stream(key, HOST_SEAT, LEARNER_TURN), 0, players)
    if rule == ALTERNATE_SEAT:
        return np.int64(np.uint64(episode) % np.uint64(players))
    return np.int64(rule)


@loop_kernel
def seat_pool(bounds, alike, distinct, copies, first, key, learner, seats):
    """Write which member of a pool sits in each of ``seats`` of the game with ``key`` (uint64), and -1 for ``learner``.

    Member m is drawn by numbers below ``bounds[m]`` (int64[size], rising to `FINE`) unless one before it is. Of `FINE`
    games ``alike`` (int64) are such that all seats draw the same member, ``distinct`` (int64) others such that no
    member is drawn again before all were, and ``copies`` (int64) others such that all seats draw the same one of the
    members from number ``first`` (int64) on.
    """
    last = len(bounds) - 1
    stream = turn_stream(key, HOST_SEAT, LEARNER_TURN)
    kind = draw(stream, ALIKE, FINE) if last > 0 and alike + distinct + copies > 0 else np.int64(FINE)
    number = 0
    for seat in range(len(seats)):
        member = 0
        if seat == learner:
            member = -1
        elif alike <= kind < alike + distinct:
            member = _undrawn_member(bounds, stream, number, seats[:seat])
            number += 1
        elif alike + distinct <= kind < alike + distinct + copies:
            below = bounds[first - 1] if first > 0 else 0
            at = below + draw(stream, ALIKE + 1, bounds[last] - below)
            while member < last and bounds[member] <= at:
                member += 1
        elif last > 0:
            at = draw(stream, ALIKE + 1 if kind < alike else 1 + seat, FINE)
            while member < last and bounds[member] <= at:
                member += 1
        seats[seat] = member


@loop_kernel
def _undrawn_member(bounds, stream, number, before):
    """Return which member is the opponent of this ``number``: a member that was drawn least ``before`` it."""
    total = np.int64(0)
    for member in range(len(bounds)):
        total += _weight_left(bounds, member, number, before)
    at = np.int64(draw(stream, ALIKE + 2 + number, total))
    member = 0
    while at >= _weight_left(bounds, member, number, before):
        at -= _weight_left(bounds, member, number, before)
        member += 1
    return member


@loop_kernel
def _weight_left(bounds, member, number, before):
    """Return the share by which the opponent of this ``number`` is drawn to be this member: 0 if others are due."""
    times = 0
    for drawn_before in before:
        times += drawn_before == member
    if times > number // len(bounds):
        return np.int64(0)
    return np.int64(max(bounds[member] - (bounds[member - 1] if member > 0 else 0), 1))


def seating(key: int, players: int) -> list[int]:
    """Return which player sits in each seat of the game with this key: a uniformly random permutation."""
    return permutation(key, HOST_SEAT, MATCH_TURN, players)


def permutation(key: int, seat: int, turn: int, n: int) -> list[int]:
    """Return 0 .. n - 1 in a uniformly random order that is drawn in one turn of one seat (see `draw_number`).

    Source: R. Durstenfeld, "Algorithm 235: Random permutation", Communications of the ACM 7 (1964).
    """
    order = list(range(n))
    for last in range(n - 1, 0, -1):
        other = draw_number(key, seat, turn, last, last + 1)
        order[last], order[other] = order[other], order[last]
    return order
