"""What a training notes of itself for those who watch it: how fast it goes, and its evaluations with their intervals.

The curve (`dicegym.learning.curve`) is the same for the same seed; this is not, as it tells of time.
"""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from dicegym.errors import DamagedFileError, ParameterError
from dicegym.escape import cell, one_line
from dicegym.files import read_text, writing
from dicegym.learning.evaluate import Score
from dicegym.learning.files import EVALUATIONS_FILE, PACE_FILE

EVERY = 2.0
"""Seconds from one line on the pace to the next, at first."""
MOST_LINES = 600
"""Of the pace: then every second one is left out, and lines come half as often, so that a week of training is as short
to read as an hour of it."""
INSTEAD = "name the folder of a training: `dicegym train` writes it there"

_Row = TypeVar("_Row")


class Pace(NamedTuple):
    """How far a training was."""

    seconds: float
    """Of training, breaks between sessions apart."""
    steps: int
    games: int
    """Played to their end by the learner."""


class Evaluation(NamedTuple):
    """A result of the learner after so many steps."""

    steps: int
    score: Score


class Diary:
    """What one training notes in its folder.

    Args:
        folder: the run's.
        steps: how far the run is; what was noted beyond that, before it was cut off, is left out.
    """

    def __init__(self, folder: Path, steps: int = 0) -> None:
        self._folder = folder
        self._pace = [one for one in _or_nothing(read_pace, folder) if one.steps <= steps]
        self._evaluations = [one for one in _or_nothing(read_evaluations, folder) if one.steps <= steps]
        self._every, self._due = EVERY, 0.0

    def goes(self, seconds: float, steps: int, games: int, now: bool = False) -> None:
        """Note how far the training is, if it is time for it, or ``now``."""
        if not now and time.monotonic() < self._due:
            return
        if self._pace and self._pace[-1].steps >= steps:
            return
        self._pace.append(Pace(round(seconds, 2), steps, games))
        if len(self._pace) > MOST_LINES:
            self._pace = self._pace[:-1:2] + self._pace[-1:]
            self._every *= 2
        self._due = time.monotonic() + self._every
        _write(self._folder / PACE_FILE, Pace._fields, self._pace)

    @property
    def evaluations(self) -> list[Evaluation]:
        """All evaluations so far, with their intervals."""
        return list(self._evaluations)

    def evaluated(self, steps: int, scores: Sequence[Score]) -> None:
        """Note an evaluation; one of the same steps stands already when a finished run measures its end again."""
        self._evaluations = [one for one in self._evaluations if one.steps < steps]
        self._evaluations += [Evaluation(steps, score) for score in scores]
        rows = [
            (at, cell(one.opponent), cell(one.measure), one.value, one.low, one.high, one.games)
            for at, one in self._evaluations
        ]
        _write(self._folder / EVALUATIONS_FILE, _EVALUATED, rows)


_EVALUATED = ("steps", "opponent", "measure", "value", "low", "high", "games")


def read_pace(folder: Path) -> list[Pace]:
    """Return how far a run was when; nothing if it has not noted that. Raises DamagedFileError."""
    return _read(folder / PACE_FILE, lambda row: Pace(float(row["seconds"]), int(row["steps"]), int(row["games"])))


def read_evaluations(folder: Path) -> list[Evaluation]:
    """Return a run's evaluations with their intervals; nothing if it has not noted them. Raises DamagedFileError."""

    def evaluation(row: dict[str, str]) -> Evaluation:
        value, low, high = (float(row[name]) for name in ("value", "low", "high"))
        score = Score(row["measure"], row["opponent"], value, low, high, int(row["games"]))
        return Evaluation(int(row["steps"]), score)

    return _read(folder / EVALUATIONS_FILE, evaluation)


def _write(path: Path, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    with writing(path) as unfinished, unfinished.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerow(head)
        csv.writer(file).writerows(rows)


def _read(path: Path, made: Callable[[dict[str, str]], _Row]) -> list[_Row]:
    if not path.is_file():
        return []
    text = read_text(path, INSTEAD)
    try:
        return [made(row) for row in csv.DictReader(io.StringIO(text, newline=""))]
    except (KeyError, TypeError, ValueError, csv.Error) as error:
        raise DamagedFileError(path, f"is not what a training writes ({one_line(error, 100)})", INSTEAD) from None


def _or_nothing(read: Callable[[Path], list[_Row]], folder: Path) -> list[_Row]:
    """Return what is there; what is damaged is written anew, as a training is worth more than its diary."""
    try:
        return read(folder)
    except (DamagedFileError, ParameterError):
        return []
