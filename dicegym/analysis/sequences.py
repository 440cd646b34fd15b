"""Confidence sequences: intervals for a mean that hold at all times at once, so that one may stop whenever one likes.

An interval for a fixed number of games is wrong in more than 5 % of runs if one looks again and again and stops at the
first that pleases. The asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas ("Time-uniform
central limit theory and asymptotic confidence sequences", Annals of Statistics 52, 2024, theorem 2.2) holds for all n
together: after n values with the standard deviation s, the mean is within

    s * sqrt(2 (n r² + 1) / (n² r²) * ln(sqrt(n r² + 1) / alpha))

of the true one with probability 1 - alpha at every n. r says for which n it is narrowest.
"""

from __future__ import annotations

import math

NARROWEST = 5_000
"""Games at which intervals are narrowest, relative to those of a fixed number of games."""
LEAST = 100
"""Games before anything is decided: the sequence is one of the limit, as a normal interval is."""


def half_width(deviation: float, n: int, alpha: float, narrowest: int = NARROWEST) -> float:
    """Return half the width of the interval for the mean after ``n`` values.

    Args:
        deviation: standard deviation of the values so far.
        n: how many there are.
        alpha: probability that the mean is ever outside of its intervals.
        narrowest: where the sequence is to be narrowest.
    """
    if n < 2:
        return math.inf
    # The best r for a given n, eq. (9) of the paper to first order.
    squared = (-2 * math.log(alpha) + math.log(-2 * math.log(alpha) + 1)) / narrowest
    spread = n * squared + 1
    return deviation * math.sqrt(2 * spread / (n * n * squared) * math.log(math.sqrt(spread) / alpha))
