"""Values, luck and the solution of classic Liar's Dice; both games share them in `dicegym.games.bidding`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dicegym.engine.game import Game
from dicegym.games.bidding.luck import meter
from dicegym.games.bidding.solving.solution import EquilibriumSolution
from dicegym.games.bidding.values import best_reply, check_best_reply, exploitability, game_claims, hand_claims, sources
from dicegym.games.parts import plays_with
from dicegym.games.solved import Claim, Solution

__all__ = ["best_reply", "check_best_reply", "claims", "exploitability", "meter", "solution", "sources"]

SETTINGS: Sequence[Mapping[str, int]] = ({"players": 2, "dice": 2},)
"""The parameters of games that are solved with all bids remembered."""


def solution(game: Game) -> Solution | None:
    """Return what can be solved of ``game``."""
    needs = "up to 6.6 GB of memory, 2.2 GB of disk, about 3 minutes on two cores"
    return EquilibriumSolution(game, 1000, needs) if plays_with(game, SETTINGS[0]) else None


def claims() -> Sequence[Claim]:
    """Return the published values of the classic game."""
    hands = {(1, 1): -1 / 9, (2, 1): 212027 / 771552, (1, 2): -22 / 81}
    return (*hand_claims("liarsdice", hands), *game_claims("liarsdice", 4 / 9, 0.22e-3))
