"""True values instead of estimates, for the games that can be solved.

A game that has them has a module of its name here, found by `solver`; every other game has none, and generic
code asks before it offers more.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, cast

import numpy as np

from dicegym.engine.game import Game
from dicegym.play.player import Player
from dicegym.registry import GAMES


class Duel(Protocol):
    """What the module of a game for two offers.

    A table is a strategy as an array that only the module reads. Where a strategy is asked for, a player, a
    function in the form of the game's original interface, or a table made for the same game may be given. All
    of them raise AgentError if a player fails or chooses what the rules do not know, and ParameterError for a
    table that does not fit the game and for a game that the module does not solve.
    """

    def solves(self, game: Game) -> bool:
        """Return whether the game, with its parameters, has exact values."""

    def tabulate(self, player: Player | Callable[..., Any], game: Game) -> np.ndarray:
        """Return all that ``player`` would choose, each choice asked once."""

    def win_rate(self, a: Any, b: Any, game: Game) -> float:
        """Return the probability that strategy ``a`` beats ``b``, who moves first being drawn by a fair coin."""

    def win_rate_matrix(self, strategies: Sequence[Any], game: Game) -> np.ndarray:
        """Return float64[n, n]: `win_rate` of each strategy (row) against each other one (column)."""

    def best_response(self, opponent: Any, game: Game) -> tuple[float, np.ndarray]:
        """Return the best win rate against ``opponent`` for one who sees everything, and how to play it."""

    def best_table(self, opponent: Any, game: Game, *, seed: int = 0, trials: int = ...) -> tuple[float, np.ndarray]:
        """Return the best win rate found for a table against ``opponent``, and the table."""

    def best_bot(self, opponent: Player, game: Game, *, seed: int = 0, trials: int = ...) -> str:
        """Return the source of a bot, in the game's original interface, that plays `best_table`."""


class Estimate(NamedTuple):
    """A mean over games."""

    mean: float
    half: float
    """Half the width of its 95 % interval."""
    games: int


class Solitaire(Protocol):
    """What the module of a game for one offers. All raise ParameterError for a game that it does not solve."""

    def solves(self, game: Game) -> bool:
        """Return whether the game, with its parameters, has exact values."""

    def optimum(self, game: Game) -> float:
        """Return the mean return of the best way to play."""

    def mean_return(self, player: Player, game: Game, games: int = ..., seed: int = 0) -> Estimate:
        """Return the mean return of ``player``: the optimum less what its choices cost in ``games`` games.

        Luck is taken out, so a few games say what otherwise takes thousands. Raises AgentError if it fails.
        """


def solver(game: Game | str) -> Duel | None:
    """Return the module with the exact values of a game for two, or None if there are none.

    Asked with a name it looks for the module alone; asked with a `Game`, also whether its parameters allow them.
    """
    return cast(Duel | None, _module(game, "win_rate"))


def solitaire(game: Game | str) -> Solitaire | None:
    """Return the module with the exact values of a game for one, or None if there are none; see `solver`."""
    return cast(Solitaire | None, _module(game, "optimum"))


def _module(game: Game | str, question: str) -> Any:
    """Return the module of a game if it answers ``question`` and solves the game, else None."""
    game_name = game if isinstance(game, str) else game.name
    name = f"dicegym.games.{game_name}.exact"
    if game_name not in GAMES or importlib.util.find_spec(name) is None:
        return None
    module: Any = importlib.import_module(name)
    fits = hasattr(module, question) and (isinstance(game, str) or module.solves(game))
    return module if fits else None
