"""The equilibrium of a game for two who remember the last bids alone, with its number of dice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dicegym.engine.game import Game
from dicegym.games.bidding.solving.hand_by_hand import HandByHand, more_dice_are_better, recall_of
from dicegym.games.bidding.solving.recall_hand import HandSolver
from dicegym.games.parts import plays_with
from dicegym.games.solved import Solution

SETTINGS: Sequence[Mapping[str, int]] = tuple({"players": 2, "dice": dice} for dice in (5, 4, 3))
"""Games that are solved so; with fewer dice all bids can be remembered."""
FILE = "equilibrium.table"
TIMES = 100
"""How often each hand is gone through for the strategy; twice as often where few dice are left."""


class RecallSolution(HandByHand):
    """The equilibrium of a game for two with its number of dice; a `dicegym.games.solved.Solution`."""

    name = "equilibrium"
    doc = "an approximate equilibrium for two: the last two bids of a hand remembered, three where few dice are left"
    file = FILE

    def __init__(self, game: Game) -> None:
        dice = int(game.parameters["dice"])
        sizes = [(own, others) for own in range(1, dice + 1) for others in range(1, own + 1)]
        super().__init__(game, sizes, TIMES, more_dice_are_better(dice))

    def memory(self) -> int:
        """Return the bytes that solving takes at most: most of it for all pairs of rolls in all states."""
        return int(1.2e9) if self.dice > 4 else int(0.6e9)

    def minutes(self) -> float:
        """Return about how many minutes it takes: one core does all of it."""
        return 3.0 * len(self._times) if self.dice > 4 else 1.5

    def _solver(self, own: int, others: int, last: bool) -> HandSolver:
        return HandSolver(self.game, own, others, recall_of(own, others))

    def _take(self, found: list[float], values: np.ndarray, own: int, others: int) -> None:
        values[own, others], values[others, own] = found[0], found[-1]


def settings_but(exact: Sequence[Mapping[str, int]]) -> Sequence[Mapping[str, int]]:
    """Return those of `SETTINGS` that are not solved better."""
    return tuple(settings for settings in SETTINGS if settings not in exact)


def solutions(game: Game) -> Sequence[Solution]:
    """Return what can be solved so of ``game``."""
    return (RecallSolution(game),) if is_solved_so(game) else ()


def is_solved_so(game: Game) -> bool:
    """Return whether players who remember the last bids alone can be solved: their tables know dice of six faces."""
    return not game.added_parameters and any(plays_with(game, settings) for settings in SETTINGS)
