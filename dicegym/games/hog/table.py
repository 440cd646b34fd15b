"""A Hog strategy as a table: the fastest way to play one that is a function of both scores alone."""

from __future__ import annotations

import numpy as np

from dicegym.core import Game
from dicegym.errors import AgentError, ParameterError
from dicegym.games.hog.rules import FIRST_NUMBER, MOST_DICE
from dicegym.jit import kernel
from dicegym.players import Act, Player, Turn


@kernel
def _look_up(states, rows, seats, table, out):
    for k in range(len(rows)):
        scores = states[rows[k]].scores
        out[k] = np.int64(table[scores[seats[k]], scores[1 - seats[k]]]) - FIRST_NUMBER


class TablePlayer(Player):
    """Plays the number of dice that stands in a table of both scores.

    Args:
        table: int8[goal, goal], ``table[own score, opponent's score]`` = number of dice, -1 to 10.
        name: how reports call it.

    Raises:
        ParameterError: the table is not square, or holds a number outside -1..10.
    """

    pure = True

    def __init__(self, table: np.ndarray, name: str = "table") -> None:
        self.table = np.array(table, np.int8)
        self.name = name
        if self.table.ndim != 2 or self.table.shape[0] != self.table.shape[1]:
            raise ParameterError(f"a table of shape {self.table.shape} is no Hog strategy: give one row a score")
        if self.table.min() < FIRST_NUMBER or self.table.max() > MOST_DICE:
            raise ParameterError(f"the table of {name!r} holds numbers outside {FIRST_NUMBER}..{MOST_DICE}")

    def _check(self, game: Game) -> None:
        if len(self.table) < game.parameters["goal"]:
            reason = f"its table ends at {len(self.table) - 1} points, the game at {game.parameters['goal']}"
            raise AgentError(self.name, reason)

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Return the table's look-up. Raises AgentError if the goal is beyond the table."""
        self._check(game)
        table = self.table

        def act(turn: Turn) -> int:
            score, opponent_score = turn.view[:2]
            return int(table[score, opponent_score]) - FIRST_NUMBER

        return act

    def act_rows(self, game: Game, states: np.ndarray, rows: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """Look all games up in one compiled call; see `Player.act_rows`."""
        self._check(game)
        actions = np.empty(len(rows), np.int64)
        _look_up(states, rows, seats, self.table, actions)
        return actions


def tabulated(player: Player, game: Game) -> TablePlayer:
    """Return ``player`` as a table: it is asked once for each pair of scores below the goal.

    The same strategy if the player is a function of both scores; for a random or remembering one it is the
    strategy of those single answers. Raises AgentError if the player fails.
    """
    goal = game.parameters["goal"]
    states = game.new_game()
    act = player.join(game, 0, 0)
    turn = Turn(game, states[0], 0)
    table = np.empty((goal, goal), np.int8)
    for score in range(goal):
        for opponent_score in range(goal):
            states[0]["scores"] = (score, opponent_score)
            table[score, opponent_score] = act(turn) + FIRST_NUMBER
    return TablePlayer(table, player.name)
