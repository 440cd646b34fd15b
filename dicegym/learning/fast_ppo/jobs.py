"""What threads do for each other: their parts of a step's decisions, of a minibatch, and of the parameters."""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-incomplete-defs, allow-untyped-calls, no-warn-return-any
# Kernels: Numba infers the types of their arguments.

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dicegym.engine.entries import entry_of
from dicegym.learning.fast_ppo.compiling import fast_kernel
from dicegym.learning.fast_ppo.kernels import adam, add_gradients, append_row, draw, log_softmax
from dicegym.learning.fast_ppo.layout import ACTIONS, CHUNK, LOGITS, SCRATCH, VALUES
from dicegym.learning.fast_ppo.passes import backward, forward, hide, turn

ACT, SAY, LEARN, ADD, STEP = range(5)
"""Jobs: act in a step of the rollout, say log-probabilities, compute a gradient, add those of all threads, take
Adam's step."""


class PassMemory(NamedTuple):
    """What all threads see of one network; a thread writes to its own row, or to its own part."""

    vector: np.ndarray
    """float32[size], the parameters; see `dicegym.learning.fast_ppo.layout.Layout`."""
    gradients: np.ndarray
    """float32[threads, size]"""
    first: np.ndarray
    """float32[size], Adam's mean of gradients"""
    second: np.ndarray
    """float32[size], that of their squares"""
    rooms: np.ndarray
    """float32[threads, room]"""
    told: np.ndarray
    """float64[threads, a line]; see `dicegym.learning.fast_ppo.kernels.policy_slopes`."""
    squares: np.ndarray
    """float64[threads, a line], of the gradient: the first of each"""


class Orders(NamedTuple):
    """What is to be done, and what came of it."""

    bounds: np.ndarray
    """int64[threads + 1]: where parts begin, and the end of the last"""
    first: np.ndarray
    """int64[1]: the row of the first decision of a step"""
    busy: np.ndarray
    """int64[1]: how many threads computed the gradient"""
    adam: np.ndarray
    """float32[6]: see `dicegym.learning.fast_ppo.kernels.adam`, from its factor on"""
    everyone: np.ndarray
    """int64[rows]: 0, 1, 2 ..."""
    rows: np.ndarray
    """int64[decisions]: those of an epoch, in order"""
    uniforms: np.ndarray
    """float32[games]: what actions are drawn by"""
    actions: np.ndarray
    """int64[games], those drawn"""
    log_probs: np.ndarray
    """float32[games], theirs"""
    values: np.ndarray
    """float32[games]"""


@fast_kernel
def do_part(job, part, _end, _now, plan, memory, inputs, sorting, losses, orders):
    """Do a part of a job: its number stands where other kernels are told of rows (`dicegym.engine.entries`)."""
    low, high = orders.bounds[part], orders.bounds[part + 1]
    if job == ACT:
        _act(part, low, high, plan, memory, inputs, losses.masks, orders)
    elif job == SAY:
        _say(part, low, high, plan, memory, inputs, losses, orders)
    elif job == LEARN:
        gradient, room, told = memory.gradients[part], memory.rooms[part], memory.told[part]
        gradient[:] = 0
        told[:] = 0
        turn(plan, memory.vector, room)
        for at in range(low, high, CHUNK):
            n = min(CHUNK, high - at)
            backward(
                plan, memory.vector, gradient, room, inputs, sorting, part, losses, orders.rows, at, n, told
            )  # fmt: skip
        hide(plan, gradient)
    elif job == ADD:
        total, others = memory.gradients[0, low:high], memory.gradients[1 : orders.busy[0], low:high]
        memory.squares[part, 0] = add_gradients(total, others)
    elif job == STEP:
        factor, rate, beta1, beta2, root2, epsilon = orders.adam
        adam(
            memory.vector[low:high], memory.gradients[0, low:high], memory.first[low:high], memory.second[low:high],
            factor, rate, beta1, beta2, root2, epsilon,
        )  # fmt: skip
    return 0


@fast_kernel
def _act(part, low, high, plan, memory, inputs, masks, orders):
    """Judge the decisions of a step, and draw actions where there are masks: behind the rollout there are none."""
    room, begun, sizes = memory.rooms[part], orders.first[0], plan.sizes
    if inputs.sparse[0]:
        for i in range(begun + low, begun + high):
            append_row(inputs.dense, i, inputs.begins, inputs.ends, inputs.inputs, inputs.values)
    for at in range(low, high, CHUNK):
        end = min(at + CHUNK, high)
        forward(plan, memory.vector, room, inputs, orders.everyone, begun + at, end - at, len(plan.counts))
        orders.values[at:end] = room[sizes[VALUES] : sizes[VALUES] + end - at]
        if begun + end <= len(masks):
            draw(
                room, sizes[LOGITS], sizes[SCRATCH], sizes[ACTIONS], masks, begun + at,
                orders.uniforms[at:end], orders.actions[at:end], orders.log_probs[at:end],
            )  # fmt: skip


@fast_kernel
def _say(part, low, high, plan, memory, inputs, losses, orders):
    """Write down the log-probabilities of all actions, in the anchor's place."""
    room, sizes = memory.rooms[part], plan.sizes
    for at in range(low, high, CHUNK):
        end = min(at + CHUNK, high)
        forward(plan, memory.vector, room, inputs, orders.everyone, at, end - at, len(plan.counts) - 1)
        log_softmax(
            room, sizes[LOGITS], sizes[SCRATCH], sizes[ACTIONS], losses.masks, at, end - at, losses.anchor
        )  # fmt: skip


@fast_kernel
def prepare(place, arguments):
    """See `dicegym.engine.entries`."""
    return entry_of(do_part, place, arguments)
