"""Summarise the results of several seeds from their folders."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dicegym.learning.configuration import about_run
from dicegym.learning.curves import ENOUGH, LEVEL, band_of, read_run
from dicegym.learning.run_folder import CURVE_FILE
from dicegym.players.model_file import SEED_FOLDER, find_trained

FINISHED, STOPPED, FAILED = "finished", "stopped", "failed"
"""How a training ended."""


class SeedResult(NamedTuple):
    """The result of one seed."""

    seed: int
    how: str
    """`FINISHED`, `STOPPED` or `FAILED`, then ``why``."""
    why: str
    steps: int
    """Steps of its last evaluation; 0 without one."""
    best: float
    """Score of its best model, which normally selected it; NaN without one."""
    end: float
    """Score of its last evaluation."""


class Together(NamedTuple):
    """A score over several runs."""

    middle: float
    """Interquartile mean; the mean of fewer than `dicegym.learning.curves.ENOUGH` runs."""
    low: float
    """Lower end of its 95 % interval; the lowest of fewer runs."""
    high: float
    runs: int

    def __str__(self) -> str:
        """Describe the score."""
        if self.runs < ENOUGH:
            return f"{self.middle:.4f}, from {self.low:.4f} to {self.high:.4f} (mean and range of {self.runs})"
        around = f"[{self.low:.4f}, {self.high:.4f}]"
        return f"{self.middle:.4f} {around} (interquartile mean of {self.runs} and its {LEVEL:.0%} interval)"


class SeedsSummary(NamedTuple):
    """The results of several seeds."""

    folder: Path
    measure: str
    """Measure and opponent of the scores; empty if no seed was evaluated."""
    results: tuple[SeedResult, ...]
    end: Together | None
    """Final scores of the finished runs."""
    best: Together | None
    """Scores of their best models; a little too high, as these scores normally selected the models."""

    @property
    def best_model(self) -> Path | None:
        """The model with the best score of all seeds."""
        return find_trained(self.folder)


def folder_of(folder: Path, seed: int) -> Path:
    """Return the folder of one seed's run."""
    return folder / f"{SEED_FOLDER}{seed}"


def summarise(folder: Path, seeds: Sequence[int], failures: Mapping[int, str]) -> SeedsSummary:
    """Return the results of the seeds in ``folder``; ``failures`` are the reasons of failed ones.

    Raises DamagedFileError if a seed's folder is damaged.
    """
    results, measure = [], ""
    for seed in seeds:
        own, why = folder_of(folder, seed), failures.get(seed, "")
        run = read_run(own) if (own / CURVE_FILE).is_file() else None
        how = FAILED if why else FINISHED if run is not None and about_run(own).finished else STOPPED
        if run is None or not len(run.steps):
            results.append(SeedResult(seed, how, why, 0, math.nan, math.nan))
            continue
        measure = measure or f"{run.score.measure} against {run.score.opponent}"
        end = float(run.values["score"][-1])
        results.append(SeedResult(seed, how, why, int(run.steps[-1]), run.score.value, end))
    finished = [one for one in results if one.how == FINISHED]
    ends, bests = [one.end for one in finished], [one.best for one in finished]
    return SeedsSummary(folder, measure, tuple(results), _together(ends), _together(bests))


def _together(values: Sequence[float]) -> Together | None:
    if not values:
        return None
    band = band_of(np.zeros(1, np.int64), np.array(values)[:, None])
    low, high = (band.low, band.high) if len(values) >= ENOUGH else (band.lowest, band.highest)
    return Together(float(band.iqm[0]), float(low[0]), float(high[0]), len(values))
