"""One hand of two players that remember the last bids alone: what the game's rules say of it, and its public states.

Nothing of the rules stands here: legal bids, the dice that count for a bid and the outcome of every call are asked of
the game, once for each size of hand.

Bids above all dice on the table are left out: they are surely false, and to call them is the best response whatever one
holds. So are those which dice of all hands make true more rarely than `RARE`: with five dice each, seven of a face and
more in classic Liar's Dice. They would be nearly half of all bids.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games.bidding import table
from dicegym.games.bidding.solving.hand_rules import BidPath, HandEndings, Start, after_bid, has_wild, opening_record

RARE = 5e-4
"""How probable it is at least, before anybody looks, that a bid is true which is not left out."""


@dataclass(frozen=True, eq=False)
class Hand:
    """One hand, seen by the player to move with ``own`` dice against ``others``."""

    own: int
    others: int
    bids: np.ndarray
    """int64[bids]: the actions that bid as many dice as there may be, each before all that may follow it."""
    follows: np.ndarray
    """bool[bids, bids]: which bid (column) may follow which (row), by their place in ``bids``."""
    counting: np.ndarray
    """int64[2, bids, rolls]: how many dice of a roll count for a bid: of the mover's own (0), of the other's (1); rows
    of the shorter list of rolls end with zeros."""
    calls: np.ndarray
    """int64[calls]: the actions with which the mover may answer a bid; they end the hand."""
    outcome: np.ndarray
    """int64[calls, bids, dice on the table + 1, 3]: after a call of a bid, by the number of dice that count for it: the
    dice that the mover has left, those of the other, and whether the mover opens the next hand."""

    def places_of(self, actions: Iterable[int]) -> BidPath | None:
        """Return the places of bids in ``bids``, or None if one is left out."""
        found = [self._places.get(int(action)) for action in actions]
        return None if None in found else tuple(place for place in found if place is not None)

    @cached_property
    def _places(self) -> dict[int, int]:
        return {int(bid): place for place, bid in enumerate(self.bids)}

    def after_calls(self, opens: np.ndarray) -> np.ndarray:
        """Return how probable it is for the mover to win the game after calls: float64[calls, bids, dice + 1].

        ``opens`` is float64[dice + 1, dice + 1]: the probability that the opener of a hand wins the game, by its own
        dice (row) and the other's (column).
        """
        own, others, first = np.moveaxis(self.outcome, 3, 0)
        after = np.where(first == 1, opens[own, others], 1 - opens[others, own])
        return np.where(own == 0, 0.0, np.where(others == 0, 1.0, after))


@lru_cache(maxsize=64)
def tabulate(game: Game, own: int, others: int) -> Hand:
    """Return what the rules of ``game`` say of a hand with these numbers of dice.

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
    legal = np.array([game.legal(after_bid(state, bid, 1)) for bid in ordinary.tolist()])
    ways = [table.counting(table.FACES, face + 1, has_wild(game)) for face in range(table.FACES)]
    likely = [table.ODDS[ways[bid % table.FACES] - 1, dice, bid // table.FACES + 1] >= RARE for bid in ordinary]
    raises = legal[:, : len(ordinary)]
    order = np.array([bid for bid in np.argsort(-raises.sum(1), kind="stable") if likely[bid]])
    calls = endings.calls(order.tolist(), 0)
    outcome = np.array([(*end[:2], end.opener == 0) for end in endings.ends])[calls.ends]
    return Hand(own, others, order, raises[order][:, order], calls.counting, np.array(calls.actions), outcome)


class StateGroup(NamedTuple):
    """Public states that agree in all bids that they remember but the oldest, so that the same may follow."""

    last: int
    """Place of the last bid in `Hand.bids`; -1 at the beginning, where nobody has bid."""
    members: list[BidPath]
    """The states: the places of the last bids, all of them where a hand has had fewer than are remembered."""
    bids: np.ndarray
    """int64[bids]: places of those that may follow."""
    leads: list[tuple[int, int]]
    """The state that each of them leads to, from whichever member: number of its group, and of the member there."""
    before: list[tuple[int, int]]
    """The bid that leads to each member: number of its group, and of the bid there; none at the beginning."""


class Tree(NamedTuple):
    """The groups, in an order in which bids lead to later ones alone; the first one is the beginning."""

    recall: int
    groups: list[StateGroup]
    states: dict[BidPath, tuple[int, int]]
    """Numbers of the group and of the member of each state."""

    def find(self, path: BidPath) -> tuple[int, int]:
        """Return the numbers of the group and of the member where a hand stands after all these bids."""
        return self.states[path[-self.recall :]]


def build_tree(hand: Hand, recall: int) -> Tree:
    """Return the tree of a hand in which the last ``recall`` bids, at least 2, are remembered."""
    follows = [np.flatnonzero(row) for row in hand.follows]
    by_last: list[set[BidPath]] = [{(bid,)} for bid in range(len(hand.bids))]
    for bid, known in enumerate(by_last):  # all states that end with a bid are known before it is raised
        for raised in follows[bid].tolist():
            by_last[raised] |= {(*state, raised)[-recall:] for state in known}
    members: dict[BidPath, list[BidPath]] = {(): [()]}
    for known in by_last:
        for state in sorted(known):
            members.setdefault(state[1 - recall :], []).append(state)
    order = sorted(members, key=lambda key: (key[-1:], key))
    states = {state: (number, at) for number, key in enumerate(order) for at, state in enumerate(members[key])}
    groups: list[StateGroup] = []
    before: dict[tuple[int, int], tuple[int, int]] = {}
    for number, key in enumerate(order):
        bids = follows[key[-1]] if key else np.arange(len(hand.bids))
        leads = [states[(*members[key][0], bid)[-recall:]] for bid in bids.tolist()]
        before |= {to: (number, choice) for choice, to in enumerate(leads)}
        led = [before[number, at] for at in range(len(members[key]))] if key else []
        groups.append(StateGroup(key[-1] if key else -1, members[key], bids, leads, led))
    return Tree(recall, groups, states)
