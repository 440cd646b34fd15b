"""A hand of two solved by counterfactual regret minimisation, where each player remembers the last bids alone.

As fixed-strategy iteration (Neller and Hnath, "Approximating optimal Dudo play with fixed-strategy iteration
counterfactual regret minimization", ACG 2011) each time goes once forwards over the public states, with how probable
they are, and once backwards, with what they are worth; here for all pairs of rolls at once, as products of matrices,
and with regrets that never fall below 0 (CFR+, Tammelin 2014). A state that several histories lead to is weighed by
how probable these are for each pair of rolls.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dicegym.engine.game import Game
from dicegym.games.bidding.solving import recall_kernels as kernels
from dicegym.games.bidding.solving.hand_rules import rolls
from dicegym.games.bidding.solving.recall_rules import Hand, hand
from dicegym.games.bidding.solving.recall_tree import tree

TREMBLE = 1e-3
"""The share of all choices made evenly while it is learned: so there is an answer to what nobody would play."""
FLOAT = np.float32


class Side:
    """One of the two hands: the arrays of the states in which the player with ``own`` dice is to move.

    Arrays are flat, group after group; of group g there are members[g] states and choices[g] choices, bids first.
    """

    def __init__(self, game: Game, own: int, others: int, recall: int) -> None:
        self.hand = hand(game, own, others)
        self.tree = tree(self.hand, recall)
        self.calls = len(self.hand.calls)
        self.mine, self.theirs = rolls(own), rolls(others)
        self.chances, self.other_chances = self.mine.chances.astype(FLOAT), self.theirs.chances.astype(FLOAT)
        found = self.tree
        self.groups = len(found.last)
        self.bids = np.diff(found.first)
        self.choices = self.bids + self.calls
        self.pairs = len(self.chances) * len(self.other_chances)
        self.choice_at = np.concatenate([[0], np.cumsum(self.choices)])
        self.state_at = np.concatenate([[0], np.cumsum(found.members)])
        self.cell_at = np.concatenate([[0], np.cumsum(found.members * self.choices)]) * len(self.chances)
        self.legal = [self._legal(group) for group in range(self.groups)]
        self.worth = self.joint = self.regrets = self.summed = self.strategy = np.zeros(0, FLOAT)
        self.reach = self.other_reach = np.zeros((0, 0), FLOAT)
        self.lead_states = self.state_at[found.leads] + found.place
        self.before_group = np.zeros(self.state_at[-1], np.int64)
        self.before_choice = np.zeros(self.state_at[-1], np.int64)
        for group in range(self.groups):
            begin, end = found.first[group : group + 2]
            self.before_group[self.lead_states[begin:end]] = group
            self.before_choice[self.lead_states[begin:end]] = np.arange(end - begin)

    def _legal(self, group: int) -> np.ndarray:
        calls = self.hand.may_call if group else np.zeros(self.calls, np.bool_)
        return np.concatenate([np.ones(self.bids[group], np.bool_), calls])

    def begin(self, opens: np.ndarray, follows: np.ndarray) -> None:
        """Make room for pairs of rolls, and write what calls are worth; see `after_calls`."""
        if not self.regrets.size:
            self.regrets, self.summed, self.strategy = (np.zeros(self.cell_at[-1], FLOAT) for _ in range(3))
            self.reach = np.ones((self.state_at[-1], len(self.chances)), FLOAT)
            self.other_reach = np.ones((self.state_at[-1], len(self.other_chances)), FLOAT)
        self.worth = np.zeros(self.choice_at[-1] * self.pairs, FLOAT)
        self.joint = np.zeros(self.state_at[-1] * self.pairs, FLOAT)
        self.of_states(self.joint, 0)[:, 0, :] = self.chances[:, None] * self.other_chances[None, :]
        self.settle_calls(after_calls(self.hand, opens, follows))

    def end(self) -> None:
        """Give the room back."""
        self.worth = self.joint = np.zeros(0, FLOAT)

    def of_cells(self, array: np.ndarray, group: int) -> np.ndarray:
        """Return float32[rolls, members, choices] of a group."""
        begin, end = self.cell_at[group : group + 2]
        return array[begin:end].reshape(len(self.chances), self.tree.members[group], self.choices[group])

    def of_states(self, array: np.ndarray, group: int) -> np.ndarray:
        """Return float32[rolls, members, other rolls] of a group."""
        begin, end = self.state_at[group : group + 2] * self.pairs
        return array[begin:end].reshape(len(self.chances), self.tree.members[group], len(self.other_chances))

    def of_choices(self, group: int) -> np.ndarray:
        """Return float32[rolls, choices, other rolls]: what each choice is worth, less one half."""
        begin, end = self.choice_at[group : group + 2] * self.pairs
        return self.worth[begin:end].reshape(len(self.chances), self.choices[group], len(self.other_chances))

    def settle_calls(self, worths: np.ndarray) -> None:
        """Write what calls are worth to the mover: ``worths`` is as `after_calls` returns it."""
        after = (worths - 0.5).astype(FLOAT)
        counting = self.hand.counting.astype(np.int64)
        for group in range(1, self.groups):
            last = self.tree.last[group]
            found = counting[0, last, : len(self.chances), None] + counting[1, last, None, : len(self.other_chances)]
            for call in range(self.calls):
                self.of_choices(group)[:, self.bids[group] + call, :] = after[call, last][found]


def after_calls(hand: Hand, opens: np.ndarray, follows: np.ndarray) -> np.ndarray:
    """Return float64[calls, bids, dice + 1]: how probable it is for the caller to win the game after calls.

    ``opens`` and ``follows``, float64[dice + 1, dice + 1], are how probable it is for a player like the caller to win
    with so many own dice (row) against so many (column), if it opens the next hand and if the other does.
    """
    own, others, first = np.moveaxis(hand.outcome.astype(np.int64), 3, 0)
    after = np.where(first == 1, opens[own, others], follows[own, others])
    return np.where(own == 0, 0.0, np.where(others == 0, 1.0, after))


def play(side: Side, group: int, weights: np.ndarray, tremble: float) -> None:
    """Write the strategy of a group by ``weights``, flat as cells are; see `kernels.match`."""
    strategy = side.of_cells(side.strategy, group)
    kernels.match(side.of_cells(weights, group), side.legal[group], FLOAT(tremble), strategy)


def carry_on(side: Side, other: Side, group: int) -> None:
    """Go forwards from a group: write how probable the states are that its bids lead to, in which ``other`` moves."""
    bids = int(side.bids[group])
    if not bids:
        return
    strategy = side.of_cells(side.strategy, group)
    begin, end = side.tree.first[group : group + 2]
    lead = side.tree.leads[begin:end]
    out = np.matmul(strategy[:, :, :bids].transpose(0, 2, 1), side.of_states(side.joint, group))
    places = side.state_at[lead] * side.pairs + side.tree.place[begin:end] * len(side.chances)
    strides = side.tree.members[lead] * len(side.chances)
    kernels.turn(out, other.joint, places, strides, FLOAT(1))
    here = slice(*side.state_at[group : group + 2])
    kernels.spread(
        strategy,
        side.reach[here],
        side.other_reach[here],
        side.chances,
        side.other_chances,
        bids,
        other.reach,
        other.other_reach,
        side.lead_states[begin:end],
    )


def bring_back(side: Side, other: Side, group: int) -> None:
    """Go backwards from a group: write what its states are worth to ``other``, whose bids led to them."""
    if not group:
        return
    out = np.matmul(side.of_cells(side.strategy, group), side.of_choices(group))
    begin, end = side.state_at[group : group + 2]
    before, choice = side.before_group[begin:end], side.before_choice[begin:end]
    places = other.choice_at[before] * side.pairs + choice * len(side.chances)
    strides = other.choices[before] * len(side.chances)
    kernels.turn(out, other.worth, places, strides, FLOAT(-1))


def gains(side: Side, group: int) -> np.ndarray:
    """Return float32[rolls, members, choices]: what each choice is worth, by how probable it is to come there."""
    found: np.ndarray = np.matmul(side.of_states(side.joint, group), side.of_choices(group).transpose(0, 2, 1))
    return found


def learn(side: Side, group: int, values: np.ndarray, reach: np.ndarray, times: int) -> None:
    """Let a side learn from ``values``, as `gains` returns them; ``reach`` is float32[members, rolls], its own."""
    kernels.learn(
        values,
        side.of_cells(side.strategy, group),
        reach,
        side.legal[group],
        FLOAT(times**2),
        side.of_cells(side.regrets, group),
        side.of_cells(side.summed, group),
    )


def opening_worth(side: Side) -> float:
    """Return how probable it is for who opens the hand to win the game, as both sides' strategies stand."""
    both = np.einsum("rc,rco->ro", side.of_cells(side.strategy, 0)[:, 0, :], side.of_choices(0))
    return 0.5 + float(side.mine.chances @ both.astype(np.float64) @ side.theirs.chances)


class HandSolver:
    """One size of hand, both sides; equal ones are one."""

    def __init__(self, game: Game, own: int, others: int, recall: int) -> None:
        self.sides = [Side(game, own, others, recall)]
        if own != others:
            self.sides.append(Side(game, others, own, recall))
        self.times = 0

    def begin(self, values: np.ndarray) -> None:
        """Make ready to iterate, where the hands that follow are worth ``values``; `end` gives the memory back.

        ``values`` is float64[dice + 1, dice + 1]: how probable it is to win the game for who opens a hand with so many
        own dice (row) against so many (column).
        """
        for side in self.sides:
            side.begin(values, 1 - values.T)

    def end(self) -> None:
        """Keep what was learned alone."""
        for side in self.sides:
            side.end()

    def iterate(self) -> None:
        """Go forwards and backwards once, and learn."""
        self.times += 1
        self._forwards(lambda side: side.regrets, TREMBLE, joint=True)
        self._backwards(learning=True)

    def evaluate(self) -> list[float]:
        """Return, for each side, how probable it is to win the game if it opens and both play the mean strategy."""
        self._forwards(lambda side: side.summed, 0.0, joint=False)
        self._backwards(learning=False)
        return [opening_worth(side) for side in self.sides]

    def _forwards(self, weights: Callable[[Side], np.ndarray], tremble: float, *, joint: bool) -> None:
        for group in range(self.sides[0].groups):
            for number, side in enumerate(self.sides):
                play(side, group, weights(side), tremble)
                if joint:
                    carry_on(side, self.sides[number - 1], group)

    def _backwards(self, *, learning: bool) -> None:
        for group in range(self.sides[0].groups - 1, -1, -1):
            for number, side in enumerate(self.sides):
                bring_back(side, self.sides[number - 1], group)
                if learning:
                    here = slice(*side.state_at[group : group + 2])
                    learn(side, group, gains(side, group), side.reach[here], self.times)
