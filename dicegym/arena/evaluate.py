"""How good a player is: its exact win rate where the game has exact values, else games with an interval."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dicegym import loops
from dicegym.core import Game, Parameter
from dicegym.envs.opponents import Opponents
from dicegym.exact import solver
from dicegym.players import Player
from dicegym.players.roster import agent

Z_95 = 1.959963984540054
"""Two-sided 95 % quantile of the normal distribution."""
EVALUATION_SEED = 1 << 63
"""Evaluations play games of seeds from here on; training uses seeds below, so it never sees them."""
AT_ONCE = 1000
"""Games of an evaluation that are played side by side."""


class Score(NamedTuple):
    """A player's result against an opponent."""

    measure: str
    """What ``value`` is, such as "exact win rate"."""
    opponent: str
    value: float
    """Win rate in 0..1 (a shared first place is shared out), or the mean return of a player alone."""
    low: float
    """Lower end of the 95 % interval; ``value`` itself if exact."""
    high: float
    games: int
    """Games played; 0 if exact."""

    def __str__(self) -> str:
        """Return the score in words."""
        interval = f" [{self.low:.4f}, {self.high:.4f}], {self.games} games" if self.games else ""
        return f"{self.value:.4f} {self.measure} against {self.opponent}{interval}"

    def to_json(self) -> dict[str, Any]:
        """Return the score as plain values."""
        return self._asdict()


def evaluate(
    game: Game, player: Any, opponent: Any = None, games: int = 10_000, exact: bool = True, seed: int = 0
) -> Score:
    """Measure ``player`` against ``opponent`` (default: the game's yardstick) from every seat in turn.

    Args:
        game: the game.
        player: an agent, as for `dicegym.agent`.
        opponent: another one, in all other seats.
        games: how many games are played where no exact value exists.
        exact: False: play even if there is an exact value.
        seed: which games; never one that training plays.

    Returns:
        The exact value, or the share of games won with Wilson's 95 % interval. Where nobody else plays, the mean
        return with the normal 95 % interval.

    Raises:
        AgentError, ModelError, UnknownNameError: a player cannot be loaded or fails.
        ParameterError: ``games`` is less than 1, or ``seed`` outside 0 to 2**63 - 1.
    """
    games = Parameter(10_000, 1, 1 << 40, "the number of games of an evaluation").check("games", games)
    seed = Parameter(0, 0, EVALUATION_SEED - 1, "the seed of an evaluation").check("seed", seed)
    player = agent(game, player)
    rival = agent(game, game.rules.yardstick if opponent is None else opponent)
    exact_values = solver(game) if exact else None
    if exact_values is not None:
        value = exact_values.win_rate(player, rival, game)
        return Score("exact win rate", rival.name, value, value, value, 0)
    return _sampled(game, player, rival, games, seed)


def _sampled(game: Game, player: Player, rival: Player, games: int, seed: int) -> Score:
    """Play ``games`` games, the player's seat alternating."""
    results = np.concatenate(
        [
            _results(game, player, rival, first, min(AT_ONCE, games - first), EVALUATION_SEED + seed)
            for first in range(0, games, AT_ONCE)
        ]
    )
    mean = float(results.mean())
    if game.players == 1:
        half = Z_95 * float(results.std()) / games**0.5
        return Score("mean return", "nobody", mean, mean - half, mean + half, games)
    low, high = wilson(mean, games)
    return Score("win rate", rival.name, mean, low, high, games)


def _results(game: Game, player: Player, rival: Player, first: int, n: int, seed: int) -> np.ndarray:
    """Play games number ``first`` to ``first + n - 1`` of ``seed`` side by side; return what the player got (float[n]).

    That is its share of the first place, a shared one shared out; of a player alone it is its return.
    """
    rows = np.arange(n)
    states = game.new_states(n)
    numbers = np.arange(first, first + n, dtype=np.uint64)
    loops.begin_rows(states, rows, game.blank, np.full(n, seed, np.uint64), numbers)
    table = Opponents(game, states)
    seats = (first + rows) % game.players
    for row, seat in enumerate(seats.tolist()):
        table.sit(row, int(states["key"][row]), dict.fromkeys(range(game.players), rival) | {seat: player})
    table.play_out()
    returns = np.array([game.returns(state) for state in states], np.float64)
    if game.players == 1:
        alone: np.ndarray = returns[:, 0]
        return alone
    first_place = returns == returns.max(axis=1, keepdims=True)
    shares: np.ndarray = first_place[rows, seats] / first_place.sum(axis=1)
    return shares


def wilson(rate: float, n: int) -> tuple[float, float]:
    """Return Wilson's 95 % score interval of a share ``rate`` of ``n`` trials (Wilson 1927)."""
    centre = (rate + Z_95**2 / (2 * n)) / (1 + Z_95**2 / n)
    half = Z_95 / (1 + Z_95**2 / n) * float(np.sqrt(rate * (1 - rate) / n + Z_95**2 / (4 * n * n)))
    return max(0.0, centre - half), min(1.0, centre + half)
