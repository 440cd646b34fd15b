"""Two trainings side by side, each of one run or of several seeds: how far apart they end, and how soon they get there.

A training is partly luck, so a difference is told with an interval over seeds. Two of them: Welch's of the difference
of means (B. L. Welch, 1947), which takes two seeds a side and is right on average where scores are near normal; and the
percentile bootstrap of the difference of interquartile means, resampled within each side, with the probability that a
seed of the one ends above a seed of the other, both as Agarwal et al. recommend ("Deep reinforcement learning at the
edge of the statistical precipice", NeurIPS 2021; their library rliable computes the same for many tasks at once).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dicegym.errors import ParameterError
from dicegym.learning.curves import (
    ENOUGH,
    LEVEL,
    RESAMPLES,
    Experiment,
    RunCurve,
    experiments,
    find_runs,
    interquartile_mean,
    null_if_nan,
    read_pace,
)

SEED = "run.seed"


class SeedDifference(NamedTuple):
    """A number about seeds of two sides and its 95 % interval; NaN where there are too few seeds for one."""

    value: float
    low: float = math.nan
    high: float = math.nan

    def __str__(self) -> str:
        """Return it in words."""
        around = "" if math.isnan(self.low) else f" [{self.low:+.4f}, {self.high:+.4f}]"
        return f"{self.value:+.4f}{around}"

    def to_json(self) -> dict[str, float | None]:
        """Return it as plain values."""
        return {name: null_if_nan(one) for name, one in self._asdict().items()}


class ScoreReached(NamedTuple):
    """When the runs of one side came to a score."""

    runs: int
    """How many of them did."""
    of: int
    steps: float
    """Median over those that did; NaN: none."""
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
        """Interquartile mean of the scores; of fewer than `ENOUGH` runs the mean."""
        return float(interquartile_mean(self.scores))


class RunsComparison(NamedTuple):
    """What two trainings came to; differences are B's score less A's."""

    game: str
    measure: str
    """What scores are, and against whom."""
    steps: int
    """At which they are compared: as far as every run came, or fewer if that was asked for."""
    score: float
    """When it was first reached is told."""
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
        """Say in a line what can be said."""
        found = self.mean if math.isnan(self.iqm.low) else self.iqm
        if math.isnan(found.low):
            return "too few seeds to tell a difference from luck: train with --seeds 5 or more"
        if found.low > 0 or found.high < 0:
            better = self.b if found.low > 0 else self.a
            return f"{better.name} is better; the interval of the difference leaves out 0"
        return "the interval of the difference holds 0: not told apart"

    def to_json(self) -> dict[str, Any]:
        """Return all of it as plain values, curves left out."""

        def side(one: RunsSide) -> dict[str, Any]:
            reached = {name: null_if_nan(value) for name, value in one.reached._asdict().items()}
            scores = {run.folder.name: score for run, score in zip(one.runs, one.scores.tolist(), strict=True)}
            return {"name": one.name, "middle": one.middle, "scores": scores, "reached": reached}

        return {
            "game": self.game,
            "measure": self.measure,
            "steps": self.steps,
            "score": self.score,
            "level": LEVEL,
            "a": side(self.a),
            "b": side(self.b),
            "mean": self.mean.to_json(),
            "interquartile_mean": self.iqm.to_json(),
            "probability_above": self.above.to_json(),
            "verdict": self.verdict,
            "settings": {name: list(values) for name, values in self.differing.items()},
        }

    def experiments(self) -> list[Experiment]:
        """Return both sides as lines of a chart."""
        return [
            Experiment(f"{letter}: {side.name} ({_runs(len(side.runs))})", side.runs)
            for letter, side in zip("AB", (self.a, self.b), strict=True)
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
        steps: compare after so many (default: as far as every run came).
        score: tell when this was reached (default: the lower of what both ended with).

    Raises ParameterError if a folder holds no training or several, or if both do not measure the same, and
    DamagedFileError as `dicegym.learning.curves.read_run`.
    """
    sides = [_runs_in(one) for one in (a, b)]
    about = [(runs[0].game, runs[0].players, runs[0].score.measure, runs[0].score.opponent) for _, runs in sides]
    if about[0] != about[1]:
        told = [
            f"{name}: {game} for {n}, {measure} against {who}"
            for (name, _), (game, n, measure, who) in zip(sides, about, strict=True)
        ]
        raise ParameterError(f"these cannot be compared, as they measure different things: {'; '.join(told)}")
    game, _, measure, opponent = about[0]
    furthest = min(int(run.steps[-1]) for _, runs in sides for run in runs)
    at = furthest if steps is None else steps
    if not 0 <= at <= furthest:
        raise ParameterError(f"steps={at} cannot be compared: every run came to {furthest:,} steps, and no further")
    scores = [np.array([np.interp(at, run.steps, run.values["score"]) for run in runs]) for _, runs in sides]
    level = min(float(interquartile_mean(one)) for one in scores) if score is None else score
    one, two = (
        RunsSide(name, runs, values, _reached(runs, level)) for (name, runs), values in zip(sides, scores, strict=True)
    )
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
        _differing(one.runs, two.runs),
    )


def _runs_in(named: str | Path | Sequence[str | Path]) -> tuple[str, tuple[RunCurve, ...]]:
    """Return what a side is called, and its runs. Raises ParameterError if they are not of one training."""
    folders = [Path(one) for one in ([named] if isinstance(named, str | Path) else named)]
    name = ", ".join(map(str, folders))
    runs = [run for run in find_runs(folders)[0] if len(run.steps)]
    if not runs:
        raise ParameterError(f"{name}: no evaluation yet: wait for the first one")
    if len({(run.game, run.players) for run in runs}) > 1 or len(groups := experiments(runs)) > 1:
        held = ", ".join(run.folder.name for run in runs[:6])
        raise ParameterError(f"{name} holds trainings of different settings ({held}): name one of them")
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
    steps, seconds = [], []
    for run in runs:
        first = _first(run, score)
        if first is None:
            continue
        steps.append(first)
        if pace := read_pace(run.folder):
            seconds.append(np.interp(first, [0, *(one.steps for one in pace)], [0.0, *(one.seconds for one in pace)]))
    middle = [float(np.median(found)) if found else math.nan for found in (steps, seconds)]
    return ScoreReached(len(steps), len(runs), *middle)


def _first(run: RunCurve, score: float) -> float | None:
    """Return at how many steps a curve first comes to a score, on the line between two evaluations."""
    values = run.values["score"]
    there = np.flatnonzero(values >= score)
    if not len(there):
        return None
    at = int(there[0])
    if at == 0:
        return float(run.steps[0])
    return float(np.interp(score, values[at - 1 : at + 1], run.steps[at - 1 : at + 1]))


def _differing(a: Sequence[RunCurve], b: Sequence[RunCurve]) -> dict[str, tuple[Any, Any]]:
    one, two = a[0].settings, b[0].settings
    names = sorted({*one, *two} - {SEED})
    plain = ((name, one.get(name), two.get(name)) for name in names if not name.startswith("demo."))
    return {name: (x, y) for name, x, y in plain if json.dumps(x) != json.dumps(y)}


def _runs(number: int) -> str:
    return f"{number} run{'s' if number > 1 else ''}"
