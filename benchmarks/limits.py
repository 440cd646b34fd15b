"""What this core could do at most with what a decision in a batch asks of it, beside what the bare batch does.

A decision writes an observation and a mask, and mixes numbers: a seed for each turn, then a number for each die. The
core's own pace at either is measured by loops that do nothing else: the batch's arrays filled with one value, and dice
of one stream added up. A batch that did both at that pace and nothing besides would be at the limit.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial

import numpy as np

import dicegym
from benchmarks.figures import Figure, Measure
from benchmarks.modes import BATCH
from benchmarks.ratios import DECISIONS
from dicegym.bench import Work, bare_batch, measure_rate
from dicegym.engine.dice import die
from dicegym.engine.jit import kernel
from dicegym.registry import Environment

FACES = 6
MIXED = 1 << 12
"""Dice that are mixed in a call."""

_COUNTING = """
import json, sys
import dicegym
from dicegym.engine import dice

mixed, mix = [0], dice.mix

def counted(value):
    mixed[0] += 1
    return mix(value)

dice.mix = counted
games, steps = 16, 40
batch = dicegym.game({game!r}, **{settings}).batch(games)
mixed[0] = 0
for time in range(steps):
    batch.step(batch.random_actions(time))
print(json.dumps(mixed[0] / (games * steps)))
"""
"""Python that counts, with compilation off, how many numbers random games mix for each decision."""


def mixes_of(environment: Environment) -> float:
    """Return how many numbers a decision mixes on average in random games, the choice of its action included."""
    code = _COUNTING.format(game=environment.game, settings=dict(environment.settings))
    plain = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=plain, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout))


def bytes_of(environment: Environment) -> int:
    """Return how many bytes of observation and mask a decision writes."""
    game = dicegym.game(environment.game, **environment.settings)
    return game.observation_size * np.dtype(np.float32).itemsize + game.n_actions


def plain_writes(environment: Environment, n: int = BATCH) -> Work:
    """Fill the observations and masks of ``n`` games with one value; counts games."""
    game = dicegym.game(environment.game, **environment.settings)
    observations, masks = np.ones((n, game.observation_size), np.float32), np.ones((n, game.n_actions), np.bool_)

    def work() -> int:
        observations.fill(0)
        masks.fill(True)
        return n

    return work


@kernel
def _sum_of_dice(stream: np.uint64, n: int, sides: int) -> np.int64:
    """Return the sum of the first ``n`` dice of a turn: a loop that mixes and does nothing else."""
    total = np.int64(0)
    for number in range(n):
        total += die(stream, number, sides)
    return total


def plain_mixing() -> int:
    """Mix dice; counts them."""
    _sum_of_dice(np.uint64(1), MIXED, FACES)
    return MIXED


def measures(environment: Environment, seconds: float) -> Iterator[Measure]:
    """Yield the measure of one environment's batch beside its limits."""
    batch, writes = bare_batch(environment), plain_writes(environment)
    size, mixes = bytes_of(environment), mixes_of(environment)

    def run() -> tuple[float, ...]:
        decisions, written, mixed = (measure_rate(work, seconds) for work in (batch, writes, plain_mixing))
        limit = 1 / (1 / written + mixes / mixed)
        return size, mixes, written * size / 1e9, mixed / 1e9, limit, decisions, 100 * decisions / limit

    figure = partial(Figure, "limits", environment.id)
    yield Measure(
        (
            figure("written for a decision: observation and mask", "bytes"),
            figure("mixed for a decision: dice, seeds, a random action", "numbers"),
            figure("the core at plain writes to such arrays", "GB/s"),
            figure("the core at plain mixing", "billion/s"),
            figure("limit: both at that pace, and nothing else", DECISIONS),
            figure(f"bare batch of {BATCH:,}", DECISIONS),
            figure("bare batch beside its limit", "%"),
        ),
        run,
        lambda: (batch(), writes(), plain_mixing()),
    )
