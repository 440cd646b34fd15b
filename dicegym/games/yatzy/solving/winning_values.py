"""What states of Yatzy for two to six are worth: the share of the first place that they lead to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dicegym.engine.game import Game
from dicegym.games.worth import ActionValues, Progress, ValueKind, ValueSource, ValueUnit
from dicegym.games.yatzy.rules import SPEC
from dicegym.games.yatzy.solving import distributions, winning
from dicegym.games.yatzy.view import record_of
from dicegym.play.player import Player
from dicegym.play.turn import Act, Turn


def sources(game: Game) -> Sequence[ValueSource]:
    """Return the values of tables, if ``game`` is one."""
    if game.name != SPEC.name or game.players == 1:
        return ()
    doc = "shares of the first place, exact if all go on for the most points; half a minute unless it has been solved"
    ready = distributions.ready
    return (ValueSource(WinningValuer.name, "exact", doc, ready, lambda progress: WinningValuer(game, progress)),)


class WinningValuer:
    """Says what states of Yatzy for two to six are worth; see `dicegym.games.worth.Valuer`.

    The player to move ends its turn as it wins most often, and from then on all play for the highest mean of points,
    as good players nearly do. So what a turn begun now gains by playing to win is counted, what later ones will is
    not: between two turns values are too low for whoever is next by about 0.001. The distributions of all final totals
    are exact, to a 65535th of their peak. Turns that the server plays for those who gave up are not foreseen.
    """

    name = "distributions"
    kind: ValueKind = "exact"
    unit: ValueUnit = "win rate"
    sure = "exact if everybody goes on for the most points once this turn is over"
    sees_all = False

    def __init__(self, game: Game, progress: Progress | None = None) -> None:
        self._rest = distributions.distributions(progress)
        self.game = game

    def value(self, state: Any, seat: int) -> float:
        """Return the share of the first place of a seat; see `Valuer.value`."""
        return float(self.values_rows(_one(state))[0, seat])

    def values_rows(self, states: np.ndarray) -> np.ndarray:
        """Return the same for all seats of many states; see `dicegym.games.worth.BatchValuer`."""
        out = np.empty((len(states), self.game.players))
        winning.value_rows(self._rest, states, out)
        return out

    def action_values(self, state: Any) -> ActionValues:
        """Return the share of the player to move after each action; see `Valuer.action_values`."""
        rows = self.action_values_rows(_one(state))
        return ActionValues(rows.values[0], rows.errors[0])

    def action_values_rows(self, states: np.ndarray) -> ActionValues:
        """Return the same for many states; see `dicegym.games.worth.BatchValuer`."""
        out = np.empty((len(states), self.game.n_actions))
        winning.action_rows(self._rest, states, out)
        return ActionValues(out, np.where(np.isnan(out), np.nan, 0.0))

    def action_value(self, state: Any, action: int) -> float:
        """Return the share of the player to move after one action, whatever it is; see `Valuer.action_value`.

        Of an action that makes the server play turns, it is the share that then follows.
        """
        before = _one(state)
        after = before.copy()
        self.game.step(after[0], action)
        return float(winning.action_share(self._rest, before[0], action, after[0]))

    def policy(self, state: Any) -> np.ndarray:
        """Return 1 for the best action, 0 for all others; see `Valuer.policy`."""
        chosen = np.zeros(self.game.n_actions)
        chosen[np.nanargmax(self.action_values(state).values)] = 1.0
        return chosen


def _one(state: Any) -> np.ndarray:
    """Return a batch of this record alone."""
    states: np.ndarray = np.atleast_1d(state)
    return states


class WinningPlayer(Player):
    """Plays for the first place as `WinningValuer` says, against any number; alone it cannot play."""

    name = "winning"
    pure = True

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Sit down at a table; see `Player.join`."""
        rest = distributions.distributions()

        def act(turn: Turn) -> int:
            return int(_choose(rest, _one(record_of(turn.game, turn.view)), np.zeros(1, np.int64), np.array([seat]))[0])

        return act

    def act_rows(self, game: Game, states: np.ndarray, rows: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """Return an action for each row; see `Player.act_rows`."""
        return _choose(distributions.distributions(), states, rows, seats)


def _choose(rest: Any, states: np.ndarray, rows: np.ndarray, seats: np.ndarray) -> np.ndarray:
    out = np.empty(len(rows), np.int64)
    winning.choose_rows(rest, states, rows, seats, out)
    return out
