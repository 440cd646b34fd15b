"""How much the best reply wins against players who remember the last bids alone: the reply remembers everything.

Its whole tree is gone through, so this is for hands of few dice. Where the player never goes the reply does not either,
and strategies without small chances leave few places.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import numpy as np

from dicegym.engine.jit import kernel
from dicegym.games.bidding.solving.recall_hand import HandSolver, Side, after_calls, for_the_other

DEEPEST = 61
NOTHING = 1e-9


@kernel
def best_reply(
    replies_first,
    mine,
    theirs,
    chances,
    strategy,
    cell_at,
    choice_at,
    members,
    last,
    leads,
    place,
    lead_at,
    bids,
    counting,
    after_mine,
    after_theirs,
    may_call,
    visits,
):
    """Return float64[rolls]: what the best reply wins with each own roll, by the chances of the player's rolls.

    It opens the hand if ``replies_first``. ``mine`` and ``theirs`` are the numbers of rolls of the reply and of the
    player, ``chances`` those of the player's. ``strategy`` has the player's cells, flat, with ``cell_at`` and
    ``choice_at`` of its groups; ``members``, ``last``, ``leads``, ``place``, ``lead_at`` and ``bids`` are those of the
    tree, which both share. ``counting``, int8[2, bids, rolls], has the dice that count for a bid, of the reply's rolls
    (0) and of the player's (1); ``after_mine``, float64[calls, bids, dice + 1], what a call of the reply is worth to
    it, ``after_theirs`` what one of the player is worth to the reply; ``may_call``, bool[calls], is of the reply.
    How many states were gone through is added to ``visits``, int64[1].
    """
    calls = after_mine.shape[0]
    group = np.zeros(DEEPEST, np.int64)
    member = np.zeros(DEEPEST, np.int64)
    choice = np.zeros(DEEPEST, np.int64)
    values = np.zeros((DEEPEST, mine))
    reach = np.zeros((DEEPEST, theirs))
    reach[0] = chances
    by_count = np.zeros(12)
    depth = 0
    replying = replies_first
    fresh = True
    while True:
        here = group[depth]
        if fresh:
            visits[0] += 1
            choice[depth] = 0
            values[depth] = -1e9 if replying else 0.0
            if here > 0:
                bid = last[here]
                for call in range(calls):
                    if replying and not may_call[call]:
                        continue
                    by_count[:] = 0
                    any_reach = False
                    for roll in range(theirs):
                        part = reach[depth, roll]
                        if not replying:
                            part *= strategy[
                                cell_at[here]
                                + (roll * members[here] + member[depth]) * choice_at[here]
                                + bids[here]
                                + call
                            ]
                        if part > 0:
                            any_reach = True
                            by_count[counting[1, bid, roll]] += part
                    if not any_reach and not replying:
                        continue
                    after = after_mine if replying else after_theirs
                    for roll in range(mine):
                        worth = 0.0
                        for count in range(6):
                            if by_count[count] > 0:
                                worth += by_count[count] * after[call, bid, counting[0, bid, roll] + count]
                        if replying:
                            values[depth, roll] = max(values[depth, roll], worth)
                        else:
                            values[depth, roll] += worth
        fresh = False
        if choice[depth] < bids[here]:
            taken = choice[depth]
            choice[depth] += 1
            if replying:
                reach[depth + 1] = reach[depth]
            else:
                total = 0.0
                for roll in range(theirs):
                    part = (
                        reach[depth, roll]
                        * strategy[cell_at[here] + (roll * members[here] + member[depth]) * choice_at[here] + taken]
                    )
                    reach[depth + 1, roll] = part
                    total += part
                if total < NOTHING:
                    continue
            group[depth + 1] = leads[lead_at[here] + taken]
            member[depth + 1] = place[lead_at[here] + taken]
            depth += 1
            replying = not replying
            fresh = True
            continue
        if depth == 0:
            return values[0].copy()
        depth -= 1
        replying = not replying
        for roll in range(mine):
            if replying:
                values[depth, roll] = max(values[depth, roll], values[depth + 1, roll])
            else:
                values[depth, roll] += values[depth + 1, roll]


def normalised(side: Side, least: float = 0.0) -> np.ndarray:
    """Return the mean strategy of a side, flat as its cells, without choices rarer than ``least``."""
    out = np.zeros_like(side.summed)
    for group in range(side.groups):
        cells = side.of_cells(side.summed, group)
        legal = side.legal[group].astype(np.float32)
        total = cells.sum(2, keepdims=True)
        found = np.where(total > 0, cells / np.where(total > 0, total, 1), legal / legal.sum())
        found[found < least] = 0
        into = side.of_cells(out, group)
        into[:] = found / np.maximum(found.sum(2, keepdims=True), 1e-12)
    return out


def reply_values(solver: HandSolver, values: np.ndarray, strategies: list[np.ndarray]) -> tuple[np.ndarray, int]:
    """Return what the best reply wins: float64[2 sides, 2]: it has the dice of the side; it opens (0) or not (1).

    ``values`` float64[6, 6]: what the reply wins if it opens a hand with (own, others) dice is values[own, others, 0],
    and if the player does values[own, others, 1].
    """
    found = np.zeros((len(solver.sides), 2))
    visits = np.zeros(1, np.int64)
    for number, side in enumerate(solver.sides):
        player = solver.sides[number - 1]
        strategy = strategies[number - 1]
        opens, follows = values[..., 0], values[..., 1]
        mine = after_calls(side.hand, opens, follows)
        theirs = 1 - after_calls(player.hand, *for_the_other(opens, follows))
        found_tree = side.tree
        for second in range(2):
            best = best_reply(
                second == 0,
                len(side.chances),
                len(player.chances),
                side.theirs.chances,
                strategy,
                player.cell_at,
                player.choices,
                found_tree.members,
                found_tree.last,
                found_tree.leads,
                found_tree.place,
                found_tree.first[:-1],
                side.bids,
                side.hand.counting,
                mine,
                theirs,
                side.hand.may_call,
                visits,
            )
            found[number, second] = side.mine.chances @ best
    return found, int(visits[0])
