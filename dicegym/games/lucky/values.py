"""Luck of Lucky & Co: what the dice of each round brought beyond their mean."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dicegym.engine.game import Game
from dicegym.games.lucky.solving.luck import luck_rows, products_of_faces
from dicegym.games.worth import Meter
from dicegym.play.player import Player


class RoundMeter:
    """Measures the dice of each round when all have ordered; a `dicegym.games.worth.Meter`."""

    def __init__(self, seats: np.ndarray) -> None:
        self.luck = np.zeros(seats.shape)

    def begin(self, states: np.ndarray, rows: np.ndarray) -> None:
        """Chance has decided nothing yet."""

    def add(self, before: np.ndarray, rows: np.ndarray, actions: np.ndarray, after: np.ndarray) -> None:
        """Measure the rounds that these orders have completed."""
        played = rows[after["played"][rows] > before["played"][rows]]
        if len(played):
            rolling = after[played]
            rolling["played"] -= 1
            luck_rows(before, played, after, rolling, products_of_faces(), self.luck)


def meter(game: Game, players: Sequence[Player | None], seats: np.ndarray) -> Meter:
    """Return a meter; it measures dice alike for all players. See `dicegym.games.parts.Values`."""
    return RoundMeter(seats)
