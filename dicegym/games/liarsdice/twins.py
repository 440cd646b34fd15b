"""Compiled twins of bots in ``agents/liarsdice/``, where each bot is explained."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import math

import numpy as np

from dicegym.engine.jit import kernel, loop_kernel
from dicegym.engine.twin_kernels import twin
from dicegym.games.bidding import table
from dicegym.games.bidding import twins as shared
from dicegym.games.liarsdice.rules import LIAR, WILD, least, most

BLUFF_ONE_IN, HOPELESS = 5, 0.15
CALL_ONE_IN, SAME_ONE_IN = 4, 2
DOUBT_ONE_IN = 5
TILT, MOST_TOLD = 0.7, 2
TRUSTED, SHARPNESS, STILL, FALSE, NOISE = 0.68, 2.2, 0.3, 0.97, 0.02
RAISES = 3
WEIGHTS = np.array([math.exp(TILT * told) for told in range(MOST_TOLD + 1)])


@kernel
def row_of(state):
    """Return the row of the odds for a face."""
    return table.odds_row(np.int64(state.faces), 1)


@kernel
def likeliest_raise(state, quantity, face):
    """Return the lowest raise on the face that lacks the fewest dice."""
    me = np.int64(state.player)
    best, fewest = np.int64(0), np.int64(table.MOST_QUANTITY + 1)
    for raised in range(1, np.int64(state.faces) + 1):
        lowest = least(quantity, face, raised)
        missing = max(np.int64(0), lowest - table.own_matching(state, me, raised, WILD))
        if missing < fewest and lowest <= most(state):
            fewest = missing
            best = table.bid_index(lowest, raised)
    return best


@kernel
def bids_up_to(quantity, face, faces):
    """Return the number of bids up to this one; 0 for quantity 0."""
    return (quantity - 1) * faces + face if quantity > 0 else np.int64(0)


@kernel
def bid_of_rank(rank, faces):
    """Return the action of the bid with ``rank`` lower bids."""
    return table.bid_index(rank // faces + 1, rank % faces + 1)


@kernel
def next_bid(state, quantity, face):
    """Return the action of the lowest raise."""
    faces = np.int64(state.faces)
    return bid_of_rank(bids_up_to(quantity, face, faces), faces)


@kernel
def is_highest(state, quantity, face):
    """Return whether no bid may follow this one."""
    return quantity == most(state) and face == np.int64(state.faces)


@kernel
def even_answer(state, others, quantity, face):
    """Answer a bid as ``even`` does."""
    me = np.int64(state.player)
    if quantity > 0:
        missing = quantity - table.own_matching(state, me, face, WILD)
        if missing > shared.EVEN_NEED[row_of(state), others] or is_highest(state, quantity, face):
            return np.int64(LIAR)
    return likeliest_raise(state, quantity, face)


@twin("even", file="f9571bfdd31811c4")
@kernel
def even(state):
    """Play as ``even`` does."""
    others, quantity, face = shared.question(state)
    return even_answer(state, others, quantity, face)


@twin("timid", file="eca5972a208efbd7")
@kernel
def timid(state):
    """Play as ``timid`` does."""
    others, quantity, face = shared.question(state)
    if quantity == 0:
        return np.int64(0)
    dice = others + state.left[state.player]
    doubts = (quantity - 1) * state.faces > dice or is_highest(state, quantity, face)
    return np.int64(LIAR) if doubts else next_bid(state, quantity, face)


@twin("honest", file="ab3b4be81337f072")
@kernel
def honest(state):
    """Play as ``honest`` does; some face of the own dice always allows an opening bid."""
    others, quantity, face = shared.question(state)
    me = np.int64(state.player)
    expected = shared.EVEN_NEED[row_of(state), others]
    best = np.int64(-1)
    for raised in range(1, np.int64(state.faces) + 1):
        best = max(best, table.bid_index(expected + table.own_matching(state, me, raised, WILD), raised))
    return best if quantity == 0 or best > table.bid_index(quantity, face) else np.int64(LIAR)


@twin("bluffer", file="316ba5704dd7cef5")
@kernel
def bluffer(state, script=None):
    """Play as ``bluffer`` does."""
    others, quantity, face = shared.question(state)
    if quantity > 0 and shared.take(state, script, 0, BLUFF_ONE_IN) == 0:
        missing = quantity + 1 - table.own_matching(state, np.int64(state.player), face, WILD)
        if shared.odds(others, missing, row_of(state)) > HOPELESS:
            return table.bid_index(quantity + 1, face)
    return even_answer(state, others, quantity, face)


@twin("haphazard", file="c739acd3d0189622")
@kernel
def haphazard(state, script=None):
    """Play as ``haphazard`` does."""
    others, quantity, face = shared.question(state)
    faces = np.int64(state.faces)
    if quantity == 0:
        return table.bid_index(np.int64(1), 1 + shared.take(state, script, 2, faces))
    dice = others + state.left[state.player]
    if quantity >= dice or shared.take(state, script, 0, CALL_ONE_IN) == 0:
        return np.int64(LIAR)
    if face < faces and shared.take(state, script, 1, SAME_ONE_IN) == 0:
        return table.bid_index(quantity, face + 1 + shared.take(state, script, 2, faces - face))
    return table.bid_index(quantity + 1, 1 + shared.take(state, script, 2, faces))


@twin("reckless", file="cc1fe079a1d22ef2")
@kernel
def reckless(state, script=None):
    """Play as ``reckless`` does."""
    others, quantity, face = shared.question(state)
    faces = np.int64(state.faces)
    lowest = bids_up_to(quantity, face, faces)
    higher = (others + state.left[state.player]) * faces - lowest
    if higher > 0:
        drawn = shared.take(state, script, 0, higher + np.int64(quantity > 0))
        return bid_of_rank(lowest + drawn, faces) if drawn < higher else np.int64(LIAR)
    doubts = face == faces or shared.take(state, script, 1, DOUBT_ONE_IN) == 0
    return np.int64(LIAR) if doubts else table.bid_index(quantity, faces)


@kernel
def tilt(told, chances, faces):
    """Write the probabilities of a die's faces if its owner bid them ``told`` times each."""
    total = 0.0
    for face in range(1, faces + 1):
        chances[face] = WEIGHTS[np.int64(min(told[face], MOST_TOLD))]
        total += chances[face]
    for face in range(1, faces + 1):
        chances[face] = shared.round_chance(chances[face] / total)


@kernel
def bayes_answers(state, actions):
    """Write the answers among which ``bayes`` draws to int64[MOST_ANSWERS] ``actions``; return their number."""
    me, players, faces = np.int64(state.player), np.int64(state.players), np.int64(state.faces)
    scratch = np.empty((shared.ROWS, shared.ROOM))
    told, chances = shared.nothing_told(scratch), scratch[shared.CHANCES :]
    worths, tilted = scratch[shared.WORTHS], scratch[shared.TILTED]
    for number in range(state.n_bids):
        seat, quantity, face = table.bid_at(state, number)
        told[seat, face] += 1
    others = np.int64(0)
    for seat in range(players):
        if state.left[seat] > 0:
            tilt(told[seat], chances[seat], faces)
            others += seat != me
    gain = 1 / others
    _, quantity, face = table.last_bid(state)
    answers = np.int64(0)
    if quantity > 0:
        size = shared.expect(state, face, chances, scratch)
        true = shared.at_least(scratch[2], size, quantity - state.hands[me, face - 1])
        actions[0], worths[0] = LIAR, (1 - true) * gain - true
        answers = np.int64(1)
    for raised in range(1, faces + 1):
        scratch[shared.LEAST, raised] = least(quantity, face, raised)
        told[me, raised] += 1
        tilt(told[me], tilted, faces)  # how the next one reads this hand after the bid
        told[me, raised] -= 1
        scratch[shared.SEEN, raised] = tilted[raised]
    answers = shared.weigh_all(
        state, WILD, gain, TRUSTED, SHARPNESS, STILL * gain, FALSE * gain, RAISES, scratch, actions, answers
    )
    return shared.keep_best(actions, worths, answers, NOISE)


@twin("bayes", file="d7be24d28f863d7f")
@kernel
def bayes(state, script=None):
    """Play as ``bayes`` does."""
    actions = np.empty(shared.MOST_ANSWERS, np.int64)
    return actions[shared.take(state, script, 0, bayes_answers(state, actions))]


DRAWING = ("bayes", "bluffer", "haphazard", "reckless")
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
            elif bot == 2:
                action = haphazard(states[k], script)
            else:
                action = reckless(states[k], script)
            more = shared.next_way(script, action, actions[k], chances[k])
