"""Sweeps over the public tree of a hand: what play learns, what a best reply wins, and what choices are worth.

All go through the nodes depth first, with vectors over rolls: for each roll of the player whom a sweep is about
(``me``, its place) the *own* reach, the probability that its strategy does its part in the bids so far, and for each
roll of the opponent the *other* reach, the same times the chance of that roll. Values are win probabilities times the
opponent's reach (counterfactual ones). Where neither reaches a node, nothing below it matters, and it is left out:
after a few sweeps that is nearly all.

A strategy is two tables of weights: of a bid at ``bid_rows[node after it, roll]``, and of call k at
``call_rows[node // squeeze, k, roll]``, for the rolls of whoever is to move. What a choice has of the sum of its node
is its probability. Choices are numbered: bids as in `Hand`, calls after them.

`learn` cuts a large tree in two: the *top*, nodes whose bids are all below the number ``cut``, and what is below each
of them, which threads do one by one without meddling with each other. So results do not depend on how many there are.

Arguments that kernels share:
    first, step, squeeze, n_calls, classes: as in `dicegym.games.bidding.solving.hand.Hand`.
    sizes: int64[2], rolls of each place.
    wins: float64[2, bids, calls, classes, classes], by place of the caller: what calls are worth to ``me``.
    plan, gain: float64[depth, choices + 2, width], for notes.
    own, other: float64[depth, width], for notes, as are stack, int64[depth, 5], and sums, float64[2 * classes].
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

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
"""What `learn` does: the whole tree; note who reaches the nodes of the top; what is below one of these; the top, once
what is below is known."""


@loop_kernel
def learn(
    mode, start, last, depth, me, weight, cut, stride, first, step, squeeze, n_calls, sizes, classes, wins, bid_regrets,
    call_regrets, bid_totals, call_totals, reach, below, plan, gain, own, other, stack, sums, out,
):  # fmt: skip
    """Do (part of) one step of counterfactual regret minimisation for one place, in the variant CFR+ (Tammelin 2014).

    Regrets are never below 0, and are the weights of the strategy of the moment; ``totals`` gain ``weight`` times what
    the place plays.

    Beside the arguments above:
        mode: WHOLE, MARK, BELOW or JOIN.
        start: the node to begin at: the root, or a node of the top for BELOW.
        last: its last bid.
        depth: how many bids led there.
        me: whose regrets and totals are brought up to date.
        weight: see above.
        cut: the lowest bid that is not of the top; of the whole tree, any.
        stride: nodes from a node of the top to the next one; of the whole tree, ``nodes``.
        bid_regrets: float32[nodes, width].
        call_regrets: float32[rows, calls, width].
        bid_totals: as regrets.
        call_totals: as regrets.
        reach: float64[2, nodes of the top, width], own and other: read at the start, written by MARK.
        below: float64[nodes of the top, bids from cut on, width]: written by BELOW, read by JOIN.
        out: float64[width]: the values at the root, of WHOLE and JOIN.
    """
    n_bids = len(step)
    size, other_size = sizes[me], sizes[1 - me]
    end = n_bids if mode in (WHOLE, BELOW) else cut
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
        counted = mode in (WHOLE, JOIN) or (mode == BELOW and d > 0)
        if fresh:
            fresh = False
            stack[d, NEXT] = max(low, cut) if mode == BELOW and d == 0 else low
            if mine or other_there:
                mover_size = size if mine else other_size
                weigh(bid_regrets, call_regrets, node, low, step, squeeze, calls, mover_size, True, plan[d])
            if mode == MARK:
                copy(own[d], size, reach[0, node // stride])
                copy(other[d], other_size, reach[1, node // stride])
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
            if first[bid + 1] == n_bids and n_calls[1 - place] == 1:  # the one thing left is that call
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
            if stack[d + 1, OWN] == 0 and stack[d + 1, OTHER] == 0:
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
                    for roll in range(size):
                        value[roll] += plan[d, n_bids + call, roll] * gain[d, n_bids + call, roll]
                for number in range(low, n_bids):
                    for roll in range(size):
                        value[roll] += plan[d, number, roll] * gain[d, number, roll]
                if n_bids - low + calls > 1:
                    for number in range(low, n_bids):
                        regrets = bid_regrets[node + step[number]]
                        for roll in range(size):
                            regrets[roll] = max(regrets[roll] + gain[d, number, roll] - value[roll], 0.0)
                    for call in range(calls):
                        regrets = call_regrets[node // squeeze, call]
                        for roll in range(size):
                            regrets[roll] = max(regrets[roll] + gain[d, n_bids + call, roll] - value[roll], 0.0)
        if d == 0:
            return
        d -= 1


@loop_kernel
def judge(
    best, start, last, depth, me, first, step, squeeze, n_calls, sizes, classes, wins, overbid, refused, bid_rows,
    call_rows, own_reach, other_reach, plan, gain, own, other, stack, sums, out,
):  # fmt: skip
    """Find what a node is worth to one place, whose opponent plays a strategy.

    What the choices there are worth is in ``gain[0]`` afterwards, if the place is to move.

    Beside the arguments above:
        best: whether the place makes the best reply; else it plays the strategy too.
        start: the node.
        last: its last bid.
        depth: how many bids led there.
        me: the place.
        overbid: what it is worth to me to bid what cannot be and to be called; 0 if that is not allowed, or not asked.
        refused: what it is worth to me, if I open, to play nothing that is allowed.
        bid_rows: weights of the strategy, uint16[nodes, width].
        call_rows: uint16[rows, calls, width].
        own_reach: float64[width]; 0 for rolls of mine that are not asked for.
        other_reach: float64[width], of the opponent's rolls.
        out: float64[width]: values.
    """
    n_bids = len(step)
    size, other_size = sizes[me], sizes[1 - me]
    d = 0
    stack[0, NODE], stack[0, LAST] = start, last
    copy(own_reach, size, own[0])
    copy(other_reach, other_size, other[0])
    fresh = True
    while True:
        node, last = stack[d, NODE], stack[d, LAST]
        low = first[last + 1]
        place = (depth + d) % 2
        mine = place == me
        calls = n_calls[place] if last >= 0 else 0
        if fresh:
            fresh = False
            stack[d, NEXT] = low
            if not (best and mine):
                mover_size = size if mine else other_size
                weigh(bid_rows, call_rows, node, low, step, squeeze, calls, mover_size, False, plan[d])
        bid = stack[d, NEXT]
        if bid < n_bids:
            stack[d, NEXT] = bid + 1
            there = True
            if mine:
                copy(other[d], other_size, other[d + 1])
                if best or d == 0:  # at the beginning, what choices are worth is asked of all of them
                    copy(own[d], size, own[d + 1])
                else:
                    there = hand_on(own[d], plan[d, bid], size, own[d + 1])
            else:
                there = hand_on(other[d], plan[d, bid], other_size, other[d + 1])
                copy(own[d], size, own[d + 1])
            if not there:
                clear(size, gain[d, bid])
                continue
            d += 1
            stack[d, NODE], stack[d, LAST] = node + step[bid], bid
            fresh = True
            continue
        value = out if d == 0 else gain[d - 1, last]
        clear(size, value)
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
                    if best:
                        value[roll] = max(value[roll], gain[d, number, roll])
                    else:
                        value[roll] += plan[d, number, roll] * gain[d, number, roll]
        if d == 0:
            return
        d -= 1
