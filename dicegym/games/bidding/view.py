"""The view of a player in a game of hidden dice and rising bids: what it may know, as plain values."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from dicegym.engine.spec import reader
from dicegym.games.bidding.table import FACES, SEATS


class Bid(NamedTuple):
    """A bid, with the seat that made it."""

    seat: int
    quantity: int
    face: int


class Showdown(NamedTuple):
    """The end of the last hand."""

    hands: tuple[tuple[int, ...], ...]
    """Per seat its dice, highest first; empty for players that were out."""
    bids: tuple[Bid, ...]
    caller: int
    call: int
    """The caller's action that ended it."""
    changed: int
    """The seat whose number of dice changed."""
    change: int


class View(NamedTuple):
    """What a player may know. Tuples by seat are in the order of play."""

    seat: int
    hand: tuple[int, ...]
    """Own dice, highest first."""
    left: tuple[int, ...]
    """Per seat: dice left."""
    rolled: tuple[int, ...]
    """Per seat: dice rolled for this hand."""
    bids: tuple[Bid, ...]
    """The bids of this hand, in order."""
    dice: int
    """The dice of each player at the beginning."""
    finished: int
    """The number of finished hands."""
    showdown: Showdown | None
    """The end of the last hand; None after the first bid of the next one."""
    faces: int
    """The faces of a die."""


@lru_cache(maxsize=1024)
def faces_of(counts: bytes | tuple[int, ...]) -> tuple[int, ...]:
    """Return the dice with these counts of each face, highest first."""
    return tuple(face for face in range(FACES, 0, -1) for _ in range(counts[face - 1]))


@lru_cache(maxsize=4096)
def bid_of(kept: int) -> Bid:
    """Return the bid that a record stores as one number."""
    return Bid(kept % SEATS, kept // SEATS // FACES + 1, kept // SEATS % FACES + 1)


class Reader:
    """Makes views of a game's records from their bytes, which is much faster than reading field by field.

    Args:
        dtype: the type of the record, with the fields of `dicegym.games.bidding.table.record_fields`.
    """

    def __init__(self, dtype: np.dtype) -> None:
        names = ("players", "dice", "left", "rolled", "hands", "finished", "n_bids", "faces")
        self._now = reader(dtype, names)
        self._before = reader(dtype, ("shown", "shown_bids", "caller", "call", "changed", "change"))
        kept, begin = dict(dtype.fields or {})["bids"][:2]
        self._first, self._size, self._format = begin, kept.base.itemsize, kept.base.char

    def __call__(self, state: Any, seat: int) -> View:
        """Return the `View` of ``seat``."""
        raw = state.tobytes()
        players, dice, left, rolled, hands, finished, n_bids, faces = self._now(raw)
        return View(
            seat,
            faces_of(hands[seat * FACES : seat * FACES + FACES]),
            tuple(left[:players]),
            tuple(rolled[:players]),
            self._bids(raw, n_bids) if n_bids else (),
            dice,
            finished,
            self._showdown(raw, players) if finished and not n_bids else None,
            faces,
        )

    def _bids(self, raw: bytes, number: int) -> tuple[Bid, ...]:
        kept: Any = memoryview(raw[self._first : self._first + number * self._size])
        return tuple(map(bid_of, kept.cast(self._format)))

    def _showdown(self, raw: bytes, players: int) -> Showdown:
        shown, number, *ending = self._before(raw)
        hands = tuple([faces_of(shown[begin : begin + FACES]) for begin in range(0, players * FACES, FACES)])
        return Showdown(hands, self._bids(raw, number), *ending)
