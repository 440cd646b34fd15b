"""The opponents of bots in smoke games. What this part offers: `dicegym.games.parts.Sparring`."""

from __future__ import annotations

from typing import Any

import numpy as np

from dicegym.engine.game import Game
from dicegym.games.yatzy.rules import FIRST_BOX, ROLL_PLACES
from dicegym.games.yatzy.tables import BEST, DICE, HANDFULS, KEEPS, MOST, PLACE_VALUES, SET_OF
from dicegym.play.player import Player, RandomPlayer
from dicegym.play.turn import Act, Turn

ALL = HANDFULS - 1
"""The places of all dice, as a bit mask."""
_ROLLED: np.ndarray = np.arange(HANDFULS)[:, None] >> np.arange(DICE) & 1 == 1
"""bool[32, 5]: which places each bit mask names."""
_SHARE: np.ndarray = BEST / MOST
"""float64[252, 15]: what each hand scores in each box, as a share of the most."""


class LuckyPartner(Player):
    """Knows how the dice will fall, and so scores more than a bot is used to."""

    name = "sparring partner"

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Return a chooser; it draws nothing."""

        def act(turn: Turn) -> int:
            state: Any = turn.record
            dice = state["dice"][None]
            if state["rolls_left"]:
                branch = state.copy()
                game.step(branch, ROLL_PLACES + ALL)  # a die rolled falls as it does when all are
                dice = np.where(_ROLLED, branch["dice"], dice)
            hands = SET_OF[dice @ PLACE_VALUES] - KEEPS
            shares = np.where(state["scores"][turn.seat] < 0, _SHARE[hands], -1.0)
            places, box = np.unravel_index(shares.argmax(), shares.shape)
            return int(ROLL_PLACES + places if places else FIRST_BOX + box)

        return act


def set_table(game: Game, number: int, seat: int) -> tuple[np.ndarray, Player]:
    """Return a new game, and opponents of which every second one scores much."""
    return game.new_game(0, number), LuckyPartner() if number // game.players % 2 else RandomPlayer()
