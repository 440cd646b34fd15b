"""What sweeps over the public tree of a hand do at a node; see `dicegym.games.bidding.solving.sweeps`."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

from dicegym.engine.jit import kernel

NODE, LAST, NEXT, OWN, OTHER = 0, 1, 2, 3, 4
"""Columns of a stack: the node, its last bid (-1: none), the bid to go on with, whether anybody of mine, and of the
opponent's, gets there."""


@kernel
def weigh(bid_rows, call_rows, node, low, step, squeeze, calls, size, even, plan):
    """Write what the weights at a node make the probabilities of its choices.

    Args:
        bid_rows: float[nodes, width].
        call_rows: float[rows, calls, width].
        node: where.
        low: the lowest bid that may follow.
        step: int64[bids]; see `dicegym.games.bidding.solving.sweeps`.
        squeeze: see there.
        calls: how many calls there are.
        size: how many rolls.
        even: whether all choices are alike where there are no weights; else whoever is there calls (0), if it can.
        plan: float64[choices + 2, width].
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
    for bid in range(low, n_bids):
        weights = bid_rows[node + step[bid]]
        for roll in range(size):
            total[roll] += weights[roll]
    for call in range(calls):
        weights = call_rows[row, call]
        for roll in range(size):
            total[roll] += weights[roll]
    share = 1.0 / choices if even or calls == 0 else 0.0
    for roll in range(size):
        none = total[roll] <= 0.0
        rest[roll] = 1.0 if none else 0.0
        total[roll] = 0.0 if none else 1.0 / total[roll]
    for bid in range(low, n_bids):
        weights, chance = bid_rows[node + step[bid]], plan[bid]
        for roll in range(size):
            chance[roll] = weights[roll] * total[roll] + rest[roll] * share
    for call in range(calls):
        weights, chance = call_rows[row, call], plan[n_bids + call]
        alone = 1.0 if share == 0.0 and call == 0 else share
        for roll in range(size):
            chance[roll] = weights[roll] * total[roll] + rest[roll] * alone


@kernel
def add_called(reach, wins, turned, mine, others, size, other_size, sums, out):
    """Add to ``out`` what a call is worth to each of my rolls, against a reach of the opponent's rolls.

    Args:
        reach: float64[width], of the opponent.
        wins: float64[classes, classes], of the opener's rolls and the other's.
        turned: whether I am the other.
        mine: int64[width], the classes of my rolls.
        others: int64[width], of the opponent's.
        size: how many rolls I have.
        other_size: how many the opponent has.
        sums: float64[classes or more], for notes.
        out: float64[width].
    """
    kinds = len(wins)
    for kind in range(kinds):
        sums[kind] = 0.0
    for roll in range(other_size):
        sums[others[roll]] += reach[roll]
    for kind in range(kinds):  # in place: what each class of mine has
        value = 0.0
        for hidden in range(kinds):
            value += sums[hidden] * (wins[hidden, kind] if turned else wins[kind, hidden])
        sums[kinds + kind] = value
    for roll in range(size):
        out[roll] += sums[kinds + mine[roll]]


@kernel
def hand_on(reach, chance, size, out):
    """Write the reach after a choice; return whether anybody gets there."""
    most = 0.0
    for roll in range(size):
        out[roll] = reach[roll] * chance[roll]
        most = max(most, out[roll])
    return most > 0.0


@kernel
def copy(values, size, out):
    """Copy a vector; return whether anything in it is above 0."""
    most = 0.0
    for roll in range(size):
        out[roll] = values[roll]
        most = max(most, values[roll])
    return most > 0.0


@kernel
def clear(size, out):
    """Set a vector to 0."""
    for roll in range(size):
        out[roll] = 0.0
