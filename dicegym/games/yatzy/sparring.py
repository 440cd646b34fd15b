"""The opponents of bots in smoke games. What this part offers: `dicegym.games.parts.Sparring`."""

from __future__ import annotations

from typing import Any

import numpy as np

from dicegym.engine.game import Game
from dicegym.games.yatzy.hands import hand_of
from dicegym.games.yatzy.rules import FIRST_BOX
from dicegym.games.yatzy.tables import BEST, MOST
from dicegym.play.player import Player, RandomPlayer
from dicegym.play.turn import Act, Turn

TRIED = 24
"""Rolls of which an opponent that knows the dice takes the best."""


class LuckyPartner(Player):
    """Knows how the dice will fall, and so scores more than a bot is used to."""

    name = "sparring partner"

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Return a chooser with a generator of its own."""
        generator = np.random.default_rng(seed)

        def act(turn: Turn) -> int:
            legal = np.flatnonzero(turn.mask)
            open_boxes = legal[legal >= FIRST_BOX] - FIRST_BOX
            box, most = _best_box(turn.record, open_boxes)
            chosen = int(box + FIRST_BOX)
            rolls = legal[legal < FIRST_BOX]
            for roll in generator.choice(rolls, TRIED) if len(rolls) else ():
                branch = turn.record.copy()
                game.step(branch, int(roll))
                _, value = _best_box(branch, open_boxes)
                if value > most:
                    most, chosen = value, int(roll)
            return chosen

        return act


def _best_box(state: Any, boxes: np.ndarray) -> tuple[int, float]:
    """Return the box in which the dice shown are worth most, and the share of its best score that they are."""
    share = BEST[hand_of(state["dice"])][boxes] / MOST[boxes]
    best = int(share.argmax())
    return int(boxes[best]), float(share[best])


def set_table(game: Game, number: int, seat: int) -> tuple[np.ndarray, Player]:
    """Return a new game, and opponents of which every second one scores much."""
    return game.new_game(0, number), LuckyPartner() if number // game.players % 2 else RandomPlayer()
