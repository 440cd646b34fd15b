"""Shared parts of the compiled twins of both Liar's Dice games: odds by the own dice, and the values of raises.

The bots are in each game's ``twins.py``; their files in ``agents/`` explain them.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import math

import numpy as np

from dicegym.engine.dice import bot_stream, draw
from dicegym.engine.jit import kernel
from dicegym.games.bidding.table import (
    FACES,
    MOST_DICE,
    MOST_PLAYERS,
    MOST_QUANTITY,
    ODDS,
    bid_index,
    last_bid,
    own_matching,
    seat_from,
)

EVEN_NEED = (ODDS >= 0.5).sum(-1) - 1
"""int64[10, 31]: the largest k such that at least k of n dice match with probability 0.5 or more; see `odds_row`."""

WAYS = np.array([[math.comb(n, k) for k in range(MOST_DICE + 1)] for n in range(MOST_DICE + 1)], np.float64)
"""float64[6, 6]: binomial coefficients, the ways in which k of n dice match."""

MOST_RAISES = 6
"""The most quantities of a face that are evaluated, from the lowest legal one on."""
MOST_ANSWERS = MOST_RAISES * FACES + 3
ROOM = max(MOST_QUANTITY + 2, MOST_ANSWERS)
TOLD, CHANCES = 5, 5 + MOST_PLAYERS
WORTHS, SEEN, LEAST, TILTED = range(CHANCES + MOST_PLAYERS, CHANCES + MOST_PLAYERS + 4)
ROWS = TILTED + 1
"""Rows of the scratch array float64[ROWS, ROOM] of a decision: five for `weigh`; for each seat what its bids tell of
each face, and the probability that its dice match it; the values of all answers; for each face how others would read
the own dice after a bid on it, and the lowest such bid; one for a single hand. It is one array, as allocating one takes
as long as a simple bot's whole decision."""
BIDS_IN_A_HAND = 256
"""More than the bids of a hand in any of these games."""
DRAWS, MOST_WAYS = 3, 64
"""The most draws of a decision, and the most combinations of their outcomes."""


@kernel
def dice_left_to_others(state, seat):
    """Return how many dice all other seats have left."""
    others = -np.int64(state.left[seat])
    for other in range(state.players):
        others += state.left[other]
    return others


@kernel
def question(state):
    """Return (dice of all others, quantity and face of the last bid; 0 without a bid)."""
    _, quantity, face = last_bid(state)
    return dice_left_to_others(state, state.player), quantity, face


@kernel
def odds(others, need, row):
    """Return the probability that at least ``need`` of ``others`` dice match; ``row`` is their `odds_row`."""
    return ODDS[row, others, max(np.int64(0), min(need, np.int64(MOST_QUANTITY + 1)))]


@kernel
def seat_before(state, seat):
    """Return the nearest seat with dice before ``seat``."""
    players = np.int64(state.players)
    before = np.int64(seat)
    while True:
        before = before - 1 if before > 0 else players - 1
        if state.left[before] > 0:
            return before


# --- draws -------------------------------------------------------------------------------------------------------
# A twin that draws may be given a script: int64[3, DRAWS], with the outcomes of its draws, their bounds, which `take`
# writes, and first in the last row the number of finished combinations. All combinations give the twin's probabilities.


@kernel
def take(state, script, number, n):
    """Return draw ``number`` below ``n`` for the present decision of the player to move, or that of a script.

    Each decision of a game has its own stream. Its draws are taken by rising number, each at most once.
    """
    if script is None:
        time = np.int64(state.finished) * BIDS_IN_A_HAND + state.n_bids
        return draw(bot_stream(state.key, state.player, time), number, n)
    script[1, number] = n
    return script[0, number]


@kernel
def begin_script(script):
    """Set all draws to 0."""
    for number in range(DRAWS):
        script[0, number], script[1, number] = 0, 1
    script[2, 0] = 0


@kernel
def next_way(script, action, actions, chances):
    """Note the action of a script, and set the next combination of draws; return whether there is one.

    Draws change like the digits of a counter. ``action`` and its probability are appended to ``actions`` and
    ``chances``, int64 and float64[MOST_WAYS].
    """
    ways = np.int64(1)
    for number in range(DRAWS):
        ways *= script[1, number]
    actions[script[2, 0]], chances[script[2, 0]] = action, 1 / ways
    script[2, 0] += 1
    for number in range(DRAWS - 1, -1, -1):
        following = script[0, number] + 1
        is_there = following < script[1, number]
        script[0, number], script[1, number] = following if is_there else 0, 1
        if is_there:
            return True
    return False


# --- sums of binomials ---------------------------------------------------------------------------------------


@kernel
def round_chance(chance):
    """Return ``chance`` rounded to four digits, as the bots' files do to cache what they compute from it."""
    return np.rint(chance * 10000.0) / 10000.0


@kernel
def binomial(dice, chance, out):
    """Write the probabilities of 0..``dice`` matching dice."""
    power = 1.0
    for n in range(dice + 1):
        out[n] = WAYS[dice, n] * power
        power *= chance
    power = 1.0
    for n in range(dice, -1, -1):
        out[n] *= power
        power *= 1 - chance


@kernel
def add_group(found, size, group, dice):
    """Add the matching dice of a group (probabilities of 0..``dice``) to those ``found`` (of 0..``size``)."""
    for total in range(size + dice, -1, -1):
        chance = 0.0
        for n in range(max(0, total - dice), min(size, total) + 1):
            chance += found[n] * group[total - n]
        found[total] = chance
    return size + dice


@kernel
def add_up(found, size):
    """Turn the probabilities of 0..``size`` matching dice into those of at least 0..``size``."""
    for n in range(size - 1, 0, -1):
        found[n] += found[n + 1]
    found[0] = 1.0


@kernel
def at_least(tail, size, need):
    """Return the probability of at least ``need`` from the result of `add_up`."""
    if need <= 0:
        return 1.0
    return tail[need] if need <= size else 0.0


@kernel
def gather(state, face, chances, skip, found, group):
    """Write the probabilities that 0, 1, ... dice of the others match to ``found``; return how many dice they have.

    The first ``skip`` seats with dice after the player to move are left out. ``chances`` is as in `weigh`.
    """
    players, seat, size = np.int64(state.players), np.int64(state.player), np.int64(0)
    found[0] = 1.0
    for _ in range(players - 1):
        seat = seat + 1 if seat + 1 < players else np.int64(0)
        dice = np.int64(state.left[seat])
        if dice > 0 and skip > 0:
            skip -= 1
        elif dice > 0:
            binomial(dice, chances[seat, face], group)
            size = add_group(found, size, group, dice)
    return size


# --- raises --------------------------------------------------------------------------------------------------


@kernel
def calls(looks, trusted, sharpness):
    """Return the probability that a player calls a bid that it believes true with probability ``looks``."""
    return 1 / (1 + math.exp(sharpness * (looks - trusted)))


@kernel
def weigh(state, face, own, gain, trusted, sharpness, still, false, raises, scratch, worths):
    """Write the values of the first ``raises`` bids on ``face``; return how many there are.

    A value is a mean over the matching dice of the next player: by the probability that it calls, and whether the bid
    is true. If it does not call, the hand continues, with the value ``still`` if the bid would be true with one die
    more, and ``false`` otherwise. ``own`` of the own dice match, and ``gain`` is the value of a die that another player
    loses. Reads the rows of ``scratch`` from CHANCES on, and SEEN and LEAST.
    """
    chances, seen, least = scratch[CHANCES:], scratch[SEEN, face], np.int64(scratch[LEAST, face])
    held, group, third, theirs, called = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4]
    me = np.int64(state.player)
    after = seat_from(state, me + 1)
    binomial(np.int64(state.left[after]), chances[after, face], held)
    size = gather(state, face, chances, np.int64(1), third, group)
    for n in range(size + 1):
        theirs[n] = third[n]
    dice = np.int64(state.left[me])
    binomial(dice, seen, group)
    theirs_size = add_group(theirs, size, group, dice)
    add_up(third, size)
    add_up(theirs, theirs_size)

    next_dice = np.int64(state.left[after])
    n_raises = max(np.int64(0), min(np.int64(raises), theirs_size + next_dice + 1 - least))
    sure, hopeless = calls(1.0, trusted, sharpness), calls(0.0, trusted, sharpness)
    for missing in range(max(np.int64(1), least - next_dice), min(theirs_size, least + n_raises - 1) + 1):
        called[missing] = calls(theirs[missing], trusted, sharpness)
    for number in range(n_raises):
        worth = 0.0
        for count in range(next_dice + 1):
            need = least + number - count
            call = sure if need <= 0 else (called[need] if need <= theirs_size else hopeless)
            true = at_least(third, size, need - own)
            more = at_least(third, size, need + 1 - own)
            goes_on = more * still + (1 - more) * false
            worth += held[count] * (call * (true * gain - (1 - true)) + (1 - call) * goes_on)
        worths[number] = worth
    return n_raises


@kernel
def weigh_all(state, wild, gain, trusted, sharpness, still, false, raises, scratch, actions, answers):
    """Add the raises on all faces to the ``answers`` so far, and their values to WORTHS; return the new number."""
    me = np.int64(state.player)
    for face in range(1, np.int64(state.faces) + 1):
        own, worths = own_matching(state, me, face, wild), scratch[WORTHS, answers:]
        number = weigh(state, face, own, gain, trusted, sharpness, still, false, raises, scratch, worths)
        for more in range(number):
            actions[answers + more] = bid_index(np.int64(scratch[LEAST, face]) + more, face)
        answers += number
    return answers


@kernel
def expect(state, face, chances, scratch):
    """Write the probabilities of at least 0, 1, ... matching dice of others to ``scratch[2]``; return their dice."""
    size = gather(state, face, chances, np.int64(0), scratch[2], scratch[1])
    add_up(scratch[2], size)
    return size


@kernel
def nothing_told(scratch):
    """Clear the rows for what each seat's bids tell; return them."""
    told = scratch[TOLD : TOLD + MOST_PLAYERS]
    for seat in range(MOST_PLAYERS):
        for face in range(1, FACES + 1):
            told[seat, face] = 0.0
    return told


@kernel
def keep_best(actions, worths, number, noise):
    """Move the best of ``number`` answers, within ``noise``, to the front; return how many there are."""
    best = worths[0]
    for i in range(1, number):
        best = max(best, worths[i])
    kept = np.int64(0)
    for i in range(number):
        if worths[i] >= best - noise:
            actions[kept] = actions[i]
            kept += 1
    return kept
