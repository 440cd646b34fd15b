"""Yatzy with the luck of the dice taken out: every roll is measured by what it brought beyond its mean.

Alone, in points, by the exact values. With others, in shares of the first place, by how the points still to come are
distributed when everybody plays for the highest mean (`dicegym.games.yatzy.solving.winning`). Whatever the players
do, luck has the mean 0, as each roll's mean is taken over all that could have been rolled.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dicegym.engine.game import Game
from dicegym.games.worth import Meter
from dicegym.games.yatzy.solving import alone, alone_luck, distributions, winning
from dicegym.play.player import Player


def meter(game: Game, players: Sequence[Player | None], seats: np.ndarray) -> Meter | None:
    """Return a meter for games of Yatzy; who plays does not matter to it. See `dicegym.games.worth.Luck`."""
    return AloneMeter(len(seats)) if game.players == 1 else TableMeter(len(seats), game.players)


class AloneMeter:
    """Adds up what the rolls of one who plays alone brought, in points; see `dicegym.games.worth.Meter`."""

    def __init__(self, games: int) -> None:
        self.luck = np.zeros((games, 1))
        self._values = alone.values()

    def begin(self, states: np.ndarray, rows: np.ndarray) -> None:
        """Note that games have begun; see `Meter.begin`."""
        alone_luck.begin_rows(self._values, states, rows, self.luck)

    def add(self, before: np.ndarray, rows: np.ndarray, actions: np.ndarray, after: np.ndarray) -> None:
        """Note that actions were played; see `Meter.add`."""
        alone_luck.add_rows(self._values, before, rows, actions, after, self.luck)


class TableMeter:
    """Adds up what rolls brought at a table of two to six, in shares of the first place; see `AloneMeter`."""

    def __init__(self, games: int, players: int) -> None:
        self.luck = np.zeros((games, players))
        self._rest = distributions.distributions()

    def begin(self, states: np.ndarray, rows: np.ndarray) -> None:
        """Note that games have begun; see `Meter.begin`."""
        winning.begin_rows(self._rest, states, rows, self.luck)

    def add(self, before: np.ndarray, rows: np.ndarray, actions: np.ndarray, after: np.ndarray) -> None:
        """Note that actions were played; see `Meter.add`."""
        winning.add_rows(self._rest, before, rows, actions, after, self.luck)
