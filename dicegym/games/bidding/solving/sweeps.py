"""Sweeps over the public tree of a hand: what play learns, what a best response wins, and what choices are worth.

All go through the nodes depth first, with vectors over rolls: for each roll of the player whom a sweep is about
(``me``, its place) the *own* reach, the probability that its strategy does its part in the bids so far, and for each
roll of the opponent the *other* reach, the same times the chance of that roll. Values are win probabilities times the
opponent's reach: counterfactual values (Zinkevich, Johanson, Bowling and Piccione, "Regret minimization in games with
incomplete information", NIPS 2007). Where neither reaches a node, nothing below it matters, and it is left out: after a
few sweeps that is nearly all.

A strategy is two tables of weights: of a bid at ``bid_rows[node after it, roll]``, and of call k at
``call_rows[node // squeeze, k, roll]``, for the rolls of whoever is to move. What a choice has of the sum of its node
is its probability. Choices are numbered: bids as in `Hand`, calls after them.

A sweep that learns cuts a large tree in two: the *top*, nodes whose bids are all below the number ``cut``, and what is
below each of them, which threads do one by one without meddling with each other. So results do not depend on how many
there are.

Arguments that kernels share:
    first, step, squeeze, n_calls, classes: as in `dicegym.games.bidding.solving.hand.Hand`.
    sizes: int64[2], rolls of each place.
    plan, gain: float64[depth, choices + 2, width], for notes.
    own, other: float64[depth, width], for notes, as are stack, int64[depth, 5], and sums, float64[2 * classes].
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import numpy as np

from dicegym.engine.jit import loop_kernel
from dicegym.games.bidding.solving.nodes import (
    LAST,
    NEXT,
    NODE,
    OTHER,
    OWN,
    add_called,
    clear,
    copy,
    hand_on,
    weigh,
)

WHOLE, MARK, BELOW, JOIN = 0, 1, 2, 3
"""What `sweep` does: the whole tree; note who reaches the nodes of the top; what is below one of these; the top, once
what is below is known."""
PARTS = 65535.0
"""Of a probability in 16 bits."""
LEAST = PARTS / 1024
"""What is chosen less often than this is not chosen at all: it is left from early steps, leaves a best response nothing
that could be measured, and would make whoever asks about a node go through a hundred times as many."""


@loop_kernel
def sweep(
    mode, start, last, depth, me, best, weight, cut, stride, first, step, squeeze, n_calls, sizes, classes, wins,
    overbid, refused, bid_rows, call_rows, bid_totals, call_totals, reach, below, plan, gain, own, other, stack, sums,
    out,
):  # fmt: skip
    """Find what a node is worth to one place, whose opponent plays a strategy; learn from it if there are totals.

    The place plays the same strategy (``best`` is False), or the best response to it. What the choices are worth is in
    ``gain[0]`` afterwards, if the place is to move at ``start``.

    With totals this is (part of) one step of counterfactual regret minimisation for the place, in the variant CFR+
    (Tammelin, "Solving large imperfect information games using CFR+", 2014): regrets are never below 0 and are the
    weights of the strategy of the moment, and totals gain ``weight`` times what the place plays.

    Beside the arguments above:
        mode: WHOLE, MARK, BELOW or JOIN.
        start: the node to begin at: any of WHOLE; a node of the top for BELOW, else the root.
        last: its last bid; -1: none.
        depth: how many bids led there.
        me: the place.
        best: whether it plays the best response.
        weight: see above.
        cut: the lowest bid that is not of the top; of the whole tree, any.
        stride: nodes from a node of the top to the next one; of the whole tree, ``nodes``.
        wins: float64[2, bids, calls, classes, classes], by place of the caller: what calls are worth to ``me``.
        overbid: what it is worth to a best response to bid what cannot be and to be called; 0 if it may not.
        refused: what it is worth to it, if it opens, to play nothing that is allowed.
        bid_rows: weights of the strategy, uint16[nodes, width]; of one that learns the regrets, float32.
        call_rows: the same, [rows, calls, width].
        bid_totals: as regrets; None if nothing is learned.
        call_totals: as regrets; None if nothing is learned.
        reach: float64[2, nodes of the top, width], own and other: read at the start, written by MARK. Own is 0 for
            rolls that are not asked for.
        below: float64[nodes of the top, bids from cut on, width]: written by BELOW, read by JOIN.
        out: float64[width]: the values at ``start``, of WHOLE and JOIN.
    """
    n_bids = len(step)
    size, other_size = sizes[me], sizes[1 - me]
    end = n_bids if mode in (WHOLE, BELOW) else cut
    learns = bid_totals is not None
    d = 0
    top = start // stride
    stack[0, NODE], stack[0, LAST] = start, last
    stack[0, OWN] = copy(reach[0, top], size, own[0])
    stack[0, OTHER] = copy(reach[1, top], other_size, other[0])
    fresh = True
    while True:
        node, last = stack[d, NODE], stack[d, LAST]
        low = first[last + 1]
        place = (depth + d) % 2
        mine = place == me
        calls = n_calls[place] if last >= 0 else 0
        own_there, other_there = stack[d, OWN] > 0, stack[d, OTHER] > 0
        if fresh:
            fresh = False
            stack[d, NEXT] = max(low, cut) if mode == BELOW and d == 0 else low
            if (mine and not best) or (other_there and not mine):
                mover_size = size if mine else other_size
                weigh(bid_rows, call_rows, node, low, step, squeeze, calls, mover_size, learns, plan[d])
            if mode == MARK:
                copy(own[d], size, reach[0, node // stride])
                copy(other[d], other_size, reach[1, node // stride])
            if bid_totals is not None:
                counted = mode in (WHOLE, JOIN) or (mode == BELOW and d > 0)
                if mine and own_there and counted and n_bids - low + calls > 1:
                    for bid in range(low, n_bids):
                        total, chance = bid_totals[node + step[bid]], plan[d, bid]
                        for roll in range(size):
                            total[roll] += weight * own[d, roll] * chance[roll]
                    for call in range(calls):
                        total, chance = call_totals[node // squeeze, call], plan[d, n_bids + call]
                        for roll in range(size):
                            total[roll] += weight * own[d, roll] * chance[roll]
        bid = stack[d, NEXT]
        if bid < end:
            stack[d, NEXT] = bid + 1
            if (
                first[bid + 1] == n_bids and n_calls[1 - place] == 1 and (mine or not best)
            ):  # one thing is left: to call
                value = gain[d, bid]
                clear(size, value)
                if other_there:
                    hidden = other[d]
                    there = True
                    if not mine:
                        hidden = other[d + 1]
                        there = hand_on(other[d], plan[d, bid], other_size, hidden)
                    if there:
                        add_called(
                            hidden, wins[1 - place, bid, 0], me == 1, classes[me, bid], classes[1 - me, bid], size,
                            other_size, sums, value,
                        )  # fmt: skip
                continue
            if mine:
                if best or (d == 0 and not learns):  # at the start, what choices are worth is asked of all of them
                    there = copy(own[d], size, own[d + 1])
                else:
                    there = own_there and hand_on(own[d], plan[d, bid], size, own[d + 1])
                stack[d + 1, OWN] = there
                stack[d + 1, OTHER] = other_there
                if not there:
                    clear(size, own[d + 1])
                if other_there:
                    copy(other[d], other_size, other[d + 1])
            else:
                there = other_there and hand_on(other[d], plan[d, bid], other_size, other[d + 1])
                stack[d + 1, OTHER] = there
                stack[d + 1, OWN] = own_there
                if not there:
                    clear(other_size, other[d + 1])
                copy(own[d], size, own[d + 1])
            if not there and (not learns or stack[d + 1, OWN] + stack[d + 1, OTHER] == 0):
                clear(size, gain[d, bid])
                continue
            d += 1
            stack[d, NODE], stack[d, LAST] = node + step[bid], bid
            if not other_there:
                clear(other_size, other[d])
            fresh = True
            continue
        if mode == BELOW and d == 0:
            for number in range(max(low, cut), n_bids):
                copy(gain[0, number], size, below[top, number - cut])
            return
        if mode == JOIN and other_there:
            for number in range(max(low, cut), n_bids):
                copy(below[node // stride, number - cut], size, gain[d, number])
        value = out if d == 0 else gain[d - 1, last]
        clear(size, value)
        if other_there and mode != MARK:
            if not mine:
                for number in range(low, n_bids):
                    for roll in range(size):
                        value[roll] += gain[d, number, roll]
                for call in range(calls):
                    hidden = other[d + 1]
                    if hand_on(other[d], plan[d, n_bids + call], other_size, hidden):
                        add_called(
                            hidden, wins[place, last, call], me == 1, classes[me, last], classes[1 - me, last], size,
                            other_size, sums, value,
                        )  # fmt: skip
            else:
                for call in range(calls):
                    clear(size, gain[d, n_bids + call])
                    add_called(
                        other[d], wins[place, last, call], me == 1, classes[me, last], classes[1 - me, last], size,
                        other_size, sums, gain[d, n_bids + call],
                    )  # fmt: skip
                if best:
                    most = 0.0
                    for roll in range(other_size):
                        most += other[d, roll]
                    most *= max(overbid, refused) if last < 0 else overbid
                    for roll in range(size):
                        value[roll] = most
                    for number in range(low, n_bids + calls):
                        for roll in range(size):
                            value[roll] = max(value[roll], gain[d, number, roll])
                else:
                    for number in range(n_bids, n_bids + calls):
                        for roll in range(size):
                            value[roll] += plan[d, number, roll] * gain[d, number, roll]
                    for number in range(low, n_bids):
                        for roll in range(size):
                            value[roll] += plan[d, number, roll] * gain[d, number, roll]
                if bid_totals is not None and n_bids - low + calls > 1:
                    for number in range(low, n_bids):
                        regrets = bid_rows[node + step[number]]
                        for roll in range(size):
                            regrets[roll] = max(regrets[roll] + gain[d, number, roll] - value[roll], 0.0)
                    for call in range(calls):
                        regrets = call_rows[node // squeeze, call]
                        for roll in range(size):
                            regrets[roll] = max(regrets[roll] + gain[d, n_bids + call, roll] - value[roll], 0.0)
        if d == 0:
            return
        d -= 1


@loop_kernel
def settle(
    first, step, squeeze, n_calls, sizes, bid_regrets, call_regrets, bid_totals, call_totals, bid_rows, call_rows, plan,
    stack,
):  # fmt: skip
    """Make what was played on average a strategy of 16 bits: each node's totals, shared out in 65,535 parts or less.

    Where a roll never played its way to a node, it is what the regrets there say: no reply gains by that, as nobody
    meets it, and whoever asks what to do there, after an error, gets a sensible answer.

    Beside the arguments above:
        bid_regrets: float32[nodes, width].
        call_regrets: float32[rows, calls, width].
        bid_totals: as regrets.
        call_totals: as regrets.
        bid_rows: uint16[nodes, width], written.
        call_rows: uint16[rows, calls, width], written.
    """
    n_bids = len(step)
    d = 0
    stack[0, NODE], stack[0, LAST] = 0, -1
    fresh = True
    while d >= 0:
        node, last = stack[d, NODE], stack[d, LAST]
        low = first[last + 1]
        if fresh:
            fresh = False
            stack[d, NEXT] = low
            place = d % 2
            calls = n_calls[place] if last >= 0 else 0
            size = sizes[place]
            if n_bids - low + calls > 1:
                row = node // squeeze
                total, rest = plan[0, 0], plan[0, 1]
                for roll in range(size):
                    total[roll] = 0.0
                    rest[roll] = 0.0
                for bid in range(low, n_bids):
                    for roll in range(size):
                        total[roll] += bid_totals[node + step[bid], roll]
                        rest[roll] += bid_regrets[node + step[bid], roll]
                for call in range(calls):
                    for roll in range(size):
                        total[roll] += call_totals[row, call, roll]
                        rest[roll] += call_regrets[row, call, roll]
                for roll in range(size):
                    met = total[roll] > 0.0
                    total[roll] = PARTS / total[roll] if met else 0.0
                    rest[roll] = PARTS / rest[roll] if rest[roll] > 0.0 and not met else 0.0
                for bid in range(low, n_bids):
                    played, regrets = bid_totals[node + step[bid]], bid_regrets[node + step[bid]]
                    weights = bid_rows[node + step[bid]]
                    for roll in range(size):
                        part = played[roll] * total[roll] + regrets[roll] * rest[roll]
                        weights[roll] = np.uint16(part + 0.5) if part >= LEAST else np.uint16(0)
                for call in range(calls):
                    played, regrets = call_totals[row, call], call_regrets[row, call]
                    weights = call_rows[row, call]
                    for roll in range(size):
                        part = played[roll] * total[roll] + regrets[roll] * rest[roll]
                        weights[roll] = np.uint16(part + 0.5) if part >= LEAST else np.uint16(0)
        bid = stack[d, NEXT]
        if bid < n_bids:
            stack[d, NEXT] = bid + 1
            if first[bid + 1] < n_bids or n_calls[1 - d % 2] > 1:
                d += 1
                stack[d, NODE], stack[d, LAST] = node + step[bid], bid
                fresh = True
            continue
        d -= 1
