"""What states of Liar's Dice for two are worth between players who remember the last bids alone, by their table.

A player's belief of the other's roll follows from all bids of the hand: how the table plays each roll.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dicegym.engine.game import Game
from dicegym.games.bidding.solving.one_by_one import OneByOne
from dicegym.games.bidding.solving.recall_game import FILE
from dicegym.games.bidding.solving.recall_policies import RowPolicies
from dicegym.games.bidding.solving.recall_table import RecallTable
from dicegym.games.bidding.solving.showdown import number_of_roll
from dicegym.games.bidding.table import N_BIDS, SEATS
from dicegym.games.solved import tables_folder, unsolved
from dicegym.games.worth import ActionValues, Progress, ValueKind, Valuer, ValueSource, ValueUnit
from dicegym.shipped import shipped_folder

NAME = "equilibrium"
BESIDE_EXACT = "recall"
"""What the source is called in games that are also solved with all bids remembered."""
SURE = "those of an approximate equilibrium, which remembers the last two or three bids of a hand"
MOST_ROLLS = 64
"""Sweeps that are kept: one for each own roll that is asked about, of a megabyte at most."""


class _Spot(NamedTuple):
    """Where a game stands, for who is to move."""

    own: int
    others: int
    state: int
    group: int
    member: int
    roll: int
    hidden: int


class RecallValues(OneByOne):
    """What states are worth between two who play the strategies of a table; a `dicegym.games.worth.BatchValuer`.

    A bid that the other never makes with any roll, as the table has it, tells nothing of its dice. Bids that the table
    leaves out, which are true in less than one hand of 2,000, are called at once.

    Args:
        game: of two players.
        table: its strategies.
        name: what it is called.
    """

    unit: ValueUnit = "win rate"
    kind: ValueKind = "equilibrium"
    sure = SURE
    sees_all = False

    def __init__(self, game: Game, table: RecallTable, name: str = NAME) -> None:
        self.game = game
        self.name = name
        self._table = table
        self._policies = RowPolicies(game, table.hand)
        self._swept = lru_cache(maxsize=MOST_ROLLS)(table.swept)
        self._places = lru_cache(maxsize=None)(self._find_places)
        self._after_calls = lru_cache(maxsize=None)(table.after)
        self._shares = lru_cache(maxsize=4096)(self._find_shares)

    # --- where a game stands ---------------------------------------------------------------------------------

    def _spot(self, state: Any) -> _Spot | None:
        """Return where a game stands, or None after bids that the table leaves out."""
        me = int(state["player"])
        own, others = int(state["left"][me]), int(state["left"][1 - me])
        side = self._table.hand(own, others).side
        path = self._path(own, others, state)
        if path is None:
            return None
        group, member = side.tree.states[path[-side.tree.recall :]]
        place = int(side.state_at[group]) + member
        hands = state["hands"]
        return _Spot(
            own, others, place, group, member, number_of_roll(own, hands[me]), number_of_roll(others, hands[1 - me])
        )

    def _path(self, own: int, others: int, state: Any) -> tuple[int, ...] | None:
        """Return the bids of this hand by their places, or None if the table leaves one out."""
        places = self._places(own, others)
        made = [places.get(int(bid) // SEATS) for bid in state["bids"][: int(state["n_bids"])]]
        return None if None in made else tuple(bid for bid in made if bid is not None)

    def _find_places(self, own: int, others: int) -> dict[int, int]:
        bids = self._table.hand(own, others).side.hand.bids
        return {int(bid): place for place, bid in enumerate(bids)}

    def _find_shares(self, own: int, others: int, path: tuple[int, ...]) -> np.ndarray:
        """Return what who is to move believes of the other's roll: float64[other rolls], in all 1."""
        theirs = self._table.hand(others, own)
        side = theirs.side
        belief = side.mine.chances.copy()
        for depth in range(len(path) - 1, -1, -2):  # the other made the last one, and every second before it
            before = path[:depth][-side.tree.recall :]
            group, member = side.tree.states[before]
            begin, end = side.tree.first[group : group + 2]
            choice = int(np.flatnonzero(side.tree.bid[begin:end] == path[depth])[0])
            told = belief * side.of_cells(theirs.cells, group)[:, member, choice]
            if told.sum() > 0:
                belief = told / told.sum()
        return belief

    def _gains(self, state: Any, spot: _Spot) -> tuple[np.ndarray, np.ndarray]:
        """Return the actions of the table at a spot, int64[k], and what they are worth by what is believed."""
        mine = self._table.hand(spot.own, spot.others)
        side, tree = mine.side, mine.side.tree
        path = self._path(spot.own, spot.others, state)
        belief = self._shares(spot.own, spot.others, path or ())
        begin, end = tree.first[spot.group : spot.group + 2]
        _, waiting = self._swept(spot.own, spot.others, spot.roll)
        bids = waiting[side.lead_states[begin:end]] @ belief
        actions = side.hand.bids[tree.bid[begin:end]]
        if not spot.group:
            return actions, bids
        last = tree.last[spot.group]
        found = side.hand.counting[0, last, spot.roll] + side.hand.counting[1, last, : len(belief)].astype(np.int64)
        calls = self._after_calls(spot.own, spot.others)[:, last][:, found] @ belief
        legal = side.hand.may_call
        return np.concatenate([actions, side.hand.calls[legal]]), np.concatenate([bids, calls[legal]])

    # --- what it is worth ------------------------------------------------------------------------------------

    def between(self, state: Any, seat: int) -> float:
        """Return what the beginning of a hand is worth to ``seat`` before anybody rolls: hands are not read."""
        left, opener = state["left"], int(state["player"])
        if state["over"]:
            return float(left[seat] > 0)
        opens = self._table.opens(int(left[opener]), int(left[1 - opener]))
        return opens if opener == seat else 1 - opens

    def value(self, state: Any, seat: int) -> float:
        """Return how likely ``seat`` wins, both rolls being as they are; see `dicegym.games.worth.Valuer`."""
        if state["over"]:
            return self.between(state, seat)
        spot = self._spot(state)
        if spot is None:
            return self._after(state, self._call(state), seat)
        mover = float(self._swept(spot.own, spot.others, spot.roll)[0][spot.state, spot.hidden])
        return mover if seat == int(state["player"]) else 1 - mover

    def action_values(self, state: Any) -> ActionValues:
        """Return how likely the player to move wins with each action, by what it knows.

        nan for illegal ones, and for bids that the table leaves out.
        """
        values = np.full(self.game.n_actions, np.nan)
        if not state["over"]:
            spot = self._spot(state)
            if spot is None:
                for action in np.flatnonzero(self.game.legal(state)[N_BIDS:]) + N_BIDS:
                    values[action] = self._by_belief(state, int(action))
            else:
                actions, gains = self._gains(state, spot)
                values[actions] = gains
                values[~self.game.legal(state)] = np.nan
        return ActionValues(values, np.where(np.isnan(values), np.nan, 0.0))

    def action_value(self, state: Any, action: int) -> float:
        """Return the same of one action; of wide and illegal ones too, which the rules decide. nan after the end."""
        if state["over"]:
            return float("nan")
        if 0 <= action < self.game.n_actions:
            value = float(self.action_values(state).values[action])
            if not np.isnan(value):
                return value
        return self._by_belief(state, action)

    def policy(self, state: Any) -> np.ndarray:
        """Return how the table plays for who is to move: float64[n_actions]; all 0 when the game is over."""
        return np.asarray(self.policy_rows(np.array([state]))[0])

    def policy_rows(self, states: np.ndarray) -> np.ndarray:
        """Return `policy` of every record: float64[states, n_actions]."""
        return self._policies(states)

    def _call(self, state: Any) -> int:
        """Return the call on a bid that is left out: the first one there is."""
        return N_BIDS + int(np.flatnonzero(self.game.legal(state)[N_BIDS:])[0])

    def _after(self, state: Any, action: int, seat: int) -> float:
        """Return what an action is worth to ``seat``, both rolls being as the record has them."""
        after = state.copy()
        self.game.step(after, action)
        if after["over"] or after["finished"] != state["finished"]:
            return self.between(after, seat)
        return self.value(after, seat)

    def _by_belief(self, state: Any, action: int) -> float:
        """Return what an action is worth to the player to move, by what it believes of the other's roll."""
        me = int(state["player"])
        own, others = int(state["left"][me]), int(state["left"][1 - me])
        path = self._path(own, others, state)
        side = self._table.hand(own, others).side
        belief = side.theirs.chances if path is None else self._shares(own, others, path)
        supposed, total = state.copy(), 0.0
        for chance, roll in zip(belief, side.theirs.counts, strict=True):
            if chance > 0:
                supposed["hands"][1 - me] = roll
                total += float(chance) * self._after(supposed, action, me)
        return total


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
