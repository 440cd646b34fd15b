"""What several runs come to together: their middle, how far they lie apart, and how sure the middle is.

A training is partly luck, so a single curve says little. The middle here is the interquartile mean (the mean of the
middle half of the runs), with an interval by the percentile bootstrap over runs, as Agarwal, Schwarzer, Castro,
Courville and Bellemare recommend for few runs ("Deep reinforcement learning at the edge of the statistical precipice",
NeurIPS 2021): less moved by one lucky run than the mean, less wasteful than the median. Of fewer than
`ENOUGH` runs it is the plain mean, and there is nothing to draw an interval from: then their range is all there is to
say.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

ENOUGH = 4
"""Runs from which on a quarter of them is at least one, which the interquartile mean leaves out at each end."""
RESAMPLES = 2_000
"""Of the bootstrap: its ends are then known to a fraction of their own width."""
QUARTER = 0.25
LEVEL = 0.95


class Band(NamedTuple):
    """Some runs at some times; all arrays are float64[n] but for the first two."""

    steps: np.ndarray
    """int64[n]: decisions of the learner."""
    runs: np.ndarray
    """int64[n]: how many had come so far."""
    mean: np.ndarray
    median: np.ndarray
    iqm: np.ndarray
    """Interquartile mean; of fewer than `ENOUGH` runs the mean."""
    low: np.ndarray
    """Lower end of its 95 % interval; NaN where fewer than `ENOUGH` runs had come."""
    high: np.ndarray
    lower_quartile: np.ndarray
    upper_quartile: np.ndarray
    lowest: np.ndarray
    highest: np.ndarray


def interquartile_mean(values: np.ndarray, axis: int = 0) -> np.ndarray:
    """Return the mean of the middle half of ``values`` along ``axis``; of fewer than `ENOUGH` the mean."""
    from scipy.stats import trim_mean

    return np.asarray(trim_mean(values, QUARTER, axis=axis), np.float64)


def band_of(steps: np.ndarray, values: np.ndarray) -> Band:
    """Return what runs come to at each time.

    Args:
        steps: int64[n], when.
        values: float64[runs, n], NaN where a run had not come so far (or is not known); no column of NaN alone.

    The same runs give the same intervals: the bootstrap draws from a generator of its own.
    """
    values = np.asarray(values, np.float64)
    there = ~np.isnan(values)
    n = values.shape[1]
    middle, low, high = (np.full(n, np.nan) for _ in range(3))
    for column in np.unique(there, axis=1).T if n else ():  # who is there changes a few times at most
        at = (there == column[:, None]).all(axis=0)
        known = values[np.ix_(column, at)]
        middle[at] = interquartile_mean(known)
        if len(known) >= ENOUGH:
            low[at], high[at] = _interval(known)
    lower, median, upper = np.nanquantile(values, (QUARTER, 0.5, 1 - QUARTER), axis=0)
    return Band(
        steps,
        there.sum(axis=0),
        np.nanmean(values, axis=0),
        median,
        middle,
        low,
        high,
        lower,
        upper,
        np.nanmin(values, axis=0),
        np.nanmax(values, axis=0),
    )


def _interval(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both ends of the interval of the interquartile mean of float64[runs, n], each float64[n]."""
    from scipy.stats import bootstrap

    found = bootstrap(
        (values,),
        interquartile_mean,
        n_resamples=RESAMPLES,
        axis=0,
        vectorized=True,
        confidence_level=LEVEL,
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    return np.asarray(found.low), np.asarray(found.high)


def common_times(curves: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Return all times of some curves (steps, values), and float64[curves, times] of their values there.

    Between two points of a curve its value lies on the line between them; outside of them it is NaN.
    """
    steps = np.unique(np.concatenate([times for times, _ in curves]))
    rows = [np.interp(steps, times, values, left=np.nan, right=np.nan) for times, values in curves]
    return steps, np.array(rows)
