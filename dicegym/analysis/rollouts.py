"""Rollouts: the value of each action, estimated by playing the game on many times.

In each game the player to move tries each candidate once, with the same dice to come and the same hidden dice of
others, which reduces the variance of their differences. What others hide is drawn anew for each game, as the player to
move may believe it (`dicegym.analysis.playing_on.Beliefs`).

After each doubling of the games, a candidate is dropped if it is worse than the best by more than `SURE` standard
errors of the difference in the same games. Ten looks at two hundred rivals drop the best in at most one run of fifteen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dicegym.analysis.playing_on import RANDOM, Beliefs, play_on, results, suppose_players, unit_of, usual_policy
from dicegym.engine import loops
from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.engine.validate import seed_number, whole_number
from dicegym.games import game as make_game
from dicegym.games.worth import ActionValues, ValueKind, Valuer
from dicegym.play.player import RandomPlayer
from dicegym.players.roster import opponent

GAMES = 1_000
"""The default limit of games with each candidate."""
SURE = 4.0
"""Standard errors: a normal variable exceeds them in one of 31,000 cases."""
LEAST = 100
"""Games before any candidate is dropped: fewer differences are not normal."""
_FIRST, _LARGEST = 128, 16_384
"""Games with each candidate before the first look, and the most between two looks; each look doubles the games."""


class RolloutValuer(Valuer):
    """Values of states as means of games that are played on.

    The same state has the same values: all dice follow from ``seed``.

    Args:
        game: the game.
        player: plays on in every seat: an agent's name or a `dicegym.play.player.Player`; default:
            `dicegym.analysis.playing_on.usual_policy`.
        games: the limit of games with each choice.
        seed: names all dice.

    Raises:
        UnknownNameError, AgentError, ModelError, DependencyError: the player cannot play; see `dicegym.agent`.
        ParameterError: an argument is out of range. Its methods raise it where a game does not end, or has no
            ``chance.py`` that says what may be believed of what it hides.

    Example:
        >>> import dicegym
        >>> from dicegym.analysis.rollouts import RolloutValuer
        >>> game = dicegym.game("hog")
        >>> values = RolloutValuer(game, "bacon", games=200).action_values(game.new_game(seed=1)[0])
        >>> bool((values.errors > 0).all())
        True
    """

    name = "rollouts"
    kind: ValueKind = "rollouts"
    sees_all = False

    def __init__(self, game: Game | str, player: Any = None, games: int = GAMES, seed: int = 0) -> None:
        self.game = game = make_game(game)
        self.unit = unit_of(game)
        self._games = whole_number("games", games, 2, 10**9, "the games with each candidate")
        self._player = opponent(game, usual_policy(game) if player is None else player)
        self._players = [self._player] * game.players
        self._seed = seed_number("seed", seed)
        self.sure = f"means of up to {games:,} games each, played on by {self._player.name}"

    def values_rows(self, states: np.ndarray) -> np.ndarray:
        """Return the mean of games played on from each whole record with new dice: float64[states, players]."""
        found = []
        for state in states:
            generator = np.random.default_rng(named_seed("value", self._seed))
            copies = self.game.new_states(self._games)
            copies[:] = state
            if not state["over"]:
                copies["key"] = generator.integers(0, 1 << 64, self._games, dtype=np.uint64)
            found.append(self._results(copies).mean(axis=0))
        return np.array(found)

    def _results(self, states: np.ndarray) -> np.ndarray:
        """Play games to their ends, in place; return their results in `unit_of` the game: float64[states, players]."""
        play_on(self.game, states, self._players)
        return results(self.game, states)

    def action_values_rows(self, states: np.ndarray) -> ActionValues:
        """Return the mean of each legal action's games with its standard error; no state may be over."""
        values, errors, behind = (np.full((len(states), self.game.n_actions), np.nan) for _ in range(3))
        for row, state in enumerate(states):
            legal = np.flatnonzero(self.game.legal(state))
            values[row, legal], errors[row, legal], behind[row, legal] = self._race(state, legal).summary()
        return ActionValues(values, errors, behind)

    def action_value(self, state: Any, action: int) -> float:
        """Return the mean of the games of one action, legal, illegal or wide; nan when the game is over."""
        return float("nan") if state["over"] else float(self._race(state, [action]).summary()[0][0])

    def _race(self, state: Any, actions: Sequence[int] | np.ndarray) -> _Race:
        """Return the results of actions in the same games."""
        beliefs = Beliefs(self.game, state, self._players)
        race = _Race(len(actions), 0.0 if self.unit == "points" else 1.0)
        generator = np.random.default_rng(named_seed("rollout", self._seed))
        step = _FIRST
        while race.games < self._games and (len(race.left) > 1 or len(actions) == 1):
            n = min(step, self._games - race.games)
            dealt = beliefs.deal(n, generator.integers(0, 1 << 64, n, dtype=np.uint64), generator)
            states = dealt[np.tile(np.arange(n), len(race.left))]
            tried = np.repeat(np.array([actions[one] for one in race.left], np.int64), n)
            loops.step_rows(states, np.arange(len(states)), tried, np.zeros(len(states), np.int64))
            race.add(self._results(states)[:, beliefs.seat].reshape(-1, n))
            step = min(race.games, _LARGEST)
        return race


class _Race:
    """Results of candidates in the same games, and the candidates that are left.

    A standard error is at least ``least`` / games: what never happened in n games may still happen in one of n.
    """

    def __init__(self, n: int, least: float) -> None:
        self._least = least
        self.left = list(range(n))
        self.games = 0
        self._values = [np.zeros(0) for _ in range(n)]

    def add(self, values: np.ndarray) -> None:
        """Add games of the candidates that are left, and drop those that are clearly worse than another."""
        self.games += values.shape[1]
        for one, own in zip(self.left, values, strict=True):
            self._values[one] = np.concatenate([self._values[one], own])
        if self.games >= LEAST:
            behind = {one: self._behind(one) for one in self.left}
            self.left = [one for one, (mean, error) in behind.items() if mean <= SURE * error]

    def _behind(self, one: int) -> tuple[float, float]:
        """Return how far a candidate is behind the best in the games of both, and the standard error of that."""
        best = max(self.left, key=lambda each: self._values[each].mean())
        n = len(self._values[one])
        gap = self._values[best][:n] - self._values[one]
        return (0.0, 0.0) if best == one else (float(gap.mean()), _error(gap))

    def summary(self) -> tuple[list[float], list[float], list[float]]:
        """Return the mean of each candidate, its standard error, and that of its distance behind the best."""
        errors = [max(_error(own), self._least / len(own)) for own in self._values]
        behind = [self._behind(one)[1] for one in range(len(self._values))]
        return [float(own.mean()) for own in self._values], errors, behind


def _error(values: np.ndarray) -> float:
    """Return the standard error of a mean."""
    return float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.inf


def sample_returns(game: Game, state: Any, n: int, *, policy: Any = None, seed: int = 0) -> np.ndarray:
    """Play a state on to the end ``n`` times; return each seat's returns: see `dicegym.engine.state.State.rollouts`."""
    n = whole_number("n", n, 1, 10**8, "a number of games")
    is_random = policy is None or (isinstance(policy, str) and policy == RANDOM)
    player = RandomPlayer() if is_random else opponent(game, policy)
    if state["over"]:
        return np.tile(game.returns(state), (n, 1))
    generator = np.random.default_rng(named_seed("rollouts", seed_number("seed", seed)))
    keys = generator.integers(0, 1 << 64, n, dtype=np.uint64)
    dealt = Beliefs(game, state, suppose_players(game)).deal(n, keys, generator)
    return play_on(game, dealt, [player] * game.players)
