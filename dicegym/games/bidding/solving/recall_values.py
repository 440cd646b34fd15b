"""What states of Liar's Dice for two are worth between players who remember the last bids alone, by their table.

A player's belief of the other's roll follows from all bids of the hand: how the table plays each roll.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from dicegym.engine.game import Game
from dicegym.games.bidding.solving.hand_rules import number_of_roll
from dicegym.games.bidding.solving.hand_values import BidPath, Dice, HandValues, Spot
from dicegym.games.bidding.solving.recall_game import FILE
from dicegym.games.bidding.solving.recall_policies import RowPolicies
from dicegym.games.bidding.solving.recall_table import RecallTable
from dicegym.games.bidding.table import N_BIDS, SEATS
from dicegym.games.solved import tables_folder, unsolved
from dicegym.games.worth import Progress, Valuer, ValueSource
from dicegym.shipped import shipped_folder

NAME = "equilibrium"
BESIDE_EXACT = "recall"
"""What the source is called in games that are also solved with all bids remembered."""
SURE = "those of an approximate equilibrium, which remembers the last two or three bids of a hand"
MOST_ROLLS = 64
"""Sweeps that are kept: one for each own roll that is asked about, of a megabyte at most."""


class RecallValues(HandValues):
    """What states are worth between two who play the strategies of a table; see `HandValues`.

    Tables leave out bids that are true in less than one hand of 2,000. After one of those, calls alone have values.

    Args:
        game: of two players.
        table: its strategies.
        name: what it is called.
    """

    sure = SURE
    latest_first = True

    def __init__(self, game: Game, table: RecallTable, name: str = NAME) -> None:
        super().__init__(game)
        self.name = name
        self._table = table
        self._policies = RowPolicies(game, table.hand)
        self._swept = lru_cache(maxsize=MOST_ROLLS)(table.swept)
        self._after_calls = lru_cache(maxsize=None)(table.after)

    def before_rolls(self, own: int, others: int, opens: bool) -> float:
        """Return how likely a player wins from the beginning of a hand, before anybody rolls."""
        return self._table.opens(own, others) if opens else 1 - self._table.opens(others, own)

    def spot(self, state: Any) -> Spot | None:
        """Return where a game stands, or None after bids that the table leaves out."""
        me, made = int(state["player"]), state["bids"][: int(state["n_bids"])] // SEATS
        own, others = int(state["left"][me]), int(state["left"][1 - me])
        path = self._table.hand(own, others).side.hand.places_of(made)
        dice = (own, others) if len(made) % 2 == 0 else (others, own)
        return None if path is None else Spot(dice, path, number_of_roll(own, state["hands"][me]))

    def bid_chances(self, dice: Dice, path: BidPath, bid: int) -> np.ndarray:
        """Return how likely the player to move makes a bid with each of its rolls: float64[rolls]."""
        mine = self._table.hand(*(dice if len(path) % 2 == 0 else dice[::-1]))
        group, member = mine.side.tree.states[path[-mine.side.tree.recall :]]
        begin, end = mine.side.tree.first[group : group + 2]
        choice = int(np.flatnonzero(mine.side.tree.bid[begin:end] == bid)[0])
        return mine.side.of_cells(mine.cells, group)[:, member, choice]

    def gains(self, spot: Spot) -> tuple[np.ndarray, np.ndarray]:
        """Return the actions of the table, int64[k], and what they are worth by what is believed, float64[k]."""
        side = self._table.hand(spot.own, spot.others).side
        tree, belief = side.tree, self.belief(spot.dice, spot.path)
        group, _ = tree.states[spot.path[-tree.recall :]]
        begin, end = tree.first[group : group + 2]
        _, waiting = self._swept(spot.own, spot.others, spot.roll)
        bids = waiting[side.lead_states[begin:end]] @ belief
        actions = side.hand.bids[tree.bid[begin:end]]
        if not group:
            return actions, bids
        last = tree.last[group]
        found = side.hand.counting[0, last, spot.roll] + side.hand.counting[1, last, : len(belief)].astype(np.int64)
        calls = self._after_calls(spot.own, spot.others)[:, last][:, found] @ belief
        legal = side.hand.may_call
        return np.concatenate([actions, side.hand.calls[legal]]), np.concatenate([bids, calls[legal]])

    def worth(self, spot: Spot, hidden: int) -> float:
        """Return how likely the player to move wins if the opponent has the roll number ``hidden``."""
        side = self._table.hand(spot.own, spot.others).side
        group, member = side.tree.states[spot.path[-side.tree.recall :]]
        return float(self._swept(spot.own, spot.others, spot.roll)[0][side.state_at[group] + member, hidden])

    def policy_rows(self, states: np.ndarray) -> np.ndarray:
        """Return how the table plays: float64[states, n_actions]; all 0 when the game is over."""
        return self._policies(states)

    def judged_unseen(self, legal: np.ndarray) -> np.ndarray:
        """Return the calls."""
        return legal[legal >= N_BIDS]


def table_file(game: Game) -> Path | None:
    """Return the file of the game's equilibrium: solved on this machine, or shipped; None if there is none."""
    solved = tables_folder(game, NAME) / FILE
    shipped = shipped_folder("agents") / game.name / FILE
    return solved if solved.is_file() else shipped if game.spec.registered and shipped.is_file() else None


def recall_sources(game: Game, name: str) -> Sequence[ValueSource]:
    """Return where values of ``game`` come from that remember the last bids alone; nothing if nowhere.

    ``name`` is what that of the equilibrium is called.
    """
    if game.players != 2 or game.added_parameters:
        return ()

    def load(progress: Progress | None) -> Valuer:
        file = table_file(game)
        if file is None:
            raise unsolved(game, NAME)
        return RecallValues(game, RecallTable(game, file, NAME), name)

    doc = "how likely a player wins between two of an approximate equilibrium, which remember the last bids"
    return (ValueSource(name, "equilibrium", doc, lambda: table_file(game) is not None, load),)
