"""How likely the bots that draw choose what: the probabilities behind their compiled twins (``twins.py``).

A test compares each with what its twin draws.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import numpy as np

from dicegym.engine.jit import kernel, loop_kernel
from dicegym.games.bidding import table
from dicegym.games.bidding import twins as shared
from dicegym.games.liarsdice.rules import LIAR, WILD
from dicegym.games.liarsdice.twins import (
    BLUFF_ONE_IN,
    CALL_ONE_IN,
    DOUBT_ONE_IN,
    HOPELESS,
    SAME_ONE_IN,
    bayes_answers,
    bid_of_rank,
    bids_up_to,
    even_answer,
    row_of,
)

DRAWING = ("bayes", "bluffer", "haphazard", "reckless")
"""The bots whose probabilities stand here, by number."""
BAYES, BLUFFER, HAPHAZARD, RECKLESS = range(len(DRAWING))
MOST_CHOICES = table.MOST_DICE * 2 * table.FACES + 2
"""More than any of them chooses from at a table for two."""


@kernel
def bayes(state, actions, chances):
    """Write what ``bayes`` may play and how likely; return how much of that there is."""
    number = bayes_answers(state, actions)
    for i in range(number):
        chances[i] = 1 / number
    return number


@kernel
def bluffer(state, actions, chances):
    """Write what ``bluffer`` may play and how likely; return how much of that there is."""
    others, quantity, face = shared.question(state)
    actions[0], chances[0] = even_answer(state, others, quantity, face), 1.0
    if quantity == 0:
        return np.int64(1)
    missing = quantity + 1 - table.own_matching(state, np.int64(state.player), face, WILD)
    if shared.odds(others, missing, row_of(state)) <= HOPELESS:
        return np.int64(1)
    chances[0] = 1 - 1 / BLUFF_ONE_IN
    actions[1], chances[1] = table.bid_index(quantity + 1, face), 1 / BLUFF_ONE_IN
    return np.int64(2)


@kernel
def haphazard(state, actions, chances):
    """Write what ``haphazard`` may play and how likely; return how much of that there is."""
    others, quantity, face = shared.question(state)
    faces, dice = np.int64(state.faces), others + state.left[state.player]
    if quantity >= dice:
        actions[0], chances[0] = LIAR, 1.0
        return np.int64(1)
    number = np.int64(0)
    bids = 1.0
    if quantity > 0:
        actions[0], chances[0] = LIAR, 1 / CALL_ONE_IN
        number, bids = np.int64(1), 1 - 1 / CALL_ONE_IN
        same = 1 / SAME_ONE_IN if face < faces else 0.0
        for raised in range(face + 1, faces + 1):
            actions[number], chances[number] = table.bid_index(quantity, raised), bids * same / (faces - face)
            number += 1
        bids *= 1 - same
    for raised in range(1, faces + 1):
        actions[number], chances[number] = table.bid_index(quantity + 1, raised), bids / faces
        number += 1
    return number


@kernel
def reckless(state, actions, chances):
    """Write what ``reckless`` may play and how likely; return how much of that there is."""
    others, quantity, face = shared.question(state)
    faces = np.int64(state.faces)
    lowest = bids_up_to(quantity, face, faces)
    higher = (others + state.left[state.player]) * faces - lowest
    if higher > 0:
        number = higher + np.int64(quantity > 0)
        for i in range(number):
            actions[i] = bid_of_rank(lowest + i, faces) if i < higher else LIAR
            chances[i] = 1 / number
        return number
    actions[0], chances[0] = LIAR, 1.0
    if face == faces:
        return np.int64(1)
    chances[0] = 1 / DOUBT_ONE_IN
    actions[1], chances[1] = table.bid_index(quantity, faces), 1 - 1 / DOUBT_ONE_IN
    return np.int64(2)


@loop_kernel
def choices(states, bot, actions, chances, numbers):
    """Write what bot number ``bot`` may play in each of ``states``: `actions`, their `chances`, and how many."""
    for k in range(len(states)):
        if bot == BAYES:
            numbers[k] = bayes(states[k], actions[k], chances[k])
        elif bot == BLUFFER:
            numbers[k] = bluffer(states[k], actions[k], chances[k])
        elif bot == HAPHAZARD:
            numbers[k] = haphazard(states[k], actions[k], chances[k])
        else:
            numbers[k] = reckless(states[k], actions[k], chances[k])
