"""Forward and backward passes through actor and critic, and the parts of a job for threads.

A pass takes as many decisions as a cache holds. It is compiled as a whole and releases the lock, so that threads that
share a minibatch synchronise only at its end. A `dicegym.learning.fast_ppo.layout.Layout` gives the offsets: of
parameters and gradients in a vector, of everything else in the thread's own ``room``.
"""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-incomplete-defs, allow-untyped-calls, no-warn-return-any
# Kernels: Numba infers the types of their arguments.

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dicegym.learning.fast_ppo import layout
from dicegym.learning.fast_ppo.kernels import (
    ZERO,
    adam,
    add_gradients,
    add_rows,
    append_row,
    draw,
    group_by_input,
    log_softmax,
    policy_slopes,
    relu,
    tanh,
    through_relu,
    through_tanh,
    value_slopes,
)
from dicegym.learning.fast_ppo.vectors import add_picked, add_product, fast_kernel

ACT, SAY, LEARN, ADD, STEP = range(5)
"""Jobs: act in a step of the rollout, compute log-probabilities, compute a gradient, add the gradients of all threads,
take a step of Adam."""


class Inputs(NamedTuple):
    """Observations of decisions, as vectors and, if they are mostly zeros, as lists of the other numbers."""

    dense: np.ndarray
    """float32[decisions, size]"""
    begins: np.ndarray
    """int64[decisions]; see `dicegym.learning.fast_ppo.kernels.append_row`."""
    ends: np.ndarray
    """int64[decisions]"""
    inputs: np.ndarray
    """uint16 or uint32"""
    values: np.ndarray
    """float32"""
    sparse: np.ndarray
    """int64[1], whether the lists are used"""


class Sorting(NamedTuple):
    """Memory for sorting inputs; see `dicegym.learning.fast_ppo.kernels.group_by_input`."""

    stops: np.ndarray
    """int64[threads, size, padded]"""
    places: np.ndarray
    """int32[threads, CHUNK * size]"""
    factors: np.ndarray
    """float32[threads, CHUNK * size]"""


class Losses(NamedTuple):
    """The inputs of a minibatch's loss."""

    masks: np.ndarray
    """bool[decisions, n_actions], padded at the end; see `dicegym.learning.fast_ppo.vectors.softmax`"""
    actions: np.ndarray
    """int64[decisions]"""
    old_log_probs: np.ndarray
    """float32[decisions], from the rollout, like the values"""
    old_values: np.ndarray
    returns: np.ndarray
    """float32[decisions]"""
    anchor: np.ndarray
    """float32[decisions, n_actions], log q of the anchor, 0 for illegal actions; any array if ``kl_coef`` is 0"""
    gains: np.ndarray
    """float32[decisions], advantages in the order of the epoch"""
    weights: np.ndarray
    """float32[6]: clip, clip of values, ent_coef, vf_coef, kl_coef, weight of a decision"""


@fast_kernel
def forward(plan, vector, room, inputs, rows, first, n, towers):
    """Compute logits, and with two ``towers`` values, of ``n`` decisions: ``rows`` (int64) from ``first`` on."""
    sizes, none, one = plan.sizes, np.int64(0), np.int64(1)  # literals would be compiled as types of their own
    width, units = sizes[layout.WIDTH], sizes[layout.FIRST_UNITS]
    start, bias = sizes[layout.FIRST], sizes[layout.FIRST_BIAS]
    if inputs.sparse[0]:
        for i in range(n):
            row = rows[first + i]
            add_picked(
                inputs.values, inputs.inputs, inputs.begins[row], inputs.ends[row], vector, none, units,
                room, start + i * units, vector, bias, units,
            )  # fmt: skip
    else:
        size, x = sizes[layout.SIZE], sizes[layout.X]
        for i in range(n):
            row = rows[first + i]
            for k in range(size):
                room[x + i * width + k] = inputs.dense[row, k]
        add_product(
            room, x, width, one, vector, none, units, room, start, units, vector, bias, none, n, units, size
        )  # fmt: skip
    _activate(sizes, room[start : start + n * units])
    for tower in range(towers):
        for number in range(plan.counts[tower]):
            layer = plan.layers[tower, number]
            to, columns = layer[layout.TO], layer[layout.UNITS]
            if columns == 1:
                _one_unit(layer, vector, room, n)
                continue
            add_product(
                room, layer[layout.FROM], layer[layout.FROM_ROW], one, vector, layer[layout.WEIGHT], columns,
                room, to, columns, vector, layer[layout.BIAS], none, n, columns, layer[layout.DEPTH],
            )  # fmt: skip
            if number < plan.counts[tower] - 1:
                _activate(sizes, room[to : to + n * columns])


@fast_kernel
def _activate(sizes, z):
    if sizes[layout.TANH]:
        tanh(z)
    else:
        relu(z)


@fast_kernel
def _one_unit(layer, vector, room, n):
    """Compute the output of a layer of one unit."""
    inputs, row = layer[layout.INPUTS], layer[layout.FROM_ROW]
    weight = vector[layer[layout.WEIGHT] : layer[layout.WEIGHT] + inputs]
    for i in range(n):
        start = layer[layout.FROM] + i * row
        y = room[start : start + inputs]
        total = ZERO
        for k in range(inputs):
            total += y[k] * weight[k]
        room[layer[layout.TO] + i] = vector[layer[layout.BIAS]] + total


@fast_kernel
def turn(plan, vector, room):
    """Transpose the weights of all layers except the first, for `backward`."""
    for tower in range(2):
        for number in range(plan.counts[tower]):
            layer = plan.layers[tower, number]
            rows, columns = layer[layout.INPUTS], layer[layout.UNITS]
            weight = vector[layer[layout.WEIGHT] : layer[layout.WEIGHT] + rows * columns].reshape(rows, columns)
            turned = room[layer[layout.TURNED] : layer[layout.TURNED] + rows * columns].reshape(columns, rows)
            for u in range(columns):
                for k in range(rows):
                    turned[u, k] = weight[k, u]


@fast_kernel
def backward(plan, vector, gradient, room, inputs, sorting, thread, losses, rows, first, n, stats):
    """Add the gradient of the loss of ``n`` decisions to ``gradient``, and statistics to ``stats`` (float64[6]).

    The decisions are ``rows`` (int64) from ``first`` on; the weights must be transposed by `turn`.
    """
    forward(plan, vector, room, inputs, rows, first, n, len(plan.counts))
    sizes, none, one = plan.sizes, np.int64(0), np.int64(1)
    actions, logits = sizes[layout.ACTIONS], sizes[layout.LOGITS]
    _, clip_values, _, vf_coef, _, share = losses.weights
    policy_slopes(room, logits, sizes[layout.SCRATCH], actions, rows, first, n, losses, stats)
    values = room[sizes[layout.VALUES] : sizes[layout.VALUES] + n]
    value_slopes(values, rows, first, n, losses.returns, losses.old_values, clip_values, vf_coef * share, stats)
    for tower in range(2):
        for number in range(plan.counts[tower] - 1, -1, -1):
            layer = plan.layers[tower, number]
            if layer[layout.UNITS] == 1:
                _back_from_one(layer, vector, gradient, room, n)
            else:
                _back(layer, gradient, room, sizes[layout.NOTHING], n)
            if number:
                at, slopes, size = layer[layout.FROM], layer[layout.FROM_SLOPES], n * layer[layout.INPUTS]
                _through(sizes, room[at : at + size], room[slopes : slopes + size])
    at, slopes, units = sizes[layout.FIRST], sizes[layout.FIRST_SLOPES], sizes[layout.FIRST_UNITS]
    _through(sizes, room[at : at + n * units], room[slopes : slopes + n * units])
    bias = sizes[layout.FIRST_BIAS]
    add_rows(room[slopes : slopes + n * units].reshape(n, units), gradient[bias : bias + units])
    if inputs.sparse[0]:
        stops, places, factors = sorting.stops[thread], sorting.places[thread], sorting.factors[thread]
        group_by_input(
            inputs.begins, inputs.ends, inputs.inputs, inputs.values, rows, first, n, stops, places, factors
        )  # fmt: skip
        begin = np.int64(0)
        for k in range(len(stops)):
            end = stops[k]
            if end > begin:
                to = k * units
                add_picked(factors, places, begin, end, room, slopes, units, gradient, to, gradient, to, units)
            begin = end
    else:
        add_product(
            room, sizes[layout.X], one, sizes[layout.WIDTH], room, slopes, units,
            gradient, none, units, gradient, none, units, sizes[layout.SIZE], units, n,
        )  # fmt: skip


@fast_kernel
def hide(plan, gradient):
    """Set the gradient of the actor's first layer to 0 for inputs that it does not see: the weights there stay 0."""
    sizes = plan.sizes
    units = sizes[layout.FIRST_UNITS]
    for k in range(sizes[layout.SEEN], sizes[layout.SIZE]):
        gradient[k * units : k * units + sizes[layout.SPLIT]] = ZERO


@fast_kernel
def _through(sizes, y, slopes):
    if sizes[layout.TANH]:
        through_tanh(y, slopes)
    else:
        through_relu(y, slopes)


@fast_kernel
def _back(layer, gradient, room, nothing, n):
    """Backpropagate through a layer."""
    none, one = np.int64(0), np.int64(1)
    units, inputs, row = layer[layout.UNITS], layer[layout.INPUTS], layer[layout.FROM_ROW]
    slopes, weight, bias = layer[layout.TO_SLOPES], layer[layout.WEIGHT], layer[layout.BIAS]
    add_rows(room[slopes : slopes + n * units].reshape(n, units), gradient[bias : bias + units])
    add_product(
        room, layer[layout.FROM], one, row, room, slopes, units,
        gradient, weight, units, gradient, weight, units, layer[layout.DEPTH], units, n,
    )  # fmt: skip
    add_product(
        room, slopes, units, one, room, layer[layout.TURNED], inputs,
        room, layer[layout.FROM_SLOPES], row, room, nothing, none, n, inputs, units,
    )  # fmt: skip


@fast_kernel
def _back_from_one(layer, vector, gradient, room, n):
    """Backpropagate through a layer of one unit."""
    inputs, row, at = layer[layout.INPUTS], layer[layout.FROM_ROW], layer[layout.WEIGHT]
    weight, of_weight = vector[at : at + inputs], gradient[at : at + inputs]
    for i in range(n):
        slope = room[layer[layout.TO] + i]
        gradient[layer[layout.BIAS]] += slope
        start = layer[layout.FROM] + i * row
        y = room[start : start + inputs]
        for k in range(inputs):
            of_weight[k] += slope * y[k]
        start = layer[layout.FROM_SLOPES] + i * row
        found = room[start : start + inputs]
        for k in range(inputs):
            found[k] = slope * weight[k]


# Jobs


class PassMemory(NamedTuple):
    """Memory that all threads share; each writes only to its row or its part."""

    vector: np.ndarray
    """float32[size], the parameters; see `dicegym.learning.fast_ppo.layout.Layout`"""
    gradients: np.ndarray
    """float32[threads, size]"""
    first: np.ndarray
    """float32[size], Adam's first moment"""
    second: np.ndarray
    """float32[size], Adam's second moment"""
    rooms: np.ndarray
    """float32[threads, room]"""
    stats: np.ndarray
    """float64[threads, OF_LINE]; see `dicegym.learning.fast_ppo.kernels.policy_slopes`"""
    squares: np.ndarray
    """float64[threads, OF_LINE], first of each row: the sum of squares of the gradient"""


class Orders(NamedTuple):
    """Inputs and outputs of a job."""

    bounds: np.ndarray
    """int64[threads + 1]: starts of parts, and the end of the last"""
    first: np.ndarray
    """int64[1]: the row of the first decision of a step"""
    busy: np.ndarray
    """int64[1]: number of threads that computed the gradient"""
    adam: np.ndarray
    """float32[6]: arguments of `dicegym.learning.fast_ppo.kernels.adam` from ``factor`` on"""
    everyone: np.ndarray
    """int64[rows]: 0, 1, 2 ..."""
    rows: np.ndarray
    """int64[decisions]: the order of an epoch"""
    uniforms: np.ndarray
    """float32[games]: random numbers for actions"""
    actions: np.ndarray
    """int64[games]: drawn actions"""
    log_probs: np.ndarray
    """float32[games], of the drawn actions"""
    values: np.ndarray
    """float32[games]"""


@fast_kernel
def do_part(job, part, _end, _now, plan, memory, inputs, sorting, losses, orders):
    """Do a part of a job; its number is passed in the place of rows (`dicegym.engine.kernel_entries`)."""
    low, high = orders.bounds[part], orders.bounds[part + 1]
    if job == ACT:
        _act(part, low, high, plan, memory, inputs, losses.masks, orders)
    elif job == SAY:
        _say(part, low, high, plan, memory, inputs, losses, orders)
    elif job == LEARN:
        gradient, room, stats = memory.gradients[part], memory.rooms[part], memory.stats[part]
        gradient[:] = 0
        stats[:] = 0
        turn(plan, memory.vector, room)
        for at in range(low, high, layout.CHUNK):
            n = min(layout.CHUNK, high - at)
            backward(
                plan, memory.vector, gradient, room, inputs, sorting, part, losses, orders.rows, at, n, stats
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
    """Compute values of a step, and draw actions unless the step is after the rollout, without masks."""
    room, begun, sizes = memory.rooms[part], orders.first[0], plan.sizes
    if inputs.sparse[0]:
        for i in range(begun + low, begun + high):
            append_row(inputs.dense, i, inputs.begins, inputs.ends, inputs.inputs, inputs.values)
    for at in range(low, high, layout.CHUNK):
        end = min(at + layout.CHUNK, high)
        forward(plan, memory.vector, room, inputs, orders.everyone, begun + at, end - at, len(plan.counts))
        orders.values[at:end] = room[sizes[layout.VALUES] : sizes[layout.VALUES] + end - at]
        if begun + end <= len(masks):
            draw(
                room, sizes[layout.LOGITS], sizes[layout.SCRATCH], sizes[layout.ACTIONS], masks, begun + at,
                orders.uniforms[at:end], orders.actions[at:end], orders.log_probs[at:end],
            )  # fmt: skip


@fast_kernel
def _say(part, low, high, plan, memory, inputs, losses, orders):
    """Store the log-probabilities of all actions in ``losses.anchor``."""
    room, sizes = memory.rooms[part], plan.sizes
    for at in range(low, high, layout.CHUNK):
        end = min(at + layout.CHUNK, high)
        forward(plan, memory.vector, room, inputs, orders.everyone, at, end - at, len(plan.counts) - 1)
        log_softmax(
            room, sizes[layout.LOGITS], sizes[layout.SCRATCH], sizes[layout.ACTIONS], losses.masks, at, end - at,
            losses.anchor,
        )  # fmt: skip
