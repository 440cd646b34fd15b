"""Compiled loops of `FastMaskablePPO`: inputs that are mostly zeros, and all that stands between matrix products.

All arrays are C-contiguous. Sums may be taken in any order, which is what lets a processor add sixteen numbers at once.
"""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-incomplete-defs, no-warn-return-any
# Kernels: Numba infers the types of their arguments.

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np

from dicegym.engine.jit import CACHE_FOLDER, COMPILED
from dicegym.engine.kernel_cache import KernelCache

F = TypeVar("F", bound=Callable[..., Any])

_IN_ANY_ORDER = {"reassoc", "contract", "nsz", "arcp"}
"""What a compiler may assume of numbers: not that all are finite."""
LOG2_E = np.float32(1.4426950408889634)
# 2^f for f in [-0.5, 0.5]: the Taylor series of exp(f ln 2), whose rest is below 2e-8.
C1, C2, C3 = np.float32(0.6931471805599453), np.float32(0.2402265069591007), np.float32(0.05550410866482158)
C4, C5, C6 = np.float32(0.009618129107628477), np.float32(0.0013333558146428443), np.float32(0.00015403530393381608)
# tanh(x) for x in [-7.9, 7.9], beyond which it is 1 in float32: the coefficients of Eigen 3's generic_fast_tanh_float.
WIDEST = np.float32(7.90531110763549805)
A1, A3, A5 = np.float32(4.89352455891786e-03), np.float32(6.37261928875436e-04), np.float32(1.48572235717979e-05)
A7, A9 = np.float32(5.12229709037114e-08), np.float32(-8.60467152213735e-11)
A11, A13 = np.float32(2.00018790482477e-13), np.float32(-2.76076847742355e-16)
B0, B2 = np.float32(4.89352518554385e-03), np.float32(2.26843463243900e-03)
B4, B6 = np.float32(1.18534705686654e-04), np.float32(1.19825839466702e-06)
ONE, ZERO, HALF = np.float32(1.0), np.float32(0.0), np.float32(0.5)
BLOCK = 128
"""Units whose slopes are added at a time, so that those of all rows stay in the cache of a core."""
LOWEST = np.float32(-87.0)
"""Where exp of a float32 is as good as 0."""
BIAS, FRACTION = np.int32(127), np.int32(23)
"""A float32 holds its exponent plus 127 above 23 bits of its fraction (IEEE 754)."""


def fast_kernel(function: F) -> F:
    """Compile ``function``, release the lock while it runs, and keep it on disk by the sources of this folder."""
    compiled: Any = numba.njit(nogil=True, error_model="numpy", fastmath=_IN_ANY_ORDER)(function)
    if COMPILED:
        compiled._cache = KernelCache(function, Path(CACHE_FOLDER), lambda file: False)
    return compiled


@fast_kernel
def append_rows(observations, begins, row, inputs, values):
    """Append the inputs of ``observations`` (float32[n, size]) that are not 0; return whether there was room.

    Row ``row + i`` is ``inputs[begins[row + i] : begins[row + i + 1]]``; ``begins[row]`` is set.
    """
    n, size = observations.shape
    end = begins[row]
    for i in range(n):
        if end + size > len(inputs):
            return False
        for k in range(size):
            x = observations[i, k]
            inputs[end] = k
            values[end] = x
            end += x != ZERO
        begins[row + i + 1] = end
    return True


@fast_kernel
def sum_rows(begins, inputs, values, rows, weights, bias, out):
    """Set ``out[i]`` (float32[n, units]) to ``bias`` plus the sum of ``weights[input] * value`` of row ``rows[i]``."""
    units = out.shape[1]
    for i in range(len(rows)):
        k, end = begins[rows[i]], begins[rows[i] + 1]
        for u in range(units):
            out[i, u] = bias[u]
        while k + 4 <= end:  # four at a time: what is summed is read and written once for them
            a, b, c, d = inputs[k], inputs[k + 1], inputs[k + 2], inputs[k + 3]
            xa, xb, xc, xd = values[k], values[k + 1], values[k + 2], values[k + 3]
            for u in range(units):
                out[i, u] += xa * weights[a, u] + xb * weights[b, u] + xc * weights[c, u] + xd * weights[d, u]
            k += 4
        while k < end:
            a, xa = inputs[k], values[k]
            for u in range(units):
                out[i, u] += xa * weights[a, u]
            k += 1


@fast_kernel
def group_by_input(begins, inputs, values, rows, ends, places, factors):
    """Sort the inputs of ``rows`` by input: those of input k stand before ``ends[k]`` and from ``ends[k - 1]`` on.

    Args:
        begins: as `append_rows` sets it.
        inputs: the same.
        values: the same.
        rows: int64[n], which rows.
        ends: int64[size], set.
        places: int32[entries of rows], set to which of ``rows``.
        factors: float32[entries of rows], set to the inputs' values.
    """
    for k in range(len(ends)):
        ends[k] = 0
    for i in range(len(rows)):
        for k in range(begins[rows[i]], begins[rows[i] + 1]):
            ends[inputs[k]] += 1
    end = 0
    for k in range(len(ends)):  # where each begins; what is filled in then moves it to where it ends
        end += ends[k]
        ends[k] = end - ends[k]
    for i in range(len(rows)):
        for k in range(begins[rows[i]], begins[rows[i] + 1]):
            place = ends[inputs[k]]
            places[place] = i
            factors[place] = values[k]
            ends[inputs[k]] = place + 1


@fast_kernel
def add_outer_rows(ends, places, factors, slopes, gradient):
    """Add to ``gradient[input]`` (float32[size, units]) the sum of factor times ``slopes[place]`` of that input."""
    units = slopes.shape[1]
    for block in range((units + BLOCK - 1) // BLOCK):
        # Unsigned: what could be negative would be looked at for each unit, and not sixteen at once.
        low, high = np.uint64(block * BLOCK), np.uint64(min((block + 1) * BLOCK, units))
        k = 0
        for a in range(len(ends)):
            end = ends[a]
            while k + 4 <= end:
                i0, i1, i2, i3 = places[k], places[k + 1], places[k + 2], places[k + 3]
                x0, x1, x2, x3 = factors[k], factors[k + 1], factors[k + 2], factors[k + 3]
                for u in range(low, high):
                    gradient[a, u] += x0 * slopes[i0, u] + x1 * slopes[i1, u] + x2 * slopes[i2, u] + x3 * slopes[i3, u]
                k += 4
            while k < end:
                i0, x0 = places[k], factors[k]
                for u in range(low, high):
                    gradient[a, u] += x0 * slopes[i0, u]
                k += 1


@fast_kernel
def relu(z):
    """Apply max(z, 0) in place to float32[n, units]."""
    n, units = z.shape
    for i in range(n):
        for u in range(units):
            z[i, u] = max(z[i, u], ZERO)


@fast_kernel
def tanh(z):
    """Apply tanh in place to float32[n, units]: Eigen's quotient of polynomials, off by less than 1e-6 of its size."""
    n, units = z.shape
    for i in range(n):
        for u in range(units):
            x = min(max(z[i, u], -WIDEST), WIDEST)
            s = x * x
            above = x * (A1 + s * (A3 + s * (A5 + s * (A7 + s * (A9 + s * (A11 + s * A13))))))
            z[i, u] = above / (B0 + s * (B2 + s * (B4 + s * B6)))


@fast_kernel
def through_relu(y, slopes, bias):
    """Turn slopes behind a ReLU, whose outputs are ``y``, into those before it, and add their sums to ``bias``."""
    n, units = y.shape
    for i in range(n):
        for u in range(units):
            slopes[i, u] = slopes[i, u] if y[i, u] > ZERO else ZERO
            bias[u] += slopes[i, u]


@fast_kernel
def through_tanh(y, slopes, bias):
    """Turn slopes behind a tanh, whose outputs are ``y``, into those before it, and add their sums to ``bias``."""
    n, units = y.shape
    for i in range(n):
        for u in range(units):
            slopes[i, u] *= ONE - y[i, u] * y[i, u]
            bias[u] += slopes[i, u]


@fast_kernel
def exp_row(x, powers, bits, scales):
    """Set ``powers`` to exp(x) for ``x`` (float32[n]) of at most 0; ``scales`` are ``bits`` (int32[n]) as float32.

    exp(x) = 2^n 2^f with x log2(e) = n + f: a polynomial of f, and n as the exponent's bits.
    """
    n = len(x)
    for j in range(n):
        y = max(x[j], LOWEST) * LOG2_E
        whole = np.floor(y + HALF)
        f = y - whole
        powers[j] = ONE + f * (C1 + f * (C2 + f * (C3 + f * (C4 + f * (C5 + f * C6)))))
        bits[j] = (np.int32(whole) + BIAS) << FRACTION
    for j in range(n):
        powers[j] *= scales[j]


@fast_kernel
def softmax_row(logits, mask, shifted, powers, bits, scales):
    """Set ``powers`` to exp(logit - highest) of legal actions, 0 of others; return (highest, their sum)."""
    n = len(logits)
    highest = np.float32(-np.inf)
    for j in range(n):
        highest = max(highest, logits[j] if mask[j] else np.float32(-np.inf))
    for j in range(n):
        shifted[j] = min(logits[j] - highest, ZERO)
    exp_row(shifted, powers, bits, scales)
    total = ZERO
    for j in range(n):
        powers[j] = powers[j] if mask[j] else ZERO
        total += powers[j]
    return highest, total


@fast_kernel
def draw(logits, masks, uniforms, actions, log_probs, scratch, bits, scales):
    """Draw an action in each row by its inverse distribution function, and say the logarithm of its probability.

    Args:
        logits: float32[n, n_actions].
        masks: bool[n, n_actions], at least one True in each row.
        uniforms: float32[n] from 0 to below 1.
        actions: int64[n], set.
        log_probs: float32[n], set.
        scratch: float32[2, n_actions].
        bits: int32[n_actions].
        scales: the same memory as float32.
    """
    n_actions = logits.shape[1]
    shifted, powers = scratch[0], scratch[1]
    for i in range(len(logits)):
        _, total = softmax_row(logits[i], masks[i], shifted, powers, bits, scales)
        left = uniforms[i] * total
        chosen = -1
        for j in range(n_actions):
            if powers[j] > ZERO:
                chosen = j  # the last one, if rounding leaves something
                left -= powers[j]
                if left < ZERO:
                    break
        actions[i] = chosen
        log_probs[i] = shifted[chosen] - np.log(total)


@fast_kernel
def log_softmax(logits, masks, out, scratch, bits, scales):
    """Set ``out`` (float32[n, n_actions]) to the logarithms of legal actions' probabilities, and to 0 for others."""
    n_actions = logits.shape[1]
    shifted, powers = scratch[0], scratch[1]
    for i in range(len(logits)):
        _, total = softmax_row(logits[i], masks[i], shifted, powers, bits, scales)
        log_total = np.log(total)
        for j in range(n_actions):
            out[i, j] = shifted[j] - log_total if masks[i, j] else ZERO


@fast_kernel
def policy_slopes(
    logits,
    rows,
    masks,
    actions,
    old_log_probs,
    advantages,
    anchor,
    clip,
    ent_coef,
    kl_coef,
    share,
    bias,
    told,
    scratch,
    bits,
    scales,
):
    """Turn logits into the slopes of the policy's loss by them, in place.

    The loss of a decision is PPO's clipped surrogate, less ``ent_coef`` entropies, plus ``kl_coef`` times the
    divergence from the anchor's distribution, all over legal actions. With p = softmax(z), entropy H and divergence K

        d log p[a] / d z[j] = [a = j] - p[j]
        d H / d z[j] = -p[j] (log p[j] + H)
        d K / d z[j] = p[j] (log p[j] - log q[j] - K)

    Args:
        logits: float32[n, n_actions], of decisions ``rows``.
        rows: int64[n], decisions of the rollout.
        masks: bool[decisions, n_actions].
        actions: int64[decisions].
        old_log_probs: float32[decisions], when they were taken.
        advantages: float32[n], of ``rows``.
        anchor: float32[decisions, n_actions], log q; any array if ``kl_coef`` is 0.
        clip: of the ratio.
        ent_coef: see above.
        kl_coef: see above.
        share: what a decision counts for: 1 / decisions of the minibatch.
        bias: float32[n_actions], to which the sums of slopes are added.
        told: float64[6], to which are added: the surrogate's loss, entropies, clipped decisions, Schulman's estimate
            of the divergence from the old policy, the divergence from the anchor; the sixth is not used.
        scratch: float32[2, n_actions].
        bits: int32[n_actions].
        scales: the same memory as float32.
    """
    n, n_actions = logits.shape
    shifted, powers = scratch[0], scratch[1]
    for i in range(n):
        row = rows[i]
        mask = masks[row]
        _, total = softmax_row(logits[i], mask, shifted, powers, bits, scales)
        log_total, one = np.log(total), ONE / total
        action = actions[row]
        log_prob = shifted[action] - log_total
        log_ratio = log_prob - old_log_probs[row]
        ratio = np.exp(log_ratio)
        advantage = advantages[i]
        clipped = min(max(ratio, ONE - clip), ONE + clip)
        free, bounded = advantage * ratio, advantage * clipped
        # Where the clipped one is smaller it is outside of its bounds, and has no slope.
        slope = -share * free if free <= bounded else ZERO
        entropy, divergence = ZERO, ZERO
        for j in range(n_actions):
            entropy -= powers[j] * (shifted[j] - log_total)
        entropy *= one
        if kl_coef > ZERO:
            for j in range(n_actions):
                divergence += powers[j] * (shifted[j] - log_total - anchor[row, j])
            divergence *= one
        of_entropy, of_kl = share * ent_coef, share * kl_coef
        plain = of_entropy * entropy - slope - of_kl * divergence
        if kl_coef > ZERO:
            for j in range(n_actions):
                log_p = shifted[j] - log_total
                found = powers[j] * one * (plain + (of_entropy + of_kl) * log_p - of_kl * anchor[row, j])
                logits[i, j] = found
        else:
            for j in range(n_actions):
                logits[i, j] = powers[j] * one * (plain + of_entropy * (shifted[j] - log_total))
        logits[i, action] += slope
        for j in range(n_actions):
            bias[j] += logits[i, j]
        told[0] -= min(free, bounded)
        told[1] += entropy
        told[2] += abs(ratio - ONE) > clip
        told[3] += (ratio - ONE) - log_ratio
        told[4] += divergence


@fast_kernel
def value_slopes(values, rows, returns, old_values, clip, weight, told):
    """Turn values (float32[n]) into the slopes of ``weight`` times their squared errors, in place.

    ``clip`` bounds how far a value may leave the old one; 0: it may. ``told[5]`` gets the sum of squared errors.
    """
    for i in range(len(values)):
        row = rows[i]
        value, held = values[i], False
        if clip > ZERO:
            away = value - old_values[row]
            held = abs(away) > clip
            value = old_values[row] + min(max(away, -clip), clip)
        error = value - returns[row]
        told[5] += error * error
        values[i] = ZERO if held else np.float32(2.0) * weight * error


@fast_kernel
def adam(parameters, gradient, first, second, factor, rate, beta1, beta2, root2, epsilon):
    """Let the parameters (float32[size]) take Adam's step (Kingma and Ba, ICLR 2015).

    Args:
        parameters: changed.
        gradient: of the loss.
        first: the gradients' running mean, changed.
        second: that of their squares, changed.
        factor: what gradients are multiplied by first, which clips their norm.
        rate: step size, divided by 1 - beta1 ** step.
        beta1: of the first mean.
        beta2: of the second.
        root2: sqrt(1 - beta2 ** step).
        epsilon: added to the root.
    """
    for i in range(len(parameters)):
        g = gradient[i] * factor
        m = beta1 * first[i] + (ONE - beta1) * g
        v = beta2 * second[i] + (ONE - beta2) * g * g
        first[i] = m
        second[i] = v
        parameters[i] -= rate * m / (np.sqrt(v) / root2 + epsilon)
