"""Luck in Lucky & Co: what the dice of each round are worth beyond their mean."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dicegym.engine.game import Game
from dicegym.games.lucky.solving.luck import luck_rows, products_of_faces
from dicegym.games.worth import Meter
from dicegym.play.player import Player


class RoundMeter:
    """Measures the dice of each round after all orders; a `dicegym.games.worth.Meter`."""

    def __init__(self, seats: np.ndarray) -> None:
        self.luck = np.zeros(seats.shape)

    def begin(self, states: np.ndarray, rows: np.ndarray) -> None:
        """Do nothing: no dice have fallen yet."""

    def add(self, before: np.ndarray, rows: np.ndarray, actions: np.ndarray, after: np.ndarray) -> None:
        """Measure the rounds completed by these orders."""
        played = rows[after["played"][rows] > before["played"][rows]]
        if len(played):
            rolling = after[played]
            rolling["played"] -= 1
            luck_rows(before, played, after, rolling, products_of_faces(), self.luck)


def meter(game: Game, players: Sequence[Player | None], seats: np.ndarray) -> Meter:
    """Return a meter, the same for all players; see `dicegym.games.parts.Values`."""
    return RoundMeter(seats)
