"""Counterfactual regret minimisation for one hand, with all bids of it remembered, and the learned strategy.

Strategies that remember the last bids alone are learned by another sweep (``training/equilibrium_table.py``) and read
as the same `dicegym.games.bidding.solving.hand_values.HandStrategy`. One sweep for both was measured, and is too large
either way:

- With all bids remembered, public states form a tree. The probability of a pair of rolls at a state is a product: one
  vector for each player, which a sweep keeps on its way down. The classic game with two dice each has 16.8 million
  states with 21 rolls a player. A sweep forwards over all states and then backwards would keep a matrix of pairs of
  rolls at each: 28 GiB instead of some 100 KiB.
- With the last two bids remembered, several histories lead to one state. The probability of a pair of rolls there is a
  sum over them, which needs that matrix. A sweep down the tree would visit all histories: with five dice each in the
  classic game 69 billion, rare bids left out, instead of 667 states.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from dicegym.games.bidding.solving import regret_sweeps
from dicegym.games.bidding.solving.hand import Hand, Worth, ending_values


def _notes(hand: Hand) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the arrays plan, gain, own, other and sums of a sweep; each thread needs its own."""
    levels, choices = hand.levels, len(hand.bids) + hand.outcome.shape[2]
    plan, gain = np.empty((levels, choices + 2, hand.width)), np.empty((levels, choices, hand.width))
    own, other = np.empty((2, levels, hand.width))
    return plan, gain, own, other, np.empty(hand.outcome.shape[3] + 1)


@dataclass(frozen=True, eq=False)
class Strategy:
    """A strategy of both places of a hand: weights as in `dicegym.games.bidding.solving.regret_sweeps`."""

    hand: Hand
    bid_rows: np.ndarray
    """uint16[nodes, width]."""
    call_rows: np.ndarray
    """uint16[call rows, calls, width]."""

    def choices(self, path: Sequence[int]) -> np.ndarray:
        """Return the probability of each choice after the bids ``path``; see `hand_values.HandStrategy.choices`."""
        hand, place = self.hand, len(path) % 2
        plan = np.zeros((len(hand.bids) + hand.outcome.shape[2] + 2, hand.width))
        calls, low = (len(hand.calls[place]), int(hand.first[path[-1] + 1])) if path else (0, 0)
        regret_sweeps.weigh(
            self.bid_rows, self.call_rows, hand.node_of(path), low, hand.step, hand.squeeze, calls, hand.sizes[place],
            False, 1.0, plan,
        )  # fmt: skip
        return plan[:-2]

    def judge(
        self, values: np.ndarray, place: int, own: np.ndarray, other: np.ndarray, path: Sequence[int] = (),
        best: bool = False,
    ) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
        """Return the values of a node to each roll of a place, float64[width], and of choices, float64[choices, width].

        Args:
            values: float64[endings], the opener's win probabilities.
            place: the place.
            own: float64[width], its reach; 0 for rolls that are not asked for.
            other: float64[width], the opponent's reach times the probability of its rolls; a factor of all values.
            path: the numbers of the bids made.
            best: whether the place plays the best response, bids outside the tree included, or this strategy.

        The second array is valid if the place is to move, for the choices that it has.
        """
        hand, out, depth = self.hand, np.zeros(self.hand.width), len(path)
        _, gain, notes_own, notes_other, _ = notes = _notes(hand)
        notes_own[depth], notes_other[depth] = own, other
        regret_sweeps.visit(
            hand.node_of(path), path[-1] if path else -1, depth, depth, bool(own.any()), bool(other.any()), place, best,
            0.0, *hand.tree, hand.counting, hand.wins(values, place), hand.overbid_value(values, place),
            self.bid_rows, self.call_rows, None, None, *notes, out,
        )  # fmt: skip
        return out, gain[depth]

    def judge_roll(self, worth: Worth, path: Sequence[int], roll: int, other: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the win probability of a roll, and of each choice; see `hand_values.HandStrategy.judge_roll`."""
        hand, place = self.hand, len(path) % 2
        own, others = np.zeros((2, hand.width))
        own[roll], others[: len(other)] = 1, other
        value, choices = self.judge(ending_values(hand, worth, place), place, own, others, path)
        return float(value[roll]), choices[: len(hand.actions_of(path)), roll].copy()

    def win_chance(self, values: np.ndarray, place: int, best: bool = False) -> float:
        """Return the win probability of a place in the whole hand, by this strategy or the best response to it.

        ``values`` is float64[endings], the opener's win probabilities.
        """
        hand = self.hand
        own, other = np.ones(hand.width), np.zeros(hand.width)
        other[: hand.sizes[1 - place]] = hand.rolls[1 - place].chances
        out, _ = self.judge(values, place, own, other, best=best)
        return float(hand.rolls[place].chances @ out[: hand.sizes[place]])


class Learner:
    """Solves a hand by counterfactual regret minimisation; the update is in `regret_sweeps.visit`."""

    def __init__(self, hand: Hand) -> None:
        self.hand = hand
        bids, calls = hand.shapes
        self.bid_regrets, self.bid_totals = np.zeros(bids, np.float32), np.zeros(bids, np.float32)
        self.call_regrets, self.call_totals = np.zeros(calls, np.float32), np.zeros(calls, np.float32)
        self.steps = 0

    def learn(self, values: np.ndarray, pool: ThreadPoolExecutor | None = None) -> float:
        """Do one step for both places; return the opener's win probability with the present strategies.

        ``values`` is float64[endings], the opener's win probabilities. The result does not depend on the ``pool``.
        """
        self.steps += 1
        self._learn(values, 1, pool)
        return self._learn(values, 0, pool)

    def _learn(self, values: np.ndarray, me: int, pool: ThreadPoolExecutor | None) -> float:
        """Update regrets and totals of a place: below each opening bid by a sweep, and those of the opening here.

        Threads share the opening bids, whose subtrees are independent.
        """
        hand, n_bids = self.hand, len(self.hand.bids)
        plan, gains = np.zeros((n_bids + hand.outcome.shape[2] + 2, hand.width)), np.zeros((n_bids, hand.width))
        regret_sweeps.weigh(
            self.bid_regrets, self.call_regrets, 0, 0, hand.step, hand.squeeze, 0, hand.sizes[0], True, 1.0, plan
        )
        chances, own, other = plan[:n_bids], np.zeros(hand.width), np.zeros(hand.width)
        own[: hand.sizes[me]], other[: hand.sizes[1 - me]] = 1.0, hand.rolls[1 - me].chances
        wins, weight, tree = hand.wins(values, me), float(self.steps) ** 2, hand.tree

        def sweep(bid: int) -> None:
            _, _, notes_own, notes_other, _ = notes = _notes(hand)
            mine, theirs = (own * chances[bid], other) if me == 0 else (own, other * chances[bid])
            notes_own[1], notes_other[1] = mine, theirs
            regret_sweeps.visit(
                hand.step[bid], bid, 1, 1, bool(mine.any()), bool(theirs.any()), me, False, weight, *tree,
                hand.counting, wins, 0.0, self.bid_regrets, self.call_regrets, self.bid_totals, self.call_totals,
                *notes, gains[bid],
            )  # fmt: skip

        run = map if pool is None else pool.map
        list(run(sweep, range(n_bids)))  # each bid has nearly half of the remaining nodes below it
        if me == 0:
            value = (chances * gains).sum(axis=0)
            self.bid_totals[hand.step] += weight * own * chances
            self.bid_regrets[hand.step] = np.maximum(self.bid_regrets[hand.step] + gains - value, 0.0)
        else:
            value = gains.sum(axis=0)
        return float(hand.rolls[me].chances @ value[: hand.sizes[me]])

    def strategy(self) -> Strategy:
        """Return the average strategy; see `regret_sweeps.settle`."""
        bid_rows = np.zeros(self.bid_totals.shape, np.uint16)
        call_rows = np.zeros(self.call_totals.shape, np.uint16)
        regret_sweeps.settle(
            0, -1, 0, *self.hand.tree, self.bid_regrets, self.call_regrets, self.bid_totals, self.call_totals, bid_rows,
            call_rows, _notes(self.hand)[0],
        )  # fmt: skip
        return Strategy(self.hand, bid_rows, call_rows)
