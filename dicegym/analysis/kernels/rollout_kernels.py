"""Compiled loops of rollouts, over any game's records."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

from dicegym.engine.dice import bot_stream, draw
from dicegym.engine.flags import how_many, place_of
from dicegym.engine.jit import loop_kernel
from dicegym.engine.loops import choose, legal, returns, step

UNIFORM = -1
"""Uniformly random play, in place of the number of a compiled twin."""


@loop_kernel
def random_action(state, mask, stream, number):
    """Return a random legal action by draw ``number`` of ``stream``; ``mask``, bool[n_actions], is scratch."""
    legal(state, mask)
    return place_of(mask, draw(stream, number, how_many(mask)))


@loop_kernel
def policy_action(state, bot, mask, stream, number):
    """Return the action of compiled twin ``bot``, or a `random_action` for `UNIFORM`."""
    if bot == UNIFORM:
        return random_action(state, mask, stream, number)
    return choose(state, bot)


@loop_kernel
def play_out(states, rows, bots, most, mask):
    """Play each game ``states[rows[k]]`` to its end, seat s by compiled twin ``bots[s]`` or `UNIFORM`.

    ``mask``, bool[n_actions], is scratch. Returns how many games were not over after ``most`` decisions.
    """
    unfinished = 0
    for k in range(len(rows)):
        row = rows[k]
        left = most
        while not states[row].over and left > 0:
            stream = bot_stream(states[row].key, states[row].player, left)
            step(states[row], policy_action(states[row], bots[states[row].player], mask, stream, 0))
            left -= 1
        unfinished += left == 0 and not states[row].over
    return unfinished


@loop_kernel
def returns_rows(states, out):
    """Write the returns of each game to its row of ``out``: float32[games, players]."""
    for row in range(len(states)):
        returns(states[row], out[row])
