"""The opponents of bots in smoke games. What this part offers: `dicegym.games.parts.Sparring`."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from dicegym.engine.game import Game
from dicegym.games.lucky.catalogue import DONE, N_DICE, add_dice
from dicegym.play.player import Player, RandomPlayer
from dicegym.play.turn import Act, Turn

LONGEST = 500
"""Rounds of the long game."""
LONG_SECONDS = 3.0
"""How long the long game may take; it ends early for a slow bot, whose time is for the whole test."""
WEALTH = 10**6
"""Money of the opponent that empties the shop."""
MULTIPLYING = (*range(7, 12), *range(17, N_DICE))
"""What is sold out from the beginning of the long game, lest money grow without bounds and end it."""
BOUGHT = {kind: 10 * (kind + 1) for kind in range(7)} | dict.fromkeys(range(12, 17), 250)
"""From which round on the opponent buys which dice; attacks come late, as they leave nobody any points."""


class Monopolist(Player):
    """Buys one kind of die after the other until the shop is empty. Its copies at other seats buy nothing.

    Args:
        seat: the seat that buys.
    """

    name = "sparring partner"

    def __init__(self, seat: int) -> None:
        self._seat = seat

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Return a chooser with a generator of its own; elsewhere one that asks nothing, as the long game has many."""
        if seat != self._seat:
            return _buy_nothing
        generator = np.random.default_rng(seed)
        ends = math.inf

        def act(turn: Turn) -> int:
            nonlocal ends
            state: Any = turn.record
            now = int(state["played"])
            if now == 1:  # all is compiled by then
                ends = time.monotonic() + LONG_SECONDS
            if time.monotonic() > ends:
                state["rounds"] = now + 1
            if state["order"][seat].any():
                return DONE
            shop: list[int] = state["shop"].tolist()
            for kind, played in BOUGHT.items():
                if shop[kind] and now >= played:
                    if shop[kind] > 1:  # one is left for the bot: what is ordered too often nobody gets
                        return add_dice(kind, shop[kind] - 1)
                    return kind if generator.random() < 0.5 else DONE
            return DONE

        return act


def set_table(game: Game, number: int, seat: int) -> tuple[np.ndarray, Player]:
    """Return a game and its opponents: first a long game in which the shop empties and no lead ends it."""
    states = game.new_game(0, number)
    if number:
        return states, RandomPlayer()
    state, rich = states[0], (seat + 1) % game.players
    state["rounds"] = min(int(state["rounds"]), LONGEST)
    state["lead"] = np.iinfo(np.int32).max
    state["shop"][list(MULTIPLYING)] = 0
    state["money"][rich] = state["left"][rich] = WEALTH
    return states, Monopolist(rich)


def _buy_nothing(turn: Turn) -> int:
    return DONE
