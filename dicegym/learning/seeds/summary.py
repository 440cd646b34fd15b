"""What the folder of several seeds says of them: how they began, in a sealed ``seeds.json``, and their results."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
from pydantic import Field, TypeAdapter

from dicegym.errors import DamagedFileError, ParameterError
from dicegym.escape import one_line
from dicegym.files import read_text, write_text
from dicegym.learning.run_curves import ENOUGH, LEVEL, RunCurve, band_of, read_run
from dicegym.learning.run_folder import CURVE_FILE
from dicegym.learning.seeds.job import FINISHED
from dicegym.learning.training_settings import SeedNumber
from dicegym.players.trust import TRUST, is_sealed, write_seal

SEEDS_FILE = "seeds.json"
MOST_SEEDS = 1_000
"""Of one folder."""
_LARGEST = 1 << 20


class SeedsRecord(NamedTuple):
    """What several seeds were begun with, and how each ended."""

    game: str
    seeds: Annotated[tuple[SeedNumber, ...], Field(min_length=1, max_length=MOST_SEEDS)]
    config: str
    """Path of the configuration; empty: the game's own."""
    overrides: tuple[str, ...]
    """Without seed and threads."""
    ended: dict[int, str]
    """Of seeds that were begun: how it ended last, as `dicegym.learning.seeds.job` has it."""
    failures: dict[int, str]
    """Why, of those that failed."""

    def write(self, folder: Path) -> None:
        """Write ``seeds.json``, and the user's seal beside it."""
        path = folder / SEEDS_FILE
        write_text(path, json.dumps(self._asdict(), indent=1) + "\n")
        write_seal(path)


_RECORD = TypeAdapter(SeedsRecord)


def holds_seeds(folder: Path) -> bool:
    """Return whether a folder is one of several seeds."""
    return (folder / SEEDS_FILE).is_file()


def folder_of(folder: Path, seed: int) -> Path:
    """Return the folder of one seed's run."""
    return folder / f"seed-{seed}"


def read_record(folder: Path, trust: bool = False) -> SeedsRecord:
    """Return what ``seeds.json`` in a folder says.

    Raises:
        DamagedFileError: there is none, or a training did not write it.
        ParameterError: somebody else wrote it, it names settings, which can name programs, and there is no ``trust``.
    """
    path = folder / SEEDS_FILE
    instead = "name the folder of a training with --seeds, or begin a new one"
    text = read_text(path, instead, _LARGEST)
    try:
        found = _RECORD.validate_json(text)
        if len(set(found.seeds)) < len(found.seeds):
            raise ValueError("a seed is there twice")
    except ValueError as error:
        raise DamagedFileError(path, f"is not what a training writes ({one_line(error, 120)})", instead) from None
    if not trust and (found.overrides or found.config) and not is_sealed(path):
        raise ParameterError(
            f"{path} was not written by your own trainings here, and names settings that seeds would begin with. If "
            f"you trust its author, say so by {TRUST}"
        )
    return found


class SeedResult(NamedTuple):
    """The result of one seed."""

    seed: int
    how: str
    """How it ended; see `dicegym.learning.seeds.job`."""
    why: str
    """What went wrong, if it failed."""
    steps: int
    """Of its last evaluation; 0: there was none."""
    best: float
    """Score of its best model, by which that was chosen as a rule; NaN: there is none."""
    end: float
    """Score of its last evaluation."""


class Together(NamedTuple):
    """A score over several runs."""

    middle: float
    """Interquartile mean; of fewer than `dicegym.learning.run_curves.ENOUGH` runs the mean."""
    low: float
    """Lower end of its 95 % interval, or of fewer runs the lowest."""
    high: float
    runs: int

    def __str__(self) -> str:
        """Return it in words."""
        if self.runs < ENOUGH:
            return f"{self.middle:.4f}, from {self.low:.4f} to {self.high:.4f} (mean and range of {self.runs})"
        around = f"[{self.low:.4f}, {self.high:.4f}]"
        return f"{self.middle:.4f} {around} (interquartile mean of {self.runs} and its {LEVEL:.0%} interval)"


class SeedsSummary(NamedTuple):
    """The results of several seeds."""

    folder: Path
    game: str
    measure: str
    """What scores are, and against whom; empty if no seed was ever measured."""
    results: tuple[SeedResult, ...]
    end: Together | None
    """Scores at the end of the runs that are finished."""
    best: Together | None
    """Scores of their best models: chosen by these very scores, as a rule, and so a little too good."""

    @property
    def best_model(self) -> Path | None:
        """Return the model with the best score of all."""
        measured = [one for one in self.results if not math.isnan(one.best)]
        if not measured:
            return None
        return folder_of(self.folder, max(measured, key=lambda one: one.best).seed) / "best.zip"


def summarise(record: SeedsRecord, folder: Path) -> SeedsSummary:
    """Return the results of the seeds in ``folder`` so far.

    Raises DamagedFileError if a folder of a seed holds something else than a training writes.
    """
    there = [seed for seed in record.seeds if (folder_of(folder, seed) / CURVE_FILE).is_file()]
    runs = {seed: run for seed in there if len((run := read_run(folder_of(folder, seed))).steps)}
    results = tuple(_result(record, seed, runs.get(seed)) for seed in record.seeds)
    finished = [one for one in results if one.how == FINISHED and one.seed in runs]
    score = next(iter(runs.values())).score if runs else None
    return SeedsSummary(
        folder,
        record.game,
        "" if score is None else f"{score.measure} against {score.opponent}",
        results,
        _together([one.end for one in finished]),
        _together([one.best for one in finished]),
    )


def _result(record: SeedsRecord, seed: int, run: RunCurve | None) -> SeedResult:
    how, why = record.ended.get(seed, "not begun"), record.failures.get(seed, "")
    if run is None:
        return SeedResult(seed, how, why, 0, math.nan, math.nan)
    return SeedResult(seed, how, why, int(run.steps[-1]), run.score.value, float(run.values["score"][-1]))


def _together(values: Sequence[float]) -> Together | None:
    if not values:
        return None
    band = band_of(np.zeros(1, np.int64), np.array(values)[:, None])
    low, high = (band.low, band.high) if len(values) >= ENOUGH else (band.lowest, band.highest)
    return Together(float(band.iqm[0]), float(low[0]), float(high[0]), len(values))
