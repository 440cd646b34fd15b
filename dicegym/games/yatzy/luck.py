"""Yatzy with the luck of the dice taken out: every roll is measured by what it brought beyond its mean.

Alone, in points, by the exact values. With others, in shares of the first place, by how the points still to come are
distributed when everybody plays for the highest mean (`dicegym.games.yatzy.solving.worth`). Whatever the players
do, luck has the mean 0, as each roll's mean is taken over all that could have been rolled.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dicegym.engine.game import Game
from dicegym.games.worth import Meter
from dicegym.games.yatzy.solving import alone, distributions, worth
from dicegym.play.player import Player


def meter(game: Game, players: Sequence[Player | None], seats: np.ndarray) -> Meter | None:
    """Return a meter for games of Yatzy; who plays does not matter to it. See `dicegym.games.worth.Luck`."""
    points = game.players == 1
    known = worth.points_by(alone.values()) if points else worth.shares_by(distributions.distributions())
    return RollMeter(known, len(seats), game.players)


class RollMeter:
    """Adds up what rolls brought, in points or in shares of the first place; see `dicegym.games.worth.Meter`."""

    def __init__(self, known: worth.Known, games: int, players: int) -> None:
        self.luck = np.zeros((games, players))
        self._known = known

    def begin(self, states: np.ndarray, rows: np.ndarray) -> None:
        """Note that games have begun; see `Meter.begin`."""
        worth.begin_rows(self._known, states, rows, self.luck)

    def add(self, before: np.ndarray, rows: np.ndarray, actions: np.ndarray, after: np.ndarray) -> None:
        """Note that actions were played; see `Meter.add`."""
        worth.add_rows(self._known, before, rows, actions, after, self.luck)
