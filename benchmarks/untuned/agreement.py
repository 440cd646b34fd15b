"""Whether two algorithms that are to be the same learn alike: their curves at equal numbers of decisions."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from benchmarks.untuned.folder import UntunedCurves, UntunedPanel
from benchmarks.untuned.ways import WAYS, Way
from dicegym.learning.curves import ENOUGH, Band


class UntunedAgreement(NamedTuple):
    """Two ways that differ in their algorithm alone, in one environment, by decisions of the learner."""

    environment: str
    first: str
    """The name of a way."""
    second: str
    steps: int
    """As many as every seed of both made: so far they are compared."""
    ends: tuple[float, float]
    """Mean result of both in the last tenth of these steps."""
    shared: float
    """The share of the steps at which the bands of both have something in common, 0 to 1."""


def ends_of(seeds: int, band: Band) -> tuple[np.ndarray, np.ndarray]:
    """Return both ends of a band: of the interval of its interquartile mean, of few seeds of their range."""
    return (band.low, band.high) if seeds >= ENOUGH else (band.lowest, band.highest)


def agreements(found: UntunedCurves) -> list[UntunedAgreement]:
    """Return how ways that differ in their algorithm alone compare, where there are two seeds of both."""
    pairs = [(a, b) for a, b in combinations(WAYS, 2) if (a.games, a.arguments) == (b.games, b.arguments)]
    return [
        _agreement(panel, first, second)
        for panel in found.panels
        for first, second in pairs
        if all(len(panel.curves.get(way.name, ())) > 1 for way in (first, second))
    ]


def _agreement(panel: UntunedPanel, first: Way, second: Way) -> UntunedAgreement:
    names = (first.name, second.name)
    steps = min(curve.steps for name in names for curve in panel.curves[name])
    bands = [panel.band_by_steps(name, steps) for name in names]
    (low, high), (below, above) = (
        ends_of(len(panel.curves[name]), band) for name, band in zip(names, bands, strict=True)
    )
    last = max(1, len(bands[0].iqm) // 10)
    ends = (float(bands[0].iqm[-last:].mean()), float(bands[1].iqm[-last:].mean()))
    shared = float(((low <= above) & (below <= high)).mean())
    return UntunedAgreement(panel.environment, *names, steps, ends, shared)
