"""What luck was worth in a game of Liar's Dice with "spot on"; see `dicegym.games.bidding.luck`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dicegym.engine.game import Game
from dicegym.games.bidding import luck
from dicegym.games.liarsdice_spot_on.solving.drawn import DRAWING, MOST_CHOICES, choices
from dicegym.games.worth import Meter
from dicegym.play.player import Player

WAYS = luck.Ways(True, DRAWING, choices, MOST_CHOICES)


def meter(game: Game, players: Sequence[Player | None], seats: np.ndarray) -> Meter | None:
    """Return a meter for games between two, None for more; see `dicegym.games.worth.Luck.meter`."""
    return luck.meter(game, players, seats, WAYS)
