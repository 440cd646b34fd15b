"""Benches that take a moment, for tests of what they measure and of what is made of it."""

from __future__ import annotations

from typing import Any

from benchmarks.options import Options
from benchmarks.result import BenchResult
from benchmarks.run import run_bench

SHORT = {"games": ("hog",), "seconds": 1e-4, "repeats": 2}


def quiet(text: str) -> None:
    """Be told nothing."""


def measured(*modes: str, **options: Any) -> BenchResult:
    return run_bench(Options(modes=modes, **{**SHORT, **options}), quiet)
