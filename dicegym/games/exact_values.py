"""What a game's ``exact.py`` offers where it is solved for two: true win rates, not estimates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from dicegym.engine.game import Game
from dicegym.games.worth import Progress, SearchTime
from dicegym.play.player import Player


class Duel(Protocol):
    """What ``exact.py`` of a game for two offers, if it can be solved: true values instead of estimates.

    A table is a strategy as an array that only the module reads. Where a strategy is asked for, a player, a
    function in the form of the game's original interface, or a table made for the same game may be given. All
    of them raise AgentError if a player fails or chooses what the rules do not know, and ParameterError for a
    table that does not fit the game and for a game that the module does not solve.
    """

    SOLVED: Mapping[str, int]
    """Parameters, the number of players among them, with which the game can be solved."""
    MIXED: bool
    """Whether tables hold probabilities, so that those are measured who draw and can be asked with which
    (`dicegym.play.player.DrawsOpenly`). Elsewhere such a player has no exact values."""

    def solves(self, game: Game) -> bool:
        """Return whether the game, with its parameters, has exact values."""

    def questions(self, game: Game) -> int:
        """Return how many questions at most `tabulate` asks a player that may draw and does not say how."""

    def tabulate(self, player: Player | Callable[..., Any], game: Game) -> np.ndarray:
        """Return all that ``player`` would choose."""

    def win_rate(self, a: Any, b: Any, game: Game) -> float:
        """Return the probability that strategy ``a`` beats ``b``, who moves first being drawn by a fair coin."""

    def win_rate_matrix(self, strategies: Sequence[Any], game: Game, *, progress: Progress | None = None) -> np.ndarray:
        """Return float64[n, n]: `win_rate` of each strategy (row) against each other one (column).

        ``progress`` is called after each of the n (n - 1) / 2 pairs.
        """

    def best_response(self, opponent: Any, game: Game) -> tuple[float, np.ndarray]:
        """Return the best win rate against ``opponent`` for a player that sees everything, and how to play it."""

    def best_table(
        self,
        opponent: Any,
        game: Game,
        *,
        seed: int = 0,
        trials: int = ...,
        progress: Progress | None = None,
        time: SearchTime | None = None,
    ) -> tuple[float, np.ndarray]:
        """Return the best win rate found for a table against ``opponent``, and the table.

        With ``time`` the search takes that long, whatever ``trials`` says.
        """

    # A module may also have ``best_bot(opponent, game, *, seed, trials, progress)``, which returns the source of a bot
    # that plays `best_table`.


Z_95 = 1.959963984540054
"""Two-sided 95 % quantile of the normal distribution: ``NormalDist().inv_cdf(0.975)``, whose last digit is another,
correctly rounded. Intervals that were kept, in models' files and as JSON, are made with it to their last digit."""


class Estimate(NamedTuple):
    """A mean over games."""

    mean: float
    half: float
    """Half the width of its 95 % interval."""
    games: int
