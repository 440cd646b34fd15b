"""One curve of one way, seed and environment: learned against a clock, and kept as a file."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from stable_baselines3.common.callbacks import BaseCallback

from benchmarks.untuned.ways import Way
from dicegym.engine.validate import MOST
from dicegym.errors import DamagedFileError
from dicegym.escape import one_line
from dicegym.files import read_text, write_text
from dicegym.registry import Environment

POINTS = 30
"""Of a curve, at equal distances in time."""
_INSTEAD = "remove it, and it is learned again"

TimeTold = Callable[[float, float, str], None]
"""Is told (minutes done, minutes in all, text)."""


class UntunedCurve(NamedTuple):
    """What the episodes of a learning came to, by the time at which they ended."""

    environment: str
    """Its identifier, such as ``Hog-v0``."""
    way: str
    seed: int
    minutes: float
    """Of processor time, all of it the learner's: steps, passes and updates."""
    steps: int
    """Decisions of the learner in all."""
    episodes: np.ndarray
    """int64[POINTS]: how many ended in each of as many equal parts of the time."""
    results: np.ndarray
    """float64[POINTS]: the mean result of these; NaN where none ended."""
    reached: np.ndarray
    """int64[POINTS]: decisions of the learner at the end of each of these parts."""

    def middles(self) -> np.ndarray:
        """Return how many decisions the learner had made in the middle of each part of the time: float64[POINTS].

        Unlike the time that a decision takes, they do not depend on the machine, or on what else it does.
        """
        found: np.ndarray = (np.concatenate([[0], self.reached[:-1]]) + self.reached) / 2
        return found

    def smoothed(self) -> np.ndarray:
        """Return for each part of the time the mean result of the episodes in it and in those beside it; float64.

        In a part that an update of the networks takes up few episodes end, or none (NaN, if beside it too).
        """
        known = ~np.isnan(self.results)
        counts = np.where(known, self.episodes, 0).astype(np.float64)
        sums = np.where(known, self.results, 0.0) * counts
        three = np.ones(3)
        with np.errstate(invalid="ignore"):
            found: np.ndarray = np.convolve(sums, three, "same") / np.convolve(counts, three, "same")
        return found

    def write(self, path: Path) -> None:
        """Write it as JSON, whole or not at all."""
        results = [None if math.isnan(value) else round(value, 6) for value in self.results.tolist()]
        plain = self._asdict() | {
            "episodes": self.episodes.tolist(),
            "results": results,
            "reached": self.reached.tolist(),
        }
        write_text(path, json.dumps(plain) + "\n")

    @classmethod
    def read(cls, path: Path) -> UntunedCurve:
        """Return what `write` wrote. Raises DamagedFileError."""
        text = read_text(path, _INSTEAD)
        try:
            plain: dict[str, Any] = json.loads(text)
            episodes = np.array(plain["episodes"], np.int64)
            results = np.array([math.nan if one is None else one for one in plain["results"]], np.float64)
            reached = np.array(plain["reached"], np.int64)
            if any(row.shape != (POINTS,) for row in (episodes, results, reached)):
                raise ValueError(f"not {POINTS} points")
            return cls(
                str(plain["environment"]),
                str(plain["way"]),
                int(plain["seed"]),
                float(plain["minutes"]),
                int(plain["steps"]),
                episodes,
                results,
                reached,
            )
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise DamagedFileError(path, f"holds no curve ({one_line(error, 100)})", _INSTEAD) from None


class _Clock(BaseCallback):
    """Sums up results by the time at which their episodes ended, and ends the learning when its time is over.

    The time is the process's on its processor, whatever else the machine does meanwhile.
    """

    def __init__(self, seconds: float, told: TimeTold) -> None:
        super().__init__()
        self.seconds, self.told = seconds, told
        self.sums, self.counts = np.zeros(POINTS), np.zeros(POINTS, np.int64)
        self.reached = np.zeros(POINTS, np.int64)
        self.began: float | None = None
        self.said = -1

    def _on_step(self) -> bool:
        now = time.process_time()
        if self.began is None:
            self.began = now
        spent = now - self.began
        if spent >= self.seconds:
            return False
        point = int(spent / self.seconds * POINTS)
        self.reached[point] = self.num_timesteps
        for info in self.locals["infos"]:
            if "episode" in info:
                self.sums[point] += info["episode"]["r"]
                self.counts[point] += 1
        if point != self.said:
            self.said = point
            self.told(spent / 60, self.seconds / 60, f"{self.num_timesteps:,} steps")
        return True


def learn(environment: Environment, way: Way, seed: int, minutes: float, told: TimeTold | None = None) -> UntunedCurve:
    """Learn an environment for some minutes of one processor; return the curve.

    Args:
        environment: one of `dicegym.registry.ENVIRONMENTS`.
        way: how.
        seed: of networks and games.
        minutes: of processor time, without what is compiled or loaded the first time.
        told: told how far it is.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        model, clock = way.model(environment, seed), _Clock(60 * minutes, told or (lambda done, of, text: None))
        model.learn(MOST, callback=clock)
    finally:
        torch.set_num_threads(threads)
    with np.errstate(invalid="ignore"):
        results = clock.sums / clock.counts
    reached = np.maximum.accumulate(clock.reached)  # an update can take up whole parts, in which nothing is decided
    return UntunedCurve(environment.id, way.name, seed, minutes, model.num_timesteps, clock.counts, results, reached)
