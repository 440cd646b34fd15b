"""One hand of two players, as a game's own rules tell it: rolls, bids, which may follow which, and what calls lead to.

Nothing of the rules stands here: legal bids, the dice that count for a bid and the outcome of every call are asked of
the game, once for each size of hand.

Bids above all dice on the table are left out: they are surely false, and to call them is the best response whatever one
holds. So are those which dice of all hands make true more rarely than `RARE`: with five dice each, seven of a face and
more in classic Liar's Dice. They would be nearly half of all bids.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games.bidding import table
from dicegym.games.bidding.solving.hand_rules import HandEndings, Start, after_bid, has_wild, opening_record

RARE = 5e-4
"""How probable it is at least, before anybody looks, that a bid is true which is not left out."""


class Hand(NamedTuple):
    """One hand, seen by whoever is to move with ``own`` dice against ``others``."""

    own: int
    others: int
    bids: np.ndarray
    """int64[bids]: the actions that bid so many dice as there may be, each before all that may follow it."""
    follows: np.ndarray
    """bool[bids, bids]: which bid (column) may follow which (row), by their place in ``bids``."""
    counting: np.ndarray
    """int8[2, bids, rolls]: how many dice of a roll count for a bid: of the mover's own (0), of the other's (1); rows
    of the shorter list of rolls end with zeros."""
    calls: np.ndarray
    """int64[calls]: the actions that end a hand, in any hand of this game."""
    may_call: np.ndarray
    """bool[calls]: which of them are legal for the mover once there is a bid."""
    outcome: np.ndarray
    """int8[calls, bids, dice on the table + 1, 3]: after a call of a bid, where so many dice count for it: dice that
    the mover has left, dice of the other, and whether the mover opens the next hand."""

    def places_of(self, actions: Iterable[int]) -> tuple[int, ...] | None:
        """Return the places of bids in ``bids``, or None if one is left out."""
        places = {int(bid): place for place, bid in enumerate(self.bids)}
        found = [places.get(int(action)) for action in actions]
        return None if None in found else tuple(place for place in found if place is not None)


@lru_cache(maxsize=64)
def hand(game: Game, own: int, others: int) -> Hand:
    """Return what the rules of ``game`` say of a hand with so many dice on both sides.

    ``game`` is one for two players whose record has the fields of `dicegym.games.bidding.table.record_fields`. Raises
    ParameterError if its dice have fewer than six faces.
    """
    if game.added_parameters:
        raise ParameterError(
            f"{game!r}: tables that remember the last bids alone know dice of {table.FACES} faces: give "
            f"faces={table.FACES}"
        )
    dice, start = own + others, Start(own, others, 0)
    endings, state = HandEndings(game, start), opening_record(game, start)
    ordinary = np.arange(dice * table.FACES)
    after = np.array([game.legal(after_bid(state, bid, 1)) for bid in ordinary.tolist()])
    ways = [table.counting(table.FACES, face + 1, has_wild(game)) for face in range(table.FACES)]
    likely = [table.ODDS[ways[bid % table.FACES] - 1, dice, bid // table.FACES + 1] >= RARE for bid in ordinary]
    raises = after[:, : len(ordinary)]
    order = np.array([bid for bid in np.argsort(-raises.sum(1), kind="stable") if likely[bid]])
    calls = np.arange(table.N_BIDS, game.n_actions)
    counting = np.zeros((2, len(order), max(len(one.counts) for one in endings.rolls)), np.int8)
    outcome = np.zeros((len(calls), len(order), dice + 1, 3), np.int8)
    for place, bid in enumerate(order.tolist()):
        for number, call in enumerate(calls.tolist()):
            counts, ends = endings.kinds[endings.kind(after_bid(state, bid, 1), call)]
            for side, count in enumerate(counts):
                counting[side, place, : len(count)] = count
            outcome[number, place] = [(*endings.ends[end][:2], endings.ends[end].opener == 0) for end in ends]
    return Hand(own, others, order, raises[order][:, order], counting, calls, after[0, calls], outcome)
