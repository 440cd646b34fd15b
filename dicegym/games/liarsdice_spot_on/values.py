"""What states of Liar's Dice with "spot on" are worth, what luck brought, and what can be solved and kept.

All of it is shared with the other game of hidden dice and rising bids: see `dicegym.games.bidding`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dicegym.engine.game import Game
from dicegym.games.bidding import luck, values
from dicegym.games.bidding.solving import recall_game
from dicegym.games.bidding.solving.solution import EquilibriumSolution
from dicegym.games.bidding.values import check_best_reply, sources
from dicegym.games.liarsdice_spot_on.twins import DRAWING, drawn
from dicegym.games.parts import plays_with
from dicegym.games.solved import Solution
from dicegym.games.worth import Bracket, Meter, Progress, SearchTime
from dicegym.play.player import Player

__all__ = ["best_reply", "check_best_reply", "exploitability", "meter", "solutions", "sources"]

WAYS = luck.Ways(True, DRAWING, drawn)
EXACT: Sequence[Mapping[str, int]] = ({"players": 2, "dice": 2}, {"players": 2, "dice": 3})
"""Games that are solved with all bids remembered."""
SETTINGS = (*EXACT, *recall_game.settings_but(EXACT))
_TOOK = ((200, 0.1), (300, 10))
"""Steps, and minutes of two cores, measured."""


def exploitability(player: Player, game: Game, *, time: SearchTime, progress: Progress | None = None) -> Bracket:
    """Return the bounds of how often the best reply to ``player`` wins; see `dicegym.games.bidding.values`."""
    return values.exploitability(player, game, WAYS, time=time, progress=progress)


def best_reply(player: Player, game: Game, gap: float) -> Bracket:
    """Return bounds of the same that are at most ``gap`` apart; see `dicegym.games.bidding.values`."""
    return values.best_reply(player, game, WAYS, gap)


def meter(game: Game, players: Sequence[Player | None], seats: np.ndarray) -> Meter | None:
    """Return a meter for games between two, None for more; see `dicegym.games.worth.Luck.meter`."""
    return luck.meter(game, players, seats, WAYS)


def solutions(game: Game) -> Sequence[Solution]:
    """Return what can be solved of ``game``."""
    found = tuple(
        EquilibriumSolution(game, *took)
        for settings, took in zip(EXACT, _TOOK, strict=True)
        if plays_with(game, settings)
    )
    return found or recall_game.solutions(game)
