"""A valuer for every game: what states are worth by playing on from them."""

from __future__ import annotations

from typing import Any

import numpy as np

from dicegym.analysis.playing_on import Continuation, unit_of
from dicegym.analysis.policies import DRAWS, policy_player, record_bytes, usual_policy
from dicegym.analysis.rollouts import rollout
from dicegym.engine import loops
from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games.worth import ActionValues, Progress, ValueKind, Valuer, ValueSource
from dicegym.play.player import draws_openly

GAMES = 1_000
"""Games with each choice at the most."""


class RolloutValuer:
    """What states are worth by the mean of games that are played on; see `dicegym.analysis.rollouts.rollout`.

    The same state gives the same values: all dice follow from ``seed``.

    Args:
        game: the game.
        player: who plays on for everybody: a name, a player or a valuer (default: the usual one).
        games: games with each choice at the most.
        leaves: a valuer that ends games early.
        seed: names all dice.
        threads: number of threads.

    Raises as `rollout` does.
    """

    name = "rollouts"
    kind: ValueKind = "rollouts"
    sees_all = False

    def __init__(
        self,
        game: Game,
        player: Any = None,
        games: int = GAMES,
        leaves: Valuer | None = None,
        seed: int = 0,
        threads: int = 2,
    ) -> None:
        self.game = game
        self.unit = unit_of(game)
        self._player = policy_player(game, usual_policy(game) if player is None else player)
        self._games, self._leaves, self._seed, self._threads = games, leaves, seed, threads
        self._table = Continuation(game, [self._player] * game.players, leaves, threads)
        self.sure = f"means of up to {games:,} games each, played on by {self._player.name}"

    def value(self, state: Any, seat: int) -> float:
        """Return the mean of games that are played on from the whole record with other dice to come."""
        return float(self._values(state)[seat])

    def _values(self, state: Any) -> np.ndarray:
        """Return `value` for every seat, of the same games: float64[players]."""
        generator = np.random.default_rng(named_seed("value", self._seed))
        states = self.game.new_states(self._games)
        states[:] = state
        if not state["over"]:
            states["key"] = generator.integers(0, 1 << 64, self._games, dtype=np.uint64)
        means: np.ndarray = self._table.finish(states, state).mean(axis=0)
        return means

    def values_rows(self, states: np.ndarray) -> np.ndarray:
        """Return `value` of every state for every seat: float64[states, players]."""
        return np.array([self._values(state) for state in states])

    def action_values(self, state: Any) -> ActionValues:
        """Return the mean of each legal action's games with its standard error; see `Valuer`."""
        size = self.game.n_actions
        found = ActionValues(np.full(size, np.nan), np.full(size, np.nan), np.full(size, np.nan))
        if not state["over"]:
            for one in self._rollout(state, None).candidates:
                found.values[one.action], found.errors[one.action] = one.value, one.error
                found.behind[one.action] = one.difference_error  # type: ignore[index]  # three arrays, as made above
        return found

    def action_values_rows(self, states: np.ndarray) -> ActionValues:
        """Return `action_values` of every state, none of which is over."""
        found = [self.action_values(state) for state in states]
        return ActionValues(
            np.stack([one.values for one in found]),
            np.stack([one.errors for one in found]),
            np.stack([one.behind for one in found if one.behind is not None]),
        )

    def action_value(self, state: Any, action: int) -> float:
        """Return the mean of one action's games; nan when the game is over."""
        return float("nan") if state["over"] else self._rollout(state, [action]).best.value

    def policy(self, state: Any) -> np.ndarray:
        """Return how often whoever plays on chooses each action; see `Valuer`."""
        states = self.game.new_states(DRAWS)
        states[:] = state
        states["key"] = [named_seed("policy", number) for number in range(DRAWS)]
        chances = np.zeros(self.game.n_actions)
        if state["over"]:
            return chances
        if draws_openly(self._player):
            exactly: np.ndarray = self._player.chances(self.game, states[:1])[0]
            return exactly
        if not self._player.at_once:
            raise ParameterError(f"{self._player.name} does not say how likely it chooses what: name another player")
        seats = np.full(DRAWS, state["player"], np.int64)
        actions = self._player.act_rows(self.game, states, np.arange(DRAWS), seats)
        for action, number in zip(*np.unique(actions, return_counts=True), strict=True):
            chances += number * ordinary(self.game, state, int(action))
        shares: np.ndarray = chances / chances.sum()
        return shares

    def _rollout(self, state: Any, actions: list[int] | None) -> Any:
        return rollout(
            self.game,
            state,
            actions=actions,
            games=self._games,
            player=self._player,
            leaves=self._leaves,
            seed=self._seed,
            threads=self._threads,
        )


def ordinary(game: Game, state: Any, action: int) -> np.ndarray:
    """Return which legal ordinary action does what ``action`` does, a wide one perhaps: float64[n_actions], in all 1.

    Where none does all of it, the first step towards it is not known: each legal action counts alike.
    """
    legal = np.flatnonzero(game.legal(state))
    found = np.zeros(game.n_actions)
    if action in legal:
        found[action] = 1
        return found
    states = game.new_states(1 + len(legal))
    states[:] = state
    loops.step_rows(
        states, np.arange(len(states)), np.array([action, *legal], np.int64), np.zeros(len(states), np.int64)
    )
    raw = record_bytes(states)
    same = legal[(raw[1:] == raw[0]).all(axis=1)][:1]
    chosen = same if len(same) else legal
    found[chosen] = 1 / len(chosen)
    return found


def rollout_source(game: Game) -> ValueSource:
    """Return the source of a `RolloutValuer` with what is usual."""

    def load(progress: Progress | None) -> Valuer:
        return RolloutValuer(game)

    return ValueSource("rollouts", "rollouts", "the mean of games that are played on from a state", lambda: True, load)
