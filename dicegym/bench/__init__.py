"""How fast this is, on this machine: every figure the median of several runs, side by side with known peers."""

from __future__ import annotations

from dicegym.bench.figures import Figure, Measure, Skipped
from dicegym.bench.result import Result
from dicegym.bench.run import DEFAULT_MODES, MODES, Options, run_bench

__all__ = ["DEFAULT_MODES", "MODES", "Figure", "Measure", "Options", "Result", "Skipped", "run_bench"]
