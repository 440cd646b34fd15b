"""Equilibria of Liar's Dice for two as what can be solved and kept, and what small ones are worth at once."""

from __future__ import annotations

from functools import lru_cache

from dicegym.engine.game import Game
from dicegym.games.bidding.solving.equilibrium import Dice, Solver, exploitability
from dicegym.games.bidding.solving.learner import Strategy
from dicegym.games.bidding.solving.table_values import EquilibriumValues

NAME = "equilibrium"
AT_ONCE = 2000
"""Steps that a game with one die each is learned for whenever it is asked about; they take about a second."""


def at_once(game: Game) -> bool:
    """Return whether a game is so small that it is solved in memory when it is asked about."""
    return game.players == 2 and game.parameters["dice"] == 1


@lru_cache(maxsize=4)
def solve_at_once(game: Game) -> tuple[dict[Dice, Strategy], float]:
    """Return how the hands of a small game are played, and the exploitability of that."""
    solver = Solver(game)
    while solver.steps < AT_ONCE:
        solver.step()
    strategies = solver.current()
    return strategies, exploitability(solver.groups, strategies)


@lru_cache(maxsize=4)
def values_at_once(game: Game) -> EquilibriumValues:
    """Return what states of a small game are worth."""
    return EquilibriumValues(game, *solve_at_once(game))
