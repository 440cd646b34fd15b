"""What states of Yatzy are worth, what luck its dice brought, and what of it can be solved and kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dicegym.engine.game import Game
from dicegym.games import game as make_game
from dicegym.games.solved import Claim, Solution
from dicegym.games.worth import ActionValues, Meter, Progress, ValueKind, ValueSource, ValueUnit
from dicegym.games.yatzy.exact import SolvedPlayer, optimum
from dicegym.games.yatzy.rules import BONUS, BONUS_FROM, SPEC
from dicegym.games.yatzy.solving import alone, any_scoring, box_worth, distributions
from dicegym.play.player import Player


def sources(game: Game) -> Sequence[ValueSource]:
    """Return where values of ``game`` come from, the best first: other ones for one player than for more."""
    if game.name != SPEC.name:
        return ()
    if game.players > 1:
        doc = (
            "shares of the first place, exact if all go on for the most points; half a minute unless it has been solved"
        )
        ready = distributions.ready
        return (ValueSource(WinningValuer.name, "exact", doc, ready, lambda progress: WinningValuer(game, progress)),)
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
        self._known = self._find(progress)

    def _find(self, progress: Progress | None) -> box_worth.Known:
        return box_worth.points_by(alone.values(progress))

    def _so_far(self, states: np.ndarray) -> np.ndarray:
        """Return what is added to values, by state and seat: the points so far, the bonus included."""
        bonus = np.where(states["upper"][:, :1] >= BONUS_FROM, float(BONUS), 0.0)
        found: np.ndarray = states["totals"][:, :1] + bonus
        return found

    def value(self, state: Any, seat: int = 0) -> float:
        """Return what a state is worth to a seat; see `Valuer.value`."""
        return float(self.values_rows(np.atleast_1d(state))[0, seat])

    def values_rows(self, states: np.ndarray) -> np.ndarray:
        """Return `value` of every state for every seat: float64[states, players]."""
        out = np.empty((len(states), self.game.players))
        box_worth.value_rows(self._known, states, out)
        return self._so_far(states) + out

    def action_values(self, state: Any) -> ActionValues:
        """Return what each action is worth to the player to move; see `Valuer.action_values`."""
        rows = self.action_values_rows(np.atleast_1d(state))
        return ActionValues(rows.values[0], rows.errors[0])

    def action_values_rows(self, states: np.ndarray) -> ActionValues:
        """Return `action_values` of every state, none of which is over: arrays of float64[states, n_actions]."""
        seats = states["player"].astype(np.int64)
        values = self._so_far(states) + box_worth.action_values(self._known, states, seats)
        return ActionValues(values, np.where(np.isnan(values), np.nan, 0.0))

    def action_value(self, state: Any, action: int) -> float:
        """Return the same of one action, whatever it is; see `Valuer.action_value`.

        Of an action that makes the server play turns, it is what then follows.
        """
        before = np.atleast_1d(state)
        after, costs = before.copy(), np.zeros(1)
        self.game.step(after[0], action)
        box_worth.add_costs(self._known, before, np.arange(1), np.array([action]), after, costs)
        return self.value(state, int(state["player"])) - float(costs[0])

    def policy(self, state: Any) -> np.ndarray:
        """Return 1 for the best action (of equal ones the first), 0 for all others; see `Valuer.policy`."""
        chosen = np.zeros(self.game.n_actions)
        chosen[np.nanargmax(self.action_values(state).values)] = 1.0
        return chosen


class WinningValuer(AloneValuer):
    """Says what states of Yatzy for two to six are worth: the share of the first place that they lead to.

    The player to move ends its turn as it wins most often, and from then on all play for the highest mean of points,
    as good players nearly do. So what a turn begun now gains by playing to win is counted, what later ones will is
    not: between two turns values are too low for the next player by about 0.001. The distributions of all final totals
    are exact, to a 65535th of their peak. Turns that the server plays for players that gave up are not foreseen.
    """

    name = distributions.NAME
    unit: ValueUnit = "win rate"
    sure = "exact if everybody goes on for the most points once this turn is over"

    def _find(self, progress: Progress | None) -> box_worth.Known:
        return box_worth.shares_by(distributions.distributions(progress))

    def _so_far(self, states: np.ndarray) -> np.ndarray:
        return np.zeros((1, 1))


class WinningPlayer(SolvedPlayer):
    """Plays for the first place as `WinningValuer` says, against any number; alone it cannot play."""

    name = "winning"

    def act_rows(self, game: Game, states: np.ndarray, rows: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """Return an action for each row; see `Player.act_rows`."""
        out = np.empty(len(rows), np.int64)
        box_worth.choose_rows(box_worth.shares_by(distributions.distributions()), states, rows, seats, out)
        return out


def meter(game: Game, players: Sequence[Player | None], seats: np.ndarray) -> Meter | None:
    """Return a meter for games of Yatzy; who plays does not matter to it. See `dicegym.games.worth.Luck`."""
    points = game.players == 1
    known = box_worth.points_by(alone.values()) if points else box_worth.shares_by(distributions.distributions())
    return RollMeter(known, len(seats), game.players)


class RollMeter:
    """Adds up what rolls brought, in points or in shares of the first place; see `dicegym.games.worth.Meter`."""

    def __init__(self, known: box_worth.Known, games: int, players: int) -> None:
        self.luck = np.zeros((games, players))
        self._known = known

    def begin(self, states: np.ndarray, rows: np.ndarray) -> None:
        """Note that games have begun; see `Meter.begin`."""
        box_worth.begin_rows(self._known, states, rows, self.luck)

    def add(self, before: np.ndarray, rows: np.ndarray, actions: np.ndarray, after: np.ndarray) -> None:
        """Note that actions were played; see `Meter.add`."""
        box_worth.add_rows(self._known, before, rows, actions, after, self.luck)


SETTINGS: Sequence[Mapping[str, int]] = ({"players": distributions.KEPT_FOR.players},)
"""Tables of several players are kept once, for two, and serve any number of them."""


class DistributionTables:
    """The distributions of the 1,430,528 positions between two turns; see `dicegym.games.solved.Solution`."""

    name = distributions.NAME
    doc = "how the points still to come are distributed for the best mean, in all positions, for any table"
    measure = ""
    goal = 0.0

    def memory(self) -> int:
        """Return the bytes that solving takes."""
        return distributions.MEMORY

    def disk(self) -> int:
        """Return the bytes that the tables take."""
        return distributions.DISK

    def minutes(self) -> float:
        """Return how long it took on two cores."""
        return 0.5

    def quality(self, folder: Path) -> float | None:
        """Return 0 if the tables are there; see `Solution.quality`."""
        if not distributions.is_kept(folder):
            return None
        distributions.check(folder)
        return 0.0

    def solve(self, folder: Path, *, goal: float, seconds: float | None, threads: int, progress: Progress) -> float:
        """Solve it from the beginning, whatever ``seconds`` says: it takes half a minute. See `Solution.solve`."""
        distributions.write(folder, distributions.compute_distributions(progress, threads))
        return 0.0


def solutions(game: Game) -> Sequence[Solution]:
    """Return what can be solved: all of it with the parameters of `SETTINGS`."""
    return (DistributionTables(),) if game == distributions.KEPT_FOR else ()


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
