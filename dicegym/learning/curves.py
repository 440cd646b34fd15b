"""The curves of finished and running trainings, read from their folders and put together by what was tried."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dicegym.errors import DamagedFileError, ParameterError
from dicegym.escape import one_line
from dicegym.files import read_text
from dicegym.learning.band import Band, band_of, common_times
from dicegym.learning.configuration import about_run
from dicegym.learning.evaluate import Score
from dicegym.learning.files import CURVE_FILE
from dicegym.players import model as models

_SAME = (
    "run.seed",
    "run.steps",
    "run.torch_threads",
    "run.checkpoint_every",
    "run.card_games",
    "run.device",
    "run.log",
)
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


@dataclass(frozen=True)
class Experiment:
    """Runs of one game with the same settings but for the seed."""

    label: str
    runs: tuple[RunCurve, ...]

    def band(self, name: str) -> Band:
        """Return what the runs come to together in what is called ``name``, at the times of all their evaluations."""
        found = [(run.steps, run.values[name]) for run in self.runs if name in run.values]
        steps, values = common_times(found)
        known = ~np.isnan(values).all(axis=0)
        return band_of(steps[known], values[:, known])

    @property
    def names(self) -> list[str]:
        """What there are curves of, ``"score"`` first."""
        return list(dict.fromkeys(name for run in self.runs for name in run.values))


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
    """Return the curve in a run's folder. Raises DamagedFileError or ModelError for one of anything else."""
    instead = "name the folder of a training, or remove this one"
    text = read_text(folder / CURVE_FILE, instead)
    plain = about_run(folder).settings
    settings = {f"{section}.{key}": value for section, keys in plain.items() for key, value in keys.items()}
    about = models.facts(folder / "best.zip")
    try:
        head, *lines = csv.reader(text.splitlines())
        table = np.array([[float(cell) for cell in line] for line in lines])
        if not np.isfinite(table).all():
            raise ValueError("what is no number stands in its curve")
        values = dict(zip(head[1:], table.T[1:], strict=True))
        score = Score.from_json(about["score"])
        game, players, steps = str(about["game"]), int(about["players"]), table[:, 0].astype(np.int64)
        return RunCurve(folder, game, players, score, settings, steps, values)
    except (TypeError, ValueError, KeyError, IndexError, csv.Error) as error:
        raise DamagedFileError(
            folder, f"does not hold what a training writes ({one_line(error, 120)})", instead
        ) from None


def experiments(runs: Sequence[RunCurve]) -> list[Experiment]:
    """Return the runs of one game by what was tried; labels name the settings that differ, or else the folders."""
    groups: dict[str, list[RunCurve]] = {}
    for run in runs:
        groups.setdefault(json.dumps(_told_apart(run), sort_keys=True), []).append(run)
    several = [_told_apart(members[0]) for members in groups.values()]
    names = sorted({name for one in several for name in one})
    differing = [name for name in names if len({json.dumps(one.get(name)) for one in several}) > 1]
    return [
        Experiment(_label(members, differing) if len(groups) > 1 else _seeds(members), tuple(members))
        for members in groups.values()
    ]


def _told_apart(run: RunCurve) -> dict[str, Any]:
    return {name: value for name, value in run.settings.items() if name not in _SAME and not name.startswith("demo.")}


def _label(runs: Sequence[RunCurve], differing: Sequence[str]) -> str:
    """Return what sets these runs apart from the others."""
    said = [f"{name}={json.dumps(runs[0].settings[name])}" for name in differing if name in runs[0].settings]
    told = ", ".join(said) if said and len(said) <= 3 else runs[0].folder.name
    return f"{told} ({len(runs)} seeds)" if len(runs) > 1 else told


def _seeds(runs: Sequence[RunCurve]) -> str:
    return runs[0].folder.name if len(runs) == 1 else f"mean of {len(runs)} runs"
