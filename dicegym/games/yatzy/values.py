"""What states of Yatzy are worth: exact values alone, best play and what a player's choices cost, and luck for all.

Alone, points are all that counts, and `dicegym.games.yatzy.solving.points` works backwards through all positions in a
sweep of seconds. A player's own mean cannot be computed that way: it would have to be asked for 750 decisions in each
of a million positions. But what each roll brought is known exactly, and the score less that luck is the best mean less
the regret of the player's choices: a far better estimate than the score.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games import game as make_game
from dicegym.games.parts import plays_with
from dicegym.games.solved import Claim
from dicegym.games.worth import ActionValues, Meter, Progress, ValueKind, ValueSource, ValueUnit
from dicegym.games.yatzy.rules import BONUS, BONUS_FROM, SPEC, record_of
from dicegym.games.yatzy.solving import any_scoring, points
from dicegym.play.player import Player
from dicegym.play.turn import Act, Turn

SOLVED = {"players": 1}
"""Nobody knows the values of a table, at which others' points count."""


def solves(game: Game) -> bool:
    """Return whether ``game`` is Yatzy for one."""
    return game.name == SPEC.name and plays_with(game, SOLVED)


def _check(game: Game) -> None:
    if not solves(game):
        raise ParameterError(f"{game!r} has no exact values: give dicegym.game({SPEC.name!r}, players=1)")


def optimum(game: Game, *, progress: Progress | None = None) -> float:
    """Return the mean score of the best way to play; ``progress`` is told of the sets of boxes that are solved.

    Raises ParameterError if ``game`` is not Yatzy for one.
    """
    _check(game)
    return float(points.solve_once(progress)[0, 0])


class OptimalPlayer(Player):
    """Scores the most on average; at a table with others it takes no notice of them."""

    name = "optimal"
    pure = True

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Sit down at any game of Yatzy; see `Player.join`."""

        def act(turn: Turn) -> int:
            state = np.atleast_1d(record_of(turn.game, turn.view))
            return int(self.act_rows(turn.game, state, np.zeros(1, np.int64), np.array([seat]))[0])

        return act

    def act_rows(self, game: Game, states: np.ndarray, rows: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """Return an action for each row, of equal ones the first; see `Player.act_rows`."""
        found: np.ndarray = np.nanargmax(points.action_values(points.solve_once(), states[rows], seats), axis=1)
        return found


def sources(game: Game) -> Sequence[ValueSource]:
    """Return where values of ``game`` come from: nowhere for several players."""
    if not solves(game):
        return ()
    doc = "the most points that can be had on average, solved by dynamic programming within seconds"
    return (ValueSource(AloneValuer.name, "exact", doc, lambda: True, lambda progress: AloneValuer(game, progress)),)


class AloneValuer:
    """Says what states of Yatzy for one are worth; see `dicegym.games.worth.BatchValuer`.

    The value is the mean of the final score if the player plays on without a flaw. ``progress`` is told of the
    sweep that solves the game when it is needed for the first time.
    """

    name = "exact"
    kind: ValueKind = "exact"
    unit: ValueUnit = "points"
    sure = "exact"
    sees_all = False

    def __init__(self, game: Game, progress: Progress | None = None) -> None:
        self.game = game
        self._values = points.solve_once(progress)

    def value(self, state: Any, seat: int = 0) -> float:
        """Return what a state is worth to a seat; see `Valuer.value`."""
        return float(self.values_rows(np.atleast_1d(state))[0, seat])

    def values_rows(self, states: np.ndarray) -> np.ndarray:
        """Return `value` of every state: float64[states, 1]."""
        out = np.empty(len(states))
        points.value_rows(self._values, states, out)
        return (_points_so_far(states) + out)[:, np.newaxis]

    def action_values(self, state: Any) -> ActionValues:
        """Return what each action is worth to the player; see `Valuer.action_values`."""
        rows = self.action_values_rows(np.atleast_1d(state))
        return ActionValues(rows.values[0], rows.errors[0])

    def action_values_rows(self, states: np.ndarray) -> ActionValues:
        """Return `action_values` of every state, none of which is over: arrays of float64[states, n_actions]."""
        to_come = points.action_values(self._values, states, states["player"].astype(np.int64))
        values = _points_so_far(states)[:, np.newaxis] + to_come
        return ActionValues(values, np.where(np.isnan(values), np.nan, 0.0))

    def action_value(self, state: Any, action: int) -> float:
        """Return the same of one action, whatever it is; see `Valuer.action_value`.

        Of an action that makes the server play turns, it is what then follows.
        """
        before = np.atleast_1d(state)
        after = before.copy()
        self.game.step(after[0], action)
        old, new = before[0], after[0]
        if new["over"] or new["round_number"] != old["round_number"]:
            return float(_points_so_far(after)[0] + points.still_to_come(self._values, new, 0))
        if new["rolls_left"] != old["rolls_left"]:
            return float(self.action_values(state).values[points.set_kept(old, action)])
        return self.value(state)

    def policy(self, state: Any) -> np.ndarray:
        """Return 1 for the best action (of equal ones the first), 0 for all others; see `Valuer.policy`."""
        chosen = np.zeros(self.game.n_actions)
        chosen[np.nanargmax(self.action_values(state).values)] = 1.0
        return chosen


def _points_so_far(states: np.ndarray) -> np.ndarray:
    """Return the points of the only player of each state, the bonus included: float64[states]."""
    found: np.ndarray = states["totals"][:, 0] + np.where(states["upper"][:, 0] >= BONUS_FROM, float(BONUS), 0.0)
    return found


def meter(game: Game, players: Sequence[Player | None], seats: np.ndarray) -> Meter:
    """Return a meter for games of Yatzy; who plays does not matter to it. See `dicegym.games.parts.Values`."""
    return RollMeter(len(seats), game.players)


class RollMeter:
    """Adds up what rolls brought, in points alone, in shares of the first place at a table; see `Meter`."""

    def __init__(self, games: int, players: int) -> None:
        self.luck = np.zeros((games, players))
        self._values = points.solve_once()

    def begin(self, states: np.ndarray, rows: np.ndarray) -> None:
        """Note that games have begun; see `Meter.begin`."""
        points.begin_rows(self._values, states, rows, self.luck)

    def add(self, before: np.ndarray, rows: np.ndarray, actions: np.ndarray, after: np.ndarray) -> None:
        """Note that actions were played; see `Meter.add`."""
        points.add_rows(self._values, before, rows, actions, after, self.luck)


def claims() -> Sequence[Claim]:
    """Return what is published of Yatzy: the best mean score alone, which solvers of others found too."""
    proof = "backward induction; two independent solvers agree to 1e-10"
    alone_best = lambda: optimum(make_game(SPEC.name, players=1))  # noqa: E731 - computed when it is asked for
    source = "Larsson and Sjöberg, Optimal Yatzy Strategy, KTH, 2012: their program scores one pair in Two Pairs"
    by_their_program = lambda: any_scoring.mean_of_best_play(any_scoring.score_single_pairs())  # noqa: E731
    return (
        Claim("mean score of best play, alone", 248.4399893779, 1e-9, proof, alone_best),
        Claim("the same where one pair scores in Two Pairs", 248.6328539121, 1e-9, source, by_their_program),
    )
