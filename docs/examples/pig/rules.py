"""Pig: two players take turns to roll one die as often as they dare, to 100.

Todd Neller and Clifton Presser solved these rules ("Optimal Play of the Dice Game Pig", The UMAP
Journal 25, 2004).

Turn
    The player to move rolls a die. A 1 ends the turn, which scores nothing. Any other face is added to the turn
    total, and the player decides: roll again, or hold, which adds the turn total to the score and ends the turn.

End
    The first player whose score plus turn total reaches ``goal`` wins at once: no player would roll again. Any action
    but a roll or a hold, and a hold before the turn's first roll, loses the game at once (fault 1). Ties cannot occur.

Parameters
    =======  =======  ======  =================================
    name     default  range   meaning
    =======  =======  ======  =================================
    goal     100      10-999  the score that ends the game
    =======  =======  ======  =================================

Actions: ``Discrete(2)``
    ======  ===========================================
    action  meaning
    ======  ===========================================
    0       hold; legal after the turn's first roll
    1       roll
    ======  ===========================================

Observation: ``Box(0, 1, (4,))``
    ==========  ======  =====================================================
    part        length  meaning
    ==========  ======  =====================================================
    scores      2       own and opponent's score over goal, at most 1
    turn total  1       turn total of the player to move over goal, at most 1
    to move     1       1 if the seat itself is to move
    ==========  ======  =====================================================

Rewards: +1 to the winner and -1 to the loser at the end, 0 before.

Version history
    v0: first version.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dicegym.engine.dice import die, turn_stream
from dicegym.engine.features import Features
from dicegym.engine.jit import kernel
from dicegym.engine.loops import Kernels
from dicegym.engine.spec import GameSpec, Parameter, record

HOLD, ROLL = range(2)
N_ACTIONS = 2
NO_CHOICE = 1  # a fault

STATE = record(
    [
        ("goal", np.int16),  # (): parameter
        ("scores", np.int16, (2,)),  # per seat: points
        ("total", np.int16),  # (): turn total of the player to move
        ("face", np.int8),  # (): what the last roll showed, 0 before the first
        ("turns", np.int32, (2,)),  # per seat: turns ended; names the present turn's dice
        ("rolls", np.int16),  # (): rolls of the present turn
        ("winner", np.int8),  # (): seat, valid when over
    ]
)

FEATURES = Features({"scores": 2, "turn total": 1, "to move": 1})
AT = FEATURES.offsets


@kernel
def reset(state):
    """Set up a new game in a zeroed record. In Pig there is nothing to set."""


@kernel
def end_turn(state):
    """End the turn; the other player moves."""
    state.turns[state.player] += 1
    state.rolls = state.total = 0
    state.player = 1 - state.player


@kernel
def win(state, seat):
    """End the game."""
    state.winner = seat
    state.over = True


@kernel
def step(state, action):
    """Play one decision; return 0, or NO_CHOICE for an illegal action."""
    me = state.player
    if action == ROLL:
        state.face = die(turn_stream(state.key, me, state.turns[me]), state.rolls, 6)
        state.rolls += 1
        if state.face == 1:
            end_turn(state)
        else:
            state.total += state.face
            if state.scores[me] + state.total >= state.goal:
                state.scores[me] += state.total
                win(state, me)
        return 0
    if action != HOLD or state.rolls == 0:
        win(state, 1 - me)
        return NO_CHOICE
    state.scores[me] += state.total
    end_turn(state)
    return 0


@kernel
def legal(state, mask):
    """Write which actions are legal."""
    mask[HOLD] = state.rolls > 0
    mask[ROLL] = True


@kernel
def observe(state, seat, out):
    """Write what ``seat`` knows."""
    goal = np.float32(state.goal)
    out[AT.scores] = min(state.scores[seat] / goal, np.float32(1))
    out[AT.scores + 1] = min(state.scores[1 - seat] / goal, np.float32(1))
    out[AT.turn_total] = min(state.total / goal, np.float32(1))
    out[AT.to_move] = state.player == seat


@kernel
def returns(state, out):
    """Write each seat's sum of rewards so far."""
    for seat in range(2):
        out[seat] = 0 if not state.over else 1 if state.winner == seat else -1


class View(NamedTuple):
    """What a player may know."""

    score: int
    opponent_score: int
    turn_total: int
    """Of the player to move."""
    goal: int


def view(state: Any, seat: int) -> View:
    """Return the `View` of ``seat``."""
    scores = state["scores"].tolist()
    return View(scores[seat], scores[1 - seat], int(state["total"]), int(state["goal"]))


SPEC = GameSpec(
    name="pig",
    title="Pig",
    state=STATE,
    kernels=Kernels(reset, step, legal, observe, returns),
    players=(2, 2),
    n_actions=N_ACTIONS,
    features=FEATURES,
    view=view,
    faults=("", "neither a roll nor a hold that is allowed"),
    default_opponent="hold_at_20",
    baseline="hold_at_20",
    parameters={"goal": Parameter(100, 10, 999, "the score that ends a game of Pig")},
)
