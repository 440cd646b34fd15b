"""Hog's twins: agents of ``agents/hog`` as kernels, each the same strategy, and all that a player can know.

A bot of the original interface knows both scores alone, so whatever else is pure is as quick once it is tabulated
over `situations`; compiled are those that training meets most, and the one that draws.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import numpy as np

from dicegym.engine.dice import bot_stream, draw
from dicegym.engine.game import Game
from dicegym.engine.jit import kernel
from dicegym.games.hog.rules import EXCHANGE, FIRST_NUMBER, N_ACTIONS, free_bacon, swaps

HOUSE: dict[str, str] = {
    "always_roll(5)": "1679213153ffb5fd",
    "always_roll": "1679213153ffb5fd",
    "bacon": "37d719b43b8ff18d",
    "swap": "7baba6a36f2a0253",
    "haphazard": "9fa8685d00c2a14b",
}
"""Name of the agent -> first 16 hexadecimal digits of the SHA-256 of its file's text. A bot's number is its place."""
FIVE, UNLESS_TOLD, BACON, SWAP, HAPHAZARD = range(len(HOUSE))

EVERYBODYS_GOAL = 100
"""The goal of the course's game, which the files have in mind whatever the parameter is."""
MOST_SITUATIONS = 1 << 16


@kernel
def bacon(opponent_score):
    """Return the number of dice of ``bacon(8, 5)``."""
    return 0 if free_bacon(opponent_score) >= 8 else 5


@kernel
def swap(score, opponent_score):
    """Return the number of dice of ``swap(10, 7)``."""
    margin, dice = 10, 7
    points = free_bacon(opponent_score)
    after_bacon, after_one = score + points, score + EXCHANGE
    if swaps(after_bacon, opponent_score):
        if opponent_score > after_bacon:
            return 0
    elif points >= margin or after_bacon >= EVERYBODYS_GOAL:
        return 0
    if swaps(after_one, opponent_score) and opponent_score > after_one + margin:
        return -1
    return dice


@kernel
def choose(state, bot):
    """Return the action of twin number ``bot`` for the player to move."""
    me = np.int64(state.player)
    if bot == HAPHAZARD:
        return draw(bot_stream(state.key, me, state.turns[me]), 0, N_ACTIONS)
    number = np.int64(5)  # FIVE, UNLESS_TOLD
    if bot == BACON:
        number = np.int64(bacon(np.int64(state.scores[1 - me])))
    elif bot == SWAP:
        number = np.int64(swap(np.int64(state.scores[me]), np.int64(state.scores[1 - me])))
    return np.int64(number - FIRST_NUMBER)


@kernel
def situation(state):
    """Return the number of what the player to move observes without ``memory``: own score * goal + opponent's."""
    me = np.int64(state.player)
    return np.int64(state.scores[me]) * np.int64(state.goal) + np.int64(state.scores[1 - me])


def every_situation(game: Game) -> np.ndarray:
    """Return records[goal * goal], of which record k is a state with `situation` k and player 0 to move."""
    goal = game.parameters["goal"]
    states = game.new_states(goal * goal)
    states["scores"] = np.stack(divmod(np.arange(goal * goal), goal), axis=1)
    return states


def situations(game: Game) -> np.ndarray | None:
    """Return `every_situation`; None if a player observes what it remembers too, or if they are too many."""
    if game.parameters["memory"] or game.parameters["goal"] ** 2 > MOST_SITUATIONS:
        return None
    return every_situation(game)
