"""Classic Liar's Dice with one die each, as sweeps over all sets of bids that can have been made.

Bids rise, so the set of those made says in which order and, by turns, by whom. A set is a number of N_BIDS bits;
a later set is a larger number, so that one sweep up carries probabilities and one sweep down carries values. Whoever
made an even number of bids is to move first. A strategy is float64[6, N_SETS, N_CHOICES]: for the own face - 1 and a
set the probability of each bid and, last, of calling liar. Values are win probabilities.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

from dicegym.engine.jit import kernel

FACES = 6
N_BIDS = 2 * FACES
N_SETS = 1 << N_BIDS
LIAR = N_BIDS
N_CHOICES = N_BIDS + 1


@kernel
def next_bid(made):
    """Return the lowest bid that is higher than all of ``made``."""
    lowest = 0
    while made >> lowest:
        lowest += 1
    return lowest


@kernel
def second_moves(made):
    """Return whether the second player is to move."""
    number = 0
    for bid in range(N_BIDS):
        number += made >> bid & 1
    return number % 2 == 1


@kernel
def caller_wins(made, one, other):
    """Return whether calling liar wins when the hidden faces - 1 are these; before any bid it loses."""
    if made == 0:
        return False
    bid = next_bid(made) - 1
    found = (one == bid % FACES) + (other == bid % FACES)
    return found < bid // FACES + 1


@kernel
def win_chance(first, second, one, other, values):
    """Return the probability that ``first`` wins with face ``one`` against ``other``; ``values`` is float64[N_SETS]."""
    for made in range(N_SETS - 1, -1, -1):
        turn = second_moves(made)
        wins = caller_wins(made, one, other)
        value = 0.0
        for choice in range(next_bid(made), N_CHOICES):
            chance = second[other, made, choice] if turn else first[one, made, choice]
            if choice == LIAR:
                value += chance * (wins != turn)
            else:
                value += chance * values[made | 1 << choice]
        values[made] = value
    return values[0]


@kernel
def clairvoyant_chance(opponent, moves_first, own, hidden, values):
    """Return the best win probability against ``opponent`` for one who knows its face too."""
    for made in range(N_SETS - 1, -1, -1):
        mine = second_moves(made) != moves_first
        wins = caller_wins(made, own, hidden)
        value = 0.0
        for choice in range(next_bid(made), N_CHOICES):
            after = 1.0 if choice == LIAR and wins == mine else 0.0
            if choice != LIAR:
                after = values[made | 1 << choice]
            value = max(value, after) if mine else value + opponent[hidden, made, choice] * after
        values[made] = value
    return values[0]


@kernel
def carry(strategy, moves_first, reach):
    """Write float64[N_SETS, 6]: the probability that one who plays so, from that seat, does its part in a set."""
    reach[:] = 0.0
    reach[0] = 1.0
    for made in range(N_SETS):
        mine = second_moves(made) != moves_first
        for bid in range(next_bid(made), N_BIDS):
            for face in range(FACES):
                reach[made | 1 << bid, face] = reach[made, face] * (strategy[face, made, bid] if mine else 1.0)


@kernel
def call_worth(made, own, reach):
    """Return the probability of winning by a call in ``made``, weighted by how the hidden face got here."""
    worth = 0.0
    for hidden in range(FACES):
        if caller_wins(made, own, hidden):
            worth += reach[made, hidden]
    return worth / FACES


@kernel
def replied(made, own, opponent, reach, values):
    """Return what a set in which ``opponent`` moves is worth to the other, weighted likewise."""
    worth = 0.0
    for hidden in range(FACES):
        if not caller_wins(made, hidden, own):
            worth += reach[made, hidden] * opponent[hidden, made, LIAR]
    worth /= FACES
    for bid in range(next_bid(made), N_BIDS):
        worth += values[made | 1 << bid, own]
    return worth


@kernel
def best_reply(opponent, moves_first, reach, values, choices):
    """Find the best reply to ``opponent`` by what its player sees, from the seat that moves first or not.

    Writes ``choices`` (int8[6, N_SETS]) where that seat moves; returns the win probability. ``reach`` and ``values``
    are float64[N_SETS, 6].
    """
    carry(opponent, not moves_first, reach)
    for made in range(N_SETS - 1, -1, -1):
        mine = second_moves(made) != moves_first
        for own in range(FACES):
            if not mine:
                values[made, own] = replied(made, own, opponent, reach, values)
                continue
            best, choice = call_worth(made, own, reach), LIAR
            for bid in range(next_bid(made), N_BIDS):
                if values[made | 1 << bid, own] > best or (made == 0 and choice == LIAR):
                    best, choice = values[made | 1 << bid, own], bid
            values[made, own] = best
            choices[own, made] = choice
    return values[0].mean()
