"""Curves in the folders of runs: of one run, of several seeds as a band, and of two trainings side by side.

A training is partly luck, so a single curve says little. The middle of several runs is the interquartile mean (the mean
of the middle half), with an interval by the percentile bootstrap over runs, as Agarwal, Schwarzer, Castro, Courville
and Bellemare recommend for few runs ("Deep reinforcement learning at the edge of the statistical precipice", NeurIPS
2021): one lucky run moves it less than the mean, and it wastes less than the median. Fewer than `ENOUGH` runs have
their mean and their range instead.

Two trainings differ by an interval over seeds, in two ways: Welch's interval of the difference of means (B. L. Welch,
1947), for two seeds a side or more and scores that are near normal; and the percentile bootstrap of the difference of
interquartile means, resampled within each side, with the probability that a seed of one side ends above a seed of the
other, both as Agarwal et al. recommend. No PyTorch is loaded.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dicegym.errors import DamagedFileError, ParameterError
from dicegym.escape import one_line
from dicegym.files import read_text
from dicegym.learning.configuration import about_run
from dicegym.learning.curves import read_pace
from dicegym.learning.evaluate import Score
from dicegym.learning.run_folder import CURVE_FILE
from dicegym.players import model as models

ENOUGH = 4
"""Runs from which on a quarter of them is at least one, which the interquartile mean leaves out at each end."""
RESAMPLES = 2_000
"""Of the bootstrap: the ends of an interval are then known to a fraction of its width."""
QUARTER = 0.25
LEVEL = 0.95
SEED = "run.seed"
_SAME = (SEED, "run.steps", "run.torch_threads", "run.checkpoint_every", "run.card_games", "run.device", "run.log")
"""Settings that do not tell one experiment from another: its luck, its length, its machine."""


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

    Raises ParameterError if there is none at all.
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
    about = models.facts(folder / "best.zip")
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
    median: np.ndarray
    iqm: np.ndarray
    """Interquartile mean; the mean of fewer than `ENOUGH` runs."""
    low: np.ndarray
    """Lower end of its 95 % interval; NaN where fewer than `ENOUGH` runs came this far."""
    high: np.ndarray
    lower_quartile: np.ndarray
    upper_quartile: np.ndarray
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
    lower, median, upper = np.nanquantile(values, (QUARTER, 0.5, 1 - QUARTER), axis=0)
    mean, lowest, highest = (of(values, axis=0) for of in (np.nanmean, np.nanmin, np.nanmax))
    return Band(steps, there.sum(axis=0), mean, median, middle, low, high, lower, upper, lowest, highest)


def _interval(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both ends of the interval of the interquartile mean of float64[runs, n], each float64[n]."""
    from scipy.stats import bootstrap

    how: dict[str, Any] = {"n_resamples": RESAMPLES, "confidence_level": LEVEL, "method": "percentile"}
    rng = np.random.default_rng(0)
    found = bootstrap((values,), interquartile_mean, axis=0, vectorized=True, rng=rng, **how).confidence_interval
    return np.asarray(found.low), np.asarray(found.high)


def null_if_nan(value: float) -> float | None:
    """Return a number for JSON, which has null for an unknown one."""
    return None if math.isnan(value) else value


def common_times(curves: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Return all times of some curves (steps, values), and float64[curves, times] of their values there.

    Between two points of a curve its value is interpolated; outside of them it is NaN.
    """
    steps = np.unique(np.concatenate([times for times, _ in curves]))
    rows = [np.interp(steps, times, values, left=np.nan, right=np.nan) for times, values in curves]
    return steps, np.array(rows)


@dataclass(frozen=True)
class Experiment:
    """Runs of one game with the same settings but for the seed."""

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
    """Return the runs of one game by experiment; labels name the settings that differ, or else the folders."""
    groups: dict[str, list[RunCurve]] = {}
    for run in runs:
        groups.setdefault(json.dumps(_compared_settings(run), sort_keys=True), []).append(run)
    several = [_compared_settings(members[0]) for members in groups.values()]
    names = sorted({name for one in several for name in one})
    differing = [name for name in names if len({json.dumps(one.get(name)) for one in several}) > 1]
    if len(groups) == 1:
        label = runs[0].folder.name if len(runs) == 1 else f"mean of {len(runs)} runs"
        return [Experiment(label, tuple(runs))]
    return [Experiment(_label(members, differing), tuple(members)) for members in groups.values()]


def _compared_settings(run: RunCurve) -> dict[str, Any]:
    return {name: value for name, value in run.settings.items() if name not in _SAME and not name.startswith("demo.")}


def _label(runs: Sequence[RunCurve], differing: Sequence[str]) -> str:
    """Return what sets these runs apart from the others."""
    words = [f"{name}={json.dumps(runs[0].settings[name])}" for name in differing if name in runs[0].settings]
    label = ", ".join(words) if words and len(words) <= 3 else runs[0].folder.name
    return f"{label} ({len(runs)} seeds)" if len(runs) > 1 else label


# Two trainings side by side


class SeedDifference(NamedTuple):
    """A number about seeds of two sides and its 95 % interval; NaN where there are too few seeds for one."""

    value: float
    low: float = math.nan
    high: float = math.nan

    def __str__(self) -> str:
        """Return it in words."""
        around = "" if math.isnan(self.low) else f" [{self.low:+.4f}, {self.high:+.4f}]"
        return f"{self.value:+.4f}{around}"


class ScoreReached(NamedTuple):
    """When the runs of one side reached a score."""

    runs: int
    """Runs that did."""
    of: int
    steps: float
    """Median of those runs; NaN: there are none."""
    seconds: float
    """Of training, as `steps`; NaN where no run noted them."""


class RunsSide(NamedTuple):
    """One of the two."""

    name: str
    runs: tuple[RunCurve, ...]
    scores: np.ndarray
    """float64[runs]: at the steps of the comparison."""
    reached: ScoreReached

    @property
    def middle(self) -> float:
        """Interquartile mean of the scores; the mean of fewer than `ENOUGH` runs."""
        return float(interquartile_mean(self.scores))


class RunsComparison(NamedTuple):
    """The result of comparing two trainings; differences are B's score minus A's."""

    game: str
    measure: str
    """What scores are, and against whom."""
    steps: int
    """At which they are compared: as far as every run came, or as asked for."""
    score: float
    """The score of which `RunsSide.reached` says when it was reached."""
    a: RunsSide
    b: RunsSide
    mean: SeedDifference
    """Difference of means, Welch's interval; from two seeds a side."""
    iqm: SeedDifference
    """Difference of interquartile means, bootstrap within each side; from `ENOUGH` seeds a side."""
    above: SeedDifference
    """Probability that a seed of B ends above one of A, ties shared; its interval as of `iqm`."""
    differing: dict[str, tuple[Any, Any]]
    """Settings that differ, seeds apart: by ``section.key``, A's and B's; None where it is not set."""

    @property
    def verdict(self) -> str:
        """The conclusion in a line."""
        found = self.mean if math.isnan(self.iqm.low) else self.iqm
        if math.isnan(found.low):
            return "too few seeds to tell a difference from luck: train with --seeds 5 or more"
        if found.low > 0 or found.high < 0:
            better = self.b if found.low > 0 else self.a
            return f"{better.name} is better; the interval of the difference leaves out 0"
        return "the interval of the difference holds 0: not told apart"

    def to_json(self) -> dict[str, Any]:
        """Return all of it as plain values, curves left out."""

        def plain(numbers: NamedTuple) -> dict[str, float | None]:
            return {name: null_if_nan(value) for name, value in numbers._asdict().items()}

        def side(one: RunsSide) -> dict[str, Any]:
            scores = {run.folder.name: score for run, score in zip(one.runs, one.scores.tolist(), strict=True)}
            return {"name": one.name, "middle": one.middle, "scores": scores, "reached": plain(one.reached)}

        return {
            **{name: getattr(self, name) for name in ("game", "measure", "steps", "score", "verdict")},
            "level": LEVEL,
            "a": side(self.a),
            "b": side(self.b),
            "mean": plain(self.mean),
            "interquartile_mean": plain(self.iqm),
            "probability_above": plain(self.above),
            "settings": {name: list(values) for name, values in self.differing.items()},
        }

    def experiments(self) -> list[Experiment]:
        """Return both sides as lines of a chart."""
        return [
            Experiment(f"{letter}: {side.name} ({n} run{'s' if n > 1 else ''})", side.runs)
            for letter, side, n in (("A", self.a, len(self.a.runs)), ("B", self.b, len(self.b.runs)))
        ]


def compare_runs(
    a: str | Path | Sequence[str | Path],
    b: str | Path | Sequence[str | Path],
    steps: int | None = None,
    score: float | None = None,
) -> RunsComparison:
    """Compare two trainings by their curves.

    Args:
        a: folder of a run, or of several seeds, or several such folders that are the same training.
        b: the other.
        steps: compare after this number of steps (default: as far as every run came).
        score: the score of which to say when it was reached (default: the lower of the final scores).

    Raises ParameterError if a folder holds no training or several, or if both do not measure the same, and
    DamagedFileError as `read_run`.
    """
    sides = [_runs_in(one) for one in (a, b)]
    about = [(runs[0].game, runs[0].players, runs[0].score.measure, runs[0].score.opponent) for _, runs in sides]
    if about[0] != about[1]:
        described = [
            f"{name}: {game} for {n}, {measure} against {rival}"
            for (name, _), (game, n, measure, rival) in zip(sides, about, strict=True)
        ]
        raise ParameterError(f"these cannot be compared, as they measure different things: {'; '.join(described)}")
    game, _, measure, opponent = about[0]
    furthest = min(int(run.steps[-1]) for _, runs in sides for run in runs)
    at = furthest if steps is None else steps
    if not 0 <= at <= furthest:
        raise ParameterError(f"steps={at} cannot be compared: every run reached {furthest:,} steps, and no further")
    scores = [np.array([np.interp(at, run.steps, run.values["score"]) for run in runs]) for _, runs in sides]
    level = min(float(interquartile_mean(one)) for one in scores) if score is None else score
    one, two = (
        RunsSide(name, runs, values, _reached(runs, level)) for (name, runs), values in zip(sides, scores, strict=True)
    )
    settings = [side.runs[0].settings for side in (one, two)]
    names = [name for name in sorted({*settings[0], *settings[1]} - {SEED}) if not name.startswith("demo.")]
    pairs = {name: (settings[0].get(name), settings[1].get(name)) for name in names}
    return RunsComparison(
        game,
        f"{measure} against {opponent}",
        at,
        level,
        one,
        two,
        _welch(*scores),
        _bootstrap(lambda x, y: interquartile_mean(y, -1) - interquartile_mean(x, -1), *scores),
        _bootstrap(_above, *scores),
        {name: (x, y) for name, (x, y) in pairs.items() if json.dumps(x) != json.dumps(y)},
    )


def _runs_in(named: str | Path | Sequence[str | Path]) -> tuple[str, tuple[RunCurve, ...]]:
    """Return the name of a side, and its runs. Raises ParameterError if they are not of one training."""
    folders = [Path(one) for one in ([named] if isinstance(named, str | Path) else named)]
    name = ", ".join(map(str, folders))
    runs = [run for run in find_runs(folders)[0] if len(run.steps)]
    if not runs:
        raise ParameterError(f"{name}: no evaluation yet: wait for the first one")
    if len({(run.game, run.players) for run in runs}) > 1 or len(groups := group_runs(runs)) > 1:
        there = ", ".join(run.folder.name for run in runs[:6])
        raise ParameterError(f"{name} holds trainings of different settings ({there}): name one of them")
    return name, groups[0].runs


def _welch(a: np.ndarray, b: np.ndarray) -> SeedDifference:
    from scipy.stats import ttest_ind

    value = float(b.mean() - a.mean())
    if min(len(a), len(b)) < 2:
        return SeedDifference(value)
    if not (a.std() or b.std()):
        return SeedDifference(value, value, value)
    found = ttest_ind(b, a, equal_var=False).confidence_interval(LEVEL)
    return SeedDifference(value, float(found.low), float(found.high))


def _above(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return how often what is in ``b`` is above what is in ``a``, along the last axis."""
    first, second = np.asarray(a)[..., :, None], np.asarray(b)[..., None, :]
    found: np.ndarray = ((second > first) + 0.5 * (second == first)).mean(axis=(-2, -1))
    return found


def _bootstrap(what: Callable[[np.ndarray, np.ndarray], np.ndarray], a: np.ndarray, b: np.ndarray) -> SeedDifference:
    """Return a statistic of both with its percentile interval, seeds drawn anew within each side."""
    value = float(what(a, b))
    if min(len(a), len(b)) < ENOUGH:
        return SeedDifference(value)
    generator = np.random.default_rng(0)
    drawn = [side[generator.integers(0, len(side), (RESAMPLES, len(side)))] for side in (a, b)]
    low, high = np.quantile(what(*drawn), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return SeedDifference(value, float(low), float(high))


def _reached(runs: Sequence[RunCurve], score: float) -> ScoreReached:
    """Return when runs first reached a score, interpolated between two evaluations."""
    steps, seconds = [], []
    for run in runs:
        values = run.values["score"]
        there = np.flatnonzero(values >= score)
        if len(there):
            around = slice(max(0, int(there[0]) - 1), int(there[0]) + 1)
            steps.append(float(np.interp(score, values[around], run.steps[around])))
            if pace := read_pace(run.folder):
                times = [0, *(one.steps for one in pace)], [0.0, *(one.seconds for one in pace)]
                seconds.append(np.interp(steps[-1], *times))
    middle = [float(np.median(found)) if found else math.nan for found in (steps, seconds)]
    return ScoreReached(len(steps), len(runs), *middle)
