"""The public states of a hand for those who remember its last bids alone, in groups that share what may follow.

A state is the tuple of the last bids, at most ``recall`` of them; a shorter one is all of the hand so far. Which state
a bid leads to depends on all but the oldest of those: the states that agree in them are a *group*, its *members*
differ in the oldest. Each group's choices are the bids that may follow and the calls, and each bid of a group leads to
one member of another group. Groups come in an order in which bids lead to later ones alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dicegym.games.bidding.solving.recall_rules import Hand


class Tree(NamedTuple):
    """The groups; bids are given by their place in `Hand.bids`. Group 0 is the beginning, where nobody has bid."""

    recall: int
    last: np.ndarray
    """int64[groups]: the last bid of each group; -1 at the beginning."""
    members: np.ndarray
    """int64[groups]: how many states each group has."""
    first: np.ndarray
    """int64[groups + 1]: where its choices begin in the three arrays below."""
    bid: np.ndarray
    """int64[choices]: the bid of each choice that is one."""
    leads: np.ndarray
    """int64[choices]: the group that it leads to."""
    place: np.ndarray
    """int64[choices]: which member of that group."""
    states: dict[tuple[int, ...], tuple[int, int]]
    """Group and member of each state."""


def tree(hand: Hand, recall: int) -> Tree:
    """Return the tree of a hand in which the last ``recall`` bids, at least 2, are remembered."""
    follows = [np.flatnonzero(row) for row in hand.follows]
    everything = np.arange(len(hand.bids))
    states: dict[tuple[int, ...], tuple[int, int]] = {}
    by_last: list[list[tuple[int, ...]]] = [[] for _ in hand.bids]
    for bid in everything:
        by_last[bid].append((int(bid),))
    for bid in everything:  # all states that end with a bid are known before it is raised
        for state in by_last[bid]:
            for raised in follows[bid]:
                child = (*state, int(raised))[-recall:]
                if child not in states:
                    states[child] = (-1, -1)
                    by_last[raised].append(child)
    groups: dict[tuple[int, ...], list[tuple[int, ...]]] = {(): [()]}
    for bid in everything:
        for state in sorted(by_last[bid]):
            groups.setdefault(state[1 - recall :], []).append(state)
    order = sorted(groups, key=lambda key: (key[-1] if key else -1, key))
    number = {key: place for place, key in enumerate(order)}
    states = {state: (number[key], place) for key in order for place, state in enumerate(groups[key])}
    bids: list[int] = []
    leads: list[int] = []
    places: list[int] = []
    first = [0]
    for key in order:
        for raised in follows[key[-1]] if key else everything:
            group, place = states[(*groups[key][0], int(raised))[-recall:]]
            bids.append(int(raised))
            leads.append(group)
            places.append(place)
        first.append(len(bids))
    return Tree(
        recall,
        np.array([key[-1] if key else -1 for key in order]),
        np.array([len(groups[key]) for key in order]),
        np.array(first),
        np.array(bids, np.int64),
        np.array(leads, np.int64),
        np.array(places, np.int64),
        states,
    )
