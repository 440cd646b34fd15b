"""The sequential test: after each pair of games, do the results decide between two claims?

The value of a pair is the difference of two scores, a number from -1 to 1 whose mean is 0 among equals. The claims are
that this mean is ``margin0``, or that it is ``margin1``. The test is a generalised sequential probability ratio test:
the likelihood of each claim is that of the best fitting distribution over the observed values with the claimed mean,
and the test ends when the logarithm of their ratio leaves Wald's bounds. It assumes only that pairs are independent:
ties, and correlation within a pair, need no model.

Sources: A. Wald, "Sequential Tests of Statistical Hypotheses", Annals of Mathematical Statistics 16 (1945), for the
bounds; X. Li, J. Liu and Z. Ying, "Generalized Sequential Probability Ratio Test for Separate Families of Hypotheses",
Sequential Analysis 33 (2014), for the test; M. Van den Bergh, "The Generalized Sequential Probability Ratio Test"
(2018), for its use on pairs of games with colours exchanged (the pentanomial), as chess programs are tested; A. Owen,
"Empirical likelihood ratio confidence intervals for a single functional", Biometrika 75 (1988), for the best
distribution of a given mean.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FEWEST = 20
"""Pairs before the first decision: the ratio and the interval are asymptotic."""
USUAL = (-1.0, -0.5, 0.0, 0.5, 1.0)
"""Values of a pair of games for two, which are always in the distribution."""
UNSEEN = 1e-3
"""Count of a usual value that has not been observed, so that no claim is impossible from the start."""
MOST_STEPS, EXACT_ENOUGH = 100, 1e-11
"""End of the search for the best distribution, which takes about ten steps; its unknown is of the order of 1."""
LEAST_VARIANCE = 1e-12
"""Least variance of a pair: below it pairs differ only by rounding."""
GRAIN = 9
"""Decimals of a pair's value."""


class Claims(NamedTuple):
    """Two claims about the mean of pairs, and the error rates of the test.

    The first claim is that the mean is ``margin0``, the second that it is ``margin1``, which is higher; both are from
    -1 to 1. ``alpha`` is the rate of accepting the second claim where the first holds, ``beta`` the reverse.
    """

    margin0: float
    margin1: float
    alpha: float = 0.05
    beta: float = 0.05

    @property
    def lower(self) -> float:
        """The log-likelihood ratio at which the first claim is accepted."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """The log-likelihood ratio at which the second claim is accepted."""
        return math.log((1 - self.beta) / self.alpha)


class SequentialTest:
    """Counts pairs until they decide between two claims.

    Attributes:
        pairs: number of counted pairs.
        ratio: their log-likelihood ratio; above 0 favours the second claim.
        accepted: the accepted claim, 0 or 1; None: undecided.
    """

    def __init__(self, claims: Claims) -> None:
        self.claims = claims
        self.pairs = 0
        self.ratio = 0.0
        self.accepted: int | None = None
        self._counts = dict.fromkeys(USUAL, 0)

    def add(self, pairs: Sequence[float] | NDArray[np.float64]) -> int:
        """Count ``pairs`` in their order, values from -1 to 1, up to the deciding one; return the number counted."""
        if self.accepted is not None or not len(pairs):
            return 0
        found = np.asarray(pairs, np.float64)
        ratios = self._ratios(found)
        outside = (ratios <= self.claims.lower) | (ratios >= self.claims.upper)
        outside &= self.pairs + np.arange(1, len(found) + 1) >= FEWEST
        last = int(outside.argmax()) if outside.any() else len(found) - 1
        if outside[last]:
            self.accepted = int(ratios[last] >= self.claims.upper)
        self.pairs += last + 1
        self.ratio = float(ratios[last])
        self._count(found[: last + 1])
        return last + 1

    def _ratios(self, found: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log-likelihood ratio after each of ``found``: float64[pairs]."""
        found = np.round(found, GRAIN)
        values = np.array(sorted(self._counts.keys() | set(found.tolist())))
        before = np.array([self._counts.get(value, 0) for value in values.tolist()], np.float64)
        counts = before + np.cumsum(found[:, None] == values, axis=0)
        return log_likelihood_ratios(counts, values, self.claims.margin0, self.claims.margin1)

    def _count(self, found: NDArray[np.float64]) -> None:
        """Add pairs that count."""
        for value in np.round(found, GRAIN).tolist():
            self._counts[value] = self._counts.get(value, 0) + 1

    @property
    def counts(self) -> tuple[tuple[float, int], ...]:
        """Number of pairs by value: (value, number)."""
        return tuple(sorted(self._counts.items()))


class NormalTest(SequentialTest):
    """The test for pairs of any value, such as luck-adjusted results, which rarely repeat.

    The likelihood of each claim is that of the best fitting normal distribution with the claimed mean and an unknown
    variance.
    """

    def __init__(self, claims: Claims) -> None:
        super().__init__(claims)
        self._counts = {}
        self._sums = np.zeros(2)

    def _ratios(self, found: NDArray[np.float64]) -> NDArray[np.float64]:
        number = self.pairs + np.arange(1, len(found) + 1)
        sums, squares = self._sums[:, None] + np.cumsum([found, found**2], axis=1)
        mean = sums / number
        variance = np.maximum(squares / number - mean**2, LEAST_VARIANCE)
        away0, away1 = ((mean - margin) ** 2 for margin in (self.claims.margin0, self.claims.margin1))
        return np.asarray(number / 2 * np.log((variance + away0) / (variance + away1)), np.float64)

    def _count(self, found: NDArray[np.float64]) -> None:
        self._sums += np.cumsum([found, found**2], axis=1)[:, -1]  # values rarely repeat


def log_likelihood_ratios(
    counts: NDArray[np.float64], values: NDArray[np.float64], margin0: float, margin1: float
) -> NDArray[np.float64]:
    """Return log(likelihood of mean ``margin1`` / likelihood of mean ``margin0``), both between -1 and 1.

    ``counts``: number of pairs of each value, float64[..., n]; leading axes are independent cases. ``values``: the
    possible values, float64[n], with -1 and 1.
    """
    counts = np.where((counts == 0) & np.isin(values, USUAL), UNSEEN, counts)  # not values from later in a block
    return _support(counts, values, margin1) - _support(counts, values, margin0)


def _support(counts: NDArray[np.float64], values: NDArray[np.float64], mean: float) -> NDArray[np.float64]:
    """Return the logarithm of the highest likelihood with this mean, less that of the frequencies themselves.

    The best distribution has p = frequency / (1 + t * (value - mean)), where t (Owen's Lagrange multiplier) gives the
    right mean. Newton's method finds it, within bounds that close in on it.
    """
    away = values - mean
    t = np.zeros(counts.shape[:-1])
    low, high = np.full_like(t, -1 / away.max()), np.full_like(t, -1 / away.min())
    for _ in range(MOST_STEPS):
        share = away / (1 + t[..., None] * away)
        excess = (counts * share).sum(-1)
        low, high = np.where(excess > 0, t, low), np.where(excess > 0, high, t)
        step = t + excess / (counts * share**2).sum(-1)
        step = np.where((step > low) & (step < high), step, (low + high) / 2)
        moved, t = float(np.abs(step - t).max(initial=0)), step
        if moved < EXACT_ENOUGH:
            break
    found: NDArray[np.float64] = -(counts * np.log1p(t[..., None] * away)).sum(-1)
    return found


def margin_of(elo: float) -> float:
    """Return the mean of pairs (share won less share lost) of two players whose ratings differ by ``elo``.

    Source: A. Elo, "The Rating of Chessplayers, Past and Present" (1978): the logistic curve with base 10 and 400.
    """
    return float(np.tanh(elo * math.log(10) / 800))


def elo_of(margin: float) -> float:
    """Return the difference of ratings for a mean of pairs; infinite at -1 and 1."""
    if abs(margin) >= 1:
        return math.copysign(math.inf, margin)
    return float(np.arctanh(margin)) * 800 / math.log(10)
