"""How much memory a game in a batch holds."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections.abc import Callable
from functools import partial

import numpy as np

import dicegym
from benchmarks.figures import Figure, Measure
from benchmarks.loops import check_mode
from dicegym.bench import Work, bare_batch, make_vec, sb3
from dicegym.registry import Environment

GOAL = 1024
"""Bytes that a game in a batch is to hold at most, its observations not counted."""
SIZES = (512, 1536)
STEPS = 5
BATCHES: dict[str, tuple[Callable[[Environment, int], Work], int]] = {
    "batch": (bare_batch, 1),
    "make_vec": (make_vec, 2),
    "sb3": (sb3, 2),
}
"""Mode -> its loop, and how many observations of a game it has buffers for: where games begin anew in the same step
that is the present one, and the last one of the game that ended."""


def bytes_per_game(make: Callable[[int], Work], features: int) -> float:
    """Return how many bytes one more game makes a batch hold, beside its observations.

    Args:
        make: returns the loop of a batch of that many games.
        features: numbers (float32) in all observation buffers of a game.

    The difference of two batches after `STEPS` steps, so that what a batch has once does not count. What NumPy and
    Python allocate is counted, masks and opponents included; what is let go of before the step ends is not.
    """
    held = []
    for size in SIZES:
        make(size)()  # whatever is made once: kernels, imports, tables
        gc.collect()
        tracemalloc.start()
        try:
            work = make(size)
            for _ in range(STEPS):
                work()
            gc.collect()
            held.append(tracemalloc.get_traced_memory()[0])
            del work
        finally:
            tracemalloc.stop()
    return (held[1] - held[0]) / (SIZES[1] - SIZES[0]) - features * np.dtype(np.float32).itemsize


def record_measure(environment: Environment) -> Measure:
    """Return the measure of a game's record."""
    size = dicegym.game(environment.game, **environment.settings).spec.state.itemsize
    return Measure((Figure("memory", environment.id, "one game's record", "bytes"),), lambda: [size], repeats=1)


def batch_measure(environment: Environment, mode: str) -> Measure:
    """Return the measure of a game in a batch. Raises DependencyError if the mode needs what is not installed."""
    check_mode(mode)
    loop, buffers = BATCHES[mode]
    features = buffers * dicegym.game(environment.game, **environment.settings).observation_size
    what = "a game in a batch beyond its observations"
    figure = Figure("memory", environment.id, what, "bytes", mode=mode, goal=("at most", GOAL))
    make = partial(loop, environment)
    return Measure((figure,), lambda: [bytes_per_game(make, features)], repeats=1)


def peak_figure() -> list[Figure]:
    """Return what this process took at most, if the system says."""
    peak = peak_memory()
    return [] if peak is None else [Figure("memory", "this process", "peak", "MiB", [peak])]


def peak_memory() -> float | None:
    """Return the most memory that this process has had, in MiB; None on Windows, which does not tell."""
    if sys.platform == "win32":
        return None
    import resource

    units = 1 << 20 if sys.platform == "darwin" else 1 << 10  # macOS counts bytes, Linux KiB
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / units
