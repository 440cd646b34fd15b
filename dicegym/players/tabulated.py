"""The answers of a pure player by situation, asked for once each, and a player made of such."""

from __future__ import annotations

import functools

import numpy as np

from dicegym.engine import loops
from dicegym.engine.game import Game
from dicegym.engine.loops import UNKNOWN
from dicegym.games.parts import SITUATIONS, part
from dicegym.play.player import Player
from dicegym.play.turn import Act, Turn


class Tabulated:
    """The answers of a pure player by situation, asked for once each.

    Args:
        game: a game that numbers its situations.
        player: a pure player.
        size: how many situations there are.
    """

    def __init__(self, game: Game, player: Player, size: int) -> None:
        self._game = game
        self._player = player
        self.answers = np.full(size, UNKNOWN, np.int32)

    def act_rows(self, states: np.ndarray, rows: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """Return an action for each row, and remember those that have 32 bits."""
        numbers = np.empty(len(rows), np.int64)
        loops.situation_rows(states, rows, numbers)
        found, first, place = np.unique(numbers, return_index=True, return_inverse=True)
        actions = self._player.act_rows(self._game, states, rows[first], seats[first])
        fits = (actions > UNKNOWN) & (actions <= np.iinfo(np.int32).max)
        self.answers[found[fits]] = actions[fits]
        answers: np.ndarray = actions[place]
        return answers


@functools.cache
def situations(game: Game) -> int:
    """Return how many situations a player of ``game`` can be in; 0 if they are not numbered."""
    numbering = part(game, SITUATIONS)
    found = numbering.situations(game) if numbering is not None else None
    return 0 if found is None else len(found)


class TabledPlayer(Player):
    """Plays by a table of actions: what a pure player chose in each situation.

    Args:
        name: what reports call it.
        actions: int[situations].

    Attributes:
        actions: the same, as small numbers as hold them.
    """

    pure = True

    def __init__(self, name: str, actions: np.ndarray) -> None:
        self.name = name
        given = np.asarray(actions, np.int64)
        widest = max(-int(given.min(initial=0)), int(given.max(initial=0)) + 1)
        self.actions = given.astype(np.min_scalar_type(-widest))  # it is sent to a process for each match

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Sit down in one new game; see `Player.join`."""
        actions, row, number = self.actions, np.zeros(1, np.int64), np.zeros(1, np.int64)

        def act(turn: Turn) -> int:
            loops.situation_rows(np.array([turn.record]), row, number)
            chosen: int = actions.item(number[0])
            return chosen

        return act

    def act_rows(self, game: Game, states: np.ndarray, rows: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """Return an action for each row; see `Player.act_rows`."""
        numbers = np.empty(len(rows), np.int64)
        loops.situation_rows(states, np.asarray(rows, np.int64), numbers)
        chosen: np.ndarray = self.actions[numbers].astype(np.int64)
        return chosen
