"""Who sits where, drawn from a game's own key: the same game has the same seats in every environment and contest.

What those who hold games draw, they draw as seat `HOST_SEAT`, so that it meets no player's dice:

=================  ==================  =========================================================================
turn of the host   number of the draw  what is drawn
=================  ==================  =========================================================================
`LEARNER_TURN`     0                   the learner's seat, where environments draw it (`draw_seats`)
`LEARNER_TURN`     1 + s               the opponent in seat s, a member of the pool (`dicegym.players.pool`)
`MATCH_TURN`       n - 1, ..., 1       which of the n players of a match sits in each seat (`seating`)
=================  ==================  =========================================================================
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

from dicegym.engine.dice import HOST_SEAT, draw, drawn, turn_stream
from dicegym.engine.jit import kernel

LEARNER_TURN, MATCH_TURN = 0, 1


@kernel
def draw_seats(keys, players, out):
    """Write a uniformly drawn seat for the learner of each of ``keys``."""
    for i in range(len(keys)):
        out[i] = draw(turn_stream(keys[i], HOST_SEAT, LEARNER_TURN), 0, players)


def seating(key: int, players: int) -> list[int]:
    """Return which player sits in each seat of the game with this key: a uniformly random permutation."""
    return permutation(key, HOST_SEAT, MATCH_TURN, players)


def permutation(key: int, seat: int, turn: int, n: int) -> list[int]:
    """Return 0 .. n - 1 in a uniformly random order that is drawn in one turn of one seat (see `drawn`).

    Source: R. Durstenfeld, "Algorithm 235: Random permutation", Communications of the ACM 7 (1964).
    """
    order = list(range(n))
    for last in range(n - 1, 0, -1):
        other = drawn(key, seat, turn, last, last + 1)
        order[last], order[other] = order[other], order[last]
    return order
