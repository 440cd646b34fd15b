"""All that a seat has seen in a game of hidden dice and rising bids, as numbers; see `dicegym.games.parts.Recall`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dicegym.games.bidding.table import FACES, MOST_DICE, N_BIDS, SEATS


class HandsRecall(NamedTuple):
    """Writes the own seat, then each hand in turn: dice, which bids were made, who made the first, and the call.

    A hand holds all dice once it has ended, before that the own ones alone. Bids only rise, so which were made and who
    began says who made which, and when.
    """

    players: int
    hands: int
    """The most hands that a game can have."""
    bids: int
    """The most bids that a hand can have: those numbered below."""
    calls: int
    """Ways to end a hand; the first is the action ``N_BIDS``."""

    @property
    def size(self) -> int:
        """Return the number of values."""
        return self.players + self.hands * (self.players * FACES + self.bids + self.players + self.calls)

    def write(self, shown: np.ndarray, state: Any, seat: int) -> np.ndarray:
        """Return what ``seat`` has seen: float32[size]; see `dicegym.games.parts.Recall`."""
        out = np.zeros(self.size, np.float32)
        out[seat] = 1
        rows = out[self.players :].reshape(self.hands, -1)
        told = list(shown)
        if state["finished"] > len(told):  # it has just ended, and the next dice are still to be rolled
            told.append(state)
        for row, ended in zip(rows, told, strict=False):
            self._write_hand(row, ended["shown"], ended["bids"][: ended["shown_bids"]])
            row[int(ended["call"]) - N_BIDS - self.calls] = 1
        if len(told) < self.hands:
            own = np.zeros_like(state["hands"])
            own[seat] = state["hands"][seat]
            self._write_hand(rows[len(told)], own, state["bids"][: state["n_bids"]])
        return out

    def _write_hand(self, row: np.ndarray, dice: np.ndarray, bids: np.ndarray) -> None:
        n_dice = self.players * FACES
        row[:n_dice] = dice[: self.players].ravel() / MOST_DICE
        if len(bids):
            made = bids // SEATS
            row[n_dice + made[made < self.bids]] = 1
            row[n_dice + self.bids + int(bids[0]) % SEATS] = 1
