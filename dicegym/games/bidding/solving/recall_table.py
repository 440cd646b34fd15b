"""Reads the file that `dicegym.games.bidding.solving.recall_pack` writes: strategies for every hand of a game for two.

Where the file does not say what to play, players go by the odds of their own dice: they call the last bid a lie if it
is likelier false than true, and else make the raises that are likeliest true.
"""

from __future__ import annotations

import zlib
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dicegym.engine.game import Game
from dicegym.games.bidding import table
from dicegym.games.bidding.solving import recall_pack
from dicegym.games.bidding.solving.recall_hand import Side, after_calls
from dicegym.games.bidding.solving.recall_kernels import sweep
from dicegym.games.solved import damaged

NEARLY = 0.08
"""Raises up to so much less likely true than the best are as good, by the odds."""


class PlayedSide(NamedTuple):
    """One side of a hand, and how it is played."""

    side: Side
    cells: np.ndarray
    """float64, as `Side.of_cells` reads it: the probability of each choice."""


class RecallTable:
    """The strategies of one file for one game. Hands are read when they are first asked for.

    Args:
        game: for two; its dice must be among the file's.
        file: as `recall_pack.join` made it.
        name: what the solution is called, for errors.

    Raises:
        DamagedFileError: the file is none of these.
    """

    def __init__(self, game: Game, file: Path, name: str) -> None:
        self.game = game
        self.told: dict[str, Any]
        try:
            self.told, self._data = recall_pack.split(file.read_bytes())
        except ValueError as error:
            raise damaged(file, str(error), game, name) from None
        try:
            dice = int(self.told["dice"])
            self.values = np.zeros((dice + 1, dice + 1))
            for key, value in self.told["values"].items():
                self.values[int(key[0]), int(key[1])] = value
        except (ValueError, KeyError, TypeError, IndexError):
            raise damaged(file, "does not begin as a table of hands", game, name) from None
        self.values[1:, 0] = 1
        self.hand = lru_cache(maxsize=None)(self._read)

    def opens(self, own: int, others: int) -> float:
        """Return how probable it is to win the game for who opens a hand with so many dice against so many."""
        return float(self.values[own, others])

    def after(self, own: int, others: int) -> np.ndarray:
        """Return float64[calls, bids, dice + 1]: what calls are worth to who has ``own`` dice."""
        return after_calls(self.hand(own, others).side.hand, self.values, 1 - self.values.T)

    def swept(self, own: int, others: int, roll: int) -> tuple[np.ndarray, np.ndarray]:
        """Return what states are worth with an own roll: float64[states, other rolls], moving and waiting."""
        mine, theirs = self.hand(own, others), self.hand(others, own)
        side, other = mine.side, theirs.side
        found = side.tree
        worth = np.zeros((int(side.state_at[-1]), len(side.other_chances)))
        waiting = np.zeros_like(worth)
        sweep(
            roll, mine.cells, theirs.cells, side.cell_at, other.cell_at, side.choices, other.choices, side.state_at,
            found.members, found.first, side.bids, side.lead_states, found.last, side.hand.counting,
            self.after(own, others), self.after(others, own), worth, waiting,
        )  # fmt: skip
        return worth, waiting

    def played_worth(self, own: int, others: int) -> float:
        """Return how probable it is to win the game for who opens a hand, from what the next hands are worth."""
        side = self.hand(own, others).side
        each = [self.swept(own, others, roll)[0][0] @ side.theirs.chances for roll in range(len(side.chances))]
        return float(side.mine.chances @ np.array(each))

    def _read(self, own: int, others: int) -> PlayedSide:
        """Return the side with ``own`` dice of a hand."""
        key = f"{own}{others}"
        recall = int(self.told["recall"][key])
        side = Side(self.game, own, others, recall)
        cells = np.zeros(side.cell_at[-1])
        begin, number, size = self.told["places"][key]
        data = zlib.decompress(self._data[begin : begin + size])
        keys = np.frombuffer(data, np.uint8, number * recall).reshape(number, recall)
        places = np.frombuffer(data, "<u4", number, number * recall)
        code = {int(bid): place for place, bid in enumerate(side.hand.bids)}
        for state, place in zip(keys, places, strict=True):
            bids = tuple(code[int(bid)] for bid in state if bid != recall_pack.NO_BID)
            group, member = side.tree.states[bids]
            row = number * (recall + 4) + int(place)
            self._read_row(side, group, data, row, code, side.of_cells(cells, group)[:, member, :])
        for group in range(side.groups):
            self._fill(side, group, side.of_cells(cells, group))
        return PlayedSide(side, cells)

    def _read_row(self, side: Side, group: int, data: bytes, row: int, code: dict[int, int], out: np.ndarray) -> None:
        """Write the choices of a state, float32[rolls, choices], whose row begins there in a hand's data."""
        begin, end = side.tree.first[group : group + 2]
        column = np.zeros(256, np.int64)
        actions = side.hand.bids[side.tree.bid[begin:end]]
        column[actions] = np.arange(len(actions))
        column[recall_pack.FIRST_CALL : recall_pack.FIRST_CALL + side.calls] = len(actions) + np.arange(side.calls)
        head = np.frombuffer(data, np.uint8, len(out), row)
        (sure,) = np.nonzero(head < recall_pack.UNKNOWN)
        out[sure, column[head[sure]]] = 1
        (mixed,) = np.nonzero(head > recall_pack.UNKNOWN)
        counts = head[mixed].astype(np.int64) - recall_pack.MIXED
        pairs = np.frombuffer(data, np.uint8, 2 * int(counts.sum()), row + len(out)).reshape(-1, 2)
        out[np.repeat(mixed, counts), column[pairs[:, 0]]] = pairs[:, 1]

    def _fill(self, side: Side, group: int, cells: np.ndarray) -> None:
        """Leave out what is illegal, play by the odds where nothing is said, and let each row sum to 1."""
        cells[:, :, ~side.legal[group]] = 0
        lacking = cells.sum(2) == 0
        if lacking.any():
            cells[lacking] = np.broadcast_to(self._by_odds(side, group)[:, None, :], cells.shape)[lacking]
        cells /= cells.sum(2, keepdims=True)

    def _by_odds(self, side: Side, group: int) -> np.ndarray:
        """Return float32[rolls, choices]."""
        begin, end = side.tree.first[group : group + 2]
        bids = side.tree.bid[begin:end]
        true = _chances(side)
        out = np.zeros((len(side.chances), side.choices[group]), np.float32)
        if len(bids):
            raises = true[bids].T
            out[:, : len(bids)] = raises >= raises.max(1, keepdims=True) - NEARLY
        if group:
            doubted = (true[side.tree.last[group]] < 0.5) | (len(bids) == 0)
            out[doubted] = 0
            out[doubted, len(bids)] = 1  # the first call there is: liar
        return out


@lru_cache(maxsize=64)
def _chances(side: Side) -> np.ndarray:
    """Return float64[bids, rolls]: how probable each bid is by the own dice."""
    dice = side.hand.others
    found = np.zeros((len(side.hand.bids), len(side.chances)))
    average = side.hand.counting[1, :, : len(side.other_chances)] @ side.other_chances
    for place, bid in enumerate(side.hand.bids):
        sixths = round(float(average[place]) * table.FACES / dice)
        need = np.maximum(int(bid) // table.FACES + 1 - side.hand.counting[0, place, : len(side.chances)], 0)
        found[place] = table.ODDS[sixths - 1, dice, need]
    return found
