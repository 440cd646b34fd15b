"""Values, luck and solutions of Liar's Dice with "spot on"; both games share them in `dicegym.games.bidding`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dicegym.engine.game import Game
from dicegym.games.bidding.luck import meter
from dicegym.games.bidding.solving.solution import EquilibriumSolution
from dicegym.games.bidding.values import best_reply, check_best_reply, exploitability, game_claims, sources
from dicegym.games.parts import plays_with
from dicegym.games.solved import Claim, Solution

__all__ = ["best_reply", "check_best_reply", "claims", "exploitability", "meter", "solutions", "sources"]

SETTINGS: Sequence[Mapping[str, int]] = ({"players": 2, "dice": 2}, {"players": 2, "dice": 3})
"""The parameters of games that are solved with all bids remembered."""


def solutions(game: Game) -> Sequence[Solution]:
    """Return what can be solved of ``game``, with the steps and minutes measured on two cores."""
    took = {2: (200, 0.1), 3: (300, 10)}
    return [EquilibriumSolution(game, *took[one["dice"]]) for one in SETTINGS if plays_with(game, one)]


def claims() -> Sequence[Claim]:
    """Return the published values of the game with "spot on"."""
    return game_claims("liarsdice_spot_on", 0.5, 0.88e-3)
