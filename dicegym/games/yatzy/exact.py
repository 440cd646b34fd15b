"""Exact values of Yatzy for one: the best mean score, how to reach it, and what a player's choices cost.

Points are all that counts, so a position between two turns is the set of filled boxes and the sum of the upper boxes
up to 63; `dicegym.games.yatzy.solving` works backwards through all of them in one sweep of a second or two. A
player's own mean cannot be computed that way: it would have to be asked for 750 decisions in each of a million
positions. But the regret of every decision is known exactly, and its mean over some games is
a far better estimate than the mean of the scores, of which most is luck.
"""

from __future__ import annotations

import numpy as np

from dicegym.engine import loops
from dicegym.engine.game import Game
from dicegym.engine.validate import whole_number
from dicegym.errors import ParameterError
from dicegym.games.parts import Z_95, Estimate, Progress, plays_with
from dicegym.games.yatzy.rules import SPEC
from dicegym.games.yatzy.solving import alone, box_worth, distributions
from dicegym.games.yatzy.tables import BOXES
from dicegym.games.yatzy.view import record_of
from dicegym.play.drive import join_table
from dicegym.play.player import Player
from dicegym.play.turn import Act, Turn

SOLVED = {"players": 1}
"""Nobody knows the values of a table, at which others' points count."""
GAMES = 1000
"""Games of an estimate unless told otherwise: the interval is then about half a point for a middling player."""


def solves(game: Game) -> bool:
    """Return whether ``game`` is Yatzy for one."""
    return game.name == SPEC.name and plays_with(game, SOLVED)


def _check(game: Game) -> None:
    if not solves(game):
        raise ParameterError(f"{game!r} has no exact values: give dicegym.game({SPEC.name!r}, players=1)")


def optimum(game: Game, *, progress: Progress | None = None) -> float:
    """Return the mean score of the best way to play; ``progress`` as for `values`.

    Raises ParameterError if ``game`` is not Yatzy for one.
    """
    _check(game)
    return float(alone.values(progress)[0, 0])


def distribution(game: Game, *, table: np.ndarray | None = None, progress: Progress | None = None) -> np.ndarray:
    """Return the probability of each final score of the best way to play: float64[n], exact up to rounding.

    ``table`` is for other ways to play, see `dicegym.games.yatzy.solving.distributions.of_scores`. Raises
    ParameterError if ``game`` is not Yatzy for one, or for a table that cannot be read.
    """
    _check(game)
    return distributions.of_scores(table, progress=progress)


class SolvedPlayer(Player):
    """Plays by what positions are worth; a state tells it no more than lies on the table."""

    pure = True

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Sit down at any game of Yatzy; see `Player.join`."""

        def act(turn: Turn) -> int:
            state = np.atleast_1d(record_of(turn.game, turn.view))
            return int(self.act_rows(turn.game, state, np.zeros(1, np.int64), np.array([seat]))[0])

        return act


class OptimalPlayer(SolvedPlayer):
    """Scores the most on average; at a table with others it takes no notice of them."""

    name = "optimal"

    def act_rows(self, game: Game, states: np.ndarray, rows: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """Return an action for each row, of equal ones the first; see `Player.act_rows`."""
        worths = box_worth.action_values(box_worth.points_by(alone.values()), states[rows], seats)
        found: np.ndarray = np.nanargmax(worths, axis=1)
        return found


def mean_return(
    player: Player, game: Game, games: int = GAMES, seed: int = 0, *, progress: Progress | None = None
) -> Estimate:
    """Return the mean score of ``player``: the optimum less the regret of its choices in ``games`` games.

    Args:
        player: anybody; illegal and wide actions count as the rules have it.
        game: Yatzy for one.
        games: how many games are played.
        seed: which.
        progress: told as by `values`, and then of the boxes that are filled in all games.

    Raises:
        ParameterError: ``game`` is not Yatzy for one, or there is no game to play.
        AgentError: the player cannot sit down.
    """
    _check(game)
    games = whole_number("games", games, 1, 1 << 30, "the number of games of an estimate")
    states, rows = game.new_states(games), np.arange(games)
    keys = np.full(games, seed % (1 << 64), np.uint64)
    loops.begin_rows(states, rows, game.blank, keys, rows.astype(np.uint64))
    acts = [] if player.pure else [join_table(game, {0: player}, int(key))[0] for key in states["key"]]
    costs, known = np.zeros(games), box_worth.points_by(alone.values(progress))
    while len(rows):  # no game is driven alone: what a decision costs is told, and played, for all rows in one call
        if player.pure:
            actions = player.act_rows(game, states, rows, np.zeros(len(rows), np.int64))
        else:
            chosen = (acts[row](Turn(game, states[row], 0)) for row in rows.tolist())
            actions = np.fromiter(chosen, np.int64, len(rows))
        before = states.copy()
        loops.step_rows(states, rows, actions, np.zeros(len(rows), np.int64))
        box_worth.add_costs(known, before, rows, actions, states, costs)
        rows = rows[~states["over"][rows]]
        if progress is not None:
            progress(int(np.count_nonzero(states["scores"][:, 0] >= 0)), games * BOXES, "boxes filled")
    return Estimate(optimum(game) - float(costs.mean()), Z_95 * float(costs.std()) / games**0.5, games)
