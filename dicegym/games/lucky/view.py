"""What a player of Lucky & Co may know, as plain values."""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from dicegym.games.lucky.catalogue import MOST_PLAYERS, N_DICE


class View(NamedTuple):
    """What a player may know; players are listed by seat."""

    money: tuple[int, ...]
    dice: tuple[tuple[int, ...], ...]
    """For each player the numbers of the dice it owns, sorted, each as often as it owns it."""
    seat: int
    """The own seat."""
    shop: tuple[int, ...]
    """How many of each die the shop has."""
    played: int
    """Rounds played."""
    order: tuple[int, ...]
    """How many of each die the own order holds so far."""
    rounds: int
    lead: int


@lru_cache(maxsize=1024)  # dice change once a round, and views are asked for several times a seat
def _numbers(counts: bytes, players: int) -> tuple[tuple[int, ...], ...]:
    """Return the dice of each player, given the bytes of the field."""
    rows = [counts[seat * N_DICE : (seat + 1) * N_DICE] for seat in range(players)]
    return tuple(tuple(kind for kind, count in enumerate(row) for _ in range(count)) for row in rows)


class Reader:
    """Makes views of records, from their bytes: that is several times quicker than asking field by field.

    Args:
        dtype: of the record.
    """

    _NUMBERS = struct.Struct(f"=hih{MOST_PLAYERS}q")  # rounds, lead, played, money

    def __init__(self, dtype: np.dtype) -> None:
        self._at: dict[str, int] = {name: field[1] for name, field in dict(dtype.fields or {}).items()}

    def __call__(self, state: Any, seat: int) -> View:
        """Return the `View` of ``seat``."""
        raw, at = state.tobytes(), self._at
        players = raw[at["players"]]
        rounds, lead, played, *money = self._NUMBERS.unpack_from(raw, at["rounds"])
        dice, shop, order = at["dice"], at["shop"], at["order"] + seat * N_DICE
        return View(
            tuple(money[:players]),
            _numbers(raw[dice : dice + players * N_DICE], players),
            seat,
            tuple(raw[shop : shop + N_DICE]),
            played,
            tuple(raw[order : order + N_DICE]),
            rounds,
            lead,
        )
