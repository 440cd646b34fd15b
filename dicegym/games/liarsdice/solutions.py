"""What can be solved and kept: the equilibrium of two players with two dice each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dicegym.engine.game import Game
from dicegym.games.bidding.solving.solution import EquilibriumSolution
from dicegym.games.parts import plays_with
from dicegym.games.solved import Solution

SETTINGS: Sequence[Mapping[str, int]] = ({"players": 2, "dice": 2},)


def solutions(game: Game) -> Sequence[Solution]:
    """Return what can be solved of ``game``. The figures are those of two cores, measured."""
    return (EquilibriumSolution(game, steps=1000, minutes=10),) if plays_with(game, SETTINGS[0]) else ()
