"""Compiled twins of bots in ``agents/liarsdice_spot_on/``, where each bot is explained."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import math

import numpy as np

from dicegym.engine.jit import kernel, loop_kernel
from dicegym.engine.twin_kernels import twin
from dicegym.games.bidding import table
from dicegym.games.bidding import twins as shared
from dicegym.games.liarsdice_spot_on.rules import GAIN_ONE, LIAR, LOSE_TWO, N_CHALLENGES, WILD, least, worth

SPOT = 0.3
BLUFF_ONE_IN, BLUFF_OF, HOPELESS, DOUBT = 20, 3, 0.25, 0.4
CALL_ONE_IN = 4
TILT, WILD_SHARE, ALONG, MOST_TOLD = 0.9, 0.4, 0.1, 2.0
SHARPNESS, GAINED, NOISE = 6.0, 1.2, 0.02
RAISES, TRUSTED, STILL, FALSE = (3, 6), (0.55, 0.6), (0.2, -0.23), (0.2, 0.0)  # for two players, and for more


@kernel
def bid(quantity, face):
    """Return the action of a bid, a wide one if necessary."""
    index = table.bid_index(quantity, face)
    return index if index < table.N_BIDS else index + N_CHALLENGES


@kernel
def chance_of(state, others, quantity, face):
    """Return the probability by the own dice that a bid is true."""
    own = table.own_matching(state, np.int64(state.player), face, WILD)
    return shared.odds(others, quantity - own, row_of(state, face))


@kernel
def row_of(state, face):
    """Return the row of the odds that a die counts for a face."""
    faces = np.int64(state.faces)
    return table.odds_row(faces, table.counting(faces, face, WILD))


@kernel
def likeliest_bid(state, others, quantity, face):
    """Return the action of the likeliest of the lowest raises on each face, the first one among equals."""
    best, likeliest, faces = np.int64(0), -1.0, np.int64(state.faces)
    for raised in range(1, faces + 1):
        lowest = least(quantity, face, raised, faces)
        chance = chance_of(state, others, lowest, raised)
        if chance > likeliest:
            likeliest = chance
            best = bid(lowest, raised)
    return best


@twin("even", file="3e2fcda0193f6137")
@kernel
def even(state):
    """Play as ``even`` does."""
    others, quantity, face = shared.question(state)
    me, wild = np.int64(state.player), np.int64(state.faces)
    if quantity > 0 and chance_of(state, others, quantity, face) < 0.5:
        return np.int64(LIAR)
    held = np.int64(1)
    for value in range(2, wild):
        if state.hands[me, value - 1] > state.hands[me, held - 1]:
            held = np.int64(value)
    more, double = least(quantity, face, held, wild), least(quantity, face, wild, wild)
    if chance_of(state, others, double, wild) > chance_of(state, others, more, held):
        return bid(double, wild)
    return bid(more, held)


@twin("timid", file="7c0d6e3c976a68ed")
@kernel
def timid(state):
    """Play as ``timid`` does."""
    others, quantity, face = shared.question(state)
    if quantity == 0:
        return np.int64(0)
    dice, faces = others + state.left[state.player], np.int64(state.faces)
    if (quantity - 1) * faces > dice * table.counting(faces, face, WILD):
        return np.int64(LIAR)
    raised = 1 if face == faces else face
    return bid(least(quantity, face, raised, faces), raised)


@twin("trusting", file="cd43ddf638462ea1")
@kernel
def trusting(state):
    """Play as ``trusting`` does."""
    _, quantity, face = shared.question(state)
    if quantity == 0:
        return np.int64(0)
    if quantity > table.MOST_QUANTITY:
        return np.int64(LIAR)
    faces = np.int64(state.faces)
    raised = np.int64(1) if face == faces else face
    return bid(least(quantity, face, raised, faces), raised)


@twin("honest", file="8b33aa50b2a328af")
@kernel
def honest(state):
    """Play as ``honest`` does; some face of the own dice always allows an opening bid."""
    others, quantity, face = shared.question(state)
    me, faces = np.int64(state.player), np.int64(state.faces)
    most, best = np.int64(0), np.int64(0)
    for number in range(faces):  # the wild face first: among bids of equal worth, its bid has the smallest quantity
        raised = np.int64(number) if number > 0 else faces
        own = table.own_matching(state, me, raised, WILD)
        likely = own + shared.EVEN_NEED[row_of(state, raised), others]
        if worth(likely, raised, faces) > most:
            most = worth(likely, raised, faces)
            best = bid(likely, raised)
    return best if most > worth(quantity, face, faces) else np.int64(LIAR)


@twin("exact", file="0b7e8edda4a08f8b")
@kernel
def exact(state):
    """Play as ``exact`` does."""
    others, quantity, face = shared.question(state)
    me = np.int64(state.player)
    if quantity > 0:
        true = chance_of(state, others, quantity, face)
        spot = true - chance_of(state, others, quantity + 1, face)
        if spot > max(1 - true, SPOT):
            for seat in range(state.players):
                if state.left[seat] > state.left[me]:
                    return np.int64(GAIN_ONE)
            return np.int64(LOSE_TWO)
        if true < 0.5:
            return np.int64(LIAR)
    return likeliest_bid(state, others, quantity, face)


@twin("bluffer", file="b39666b79f8177de")
@kernel
def bluffer(state, script=None):
    """Play as ``bluffer`` does."""
    others, quantity, face = shared.question(state)
    bluffs = quantity > 0 and shared.take(state, script, 0, BLUFF_ONE_IN) < BLUFF_OF
    if bluffs and chance_of(state, others, quantity + 1, face) > HOPELESS:
        return bid(quantity + 1, face)
    if quantity > 0 and chance_of(state, others, quantity, face) < DOUBT:
        return np.int64(LIAR)
    return likeliest_bid(state, others, quantity, face)


@twin("haphazard", file="bc7fa8b10225023d")
@kernel
def haphazard(state, script=None):
    """Play as ``haphazard`` does."""
    others, quantity, face = shared.question(state)
    me, faces = np.int64(state.player), np.int64(state.faces)
    sure = quantity > 0 and worth(quantity, face, faces) >= others + state.left[me]
    if quantity > 0 and (sure or shared.take(state, script, 0, CALL_ONE_IN) == 0):
        calls = N_CHALLENGES if state.left[me] < state.dice else N_CHALLENGES - 1
        return LIAR + shared.take(state, script, 1, calls)
    raised = 1 + shared.take(state, script, 1, faces)
    return bid(least(quantity, face, raised, faces) if quantity > 0 else np.int64(1), raised)


@kernel
def count_told(state, told):
    """Write to float64[seats, 7] ``told`` how much each seat's bids tell of each face.

    A bid on the same face as the bid before tells less. As for bots of the original interface, bidders follow from the
    order of play: the last bid was made by the nearest seat with dice before, and so on.
    """
    seat = np.int64(state.player)
    for number in range(np.int64(state.n_bids) - 1, -1, -1):
        seat = shared.seat_before(state, seat)
        _, _, face = table.bid_at(state, number)
        along = False
        if number > 0:
            _, _, before = table.bid_at(state, number - 1)
            along = before == face
        told[seat, face] += ALONG if along else 1.0


@kernel
def tilt(told, weights, faces):
    """Write the weight of each face after what was ``told`` to ``weights``, and their sum to its first entry."""
    below, total = 0.0, 0.0
    for face in range(1, faces + 1):
        weights[face] = math.exp(TILT * min(told[face], MOST_TOLD)) if told[face] > 0 else 1.0
        if face < faces:
            below += told[face]
            total += weights[face]
    weights[faces] *= math.exp(TILT * WILD_SHARE * min(below, MOST_TOLD))
    weights[0] = total + weights[faces]


@kernel
def counts_for(weights, face, faces):
    """Return the probability that a die counts for ``face``, from the weights of `tilt`."""
    chance = weights[face] / weights[0]
    return shared.round_chance(chance + weights[faces] / weights[0] if face < faces else chance)


@kernel
def bayes_answers(state, actions):
    """Write the answers among which ``bayes`` draws to int64[MOST_ANSWERS] ``actions``; return their number."""
    me, others, faces = np.int64(state.player), np.int64(-1), np.int64(state.faces)
    scratch = np.empty((shared.ROWS, shared.ROOM))
    told, chances = shared.nothing_told(scratch), scratch[shared.CHANCES :]
    weights, worths = scratch[shared.TILTED], scratch[shared.WORTHS]
    count_told(state, told)
    for seat in range(state.players):
        if state.left[seat] > 0:
            others += 1
            tilt(told[seat], weights, faces)
            for face in range(1, faces + 1):
                chances[seat, face] = counts_for(weights, face, faces)
    gain = 1 / others
    _, quantity, face = table.last_bid(state)
    answers = np.int64(0)
    if quantity > 0:
        own = table.own_matching(state, me, face, WILD)
        size = shared.expect(state, face, chances, scratch)
        true = shared.at_least(scratch[2], size, quantity - own)
        spot = true - shared.at_least(scratch[2], size, quantity - own + 1)
        taken = min(np.int64(2), np.int64(state.left[shared.seat_before(state, me)]))
        actions[0], worths[0] = LIAR, (1 - true) * gain - true
        actions[1], worths[1] = LOSE_TWO, spot * taken * gain - (1 - spot)
        answers = np.int64(2)
        if state.left[me] < state.dice:
            actions[2], worths[2] = GAIN_ONE, spot * GAINED - (1 - spot)
            answers = np.int64(3)
    for raised in range(1, faces + 1):
        scratch[shared.LEAST, raised] = least(quantity, face, raised, faces)
        told[me, raised] += 1.0
        tilt(told[me], weights, faces)  # how the next one reads this hand after the bid
        told[me, raised] -= 1.0
        scratch[shared.SEEN, raised] = counts_for(weights, raised, faces)
    many = np.int64(others > 1)
    answers = shared.weigh_all(
        state, WILD, gain, TRUSTED[many], SHARPNESS, STILL[many], FALSE[many], RAISES[many], scratch, actions, answers
    )
    return shared.keep_best(actions, worths, answers, NOISE)


@twin("bayes", file="49e0d696f45fe939")
@kernel
def bayes(state, script=None):
    """Play as ``bayes`` does."""
    actions = np.empty(shared.MOST_ANSWERS, np.int64)
    return actions[shared.take(state, script, 0, bayes_answers(state, actions))]


DRAWING = ("bayes", "bluffer", "haphazard")
"""The bots that draw, by their numbers in `write_choices`."""


@loop_kernel
def write_choices(states, bot, script, actions, chances):
    """Write the actions of bot ``bot`` in each of ``states``, and their probabilities; see ``bidding.luck``."""
    for k in range(len(states)):
        shared.begin_script(script)
        more = True
        while more:
            if bot == 0:
                action = bayes(states[k], script)
            elif bot == 1:
                action = bluffer(states[k], script)
            else:
                action = haphazard(states[k], script)
            more = shared.next_way(script, action, actions[k], chances[k])
