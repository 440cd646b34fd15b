"""What every state of a hand is worth to a player of one roll, by each roll of the other: one sweep backwards."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

from dicegym.engine.jit import kernel


@kernel
def sweep(
    roll,
    mine,
    theirs,
    cell_at,
    other_cell_at,
    choice_at,
    other_choice_at,
    state_at,
    members,
    first,
    bids,
    lead_states,
    last,
    counting,
    after,
    other_after,
    worth,
    other_worth,
):
    """Write what states are worth to a player of number ``roll``.

    ``mine`` and ``theirs`` are float32, flat: how the player's side and the other's are played, cell by cell; where
    each group's cells begin stands in ``cell_at`` and ``other_cell_at``, how many choices it has in ``choice_at`` and
    ``other_choice_at``. ``state_at``, ``members``, ``first``, ``bids``, ``lead_states`` and ``last`` are those of the
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
