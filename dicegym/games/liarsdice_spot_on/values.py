"""Values, luck and the solution of Liar's Dice with "spot on"; both games share them in `dicegym.games.bidding`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dicegym.engine.game import Game
from dicegym.games.bidding.luck import meter
from dicegym.games.bidding.solving.solution import EquilibriumSolution
from dicegym.games.bidding.values import best_reply, check_best_reply, exploitability, game_claims, sources
from dicegym.games.parts import plays_with
from dicegym.games.solved import Claim, Solution

__all__ = ["best_reply", "check_best_reply", "claims", "exploitability", "meter", "solution", "sources"]

SETTINGS: Sequence[Mapping[str, int]] = ({"players": 2, "dice": 2}, {"players": 2, "dice": 3})
"""The parameters of games that are solved with all bids remembered."""
NEEDS = (
    "up to 0.3 GB of memory, 2 MB of disk, about 6 seconds on two cores",
    "up to 1.9 GB of memory, 0.6 GB of disk, about 2 minutes on two cores",
)
"""Measured with six faces, for each of the `SETTINGS`."""


def solution(game: Game) -> Solution | None:
    """Return what can be solved of ``game``."""
    for settings, steps, needs in zip(SETTINGS, (200, 300), NEEDS, strict=True):
        if plays_with(game, settings):
            return EquilibriumSolution(game, steps, needs)
    return None


def claims() -> Sequence[Claim]:
    """Return the published values of the game with "spot on"."""
    return game_claims("liarsdice_spot_on", 0.5, 0.88e-3)
