"""What a player of a game of hidden dice and rising bids may know, as plain values."""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from dicegym.games.bidding import FACES, SEATS


class Bid(NamedTuple):
    """One bid, and whose it is."""

    seat: int
    quantity: int
    face: int


class Showdown(NamedTuple):
    """The end of the hand that was played last."""

    hands: tuple[tuple[int, ...], ...]
    """Per seat its dice, highest first; none for those who were out."""
    bids: tuple[Bid, ...]
    caller: int
    call: int
    """The action with which the caller ended it."""
    changed: int
    """Whose number of dice that changed."""
    change: int


class View(NamedTuple):
    """What a player may know. Tuples by seat are in the order of play."""

    seat: int
    hand: tuple[int, ...]
    """Own dice, highest first."""
    left: tuple[int, ...]
    """Per seat: dice it has left."""
    rolled: tuple[int, ...]
    """Per seat: dice it rolled for this hand."""
    bids: tuple[Bid, ...]
    """Of this hand, the first one first."""
    dice: int
    """What everybody began with."""
    finished: int
    """Hands that have ended."""
    showdown: Showdown | None
    """How the last hand ended; None from the first bid of the next one on."""


@lru_cache(maxsize=1024)
def faces_of(counts: bytes | tuple[int, ...]) -> tuple[int, ...]:
    """Return the dice that show each face so often, highest first."""
    return tuple(face for face in range(FACES, 0, -1) for _ in range(counts[face - 1]))


@lru_cache(maxsize=4096)
def bid_of(kept: int) -> Bid:
    """Return the bid that a record keeps as one number."""
    return Bid(kept % SEATS, kept // SEATS // FACES + 1, kept // SEATS % FACES + 1)


class Reader:
    """Makes views of a game's records, from their bytes: that takes a fraction of the time of asking field by field.

    Args:
        dtype: of the record, with the fields of `dicegym.games.bidding.table_fields`.
    """

    def __init__(self, dtype: np.dtype) -> None:
        self._at = {name: dtype.fields[name][1] for name in dtype.names or ()} if dtype.fields else {}
        kind = dtype["bids"].base
        self._bid_format, self._bid_size = kind.char, kind.itemsize

    def __call__(self, state: Any, seat: int) -> View:
        """Return the `View` of ``seat``."""
        raw, at = state.tobytes(), self._at
        players, finished, n_bids = raw[at["players"]], _number(raw, at["finished"], 4), _number(raw, at["n_bids"], 2)
        hand, left, rolled = at["hands"] + seat * FACES, at["left"], at["rolled"]
        return View(
            seat,
            faces_of(raw[hand : hand + FACES]),
            tuple(raw[left : left + players]),
            tuple(raw[rolled : rolled + players]),
            self._bids(raw, n_bids),
            raw[at["dice"]],
            finished,
            self._showdown(state, raw, players) if finished and not n_bids else None,
        )

    def _bids(self, raw: bytes, number: int) -> tuple[Bid, ...]:
        begin = self._at["bids"]
        kept = memoryview(raw[begin : begin + number * self._bid_size]).cast(self._bid_format)  # type: ignore[arg-type]  # a character of NumPy's is one of memoryview's
        return tuple(map(bid_of, kept))

    def _showdown(self, state: Any, raw: bytes, players: int) -> Showdown:
        hands = [self._at["shown"] + seat * FACES for seat in range(players)]
        return Showdown(
            tuple(faces_of(raw[begin : begin + FACES]) for begin in hands),
            self._bids(raw, int(state["shown_bids"])),
            int(state["caller"]), int(state["call"]), int(state["changed"]), int(state["change"]),
        )  # fmt: skip


def _number(raw: bytes, begin: int, size: int) -> int:
    return int.from_bytes(raw[begin : begin + size], sys.byteorder)
