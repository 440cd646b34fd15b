"""Curves in the folders of runs: of one run, and of several seeds as a band.

A training is partly luck, so a single curve says little. The middle of several runs is the interquartile mean (the mean
of the middle half), with an interval by the percentile bootstrap over runs, as Agarwal, Schwarzer, Castro, Courville
and Bellemare recommend for few runs ("Deep reinforcement learning at the edge of the statistical precipice", NeurIPS
2021): one lucky run moves it less than the mean, and it wastes less than the median. Fewer than `ENOUGH` runs have
their mean and their range instead. No PyTorch is loaded.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dicegym.errors import DamagedFileError, ParameterError
from dicegym.escape import one_line
from dicegym.files import read_text
from dicegym.learning.configuration import about_run
from dicegym.learning.evaluate import Score
from dicegym.learning.run_folder import CURVE_FILE
from dicegym.players import model_file

ENOUGH = 4
"""Runs from which on a quarter of them is at least one, which the interquartile mean leaves out at each end."""
RESAMPLES = 2_000
"""Of the bootstrap: the ends of an interval are then known to a fraction of its width."""
QUARTER = 0.25
LEVEL = 0.95


class RunCurve(NamedTuple):
    """The curve of one run."""

    folder: Path
    game: str
    players: int
    score: Score
    """Of the best model: what is measured, and against whom."""
    settings: dict[str, Any]
    """By ``section.key``."""
    steps: np.ndarray
    """int64[n]."""
    values: dict[str, np.ndarray]
    """The score as ``"score"`` and, if there are several opponents, the result against each: float64[n]."""


def find_runs(folders: Iterable[Path]) -> tuple[list[RunCurve], list[Path]]:
    """Return the runs in ``folders``, and those folders that hold none; a folder of runs stands for all of them.

    Raises ParameterError if the folders have no run at all.
    """
    runs: list[RunCurve] = []
    others: list[Path] = []
    for folder in folders:
        inside = sorted(folder.iterdir()) if folder.is_dir() else []
        found = [one for one in (folder, *inside) if (one / CURVE_FILE).is_file()]
        runs += [read_run(one) for one in found]
        others += [] if found else [folder]
    if not runs:
        named = ", ".join(map(str, others)) or "nothing"
        raise ParameterError(f"{named}: no folder of a training with a {CURVE_FILE}: name those of --run-dir")
    return list({run.folder.resolve(): run for run in runs}.values()), others


def read_run(folder: Path) -> RunCurve:
    """Return the curve in a run's folder. Raises DamagedFileError or ModelError for a folder of anything else."""
    instead = "name the folder of a training, or remove this one"
    text = read_text(folder / CURVE_FILE, instead)
    plain = about_run(folder).settings
    settings = {f"{section}.{key}": value for section, keys in plain.items() for key, value in keys.items()}
    about = model_file.facts(folder / "best.zip")
    try:
        head, *lines = csv.reader(text.splitlines())
        table = np.array([[float(cell) for cell in line] for line in lines])
        if not np.isfinite(table).all():
            raise ValueError("its curve holds a number that is not finite")
        values = dict(zip(head[1:], table.T[1:], strict=True))
        score = Score.from_json(about["score"])
        game, players, steps = str(about["game"]), int(about["players"]), table[:, 0].astype(np.int64)
        return RunCurve(folder, game, players, score, settings, steps, values)
    except (TypeError, ValueError, KeyError, IndexError, csv.Error) as error:
        raise DamagedFileError(
            folder, f"does not hold what a training writes ({one_line(error, 120)})", instead
        ) from None


# Several runs as a band


class Band(NamedTuple):
    """Some runs at some times; all arrays are float64[n] but for the first two."""

    steps: np.ndarray
    """int64[n]: decisions of the learner."""
    runs: np.ndarray
    """int64[n]: runs that came this far."""
    mean: np.ndarray
    iqm: np.ndarray
    """Interquartile mean; the mean of fewer than `ENOUGH` runs."""
    low: np.ndarray
    """Lower end of its 95 % interval; NaN where fewer than `ENOUGH` runs came this far."""
    high: np.ndarray
    lowest: np.ndarray
    highest: np.ndarray


def interquartile_mean(values: np.ndarray, axis: int = 0) -> np.ndarray:
    """Return the mean of the middle half of ``values`` along ``axis``; the mean of fewer than `ENOUGH`."""
    from scipy.stats import trim_mean

    return np.asarray(trim_mean(values, QUARTER, axis=axis), np.float64)


def band_of(steps: np.ndarray, values: np.ndarray) -> Band:
    """Return the band of some runs.

    Args:
        steps: int64[n], when.
        values: float64[runs, n], NaN where a run did not come this far (or is not known); no column of NaN alone.

    The same runs give the same intervals: the bootstrap draws from a generator of its own.
    """
    values = np.asarray(values, np.float64)
    there = ~np.isnan(values)
    n = values.shape[1]
    middle, low, high = (np.full(n, np.nan) for _ in range(3))
    for column in np.unique(there, axis=1).T if n else ():  # the set of runs changes a few times at most
        at = (there == column[:, None]).all(axis=0)
        known = values[np.ix_(column, at)]
        middle[at] = interquartile_mean(known)
        if len(known) >= ENOUGH:
            low[at], high[at] = _interval(known)
    mean, lowest, highest = (of(values, axis=0) for of in (np.nanmean, np.nanmin, np.nanmax))
    return Band(steps, there.sum(axis=0), mean, middle, low, high, lowest, highest)


def _interval(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both ends of the interval of the interquartile mean of float64[runs, n], each float64[n]."""
    from scipy.stats import bootstrap

    how: dict[str, Any] = {"n_resamples": RESAMPLES, "confidence_level": LEVEL, "method": "percentile"}
    rng = np.random.default_rng(0)
    found = bootstrap((values,), interquartile_mean, axis=0, vectorized=True, rng=rng, **how).confidence_interval
    return np.asarray(found.low), np.asarray(found.high)


def common_times(curves: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Return all times of some curves (steps, values), and float64[curves, times] of their values there.

    Between two points of a curve its value is interpolated; outside of them it is NaN.
    """
    steps = np.unique(np.concatenate([times for times, _ in curves]))
    rows = [np.interp(steps, times, values, left=np.nan, right=np.nan) for times, values in curves]
    return steps, np.array(rows)


@dataclass(frozen=True)
class Experiment:
    """A training, or the seeds of one."""

    label: str
    runs: tuple[RunCurve, ...]

    def band(self, name: str) -> Band:
        """Return the band of one of `names`, at the times of all evaluations of its runs."""
        found = [(run.steps, run.values[name]) for run in self.runs if name in run.values]
        steps, values = common_times(found)
        known = ~np.isnan(values).all(axis=0)
        return band_of(steps[known], values[:, known])

    @property
    def names(self) -> list[str]:
        """What there are curves of, ``"score"`` first."""
        return list(dict.fromkeys(name for run in self.runs for name in run.values))


def group_runs(runs: Sequence[RunCurve]) -> list[Experiment]:
    """Return runs by experiment, the seeds of one folder together; labels are folders' names."""
    groups: dict[Path, list[RunCurve]] = {}
    for run in runs:
        groups.setdefault(run.folder.parent if run.folder.name.startswith("seed-") else run.folder, []).append(run)
    return [
        Experiment(f"{folder.name} ({len(members)} seeds)" if len(members) > 1 else folder.name, tuple(members))
        for folder, members in groups.items()
    ]
