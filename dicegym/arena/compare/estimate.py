"""The size of the difference after a test that stopped early.

A test that stops when the results look decisive exaggerates: the plain mean of its pairs and its plain interval are
biased. So the interval here is that of the stopped test. A Brownian motion with drift models the sums of pairs. It ends
at one of two barriers, or when the games run out. Outcomes are ordered from "ended at the lower barrier at once"
to "ended at the upper barrier at once". A difference is in the 95 % interval unless at most 2.5 % of the tests with it
would end as far out as this one, on either side. The estimate is the median-unbiased one: half of the tests with that
difference would end higher.

Sources: D. Siegmund, "Estimation following sequential tests", Biometrika 65 (1978), for the order and the interval;
A. Borodin and P. Salminen, "Handbook of Brownian Motion" (2nd edition, 2002), part II, 3.0, for the exit times of a
motion from an interval, as sums over mirror images.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dicegym.arena.compare.sequential import FEWEST, Claims
from dicegym.errors import DependencyError

LEVEL = 0.95
"""Coverage of the interval."""
FAR = 40.0
"""Standard errors from the mean within which drifts are searched."""
IMAGES = 12
"""Standard deviations beyond which mirror images are negligible."""


class Interval(NamedTuple):
    """A difference and the ends of its interval."""

    value: float
    low: float
    high: float


class Stopped(NamedTuple):
    """The end of a test: the counted pairs, with their mean and variance.

    ``accepted`` is the accepted claim; None: the games ran out. ``normal``: pairs have any value, so their variance is
    estimated as usual; see `cautious_variance`.
    """

    pairs: int
    mean: float
    variance: float
    accepted: int | None
    normal: bool = False


def need_scipy() -> None:
    """Raise DependencyError if SciPy is not installed; called before an hour of games is played."""
    try:
        import scipy.optimize
        import scipy.special  # noqa: F401  # only whether it is there
    except ImportError:
        raise DependencyError.for_extra("scipy", "arena", "dicegym compare") from None


def difference(stopped: Stopped, claims: Claims) -> Interval:
    """Return the difference in the mean of pairs and its interval, from -1 to 1, after a test of ``claims``."""
    from scipy.optimize import brentq

    if not stopped.variance:
        return _between(*[stopped.mean] * 3) if stopped.normal else _of_equals(stopped)
    variance = cautious_variance(stopped.pairs, stopped.variance, stopped.normal)
    deviation = math.sqrt(variance)
    middle, gap = (claims.margin0 + claims.margin1) / 2, claims.margin1 - claims.margin0
    barriers = [abs(bound) * variance / gap / deviation for bound in (claims.lower, claims.upper)]
    end = stopped.pairs * (stopped.mean - middle) / deviation
    if stopped.pairs < FEWEST:  # nothing stops a test before
        half = NormalDist().inv_cdf((1 + LEVEL) / 2) * deviation / math.sqrt(stopped.pairs)
        return _between(stopped.mean, stopped.mean - half, stopped.mean + half)
    if stopped.accepted is None:  # the ratio is not linear: a sum can pass the bound's value without stopping
        barriers = [max(barriers[0], -end), max(barriers[1], end)]
    else:  # the barrier is where the test ended, near the bound
        ahead = end if stopped.accepted else -end
        barriers[stopped.accepted] = max(ahead, barriers[stopped.accepted] / 2)
    rest = Motion(barriers[0], barriers[1], float(stopped.pairs))

    def above(drift: float) -> float:
        """Return the share of tests with this drift that would end where this one did, or higher."""
        if stopped.accepted == 1:
            return rest.through_top(drift)
        if stopped.accepted == 0:
            return 1 - rest.mirror().through_top(-drift)
        return rest.through_top(drift) + rest.within_above(drift, end)

    centre, error = end / stopped.pairs, 1 / math.sqrt(stopped.pairs)

    def drift_at(share: float) -> float:
        wanted: Callable[[float], float] = lambda drift: above(drift) - share  # noqa: E731  # annotated for mypy
        low, high = centre - FAR * error, centre + FAR * error
        if wanted(low) > 0 or wanted(high) < 0:
            return low if wanted(low) > 0 else high
        return float(brentq(wanted, low, high, xtol=1e-9 * error, rtol=1e-12))

    tail = (1 - LEVEL) / 2
    return _between(*(middle + drift_at(share) * deviation for share in (0.5, tail, 1 - tail)))


def _of_equals(stopped: Stopped) -> Interval:
    """Return the difference for pairs that are all equal, wherever the test stopped.

    Other pairs may exist, but rarely: the interval allows at either end the largest share that this many pairs miss in
    2.5 % of all tests (Clopper and Pearson, Biometrika 26, 1934).
    """
    missed = 1 - ((1 - LEVEL) / 2) ** (1 / stopped.pairs)
    mean = stopped.mean
    return _between(mean, mean - missed * (1 + mean), mean + missed * (1 - mean))


def _between(*found: float) -> Interval:
    """Return an interval, with its values clipped to -1 .. 1."""
    return Interval(*(min(1.0, max(-1.0, one)) for one in found))


class Motion(NamedTuple):
    """A Brownian motion of unit variance that starts at 0 and ends after ``time``, or at a barrier.

    The lower barrier is at -``below``, the upper one at ``over``.
    """

    below: float
    over: float
    time: float

    def mirror(self) -> Motion:
        """Return the motion with up and down exchanged."""
        return Motion(self.over, self.below, self.time)

    def through_top(self, drift: float) -> float:
        """Return the chance that it ends at the upper barrier in time."""
        from scipy.special import log_ndtr

        at = self.over + self._images()
        far, root = np.abs(at), math.sqrt(self.time)
        soon = drift * (self.over - far) + log_ndtr((drift * self.time - far) / root)
        late = drift * (self.over + far) + log_ndtr((-drift * self.time - far) / root)
        return float(np.clip((np.sign(at) * (np.exp(soon) + np.exp(late))).sum(), 0, 1))

    def within_above(self, drift: float, height: float) -> float:
        """Return the chance that it meets no barrier and ends above ``height``, which is between them."""
        from scipy.special import log_ndtr

        found, root = 0.0, math.sqrt(self.time)
        for sources, sign in ((self._images(), 1.0), (2 * self.over + self._images(), -1.0)):
            bottom = (height - sources - drift * self.time) / root
            top = (self.over - sources - drift * self.time) / root
            # The difference of two chances near 1 loses precision: use those of the other side.
            flip = bottom + top > 0
            low, high = np.where(flip, -top, bottom), np.where(flip, -bottom, top)
            weight = drift * sources
            found += sign * float((np.exp(weight + log_ndtr(high)) - np.exp(weight + log_ndtr(low))).sum())
        return float(np.clip(found, 0, 1))

    def _images(self) -> NDArray[np.float64]:
        width = 2 * (self.below + self.over)
        number = 2 + math.ceil(IMAGES * math.sqrt(self.time) / width)
        return np.arange(-number, number + 1, dtype=np.float64) * np.float64(width)


def cautious_variance(pairs: int, variance: float, normal: bool = False) -> float:
    """Return the variance of a pair from that of the counted pairs.

    A few equal pairs do not show that all are equal: one more pair is assumed at either end. With ``normal`` values,
    where equal pairs do not occur by chance, it is the usual estimate.
    """
    if normal:
        return pairs / max(1, pairs - 1) * variance
    return (pairs * variance + 2) / (pairs + 2)
