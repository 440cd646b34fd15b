"""The games of a bot's test. What this part offers: `dicegym.games.parts.Examination`."""

from __future__ import annotations

import numpy as np

from dicegym.engine.game import Game
from dicegym.games.lucky.catalogue import FIRST_MULTIPLIER
from dicegym.play.player import Player, RandomPlayer

LONGEST = 200
"""Rounds of the long game."""
MONEY = 300
"""Of everybody in it, at first."""


def set_table(game: Game, number: int, seat: int) -> tuple[np.ndarray, Player]:
    """Return a game and opponents that buy at random: first a long game, in which they empty the shop.

    All but basic dice are sold out in it from the beginning, lest money grow without bounds and end it.
    """
    states = game.new_game(0, number)
    if number == 0:
        state = states[0]
        state["rounds"] = min(int(state["rounds"]), LONGEST)
        state["lead"] = np.iinfo(np.int32).max
        state["shop"][FIRST_MULTIPLIER:] = 0
        state["money"][: game.players] = state["left"][: game.players] = MONEY
    return states, RandomPlayer()
