"""What sweeps over a hand do roll by roll: strategies from regrets, regrets from values, and values of strategies.

Arrays are those of one group of states (`dicegym.games.bidding.solving.recall_tree`): ``rolls`` are the mover's.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import numpy as np

from dicegym.engine.jit import kernel

SMALL = np.float32(1e-12)
BLOCK = 16


@kernel
def match(weights, legal, tremble, out):
    """Write the strategy that plays each choice by its weight, float32[rolls, members, choices].

    What has no weight at all is played evenly; a share of ``tremble`` always is.
    """
    rolls, members, choices = weights.shape
    number = np.int64(0)
    for choice in range(choices):
        number += legal[choice]
    even = np.float32(1) / np.float32(number)
    for roll in range(rolls):
        for member in range(members):
            total = np.float32(0)
            for choice in range(choices):
                total += max(weights[roll, member, choice], np.float32(0))
            if total > SMALL:
                scale = (np.float32(1) - tremble) / total
                for choice in range(choices):
                    share = max(weights[roll, member, choice], np.float32(0)) * scale + tremble * even
                    out[roll, member, choice] = share if legal[choice] else np.float32(0)
            else:
                for choice in range(choices):
                    out[roll, member, choice] = even if legal[choice] else np.float32(0)


@kernel
def learn(values, strategy, reach, legal, weight, regrets, summed):
    """Add what each choice would have brought to its regret, and the strategy to the sum that the mean is taken of.

    Args:
        values: float32[rolls, members, choices], by the reach of both.
        strategy: as `match` wrote it, ``values``' like.
        reach: float32[members, rolls]: how probable the mover's own choices are.
        legal: bool[choices].
        weight: of this time in the mean.
        regrets: float32, ``values``' like, never below 0.
        summed: float32, the same.
    """
    rolls, members, choices = values.shape
    for roll in range(rolls):
        for member in range(members):
            mean = np.float32(0)
            for choice in range(choices):
                mean += strategy[roll, member, choice] * values[roll, member, choice]
            own = reach[member, roll]
            scale = np.float32(1) / max(own, SMALL)
            for choice in range(choices):
                if legal[choice]:
                    more = regrets[roll, member, choice] + (values[roll, member, choice] - mean) * scale
                    regrets[roll, member, choice] = max(more, np.float32(0))
                    summed[roll, member, choice] += weight * own * strategy[roll, member, choice]


@kernel
def turn(source, target, places, strides, sign):
    """Copy matrices of pairs of rolls into the arrays of those who are to move next (or were before), turned round.

    Matrix k is ``source[:, k, :]`` and goes to ``target``, flat: its row r, column c to
    ``places[k] + c * strides[k] + r``, times ``sign``.
    """
    rolls, size, others = source.shape
    for k in range(size):
        for begin in range(0, rolls, BLOCK):
            for column in range(others):
                at = places[k] + column * strides[k]
                for row in range(begin, min(begin + BLOCK, rolls)):
                    target[at + row] = sign * source[row, k, column]


@kernel
def spread(strategy, own, other, chances, other_chances, bids, own_next, other_next, leads):
    """Carry the mean reach of both sides over the bids of a group to the states that these lead to.

    Each member counts for the next mover's reach by how probable the present mover's choices are, and the other way
    round, so that a reach is a mean over the histories that the other side really plays.

    ``strategy`` is float32[rolls, members, choices], of which the first ``bids`` lead on, to the states ``leads``;
    ``own``, float32[members, rolls], is the mover's reach, ``other``, float32[members, other rolls], the other's, by
    the ``chances`` of their rolls. Written, at those states, are ``own_next``, float32[states, other rolls], of who is
    to move next, and ``other_next``, float32[states, rolls], of the present mover.
    """
    rolls, members, _ = strategy.shape
    for bid in range(bids):
        to = leads[bid]
        own_next[to] = 0
        other_next[to] = 0
        mass_own = np.float32(0)
        mass_other = np.float32(0)
        for member in range(members):
            here = np.float32(0)
            for roll in range(rolls):
                here += chances[roll] * own[member, roll] * strategy[roll, member, bid]
            there = np.float32(0)
            for roll in range(other.shape[1]):
                there += other_chances[roll] * other[member, roll]
            mass_own += here
            mass_other += there
            for roll in range(other.shape[1]):
                own_next[to, roll] += here * other[member, roll]
            for roll in range(rolls):
                other_next[to, roll] += there * own[member, roll] * strategy[roll, member, bid]
        if mass_own > 0:
            own_next[to] /= mass_own
        if mass_other > 0:
            other_next[to] /= mass_other


@kernel
def sweep(
    roll, mine, theirs, cell_at, other_cell_at, choice_at, other_choice_at, state_at, members, first, bids,
    lead_states, last, counting, after, other_after, worth, other_worth,
):  # fmt: skip
    """Write what states are worth to a player of number ``roll``.

    ``mine`` and ``theirs`` are float32, flat: how the player's side and the other's are played, cell by cell.
    ``cell_at`` and ``other_cell_at`` say where the cells of each group begin, ``choice_at`` and ``other_choice_at`` how
    many choices it has. ``state_at``, ``members``, ``first``, ``bids``, ``lead_states`` and ``last`` are those of the
    groups, the same for both sides. ``counting``, int8[2, bids, rolls], has the dice that count for a bid: of the
    player's rolls and of the other's; ``after`` and ``other_after``, float64[calls, bids, dice + 1], what calls are
    worth to the caller. Written are float64[states, other rolls]: ``worth`` where the player is to move, and
    ``other_worth`` where the other is, worth to the player too.
    """
    rolls = worth.shape[1]
    calls = after.shape[0]
    for group in range(len(members) - 1, -1, -1):
        bid = last[group]
        for member in range(members[group]):
            state = state_at[group] + member
            worth[state] = 0
            other_worth[state] = 0
            at = cell_at[group] + (roll * members[group] + member) * choice_at[group]
            for choice in range(bids[group]):
                lead = lead_states[first[group] + choice]
                share = mine[at + choice]
                if share > 0:
                    for other in range(rolls):
                        worth[state, other] += share * other_worth[lead, other]
            for other in range(rolls):  # cells of a roll stand side by side, and all members lead to the same states
                cell = other_cell_at[group] + (other * members[group] + member) * other_choice_at[group]
                total = 0.0
                for choice in range(bids[group]):
                    share = theirs[cell + choice]
                    if share > 0:
                        total += share * worth[lead_states[first[group] + choice], other]
                other_worth[state, other] = total
            if group == 0:
                continue
            for call in range(calls):
                share = mine[at + bids[group] + call]
                for other in range(rolls):
                    found = counting[0, bid, roll] + counting[1, bid, other]
                    worth[state, other] += share * after[call, bid, found]
                    cell = other_cell_at[group] + (other * members[group] + member) * other_choice_at[group]
                    part = theirs[cell + bids[group] + call]
                    other_worth[state, other] += part * (1 - other_after[call, bid, found])
