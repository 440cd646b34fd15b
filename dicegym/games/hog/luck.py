"""Hog's results without their luck: by the exact tables of both players, or by those of full sight.

Of players who always choose the same by both scores everything is known: what their game is worth before each turn and
after it, and who moves first. All that happens is luck then, and what is left of every single result is the exact win
rate. Of others the dice are measured by what they are worth to players who see everything: whoever plays, what the dice
bring beyond their mean has the mean 0.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np

from dicegym.engine.game import Game
from dicegym.errors import DicegymError
from dicegym.games.hog import exact
from dicegym.games.hog.examination import by_scores
from dicegym.games.hog.solving import full_sight
from dicegym.games.hog.solving.strategies import Duel, choices_of
from dicegym.games.hog.solving.sweeps import PLAY, roll_chances
from dicegym.games.worth import Meter
from dicegym.play.player import Player

_tables: WeakKeyDictionary[Player, dict[Game, np.ndarray | None]] = WeakKeyDictionary()
"""What is known of players, as meters are made anew for every thousand games."""


class TurnMeter:
    """Measures the dice of each turn, and who moves first; a `dicegym.games.worth.Meter`.

    Args:
        goal: of the game.
        tables: of each player the table that it plays by; None if there is none, or nobody knows it.
        seats: int64[games, 2]: which of them sits in each seat.
    """

    def __init__(self, goal: int, tables: Sequence[np.ndarray | None], seats: np.ndarray) -> None:
        self.luck = np.zeros((len(seats), 2))
        self._kinds = np.empty(len(seats), np.int64)
        """By game: which of ``_values`` its luck is measured by."""
        self._parts = np.zeros((len(seats), 2), np.int64)
        """By game and seat: which part of these is that of its player to move."""
        self._values: list[np.ndarray] = []
        self._drawn = np.zeros((len(seats), 2))
        """By game and seat: what it was worth that it was drawn to move first, or second."""
        couples, kinds = np.unique(np.sort(seats, axis=1), axis=0, return_inverse=True)
        self._kinds[:] = kinds.reshape(-1)
        for kind, (one, other) in enumerate(couples.tolist()):
            games = np.flatnonzero(self._kinds == kind)
            known = tables[one], tables[other]
            if known[0] is None or known[1] is None:
                self._values.append(full_sight.values_to(goal))
                continue
            values = _values_between(known[0].tobytes(), known[1].tobytes(), goal)
            self._values.append(values)
            self._parts[games] = seats[games] != one
            begins = self._parts[games, 0] == 0
            if begins.any() and not begins.all():  # else somebody has decided who does
                first, second = float(values[0, 0, 0, 0, 0]), 1 - float(values[1, 0, 0, 0, 0])
                luck = np.where(begins, 1, -1) * (first - second) / 2
                self._drawn[games] = np.where(self._parts[games] == 0, luck[:, None], -luck[:, None])

    def begin(self, states: np.ndarray, rows: np.ndarray) -> None:
        """Count it as luck who moves first, if both players of a couple do in some of their games."""
        self.luck[rows] += self._drawn[rows]

    def add(self, before: np.ndarray, rows: np.ndarray, actions: np.ndarray, after: np.ndarray) -> None:
        """Add what the dice of these turns brought beyond their mean."""
        kinds = self._kinds[rows]
        for kind, values in enumerate(self._values):
            chosen = kinds == kind
            if chosen.any():
                full_sight.luck_rows(
                    before, rows[chosen], actions[chosen], after, roll_chances(), values, self._parts, self.luck
                )


def meter(game: Game, players: Sequence[Player | None], seats: np.ndarray) -> Meter:
    """Return a meter for games between these players; see `dicegym.games.worth.Luck`."""
    return TurnMeter(game.parameters["goal"], [_table_of(player, game) for player in players], seats)


def _table_of(player: Player | None, game: Game) -> np.ndarray | None:
    """Return the table by scores that a player plays by; None if it can play otherwise, or does not tell."""
    if player is None or not player.pure:
        return None
    known = _tables.setdefault(player, {})
    if game not in known:
        try:
            known[game] = by_scores(exact.tabulate(player, game))
        except DicegymError:  # it fails somewhere, which may be where no game comes
            known[game] = None
    return known[game]


@functools.lru_cache(maxsize=4)
def _values_between(one: bytes, other: bytes, goal: int) -> np.ndarray:
    """Return how likely the player to move wins between two tables, given as their bytes."""
    tables = (np.frombuffer(table, np.int8).reshape(goal, goal) for table in (one, other))
    duel = Duel(*map(choices_of, tables))
    duel.sweep(PLAY, PLAY, every_state=True)
    return duel.values[:, 0]
