"""How likely the bots that draw choose what: the probabilities behind their compiled twins (``twins.py``).

A test compares each with what its twin draws.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import numpy as np

from dicegym.engine.jit import kernel, loop_kernel
from dicegym.games.bidding import twins as shared
from dicegym.games.liarsdice_spot_on.rules import LIAR, N_CHALLENGES, least, worth
from dicegym.games.liarsdice_spot_on.twins import (
    BLUFF_OF,
    BLUFF_ONE_IN,
    CALL_ONE_IN,
    DOUBT,
    HOPELESS,
    bayes_answers,
    bid,
    chance_of,
    likeliest_bid,
)

DRAWING = ("bayes", "bluffer", "haphazard")
"""The bots whose probabilities stand here, by number."""
BAYES, BLUFFER, HAPHAZARD = range(len(DRAWING))
MOST_CHOICES = shared.MOST_ANSWERS
"""More than any of them chooses from."""


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
    chances[0] = 1.0
    doubts = quantity > 0 and chance_of(state, others, quantity, face) < DOUBT
    actions[0] = LIAR if doubts else likeliest_bid(state, others, quantity, face)
    if quantity == 0 or chance_of(state, others, quantity + 1, face) <= HOPELESS:
        return np.int64(1)
    chances[0] = 1 - BLUFF_OF / BLUFF_ONE_IN
    actions[1], chances[1] = bid(quantity + 1, face), BLUFF_OF / BLUFF_ONE_IN
    return np.int64(2)


@kernel
def haphazard(state, actions, chances):
    """Write what ``haphazard`` may play and how likely; return how much of that there is."""
    others, quantity, face = shared.question(state)
    me, faces = np.int64(state.player), np.int64(state.faces)
    number, bids = np.int64(0), 1.0
    if quantity > 0:
        bids = 0.0 if worth(quantity, face, faces) >= others + state.left[me] else 1 - 1 / CALL_ONE_IN
        number = np.int64(N_CHALLENGES if state.left[me] < state.dice else N_CHALLENGES - 1)
        for i in range(number):
            actions[i], chances[i] = LIAR + i, (1 - bids) / number
    for raised in range(1, faces + 1):
        if bids > 0:
            lowest = least(quantity, face, raised, faces) if quantity > 0 else np.int64(1)
            actions[number], chances[number] = bid(lowest, raised), bids / faces
            number += 1
    return number


@loop_kernel
def choices(states, bot, actions, chances, numbers):
    """Write what bot number ``bot`` may play in each of ``states``: `actions`, their `chances`, and how many."""
    for k in range(len(states)):
        if bot == BAYES:
            numbers[k] = bayes(states[k], actions[k], chances[k])
        elif bot == BLUFFER:
            numbers[k] = bluffer(states[k], actions[k], chances[k])
        else:
            numbers[k] = haphazard(states[k], actions[k], chances[k])
