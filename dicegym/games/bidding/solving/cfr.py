"""What learns one hand by counterfactual regret minimisation, and what tables of a strategy are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dicegym.games.bidding.solving import regret_sweeps
from dicegym.games.bidding.solving.hand import NOT_ALLOWED, Hand

LARGEST_PIECE = 1 << 14
"""Nodes below a node of the top at most, where a tree is cut in two: their tables stay in a processor's cache."""
SMALL_TREE = 1 << 16
"""Trees of up to this many nodes are not cut."""


class _Notes(NamedTuple):
    """Room for notes of one sweep (`dicegym.games.bidding.solving.regret_sweeps`); each thread needs its own."""

    plan: np.ndarray
    gain: np.ndarray
    own: np.ndarray
    other: np.ndarray
    sums: np.ndarray


def _notes(hand: Hand) -> _Notes:
    levels, choices = len(np.unique(hand.first)) + 2, len(hand.bids) + hand.outcome.shape[2]
    plan, gain = np.empty((levels, choices + 2, hand.width)), np.empty((levels, choices, hand.width))
    own, other = np.empty((2, levels, hand.width))
    return _Notes(plan, gain, own, other, np.empty(hand.outcome.shape[3] + 1))


@dataclass(frozen=True, eq=False)
class Strategy:
    """How both places play a hand: weights as in `dicegym.games.bidding.solving.regret_sweeps`."""

    hand: Hand
    bid_rows: np.ndarray
    """uint16[nodes, width]."""
    call_rows: np.ndarray
    """uint16[call rows, calls, width]."""

    def choices(self, path: Sequence[int]) -> np.ndarray:
        """Return the probability of each choice, bids before calls, for each roll: float64[choices, width].

        ``path`` has the numbers of the bids that were made.
        """
        hand, place = self.hand, len(path) % 2
        plan = np.zeros((len(hand.bids) + hand.outcome.shape[2] + 2, hand.width))
        calls, low = (len(hand.calls[place]), int(hand.first[path[-1] + 1])) if path else (0, 0)
        size = len(hand.rolls[place].chances)
        regret_sweeps.weigh(
            self.bid_rows, self.call_rows, hand.node_of(path), low, hand.step, hand.squeeze, calls, size, False, plan
        )
        return plan[:-2]

    def judge(
        self, values: np.ndarray, place: int, own: np.ndarray, other: np.ndarray, path: Sequence[int] = (),
        best: bool = False,
    ) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
        """Return what a node is worth to a place: float64[width] by its rolls, and float64[choices, width].

        Args:
            values: float64[endings], the opener's win probabilities.
            place: who is asked about.
            own: float64[width], own reach; 0 for rolls that are not asked for.
            other: float64[width], the opponent's reach with the chance of its rolls; values are times that.
            path: numbers of the bids that were made.
            best: whether the place plays the best response, bids outside of the tree included, or this strategy.

        The second array is of use where the place is to move, and for choices that are there.
        """
        hand, notes, out, depth = self.hand, _notes(self.hand), np.zeros(self.hand.width), len(path)
        notes.own[depth], notes.other[depth] = own, other
        regret_sweeps.visit(
            hand.node_of(path), path[-1] if path else -1, depth, depth, 0, *_there(own, other), place, best,
            0.0, len(hand.bids), hand.nodes, *hand.tree, hand.counting, hand.wins(values, place),
            overbid_value(hand, values, place), self.bid_rows, self.call_rows, None, None,
            np.zeros((1, 0, hand.width)), *notes, out,
        )  # fmt: skip
        return out, notes.gain[depth]

    def win_chance(self, values: np.ndarray, place: int, best: bool = False) -> float:
        """Return how likely a place wins from the first bid on, by this strategy or by the best response to it.

        ``values`` is float64[endings], the opener's win probabilities.
        """
        hand = self.hand
        own, other = np.ones(hand.width), np.zeros(hand.width)
        other[: hand.sizes[1 - place]] = hand.rolls[1 - place].chances
        out, _ = self.judge(values, place, own, other, best=best)
        return float(hand.rolls[place].chances @ out[: hand.sizes[place]])


def overbid_value(hand: Hand, values: np.ndarray, place: int) -> float:
    """Return how likely a place wins when it bids what cannot be and is called; 0 if it may not.

    ``values`` is float64[endings], the opener's win probabilities.
    """
    if hand.overbid[place] == NOT_ALLOWED:
        return 0.0
    found = float(values[hand.overbid[place]])
    return found if place == 0 else 1 - found


class Learner:
    """Learns to play one hand.

    Args:
        hand: what is played.
    """

    def __init__(self, hand: Hand) -> None:
        self.hand = hand
        bids, calls = hand.shapes
        self.bid_regrets, self.bid_totals = np.zeros(bids, np.float32), np.zeros(bids, np.float32)
        self.call_regrets, self.call_totals = np.zeros(calls, np.float32), np.zeros(calls, np.float32)
        self.steps = 0
        self.cut, self.stride = _cut(hand)
        self._notes: list[_Notes] = []

    def learn(self, values: np.ndarray, pool: ThreadPoolExecutor | None = None, threads: int = 1) -> float:
        """Do one step for both places; return how likely the opener won by the strategies of the moment.

        ``values`` is float64[endings], the opener's win probabilities.
        """
        self.steps += 1
        self._learn(values, 1, pool, threads)
        return self._learn(values, 0, pool, threads)

    def _learn(self, values: np.ndarray, me: int, pool: ThreadPoolExecutor | None, threads: int) -> float:
        hand, out = self.hand, np.zeros(self.hand.width)
        n_bids, tops = len(hand.bids), -(-hand.nodes // self.stride)
        reach, below = np.zeros((2, tops, hand.width)), np.zeros((tops, n_bids - self.cut, hand.width))
        reach[0, 0, : hand.sizes[me]] = 1
        reach[1, 0, : hand.sizes[1 - me]] = hand.rolls[1 - me].chances
        wins, weight = hand.wins(values, me), float(self.steps) ** 2
        while len(self._notes) < threads:
            self._notes.append(_notes(hand))

        def visit(notes: _Notes, top: int, floor: int, cut: int) -> np.ndarray:
            last, depth = hand.last_of(top * self.stride)
            notes.own[depth], notes.other[depth] = reach[:, top]
            regret_sweeps.visit(
                top * self.stride, last, depth, depth, floor, *_there(*reach[:, top]), me, False, weight, cut,
                self.stride, *hand.tree, hand.counting, wins, 0.0, self.bid_regrets, self.call_regrets,
                self.bid_totals, self.call_totals, below, *notes, out,
            )  # fmt: skip
            gain: np.ndarray = notes.gain[depth]
            return gain

        if tops > 1:
            plan, _, own, other, _ = self._notes[0]
            own[0], other[0] = reach[:, 0]
            regret_sweeps.mark(
                0, -1, 0, True, True, me, self.cut, self.stride, *hand.tree, self.bid_regrets, self.call_regrets, reach,
                plan, own, other,
            )  # fmt: skip
            pieces = [top for top in range(tops) if reach[:, top].any()]

            def work(thread: int) -> None:
                while pieces:
                    try:
                        top = pieces.pop()
                    except IndexError:  # another thread was faster
                        return
                    below[top] = visit(self._notes[thread], top, self.cut, n_bids)[self.cut : n_bids]

            if pool is None or threads == 1:
                work(0)
            else:
                list(pool.map(work, range(threads)))
        visit(self._notes[0], 0, 0, self.cut if tops > 1 else n_bids)
        return float(hand.rolls[me].chances @ out[: hand.sizes[me]])

    def strategy(self) -> Strategy:
        """Return what was played on average; see `regret_sweeps.settle`."""
        bid_rows = np.zeros(self.bid_totals.shape, np.uint16)
        call_rows = np.zeros(self.call_totals.shape, np.uint16)
        regret_sweeps.settle(
            0, -1, 0, *self.hand.tree, self.bid_regrets, self.call_regrets, self.bid_totals, self.call_totals, bid_rows,
            call_rows, _notes(self.hand).plan,
        )  # fmt: skip
        return Strategy(self.hand, bid_rows, call_rows)


def _there(own: np.ndarray, other: np.ndarray) -> tuple[bool, bool]:
    """Return whether anybody is there, by both reaches."""
    return bool(own.any()), bool(other.any())


def _cut(hand: Hand) -> tuple[int, int]:
    """Return the lowest bid below the top, and how many nodes a node of the top has below it, itself counted."""
    if hand.nodes <= SMALL_TREE:
        return 0, hand.nodes
    below, bid = 1, len(hand.bids)
    for end in np.unique(hand.first)[::-1]:  # where levels end, the highest first
        start = int(hand.first[hand.first < end].max(initial=0)) if end else 0
        if below * (end - start + 1) > LARGEST_PIECE:
            break
        below, bid = below * int(end - start + 1), start
    return bid, below
