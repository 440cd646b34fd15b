"""What states of Liar's Dice for two are worth between players that remember the last bids alone, by their table.

A player's belief of the other's roll follows from all bids of the hand: how the table plays each roll.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from dicegym.engine.game import Game
from dicegym.games.bidding.solving.hand import BidPath, Dice, number_of_roll
from dicegym.games.bidding.solving.hand_values import HandValues, Spot
from dicegym.games.bidding.solving.recall_table import NO_BID, RecallTable, Side
from dicegym.games.bidding.table import FACES, MOST_DICE, SEATS
from dicegym.games.worth import ValueSource
from dicegym.shipped import shipped_folder

FILE = "equilibrium.table"
BESIDE_EXACT = "recall"
"""What the source is called in games that are also solved with all bids remembered."""
DIGITS = (MOST_DICE + 1) ** np.arange(FACES)
"""What each face's number of dice counts in a number that stands for a roll."""
MOST_ROLLS = 64
"""Sweeps that are kept: one for each own roll that is asked about, of a megabyte at most."""


class RecallValues(HandValues):
    """What states are worth between two players of a table; see `HandValues`.

    Tables leave out bids that are true in less than one hand of 2,000. After one of those, calls alone have values.

    Args:
        game: of two players.
        table: its strategies.
        name: what it is called.
    """

    sure = "those of an approximate equilibrium, which remembers the last two or three bids of a hand"
    latest_first = True
    unseen_bids = False

    def __init__(self, game: Game, table: RecallTable, name: str) -> None:
        super().__init__(game, table.worth)
        self.name = name
        self._table = table
        self._sweep = lru_cache(maxsize=MOST_ROLLS)(table.sweep)
        self._after_calls = lru_cache(maxsize=None)(lambda own, others: table.hand(own, others).after_calls(self.hands))

    def spot(self, state: Any) -> Spot | None:
        """Return where a game stands, or None after bids that the table leaves out."""
        me, made = int(state["player"]), state["bids"][: int(state["n_bids"])] // SEATS
        own, others = int(state["left"][me]), int(state["left"][1 - me])
        path = self._table.hand(own, others).hand.numbers_of(made)
        dice = (own, others) if len(made) % 2 == 0 else (others, own)
        return None if path is None else Spot(dice, path, number_of_roll(own, state["hands"][me]))

    def bid_chances(self, dice: Dice, path: BidPath, bid: int) -> np.ndarray:
        """Return how likely the player to move makes a bid with each of its rolls: float64[rolls]."""
        side = self._table.hand(*(dice if len(path) % 2 == 0 else dice[::-1]))
        number, member = side.find(path)
        found: np.ndarray = side.cells[number][bid - side.groups[number].bids[0], member]
        return found

    def gains(self, spot: Spot) -> tuple[np.ndarray, np.ndarray]:
        """Return the actions of the table, int64[k], and what they are worth by what is believed, float64[k]."""
        side, belief = self._table.hand(spot.own, spot.others), self.belief(spot.dice, spot.path)
        number, _ = side.find(spot.path)
        group = side.groups[number]
        _, waiting = self._sweep(spot.own, spot.others, spot.roll)
        worth = np.array([waiting[to][member] for to, member in group.leads]).reshape(-1, len(belief)) @ belief
        if number:
            counts, other_counts = side.hand.counting[:, group.last]
            found = counts[spot.roll] + other_counts[: len(belief)]
            calls = self._after_calls(spot.own, spot.others)[group.last][:, found]
            worth = np.concatenate([worth, calls @ belief])
        return side.actions[number], worth

    def worth(self, spot: Spot, hidden: int) -> float:
        """Return how likely the player to move wins if the opponent has the roll number ``hidden``."""
        number, member = self._table.hand(spot.own, spot.others).find(spot.path)
        return float(self._sweep(spot.own, spot.others, spot.roll)[0][number][member, hidden])

    def policy_rows(self, states: np.ndarray) -> np.ndarray:
        """Return how the table plays: float64[states, n_actions]; all 0 when the game is over."""
        out = np.zeros((len(states), self.game.n_actions))
        at, me = np.arange(len(states)), states["player"].astype(np.int64)
        own, others = (states["left"][at, seat].astype(np.int64) for seat in (me, 1 - me))
        size = np.where(states["over"], 0, own * (MOST_DICE + 1) + others)
        for dice in np.unique(size[size > 0]).tolist():
            rows = np.flatnonzero(size == dice)
            out[rows] = self._policies(states[rows], self._table.hand(*divmod(dice, MOST_DICE + 1)))
        return out

    def _policies(self, states: np.ndarray, side: Side) -> np.ndarray:
        """Return how states are played in which the mover has the dice of a side: float64[states, n_actions]."""
        out = np.zeros((len(states), self.game.n_actions))
        n_bids = states["n_bids"].astype(np.int64)[:, None]
        made = states["bids"][:, : max(1, n_bids.max())].astype(np.int64) // SEATS
        known = (np.isin(made, side.hand.bids) | (np.arange(made.shape[1]) >= n_bids)).all(axis=1)
        out[~known, side.hand.calls[0][0]] = 1
        hands = states["hands"][np.arange(len(states)), states["player"]].astype(np.int64)
        _, first, held = np.unique(hands @ DIGITS, return_index=True, return_inverse=True)
        rolls = np.array([number_of_roll(side.hand.dice[0], hands[row]) for row in first])[held]
        recent = n_bids - np.arange(side.recall, 0, -1)
        last = np.where(recent >= 0, np.take_along_axis(made, np.maximum(recent, 0), axis=1), NO_BID)[known]
        _, first, which = np.unique(last @ (1 << 8 * np.arange(side.recall)), return_index=True, return_inverse=True)
        for kind, row in enumerate(first):
            number, member = side.states[side.hand.numbers_of(last[row][last[row] != NO_BID]) or ()]
            rows = np.flatnonzero(known)[which == kind]
            out[rows[:, None], side.actions[number]] = side.cells[number][:, member][:, rolls[rows]].T
        return out


def table_file(game: Game) -> Path:
    """Return where the table of the game's agent ``equilibrium`` ships; it need not be there."""
    return shipped_folder("agents") / game.name / FILE


def recall_sources(game: Game, name: str) -> Sequence[ValueSource]:
    """Return where values of ``game`` come from that remember the last bids alone; nothing if nowhere.

    ``name`` is what that of the equilibrium is called.
    """
    if game.players != 2 or game.added_parameters or not game.spec.registered:
        return ()
    doc = "how likely a player wins between two of an approximate equilibrium that remember the last bids"
    file = table_file(game)
    return (
        ValueSource(
            name, "equilibrium", doc, file.is_file, lambda _: RecallValues(game, RecallTable(game, file), name)
        ),
    )
