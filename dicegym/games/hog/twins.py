"""Hog's twins: agents of ``agents/hog`` as kernels, each with the same strategy.

These are the agents that training uses most, and the one that draws. Other pure agents are as fast after they have been
tabulated over the situations below, one for each pair of scores.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import numpy as np

from dicegym.engine.dice import bot_stream, draw
from dicegym.engine.game import Game
from dicegym.engine.jit import kernel
from dicegym.engine.twin_kernels import twin
from dicegym.games.hog.rules import EXCHANGE, FIRST_NUMBER, N_ACTIONS, free_bacon, swaps

EVERYBODYS_GOAL = 100
"""The goal of the course's game, which the files assume for any parameter."""


@kernel
def action_of(number):
    """Return the action that chooses a number of dice."""
    return np.int64(number - FIRST_NUMBER)


@twin("always_roll(5)", "always_roll", file="62337e8aa8e20b00")
@kernel
def always_roll(state):
    """Play like ``always_roll(5)``."""
    return action_of(5)


@twin("bacon", file="37d719b43b8ff18d")
@kernel
def bacon(state):
    """Play like ``bacon(8, 5)``."""
    margin, dice = 8, 5
    return action_of(0 if free_bacon(np.int64(state.scores[1 - state.player])) >= margin else dice)


@twin("swap", file="7baba6a36f2a0253")
@kernel
def swap(state):
    """Play like ``swap(10, 7)``."""
    margin, dice = 10, 7
    score, opponent_score = np.int64(state.scores[state.player]), np.int64(state.scores[1 - state.player])
    points = free_bacon(opponent_score)
    after_bacon, after_one = score + points, score + EXCHANGE
    if swaps(after_bacon, opponent_score):
        if opponent_score > after_bacon:
            return action_of(0)
    elif points >= margin or after_bacon >= EVERYBODYS_GOAL:
        return action_of(0)
    if swaps(after_one, opponent_score) and opponent_score > after_one + margin:
        return action_of(-1)
    return action_of(dice)


@twin("haphazard", file="9fa8685d00c2a14b")
@kernel
def haphazard(state):
    """Play like ``haphazard``."""
    me = np.int64(state.player)
    return draw(bot_stream(state.key, me, state.turns[me]), 0, N_ACTIONS)


MOST_SITUATIONS = 1 << 16


@kernel
def situation(state):
    """Return the number of the situation that the player to move sees without ``memory``: own score * goal + other."""
    me = np.int64(state.player)
    return np.int64(state.scores[me]) * np.int64(state.goal) + np.int64(state.scores[1 - me])


def every_situation(game: Game) -> np.ndarray:
    """Return records[goal * goal]; in record k player 0 is to move in `situation` k."""
    goal = game.parameters["goal"]
    states = game.new_states(goal * goal)
    states["scores"] = np.stack(divmod(np.arange(goal * goal), goal), axis=1)
    return states


def situations(game: Game) -> np.ndarray | None:
    """Return `every_situation`; None with ``memory``, or if there are too many."""
    if game.parameters["memory"] or game.parameters["goal"] ** 2 > MOST_SITUATIONS:
        return None
    return every_situation(game)
