"""A hand of two solved by counterfactual regret minimisation, where each player remembers the last bids alone.

As fixed-strategy iteration (Neller and Hnath, "Approximating optimal Dudo play with fixed-strategy iteration
counterfactual regret minimization", ACG 2011) each time goes once forwards over the public states, with how probable
they are, and once backwards, with what they are worth; here for all pairs of rolls at once, as products of matrices,
and with regrets that never fall below 0 (CFR+: Tammelin, "Solving large imperfect information games using CFR+", 2014).

Several histories lead to one state, so how probable it is with a pair of rolls is no product of one player's part and
the other's, as it is where all bids are remembered (`dicegym.games.bidding.solving.regret_sweeps`): it is a matrix.
"""

from __future__ import annotations

import numpy as np

from dicegym.engine.game import Game
from dicegym.games.bidding.solving.hand_rules import rolls
from dicegym.games.bidding.solving.recall_tree import build_tree, tabulate

TREMBLE = 1e-3
"""The share of all choices made evenly while it is learned: so there is an answer to what nobody would play."""
FLOAT = np.float32
SMALL = FLOAT(1e-12)


class Side:
    """One of the two hands: the states in which the player with ``own`` dice is to move.

    Every list has an array for each group of states; choices are bids first, then calls.

    Attributes:
        hand: what the rules say of it.
        tree: its groups.
        mine: rolls of the player to move.
        theirs: rolls of the other.
        actions: int64[choices].
        regrets: float32[rolls, members, choices].
        summed: what was played, all times together, as regrets; the mean strategy in other words.
        strategy: how likely each choice is played now, as regrets.
        reach: float32[members, rolls]: how probable the mover's own choices are on the way to a state.
        other_reach: float32[members, other rolls]: how probable the other's are.
        joint: float32[rolls, members, other rolls]: how probable a state is with each pair of rolls.
        worth: float32[rolls, choices, other rolls]: how likely the mover wins by a choice, less one half.
    """

    def __init__(self, game: Game, own: int, others: int, recall: int) -> None:
        self.hand = tabulate(game, own, others)
        self.tree = build_tree(self.hand, recall)
        self.mine, self.theirs = rolls(own), rolls(others)
        self.actions = [
            np.concatenate([self.hand.bids[group.bids], self.hand.calls if number else self.hand.calls[:0]])
            for number, group in enumerate(self.tree.groups)
        ]
        self.regrets, self.summed, self.strategy, self.reach, self.other_reach, self.joint, self.worth = (
            list[np.ndarray]() for _ in range(7)
        )

    def room(self, of: str) -> list[np.ndarray]:
        """Return zeros for each group; ``of`` names the axes: r(olls), m(embers), c(hoices), o(ther's rolls)."""
        size = {"r": len(self.mine.chances), "o": len(self.theirs.chances)}
        return [
            np.zeros([(size | {"m": len(group.members), "c": len(actions)})[axis] for axis in of], FLOAT)
            for group, actions in zip(self.tree.groups, self.actions, strict=True)
        ]

    def begin(self, values: np.ndarray) -> None:
        """Make room for pairs of rolls, and write what calls are worth; see `HandSolver.begin`."""
        if not self.regrets:
            self.regrets, self.summed, self.strategy = (self.room("rmc") for _ in range(3))
            self.reach, self.other_reach = self.room("mr"), self.room("mo")
            self.reach[0][:], self.other_reach[0][:] = 1, 1
        self.joint, self.worth = self.room("rmo"), self.room("rco")
        self.joint[0][:, 0] = self.mine.chances.astype(FLOAT)[:, None] * self.theirs.chances.astype(FLOAT)
        after = (self.hand.after_calls(values) - 0.5).astype(FLOAT)
        for group, worth in zip(self.tree.groups[1:], self.worth[1:], strict=True):
            mine, theirs = self.hand.counting[:, group.last]
            found = mine[: worth.shape[0], None] + theirs[: worth.shape[2]]
            worth[:, len(group.bids) :] = np.moveaxis(after[:, group.last][:, found], 0, 1)

    def end(self) -> None:
        """Give the room back."""
        self.joint, self.worth = [], []


def match(weights: np.ndarray, tremble: float) -> np.ndarray:
    """Return the strategy that plays each choice by its weight, ``weights`` like, float32[rolls, members, choices].

    Regret matching (Hart and Mas-Colell, "A simple adaptive procedure leading to correlated equilibrium", 2000): what
    has no weight at all is played evenly. A share of ``tremble`` always is.
    """
    even = FLOAT(1 / weights.shape[2])
    total = weights.sum(axis=2, keepdims=True)
    is_known = total > SMALL
    strategy: np.ndarray = weights * np.divide(1 - FLOAT(tremble), total, where=is_known, out=np.zeros_like(total))
    strategy += np.where(is_known, FLOAT(tremble) * even, even)
    return strategy


def carry_on(side: Side, other: Side, number: int) -> None:
    """Go forwards from a group: write how probable the states are that its bids lead to, in which ``other`` moves.

    A reach is a mean over the histories that the other side really plays: each member counts for the next mover's by
    how probable the present mover's choices are, and the other way round.
    """
    group = side.tree.groups[number]
    played = side.strategy[number][:, :, : len(group.bids)]
    joint = np.matmul(played.transpose(0, 2, 1), side.joint[number])
    done = played * side.reach[number].T[:, :, None]
    here = np.tensordot(side.mine.chances.astype(FLOAT), done, 1)
    there = side.other_reach[number] @ side.theirs.chances.astype(FLOAT)
    mean = (here / np.maximum(here.sum(axis=0), SMALL)).T @ side.other_reach[number]
    other_mean = np.tensordot(there / np.maximum(there.sum(), SMALL), done, (0, 1))
    for choice, (to, member) in enumerate(group.leads):
        other.joint[to][:, member] = joint[:, choice].T
        other.reach[to][member], other.other_reach[to][member] = mean[choice], other_mean[:, choice]


def bring_back(side: Side, other: Side, number: int) -> None:
    """Go backwards from a group: write what its states are worth to ``other``, whose bids led to them."""
    worth = np.matmul(side.strategy[number], side.worth[number])
    for member, (before, choice) in enumerate(side.tree.groups[number].before):
        other.worth[before][:, choice] = -worth[:, member].T


def learn(side: Side, number: int, times: int) -> None:
    """Add to regrets what each choice of a group would have brought, and to the mean strategy what was played.

    The values are counterfactual, by the probability that the other reaches a state: ``joint`` holds both parts, so
    the mover's own is divided out. Later times weigh more in the mean (linear averaging of CFR+, here of squares).
    """
    strategy, own = side.strategy[number], side.reach[number].T[:, :, None]
    values = np.matmul(side.joint[number], side.worth[number].transpose(0, 2, 1))
    values -= (strategy * values).sum(axis=2, keepdims=True)
    values /= np.maximum(own, SMALL)
    values += side.regrets[number]
    np.maximum(values, 0, out=side.regrets[number])
    side.summed[number] += FLOAT(times**2) * own * strategy


class HandSolver:
    """One size of hand, both sides; equal ones are one."""

    def __init__(self, game: Game, own: int, others: int, recall: int) -> None:
        self.sides = [Side(game, own, others, recall)]
        if own != others:
            self.sides.append(Side(game, others, own, recall))
        self.times = 0

    def begin(self, values: np.ndarray) -> None:
        """Make ready to iterate, where the hands that follow are worth ``values``; `end` gives the memory back.

        ``values`` is float64[dice + 1, dice + 1]: the probability that the opener of a hand wins the game, by its
        own dice (row) and the other's (column).
        """
        for side in self.sides:
            side.begin(values)

    def end(self) -> None:
        """Keep what was learned alone."""
        for side in self.sides:
            side.end()

    def iterate(self) -> None:
        """Go forwards and backwards once, and learn."""
        self.times += 1
        for number in range(len(self.sides[0].tree.groups)):
            for place, side in enumerate(self.sides):
                side.strategy[number] = match(side.regrets[number], TREMBLE)
                carry_on(side, self.sides[place - 1], number)
        for number in reversed(range(len(self.sides[0].tree.groups))):
            for place, side in enumerate(self.sides):
                bring_back(side, self.sides[place - 1], number)
                learn(side, number, self.times)

    def evaluate(self) -> list[float]:
        """Return, for each side, how probable it is to win the game if it opens and both play the mean strategy."""
        for side in self.sides:
            side.strategy = [match(weights, 0.0) for weights in side.summed]
        for number in reversed(range(len(self.sides[0].tree.groups))):
            for place, side in enumerate(self.sides):
                bring_back(side, self.sides[place - 1], number)
        opened = [np.matmul(side.strategy[0], side.worth[0])[:, 0].astype(np.float64) for side in self.sides]
        return [
            0.5 + float(side.mine.chances @ worth @ side.theirs.chances)
            for side, worth in zip(self.sides, opened, strict=True)
        ]
