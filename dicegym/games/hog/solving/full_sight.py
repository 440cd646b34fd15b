"""What states of Hog are worth by solved values, and what choices and dice bring there; solved with full sight.

With the parity of the exchanges and both runs of Pig outs in sight nothing is hidden, moves alternate and the sum of
the scores grows every turn: one backward sweep in which the player to move takes the best choice solves the game.
Values are those of `dicegym.games.hog.solving.sweeps` for players who know both scores alone, without the axis of the
own exchanges: float64[players, goal * goal, 2, RUNS, RUNS].
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import functools

import numpy as np

from dicegym.engine.jit import kernel
from dicegym.games.hog.rules import FIRST_NUMBER, N_ACTIONS
from dicegym.games.hog.solving.strategies import Duel
from dicegym.games.hog.solving.sweeps import RUNS, SEE_ALL, find_places, look_ahead, new_places


@kernel
def value_of(state, part):
    """Return how likely the player to move wins a game that is not over; ``part`` of values is its own."""
    me = state.player
    goal = np.int64(state.goal)
    pair = np.int64(state.scores[me]) * goal + state.scores[1 - me]
    parity = (state.exchanges[0] + state.exchanges[1]) % 2
    return part[pair, parity, state.runs[1 - me], state.runs[me]]


@kernel
def action_value_of(state, action, rolls, later, places, out):
    """Return how likely the player to move wins who chooses ``action``; one that is out of range loses.

    ``later`` is the part of values in which the other player moves; ``places`` and ``out`` are room to work in.
    """
    if action < 0 or action >= N_ACTIONS:
        return 0.0
    me = state.player
    own, opponent = np.int64(state.scores[me]), np.int64(state.scores[1 - me])
    parity = (state.exchanges[0] + state.exchanges[1]) % 2
    find_places(own, opponent, np.int64(state.goal), places)
    look_ahead(own, opponent, parity, action + FIRST_NUMBER, rolls, places, later, out)
    return out[state.runs[1 - me], state.runs[me]]


@kernel
def value_rows(states, values, wins):
    """Fill ``wins`` (float64[n, 2]) with how likely each seat wins; of games that are over it is known."""
    for i in range(len(states)):
        state = states[i]
        if state.over:
            mover, value = np.int64(state.winner), 1.0
        else:
            mover, value = np.int64(state.player), value_of(state, values[0])
        wins[i, mover] = value
        wins[i, 1 - mover] = 1 - value


@kernel
def choice_rows(states, rolls, values, choices):
    """Fill ``choices`` (float64[n, N_ACTIONS]) with how likely the player to move wins by each choice."""
    places, out = new_places(rolls), np.empty((RUNS, RUNS))
    for i in range(len(states)):
        for action in range(N_ACTIONS):
            choices[i, action] = action_value_of(states[i], action, rolls, values[0], places, out)


@kernel
def luck_rows(before, rows, actions, after, rolls, values, parts, luck):
    """Add to ``luck`` what the dice of one turn brought beyond the mean, by those of `values_to` or any others.

    Args:
        before: records before the turns, by game.
        rows: int64[k], numbers of the games.
        actions: int64[k], wide ones included.
        after: records after them, by game.
        rolls: of `roll_chances`.
        values: see the module.
        parts: int64[games, 2], for each seat which part of ``values`` is that of its player to move.
        luck: float64[games, 2], by seat.
    """
    places, out = new_places(rolls), np.empty((RUNS, RUNS))
    for k in range(len(rows)):
        row = rows[k]
        was, now = before[row], after[row]
        me = np.int64(was.player)
        later = values[parts[row, 1 - me]]
        expected = action_value_of(was, actions[k], rolls, later, places, out)
        came = np.float64(now.winner == me) if now.over else 1 - value_of(now, later)
        luck[row, me] += came - expected
        luck[row, 1 - me] -= came - expected


@kernel
def action_value(state, action, rolls, values):
    """Return `action_value_of` one state."""
    return action_value_of(state, action, rolls, values[0], new_places(rolls), np.empty((RUNS, RUNS)))


@functools.lru_cache(maxsize=2)
def values_to(goal: int) -> np.ndarray:
    """Return values of a game to ``goal`` in which both see everything, computed once: nobody may write to them.

    Float64[1, goal * goal, 2, RUNS, RUNS], as both players are alike. To 100 they take 0.03 s and 2.6 MB, to 999 five
    seconds and 256 MB.
    """
    duel = Duel(np.empty((goal * goal, 1, 1, 0)))  # who sees everything has no choices by what is known
    duel.sweep(SEE_ALL)
    return duel.values[:, 0]
