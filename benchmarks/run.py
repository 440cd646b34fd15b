"""Running the bench: one measure after the other, round after round."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.figures import Figure, Measure, Plan, Skipped
from benchmarks.memory import peak_figure
from benchmarks.options import Options
from benchmarks.peers import PACKAGES
from benchmarks.plans import PLANS
from benchmarks.ratios import derived
from benchmarks.result import BenchResult
from dicegym.bench import machine_facts
from dicegym.registry import GAMES
from dicegym.sandbox.jail import choose

SILENCE = 5.0
"""Seconds after which a round says how far it has come."""


def run_bench(options: Options, progress: Callable[[str], None]) -> BenchResult:
    """Measure round after round, one thing after the other in each, so that all see the same noise.

    Args:
        options: what to measure.
        progress: told what is being done.

    Raises:
        ParameterError, UnknownNameError: the options cannot work.
    """
    options.check()
    with TemporaryDirectory(prefix="dicegym-bench-") as folder:
        planned: Plan = []
        for mode in options.chosen_modes:
            progress(f"preparing {mode}")
            planned += PLANS[mode](options, Path(folder))
        skipped = [entry for entry in planned if isinstance(entry, Skipped)]
        measures = [entry for entry in planned if isinstance(entry, Measure)]
        figures = in_turn(measures, options.repeats, progress)
    figures += derived(figures) + peak_figure()
    asked = {
        "modes": list(options.chosen_modes),
        "games": list(options.games or GAMES),
        "seconds": options.seconds,
        "repeats": options.repeats,
        "threads": list(options.threads),
        "training": options.setup.text(),
    }
    facts = machine_facts(_packages(options)) | (
        {"isolation": choose().description} if "contest" in options.chosen_modes else {}
    )
    return BenchResult(facts, asked, figures, skipped)


def _packages(options: Options) -> tuple[str, ...]:
    """Return the packages whose versions matter for what was measured."""
    trained = ("torch", "stable-baselines3", "sb3-contrib")
    modes = options.chosen_modes
    return (*(PACKAGES if "peers" in modes else ()), *(trained if {"training", "sb3"} & set(modes) else ()))


def _title(measure: Measure) -> str:
    figure = measure.figures[0]
    return f"{figure.subject}, {figure.what}" + (f" ({figure.mode})" if figure.mode else "")


def in_turn(measures: list[Measure], repeats: int, progress: Callable[[str], None]) -> list[Figure]:
    """Measure each once in every round, after all have warmed up; return the figures with their values."""
    rows: list[list[list[float]]] = [[[] for _ in measure.figures] for measure in measures]
    began = time.perf_counter()
    told = began - SILENCE
    for number, measure in enumerate(measures):
        if time.perf_counter() - told >= SILENCE:
            told = time.perf_counter()
            progress(f"warming up, {number + 1} of {len(measures)}: {_title(measure)}")
        measure.warm_up()
    ready = time.perf_counter()
    for run in range(repeats):
        told = time.perf_counter()
        left = f", about {(told - ready) / run * (repeats - run):.0f} s left" if run else ""
        progress(f"run {run + 1} of {repeats}, after {told - began:.0f} s{left}")
        for number, (row, measure) in enumerate(zip(rows, measures, strict=True)):
            if measure.repeats is None or run < measure.repeats:
                if time.perf_counter() - told > SILENCE:  # between two measures, so that it disturbs none
                    told = time.perf_counter()
                    progress(f"  {number + 1} of {len(measures)}, after {told - began:.0f} s: {_title(measure)}")
                for values, value in zip(row, measure.run(), strict=True):
                    values.append(value)
    return [
        figure.with_values(values)
        for row, measure in zip(rows, measures, strict=True)
        for values, figure in zip(row, measure.figures, strict=True)
    ]
