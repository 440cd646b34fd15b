"""Sweeps over the public tree of a hand: they learn a strategy, or evaluate it, its best response and its choices.

Sweeps go depth first, with vectors over rolls. For the player that a sweep is about (``me``, its place) the *own* reach
of a roll is the probability that its strategy makes its bids so far. The *other* reach of an opponent's roll is the
same times the probability of the roll. Values are win probabilities times the opponent's reach: counterfactual values
(Zinkevich, Johanson, Bowling and Piccione, "Regret minimization in games with incomplete information", NIPS 2007), for
all rolls at once (Johanson, Waugh, Bowling and Zinkevich, "Accelerating best response calculation in large extensive
games", IJCAI 2011). A node that neither reaches is left out with all below it: after a few sweeps that is most nodes.

A strategy is two tables of weights: of a bid at ``bid_rows[node after it, roll]``, and of call k at
``call_rows[node // squeeze, k, roll]``, for the rolls of the player to move. The probability of a choice is its share
of the sum at its node. Choices are numbered: bids as in `Hand`, then calls.

Arguments of several kernels:
    node, last, depth: a node, its last bid (-1: none), and the number of bids before it.
    me, best: the place that a sweep is about, and whether it plays the best response or the strategy.
    first, step, squeeze, n_calls, sizes, counting: as in `dicegym.games.bidding.solving.hand.Hand`.
    bid_rows: weights of the strategy, uint16[nodes, width]; while learning, the regrets, float32.
    call_rows: the same, [rows, calls, width].
    plan, gain: float64[depth, choices + 2, width], scratch.
    own, other: float64[depth, width]: the reaches on the way.
    sums: float64[matching + 1], scratch.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import numpy as np

from dicegym.engine.jit import kernel, loop_kernel

PARTS = 65535.0
"""The scale of a probability in 16 bits."""
LEAST = PARTS / 1024
"""Smaller weights become 0: they are left from early steps, give a best response nothing that could be measured, and
would make a query about a node visit a hundred times as many nodes."""

# --- at a node -----------------------------------------------------------------------------------------------


@kernel
def weigh(bid_rows, call_rows, node, low, step, squeeze, calls, size, even, whole, plan):
    """Write to ``plan``, float64[choices + 2, width], the shares of ``whole`` that the choices at a node have.

    The row after the choices has the factor of the weights, by roll; 0 if all weights are 0.

    Args:
        bid_rows: float[nodes, width].
        call_rows: float[rows, calls, width].
        node: the node.
        low: the lowest bid that may follow.
        step: as in `Hand`.
        squeeze: as in `Hand`.
        calls: the number of calls.
        size: the number of rolls.
        even: whether choices are even if all weights are 0; otherwise the player to move makes call 0, if it can.
        whole: 1 for probabilities.
        plan: written.
    """
    n_bids = len(step)
    choices = n_bids - low + calls
    end = len(plan) - 2
    if choices == 1:
        only = n_bids if calls == 1 else low
        for roll in range(size):
            plan[only, roll] = 1.0
        return
    total, rest = plan[end], plan[end + 1]
    row = node // squeeze
    for roll in range(size):
        total[roll] = 0.0
    for number in range(low, n_bids + calls):
        weights = bid_rows[node + step[number]] if number < n_bids else call_rows[row, number - n_bids]
        for roll in range(size):
            total[roll] += weights[roll]
    share = 1.0 / choices if even or calls == 0 else 0.0
    for roll in range(size):
        none = total[roll] <= 0.0
        rest[roll] = 1.0 if none else 0.0
        total[roll] = 0.0 if none else whole / total[roll]
    for number in range(low, n_bids + calls):
        weights = bid_rows[node + step[number]] if number < n_bids else call_rows[row, number - n_bids]
        chance, alone = plan[number], 1.0 if share == 0.0 and number == n_bids else share
        for roll in range(size):
            chance[roll] = weights[roll] * total[roll] + rest[roll] * alone


@kernel
def add_called(reach, wins, mine, others, size, other_size, sums, out):
    """Add to ``out`` the value of a call to each of my rolls, against a reach of the opponent's rolls.

    ``wins`` is float64[matching], by the number of dice that match the bid. ``mine`` and ``others`` are int64[width],
    the matching dice of my ``size`` rolls and of the opponent's ``other_size``.
    """
    kinds = (len(wins) + 1) // 2
    for kind in range(kinds):
        sums[kind] = 0.0
    for roll in range(other_size):
        sums[others[roll]] += reach[roll]
    for kind in range(kinds):  # the value by my number of matching dice
        value = 0.0
        for hidden in range(kinds):
            value += sums[hidden] * wins[kind + hidden]
        sums[kinds + kind] = value
    for roll in range(size):
        out[roll] += sums[kinds + mine[roll]]


@kernel
def hand_on(reach, chance, size, out):
    """Write the reach after a choice (``chance`` None: a sure one); return whether it is above 0 for any roll."""
    most = 0.0
    for roll in range(size):
        out[roll] = reach[roll] if chance is None else reach[roll] * chance[roll]
        most = max(most, out[roll])
    return most > 0.0


@kernel
def pass_on(d, bid, mine, freely, own_there, other_there, size, other_size, plan, own, other):
    """Write both reaches after a bid; return whether mine, and the opponent's, is above 0 for any roll.

    The player to move bids as ``plan`` says; with ``freely`` I make the bid with every roll.
    """
    if mine:
        if freely:
            own_there = hand_on(own[d], None, size, own[d + 1])
        else:
            own_there = own_there and hand_on(own[d], plan[d, bid], size, own[d + 1])
        if other_there:
            hand_on(other[d], None, other_size, other[d + 1])
    else:
        hand_on(own[d], None, size, own[d + 1])
        other_there = other_there and hand_on(other[d], plan[d, bid], other_size, other[d + 1])
    if not own_there:
        own[d + 1, :size] = 0.0
    if not other_there:
        other[d + 1, :other_size] = 0.0
    return own_there, other_there


# --- sweeps --------------------------------------------------------------------------------------------------


@loop_kernel
def visit(
    node, last, depth, start, own_there, other_there, me, best, weight, first, step, squeeze, n_calls, sizes, counting,
    wins, overbid, bid_rows, call_rows, bid_totals, call_totals, plan, gain, own, other, sums, out,
):  # fmt: skip
    """Compute the value of a node to one place against the opponent's strategy; learn from it if there are totals.

    If the place is to move, the values of its choices are in ``gain[depth]`` afterwards.

    With totals this is one step of counterfactual regret minimisation for the place, in the variant CFR+ (Tammelin,
    "Solving large imperfect information games using CFR+", 2014): regrets are never below 0 and are the weights of the
    present strategy (regret matching), and ``weight`` times that strategy is added to the totals.

    Arguments in addition to those above:
        start: the depth at which the sweep began.
        own_there: whether own reach at the node, ``own[depth]``, is above 0 for any roll.
        other_there: the same for the opponent's, ``other[depth]``.
        weight: see above.
        wins: float64[2, bids, calls, matching], by place of the caller: the value of calls to ``me``.
        overbid: a best response's value of a bid above all dice, which is called; 0 if that is illegal.
        bid_totals: shaped as regrets; None to learn nothing.
        call_totals: shaped as regrets; None to learn nothing.
        out: float64[width]: written, the values at the node.
    """
    d, n_bids, low = depth, len(step), first[last + 1]
    size, other_size = sizes[me], sizes[1 - me]
    place = d % 2
    mine = place == me
    calls = n_calls[place] if last >= 0 else 0
    learns = bid_totals is not None
    if (mine and not best) or (other_there and not mine):
        weigh(bid_rows, call_rows, node, low, step, squeeze, calls, size if mine else other_size, learns, 1.0, plan[d])
    if bid_totals is not None and mine and own_there and n_bids - low + calls > 1:
        for number in range(low, n_bids + calls):
            total = (
                bid_totals[node + step[number]] if number < n_bids else call_totals[node // squeeze, number - n_bids]
            )
            for roll in range(size):
                total[roll] += weight * own[d, roll] * plan[d, number, roll]
    for bid in range(low, n_bids):
        value = gain[d, bid]
        if first[bid + 1] == n_bids and n_calls[1 - place] == 1 and (mine or not best):  # only a call is left
            value[:size] = 0.0
            if other_there and (mine or hand_on(other[d], plan[d, bid], other_size, other[d + 1])):
                add_called(
                    other[d] if mine else other[d + 1], wins[1 - place, bid, 0], counting[me, bid],
                    counting[1 - me, bid], size, other_size, sums, value,
                )  # fmt: skip
        else:
            freely = best or (d == start and not learns)  # at the start, all choices are evaluated
            mine_there, theirs_there = pass_on(
                d, bid, mine, freely, own_there, other_there, size, other_size, plan, own, other
            )
            if (mine_there if mine else theirs_there) or (learns and (mine_there or theirs_there)):
                visit(
                    node + step[bid], bid, d + 1, start, mine_there, theirs_there, me, best, weight, first, step,
                    squeeze, n_calls, sizes, counting, wins, overbid, bid_rows, call_rows, bid_totals, call_totals,
                    plan, gain, own, other, sums, value,
                )  # fmt: skip
            else:
                value[:size] = 0.0
    out[:size] = 0.0
    if not other_there:
        return
    if not mine:
        for number in range(low, n_bids):
            for roll in range(size):
                out[roll] += gain[d, number, roll]
        for call in range(calls):
            if hand_on(other[d], plan[d, n_bids + call], other_size, other[d + 1]):
                add_called(
                    other[d + 1], wins[place, last, call], counting[me, last], counting[1 - me, last], size,
                    other_size, sums, out,
                )  # fmt: skip
        return
    for call in range(calls):
        gain[d, n_bids + call, :size] = 0.0
        add_called(
            other[d], wins[place, last, call], counting[me, last], counting[1 - me, last], size, other_size,
            sums, gain[d, n_bids + call],
        )  # fmt: skip
    if best:
        most = 0.0
        for roll in range(other_size):
            most += other[d, roll]
        most *= overbid
        for roll in range(size):
            out[roll] = most
        for number in range(low, n_bids + calls):
            for roll in range(size):
                out[roll] = max(out[roll], gain[d, number, roll])
        return
    for number in range(n_bids, n_bids + calls):
        for roll in range(size):
            out[roll] += plan[d, number, roll] * gain[d, number, roll]
    for number in range(low, n_bids):
        for roll in range(size):
            out[roll] += plan[d, number, roll] * gain[d, number, roll]
    if bid_totals is not None and n_bids - low + calls > 1:
        for number in range(low, n_bids + calls):
            regrets = bid_rows[node + step[number]] if number < n_bids else call_rows[node // squeeze, number - n_bids]
            for roll in range(size):
                regrets[roll] = max(regrets[roll] + gain[d, number, roll] - out[roll], 0.0)


@loop_kernel
def settle(
    node, last, depth, first, step, squeeze, n_calls, sizes, bid_regrets, call_regrets, bid_totals, call_totals,
    bid_rows, call_rows, plan,
):  # fmt: skip
    """Write the average strategy with 16 bits, at a node and below: the totals as shares of 65,535.

    For a roll that never reaches a node, it is the strategy of the regrets there. No response gains by that, as it
    never meets it, and a player that asks there after an error has a sensible answer.

    Regrets and totals are float32 of the shapes of ``bid_rows`` and ``call_rows``, which are uint16 and written.
    """
    n_bids, low = len(step), first[last + 1]
    place = depth % 2
    calls = n_calls[place] if last >= 0 else 0
    size = sizes[place]
    if n_bids - low + calls > 1:
        weigh(bid_totals, call_totals, node, low, step, squeeze, calls, size, True, PARTS, plan[0])
        weigh(bid_regrets, call_regrets, node, low, step, squeeze, calls, size, True, PARTS, plan[1])
        counts = len(plan[0]) - 2
        for number in range(low, n_bids + calls):
            weights = bid_rows[node + step[number]] if number < n_bids else call_rows[node // squeeze, number - n_bids]
            for roll in range(size):
                part = 0.0
                if plan[0, counts, roll] > 0.0:
                    part = plan[0, number, roll]
                elif plan[1, counts, roll] > 0.0:
                    part = plan[1, number, roll]
                weights[roll] = np.uint16(part + 0.5) if part >= LEAST else np.uint16(0)
    for bid in range(low, n_bids):
        if first[bid + 1] < n_bids or n_calls[1 - place] > 1:
            settle(
                node + step[bid], bid, depth + 1, first, step, squeeze, n_calls, sizes, bid_regrets, call_regrets,
                bid_totals, call_totals, bid_rows, call_rows, plan,
            )  # fmt: skip
