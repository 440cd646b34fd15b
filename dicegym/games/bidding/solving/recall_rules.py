"""One hand of two players, as a game's own rules tell it: rolls, bids, which may follow which, and what calls lead to.

Nothing of the rules stands here: legal bids, the dice that count for a bid and the outcome of every call are asked of
the game, once for each size of hand.

Bids above all dice on the table are left out: they are surely false, and to call them is the best reply whatever one
holds. So are those which dice of all hands make true more rarely than `RARE`: with five dice each, seven of a face and
more in classic Liar's Dice. They would be nearly half of all bids.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games.bidding import chance, table

RARE = 5e-4
"""How probable it is at least, before anybody looks, that a bid is true which is not left out."""


class Rolls(NamedTuple):
    """All that some dice may show."""

    counts: np.ndarray
    """int8[rolls, 6]: how many dice show each face."""
    chances: np.ndarray
    """float64[rolls]: how probable each roll is."""


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


@cache
def rolls(dice: int) -> Rolls:
    """Return all rolls of so many dice, in the order of `dicegym.games.bidding.chance.rolls`."""
    found = chance.rolls(dice)
    return Rolls(np.array([counts for _, _, counts in found], np.int8), np.array([chances for chances, _, _ in found]))


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
    dice = own + others
    ordinary = np.arange(dice * table.FACES)
    start = opening_record(game, own, others)
    after = np.array([game.legal(_with_bid(start, int(bid)))[: len(ordinary)] for bid in ordinary])
    wild = _wild(game)
    likely = [table.ODDS[len(wild[bid % table.FACES]), dice, bid // table.FACES + 1] >= RARE for bid in ordinary]
    order = np.array([bid for bid in np.argsort(-after.sum(1), kind="stable") if likely[bid]])
    bids = ordinary[order]
    calls = np.arange(table.N_BIDS, game.n_actions)
    counting = np.zeros((2, len(bids), max(len(rolls(own).counts), len(rolls(others).counts))), np.int8)
    for side, number in enumerate((own, others)):
        counts = rolls(number).counts
        for place, bid in enumerate(bids):
            face = int(bid) % table.FACES
            counting[side, place, : len(counts)] = counts[:, sorted({face, *wild[face]})].sum(1)
    outcome = np.zeros((len(calls), len(bids), dice + 1, 3), np.int8)
    for place, bid in enumerate(bids):
        asked = _with_bid(start, int(bid))
        for found in range(dice + 1):
            _show(asked, own, others, int(bid) % table.FACES, found, wild)
            for number, call in enumerate(calls):
                state = asked.copy()
                game.step(state, int(call))
                left = state["left"]
                outcome[number, place, found] = left[0], left[1], state["player"] == 0
    return Hand(
        own, others, bids, after[order][:, order], counting, calls, game.legal(_with_bid(start, 0))[calls], outcome
    )


def opening_record(game: Game, own: int, others: int) -> np.ndarray:
    """Return a record in which seat 0, with ``own`` dice, is to open a hand."""
    state: np.ndarray = game.new_game(0)[0]
    state["left"][:2] = state["rolled"][:2] = own, others
    state["hands"][:] = 0
    state["player"] = 0
    return state


def _with_bid(start: np.ndarray, bid: int) -> np.ndarray:
    """Return the record after seat 1 has bid; seat 0 is to move."""
    state = start.copy()
    state["n_bids"] = 1
    state["bids"][0] = bid * table.SEATS + 1
    return state


@cache
def _wild(game: Game) -> tuple[tuple[int, ...], ...]:
    """Return for each face - 1 the others that count for it: one die of the face is there or not, the rules say."""
    found = []
    for face in range(table.FACES):
        wild = []
        for shown in set(range(table.FACES)) - {face}:
            state = _with_bid(opening_record(game, 1, 1), face)  # one of this face
            state["hands"][0, shown] = 1
            state["hands"][1, shown] = 1
            game.step(state, table.N_BIDS)  # liar
            if state["left"][0] == 0:  # the bid was true
                wild.append(shown)
        found.append(tuple(wild))
    return tuple(found)


def _show(state: np.ndarray, own: int, others: int, face: int, found: int, wild: tuple[tuple[int, ...], ...]) -> None:
    """Let ``found`` dice of both hands count for ``face`` - 1."""
    blank = next(shown for shown in range(table.FACES) if shown != face and shown not in wild[face])
    state["hands"][:] = 0
    mine = min(found, own)
    state["hands"][0, face], state["hands"][0, blank] = mine, own - mine
    state["hands"][1, face], state["hands"][1, blank] = found - mine, others - (found - mine)
