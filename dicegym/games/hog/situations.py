"""All that a player of Hog can know: both scores, a number for each pair."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import numpy as np

from dicegym.engine.game import Game
from dicegym.engine.jit import kernel

MOST_SITUATIONS = 1 << 16


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
