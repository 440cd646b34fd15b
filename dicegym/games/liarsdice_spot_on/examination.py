"""The opponents of bots in smoke games. What this part offers: `dicegym.games.parts.Sparring`."""

from __future__ import annotations

import numpy as np

from dicegym.engine.game import Game
from dicegym.games.bidding import examination
from dicegym.games.liarsdice_spot_on.rules import LIAR, WILD
from dicegym.play.player import Player


def set_table(game: Game, number: int, seat: int) -> tuple[np.ndarray, Player]:
    """Return a game that leads a bot to every number of dice, and its opponents."""
    return examination.set_table(game, number, seat, WILD, LIAR)
