"""What choices in Hog are worth to one who replies best to a strategy, by what players see."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games.hog.exact import Function, best_table, tabulate
from dicegym.games.hog.rules import N_ACTIONS
from dicegym.games.hog.solving import remembering
from dicegym.games.hog.solving.full_sight import rolls
from dicegym.games.hog.solving.sweeps import REMEMBERING
from dicegym.play.player import Player


def reply_values(opponent: Player | Function, game: Game, trials: int = 0) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function that says what choices are worth to one who replies to a strategy as well as is known.

    The reply is the table of `dicegym.games.hog.exact.best_table` with so many ``trials``, which knows what players of
    the game see. A choice is worth what is won by it, and by that table from the next turn on, over all that is hidden,
    as often as it is there when the table plays.

    The function takes records of the game, of which none is over, and returns float64[n, N_ACTIONS]: how likely the
    player to move wins against ``opponent`` with each number of dice. It raises ParameterError for records of another
    goal.

    Raises AgentError if the opponent fails, or answers something else than a whole number from -1 to 10.
    """
    rival = tabulate(opponent, game)
    values, goal = choices(best_table(rival, game, trials=trials)[1], rival), len(rival)

    def told(states: np.ndarray) -> np.ndarray:
        if (states["goal"] != goal).any():
            raise ParameterError(f"these are records of Hog to {states['goal'].max()}: give such of Hog to {goal}")
        each = np.arange(len(states))
        mine = states["player"].astype(np.int64)
        known = [states["scores"][each, mine], states["scores"][each, 1 - mine]]
        if game.parameters["memory"]:
            known += [states["runs"][each, mine], states["exchanges"][each, mine] % 2]
        found: np.ndarray = values[tuple(known)]
        return found

    return told


def choices(table: np.ndarray, opponent: np.ndarray) -> np.ndarray:
    """Return what is won by each choice and then by a table: float64[*table.shape, N_ACTIONS].

    Args:
        table: int8[goal, goal], by both scores, or int8[goal, goal, RUNS, 2], by what is remembered too.
        opponent: likewise.
    """
    goal = len(table)
    shape = goal, goal, *REMEMBERING.hidden
    both = [one.reshape((*one.shape, 1, 1)[: len(shape)]) for one in (table, opponent)]
    full = np.stack([np.broadcast_to(one, shape) for one in both])
    values, reach = REMEMBERING.new_values(goal), REMEMBERING.new_values(goal)
    REMEMBERING.evaluate(full, values)
    REMEMBERING.spread(full, reach)
    gained, met = np.empty((*shape, N_ACTIONS)), np.empty(shape)
    remembering.weigh(rolls(), reach, values, gained, met)
    if table.ndim < len(shape):
        gained, met = gained.sum(axis=(2, 3)), met.sum(axis=(2, 3))
    found: np.ndarray = gained / met[..., np.newaxis]
    return found
