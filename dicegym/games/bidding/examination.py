"""Opponents in smoke games of hidden dice and rising bids that steer a bot into every stage of the game."""

from __future__ import annotations

from typing import Any

import numpy as np

from dicegym.engine.game import Game
from dicegym.games.bidding.table import FACES, N_BIDS
from dicegym.games.bidding.view import bid_of
from dicegym.play.player import Player, RandomPlayer
from dicegym.play.turn import Act, Turn

BEAT, LEVEL, YIELD = -1, 0, 1
"""The aims of opponents: to take all dice of the bot, to keep as many as the bot, or to lose their own."""
STRAY = 0.1
"""The share of random legal actions of an opponent."""
DOUBT = 0.3
"""The probability that an opponent doubts another opponent's bid."""
_QUANTITY, _FACE = np.divmod(np.arange(N_BIDS), FACES)


class SparringPartner(Player):
    """Sees all dice, and bids and doubts to make a bot lose dice, or win them.

    Args:
        bot: the bot's seat.
        aim: one of `BEAT`, `LEVEL` and `YIELD`.
        wild: whether the highest face is wild.
        liar: the action that doubts.
    """

    name = "sparring partner"

    def __init__(self, bot: int, aim: int, wild: bool, liar: int) -> None:
        self._bot, self._aim, self._wild, self._liar = bot, aim, wild, liar

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Return a chooser with a generator for this game."""
        generator = np.random.default_rng(seed)

        def act(turn: Turn) -> int:
            (legal,) = turn.mask.nonzero()
            wanted = legal if generator.random() < STRAY else self._wanted(turn, legal, generator)
            return int(wanted[generator.integers(len(wanted))])

        return act

    def _wanted(self, turn: Turn, legal: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        """Return the actions that serve the aim: a call, or the lowest bids, so that hands are long."""
        state: Any = turn.record
        others: list[int] = state["left"][: turn.game.players].tolist()
        own = others.pop(self._bot)
        if not own:
            return legal
        counts = state["hands"][: turn.game.players].sum(axis=0)
        if self._wild:
            counts[:-1] += counts[-1]
        most = max(others)
        aim = self._aim or (most > own) - (most < own) or int(generator.choice((BEAT, YIELD)))
        if number := state["n_bids"]:
            last = bid_of(int(state["bids"][number - 1]))
            is_true = counts[last.face - 1] >= last.quantity
            costs = is_true == (aim == YIELD)  # whether a call serves the aim
            if costs if last.seat == self._bot else generator.random() < DOUBT:
                return np.array([self._liar])
        raises = legal[legal < N_BIDS]
        is_true = _QUANTITY[raises] < counts[_FACE[raises]]
        found = raises[is_true == (aim == BEAT)]
        return found[:FACES] if len(found) else raises[:FACES] if len(raises) else legal


def set_table(game: Game, number: int, seat: int, wild: bool, liar: int) -> tuple[np.ndarray, Player]:
    """Return the record of smoke game ``number`` and the bot's opponents; see `dicegym.games.parts.Adapter`."""
    aims: tuple[int | None, ...] = (BEAT, LEVEL, YIELD, None)
    aim = aims[number // game.players % len(aims)]
    return game.new_game(0, number), RandomPlayer() if aim is None else SparringPartner(seat, aim, wild, liar)
