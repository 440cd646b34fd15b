"""What choices in Hog are worth to one who sees everything and replies best to a strategy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games.hog.exact import Function, tabulate
from dicegym.games.hog.examination import by_scores
from dicegym.games.hog.rules import N_ACTIONS
from dicegym.games.hog.solving.full_sight import choice_rows, rolls
from dicegym.games.hog.solving.sweeps import BY_SCORES
from dicegym.play.player import Player


def reply_values(opponent: Player | Function, game: Game) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function that says what choices are worth to one who sees everything and from then on replies best.

    It takes records of the game, of which none is over, and returns float64[n, N_ACTIONS]: how likely the player to
    move wins against ``opponent`` with each number of dice. It raises ParameterError for records of another goal.

    Raises:
        AgentError: the opponent fails, or answers something else than a whole number from -1 to 10.
        ParameterError: it chooses by what is remembered.
    """
    table = by_scores(tabulate(opponent, game))
    if table is None:
        raise ParameterError(
            f"what a reply is worth is known against strategies that choose by both scores alone, and "
            f"{getattr(opponent, 'name', 'this one')} remembers: name one that does not, such as always_roll(5)"
        )
    goal, values = len(table), BY_SCORES.reply(table)[0]

    def choices(states: np.ndarray) -> np.ndarray:
        if (states["goal"] != goal).any():
            raise ParameterError(f"these are records of Hog to {states['goal'].max()}: give such of Hog to {goal}")
        found = np.empty((len(states), N_ACTIONS))
        choice_rows(states, rolls(), values[1:], found)
        return found

    return choices
