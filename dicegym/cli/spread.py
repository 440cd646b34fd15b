"""How returns are spread, in figures and as bars."""

from __future__ import annotations

from typing import Any

import numpy as np

PERCENTS = (1, 5, 25, 50, 75, 95, 99)
BINS = 24
"""Bars at most."""
WIDTH = 40
"""Characters of the longest bar."""


def describe_returns(chances: np.ndarray) -> tuple[str, dict[str, Any]]:
    """Return a distribution in words and bars, and as facts for JSON.

    ``chances`` are the probabilities of 0, 1, .. as float64[n].
    """
    values = np.arange(len(chances))
    mean = float(chances @ values)
    deviation = float((chances @ (values - mean) ** 2) ** 0.5)
    below = np.cumsum(chances)
    percentiles = {percent: int(np.searchsorted(below, percent / 100)) for percent in PERCENTS}
    lines = [
        f"{mean:.3f} mean, {deviation:.3f} standard deviation",
        "percentiles: " + ", ".join(f"{value} ({percent} %)" for percent, value in percentiles.items()),
        *_bars(chances),
    ]
    facts = {
        "mean": mean,
        "deviation": deviation,
        "percentiles": {str(percent): value for percent, value in percentiles.items()},
        "probabilities": chances.tolist(),
    }
    return "\n".join(lines), facts


def _bars(chances: np.ndarray) -> list[str]:
    """Return a line for each interval that matters: from, to, how likely, and a bar."""
    shown = np.flatnonzero((np.cumsum(chances) > 0.0005) & (np.cumsum(chances[::-1])[::-1] > 0.0005))
    step = _round(-(-(int(shown[-1]) - int(shown[0]) + 1) // BINS))
    edges = range(int(shown[0]) // step * step, int(shown[-1]) + 1, step)
    parts = [float(chances[edge : edge + step].sum()) for edge in edges]
    digits = len(str(edges[-1] + step))
    return [
        f"{edge:{digits}}-{edge + step - 1:<{digits}} {part:7.2%} {'#' * round(part / max(parts) * WIDTH)}".rstrip()
        for edge, part in zip(edges, parts, strict=True)
    ]


def _round(step: int) -> int:
    """Return the first of 1, 2, 5, 10, 20, .. that is at least ``step``."""
    size = 1
    while True:
        for number in (1, 2, 5):
            if size * number >= step:
                return size * number
        size *= 10
