"""What choices in Hog are worth to one who replies best to a strategy, by what players see."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games.hog.exact import Function, best_table, spread, tabulate
from dicegym.games.hog.rules import N_ACTIONS
from dicegym.games.hog.solving.strategies import REMEMBERED, Duel, choices_of
from dicegym.games.hog.solving.sweeps import PLAY, WEIGH
from dicegym.play.player import Player

RARE = 1e-30
"""How often a game comes where none does, so that something is supposed there and nowhere else: that the other player
has no run and has exchanged the dice an even number of times. What is remembered there is rarer still."""


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
    duel = Duel(*(choices_of(spread(one)) for one in (table, opponent)))
    duel.spread()
    for parity in range(REMEMBERED[1]):
        for run in range(REMEMBERED[0]):
            duel.reach[0, parity, :, parity, 0, run] += RARE ** (1 + run + parity)
    duel.sweep(WEIGH, PLAY)
    gained, met = duel.gains, duel.visits()
    if not table.shape[2:]:  # it chooses by both scores alone
        gained, met = gained.sum(axis=(1, 2)), met.sum(axis=(1, 2))
    found: np.ndarray = gained / met[..., np.newaxis]
    return found.reshape(*table.shape, N_ACTIONS)
