"""Compiled loops of `FastMaskablePPO`: sparse inputs, and everything between matrix products.

Sums may be taken in any order, so that a processor can add sixteen numbers at once; rows are padded to whole vectors
for that (`dicegym.learning.fast_ppo.vectors.pad_size`).
"""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-incomplete-defs, no-warn-return-any
# mypy: disable-error-code="call-arg"
# Kernels: Numba infers the types of their arguments, and hands intrinsics one more.

from __future__ import annotations

import numpy as np

from dicegym.learning.fast_ppo.vectors import LANES, fast_kernel, mix_slopes, softmax, strict_kernel

# tanh(x) for x in [-7.9, 7.9], beyond which it is 1 in float32: the coefficients of Eigen 3's generic_fast_tanh_float.
WIDEST = np.float32(7.90531110763549805)
A1, A3, A5 = np.float32(4.89352455891786e-03), np.float32(6.37261928875436e-04), np.float32(1.48572235717979e-05)
A7, A9 = np.float32(5.12229709037114e-08), np.float32(-8.60467152213735e-11)
A11, A13 = np.float32(2.00018790482477e-13), np.float32(-2.76076847742355e-16)
B0, B2 = np.float32(4.89352518554385e-03), np.float32(2.26843463243900e-03)
B4, B6 = np.float32(1.18534705686654e-04), np.float32(1.19825839466702e-06)
PART = 4096
"""Number of squares that are summed in float32."""
ONE, ZERO, TWO = np.float32(1.0), np.float32(0.0), np.float32(2.0)


@fast_kernel
def append_row(observations, row, begins, ends, inputs, values):
    """Store the non-zero inputs of ``observations[row]`` in ``inputs[begins[row]:ends[row]]``, and their values.

    Each row has memory for all of its inputs, so rows can be written in any order.
    """
    size = observations.shape[1]
    end = row * size
    begins[row] = end
    for k in range(size):
        x = observations[row, k]
        inputs[end] = k
        values[end] = x
        end += x != ZERO
    ends[row] = end


@fast_kernel
def group_by_input(begins, ends, inputs, values, rows, first, n, stops, places, factors):
    """Sort the sparse inputs of ``n`` rows by input: those of input k are from ``stops[k - 1]`` to before ``stops[k]``.

    ``begins``, ``ends``, ``inputs`` and ``values`` are from `append_row`; the rows are ``rows`` (int64) from ``first``
    on. Outputs are ``stops`` (int64[size]), ``places`` (int32[entries]), which of the ``n`` rows, and ``factors``
    (float32[entries]), the inputs' values.
    """
    for k in range(len(stops)):
        stops[k] = 0
    for i in range(n):
        row = rows[first + i]
        for k in range(begins[row], ends[row]):
            stops[inputs[k]] += 1
    end = 0
    for k in range(len(stops)):  # the starts; filling moves them to the ends
        end += stops[k]
        stops[k] = end - stops[k]
    for i in range(n):
        row = rows[first + i]
        for k in range(begins[row], ends[row]):
            place = stops[inputs[k]]
            places[place] = i
            factors[place] = values[k]
            stops[inputs[k]] = place + 1


@fast_kernel
def relu(z):
    """Apply max(z, 0) in place to float32[size]."""
    for i in range(len(z)):
        z[i] = max(z[i], ZERO)


@fast_kernel
def tanh(z):
    """Apply tanh in place to float32[size]: Eigen's quotient of polynomials, with a relative error below 1e-6."""
    for i in range(len(z)):
        x = min(max(z[i], -WIDEST), WIDEST)
        s = x * x
        above = x * (A1 + s * (A3 + s * (A5 + s * (A7 + s * (A9 + s * (A11 + s * A13))))))
        z[i] = above / (B0 + s * (B2 + s * (B4 + s * B6)))


@fast_kernel
def through_relu(y, slopes):
    """Backpropagate ``slopes`` in place through a ReLU with outputs ``y`` (float32[size])."""
    for i in range(len(y)):
        slopes[i] = slopes[i] if y[i] > ZERO else ZERO


@fast_kernel
def through_tanh(y, slopes):
    """Backpropagate ``slopes`` in place through a tanh with outputs ``y`` (float32[size])."""
    for i in range(len(y)):
        slopes[i] *= ONE - y[i] * y[i]


@fast_kernel
def add_rows(slopes, total):
    """Add all rows of ``slopes`` (float32[n, units], units padded) to ``total`` (float32[units])."""
    n, units = slopes.shape
    for block in range(units // LANES):
        sums = total[block * LANES : (block + 1) * LANES]
        u = np.uint64(block * LANES)
        i = 0
        while i + 4 <= n:
            for j in range(LANES):
                k = u + np.uint64(j)
                sums[j] += (slopes[i, k] + slopes[i + 1, k]) + (slopes[i + 2, k] + slopes[i + 3, k])
            i += 4
        while i < n:
            for j in range(LANES):
                sums[j] += slopes[i, u + np.uint64(j)]
            i += 1


@fast_kernel
def softmax_of(room, logits, scratch, columns, masks, row):
    """Compute `dicegym.learning.fast_ppo.vectors.softmax`; return (sum of exponentials, its logarithm, entropy)."""
    softmax(room, logits, scratch, columns, masks, row)
    total, weighted = room[scratch + 2 * columns], room[scratch + 2 * columns + 1]
    log_total = np.log(total)
    return total, log_total, log_total - weighted / total


@fast_kernel
def draw(room, logits, scratch, columns, masks, first, uniforms, actions, log_probs):
    """Draw an action in each row by its inverse distribution function, with the logarithm of its probability.

    The logits are in ``room`` from ``logits`` on, ``columns`` numbers in each row; `softmax_of` uses ``scratch``.
    ``masks`` (bool[decisions, n_actions], at least one True in each row, padded at the end) are used from ``first`` on;
    ``uniforms`` (float32[n]) are in [0, 1). Outputs are ``actions`` (int64[n]) and ``log_probs`` (float32[n]).
    """
    n_actions = masks.shape[1]
    shifted, powers = scratch, scratch + columns
    for i in range(len(actions)):
        total, log_total, _ = softmax_of(room, logits + i * columns, scratch, columns, masks, first + i)
        left = uniforms[i] * total
        chosen = -1
        for j in range(n_actions):
            if room[powers + j] > ZERO:
                chosen = j  # the last one, if rounding leaves a rest
                left -= room[powers + j]
                if left < ZERO:
                    break
        actions[i] = chosen
        log_probs[i] = room[shifted + chosen] - log_total


@fast_kernel
def log_softmax(room, logits, scratch, columns, masks, first, n, out):
    """Set ``n`` rows of ``out`` (float32[decisions, n_actions]), from ``first`` on, to log-probabilities.

    Illegal actions have 0. See `draw` for the other arguments.
    """
    for i in range(first, first + n):
        _, log_total, _ = softmax_of(room, logits + (i - first) * columns, scratch, columns, masks, i)
        for j in range(masks.shape[1]):
            out[i, j] = room[scratch + j] - log_total if masks[i, j] else ZERO


@strict_kernel
def divergence_of(room, powers, shifted, one, log_total, anchor, row):
    """Return the divergence of a softmax from ``row`` of ``anchor``; ``one`` is 1 over its sum of exponentials."""
    total = ZERO
    for j in range(anchor.shape[1]):
        total += room[powers + j] * (room[shifted + j] - log_total - anchor[row, j])
    return total * one


@strict_kernel
def anchor_slopes(room, z, powers, shifted, one, log_total, plain, of_entropy, of_kl, anchor, row):
    """Set the gradient at ``z``: each probability times ``plain`` plus the parts of entropy and divergence."""
    for j in range(anchor.shape[1]):
        log_p = room[shifted + j] - log_total
        found = plain + of_entropy * log_p + of_kl * (log_p - anchor[row, j])
        room[z + j] = room[powers + j] * one * found


@fast_kernel
def policy_slopes(room, logits, scratch, columns, rows, first, n, losses, stats):
    """Replace logits by the gradient of the policy's loss with respect to them.

    The loss of a decision is PPO's clipped surrogate, minus ``ent_coef`` times the entropy, plus ``kl_coef`` times the
    divergence from the anchor, all over legal actions. With p = softmax(z), entropy H and divergence K

        d log p[a] / d z[j] = [a = j] - p[j]
        d H / d z[j] = -p[j] (log p[j] + H)
        d K / d z[j] = p[j] (log p[j] - log q[j] - K)

    The decisions are ``rows`` (int64) of ``losses`` (`dicegym.learning.fast_ppo.passes.Losses`) from ``first`` on; see
    `draw` for the other arguments. Added to ``stats`` (float64[6]) are the surrogate's loss, entropy, clipped
    decisions, Schulman's estimate of the divergence from the old policy, and the divergence from the anchor.
    """
    masks, actions, old_log_probs, anchor = losses.masks, losses.actions, losses.old_log_probs, losses.anchor
    gains = losses.gains
    clip, _, ent_coef, _, kl_coef, share = losses.weights
    shifted, powers = scratch, scratch + columns
    of_entropy, of_kl = share * ent_coef, share * kl_coef
    for i in range(n):
        row, z = rows[first + i], logits + i * columns
        total, log_total, entropy = softmax_of(room, z, scratch, columns, masks, row)
        one = ONE / total
        action = actions[row]
        log_ratio = room[shifted + action] - log_total - old_log_probs[row]
        ratio = np.exp(log_ratio)
        advantage = gains[first + i]
        clipped = min(max(ratio, ONE - clip), ONE + clip)
        free, bounded = advantage * ratio, advantage * clipped
        # Where the clipped term is smaller, the ratio is outside its bounds, and the gradient is 0.
        slope = -share * free if free <= bounded else ZERO
        divergence = ZERO
        if kl_coef > ZERO:
            divergence = divergence_of(room, powers, shifted, one, log_total, anchor, row)
            plain = of_entropy * entropy - slope - of_kl * divergence
            anchor_slopes(room, z, powers, shifted, one, log_total, plain, of_entropy, of_kl, anchor, row)
        else:
            steep = of_entropy * one
            mix_slopes(room, z, scratch, columns, (of_entropy * entropy - slope) * one - steep * log_total, steep)
        room[z + action] += slope
        stats[0] -= min(free, bounded)
        stats[1] += entropy
        stats[2] += abs(ratio - ONE) > clip
        stats[3] += (ratio - ONE) - log_ratio
        stats[4] += divergence


@fast_kernel
def value_slopes(values, rows, first, n, returns, old_values, clip, weight, stats):
    """Replace values (float32[at least n]) by the gradient of ``weight`` times their squared errors.

    ``clip`` bounds the distance of a value from the old one; 0 means no bound. The sum of squared errors is added to
    ``stats[5]``.
    """
    for i in range(n):
        row = rows[first + i]
        value, held = values[i], False
        if clip > ZERO:
            away = value - old_values[row]
            held = abs(away) > clip
            value = old_values[row] + min(max(away, -clip), clip)
        error = value - returns[row]
        stats[5] += error * error
        values[i] = ZERO if held else TWO * weight * error


@fast_kernel
def choose_gains(advantages, rows, first, n, normalise, gains):
    """Set ``gains`` from ``first`` on to advantages of ``n`` of ``rows``, normalised to mean 0 and deviation 1."""
    total = 0.0
    for i in range(first, first + n):
        gains[i] = advantages[rows[i]]
        total += gains[i]
    if not normalise:
        return
    mean = np.float32(total / n)
    squares = 0.0
    for i in range(first, first + n):
        gains[i] -= mean
        squares += gains[i] * gains[i]
    deviation = np.float32(np.sqrt(squares / (n - 1))) + np.float32(1e-8)
    for i in range(first, first + n):
        gains[i] /= deviation


@fast_kernel
def add_gradients(total, others):
    """Add the gradients of other threads (float32[n, size]) to ``total`` (float32[size]); return its sum of squares."""
    for k in range(len(others)):
        one = others[k]
        for i in range(len(total)):
            total[i] += one[i]
    squares = np.float64(0)
    for start in range(0, len(total), PART):
        part = total[start : start + PART]
        found = ZERO
        for i in range(len(part)):
            found += part[i] * part[i]
        squares += np.float64(found)
    return squares


@fast_kernel
def adam(parameters, gradient, first, second, factor, rate, beta1, beta2, root2, epsilon):
    """Take a step of Adam (Kingma and Ba, ICLR 2015) with the parameters (float32[size]).

    ``first`` and ``second`` are the moments, which are updated. Gradients are multiplied by ``factor`` first, which
    clips their norm; ``rate`` is the step size divided by 1 - beta1 ** step, and ``root2`` is sqrt(1 - beta2 ** step).
    """
    for i in range(len(parameters)):
        g = gradient[i] * factor
        m = beta1 * first[i] + (ONE - beta1) * g
        v = beta2 * second[i] + (ONE - beta2) * g * g
        first[i] = m
        second[i] = v
        parameters[i] -= rate * m / (np.sqrt(v) / root2 + epsilon)
