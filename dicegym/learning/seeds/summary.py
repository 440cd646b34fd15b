"""What the folder of several seeds says of them.

How they began is in ``seeds.json``, sealed like the settings of each. Their results are written as a band in files
and a picture, and as the card of all of them together.
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import Field, TypeAdapter

from dicegym.arena.report import Report, markdown_text
from dicegym.errors import DamagedFileError, DependencyError, ParameterError
from dicegym.escape import cell, one_line
from dicegym.files import read_text, write_text
from dicegym.learning.curves import write_csv
from dicegym.learning.evaluate import Score
from dicegym.learning.evaluator import BY_LAST, describe_floors, floors_of
from dicegym.learning.run_curves import (
    ENOUGH,
    LEVEL,
    Band,
    Experiment,
    RunCurve,
    band_of,
    null_if_nan,
    read_run,
)
from dicegym.learning.run_folder import CURVE_FILE
from dicegym.learning.seeds.job import FINISHED
from dicegym.learning.training_settings import SeedNumber
from dicegym.players import model as models
from dicegym.players.trust import TRUST, is_sealed, write_seal

BAND_CSV, BAND_JSON, CARD_FILE, PICTURE = "band.csv", "band.json", "seeds.md", "curve.png"
"""Files of a folder of several seeds, beside the seeds' folders."""
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
    missed: float = 0.0
    """How far its best model is below ``run.best_floor``."""


CHOSEN_BY_SCORES = "Best models were chosen by the scores that stand here, and so these are a little too good"
TAKEN_LAST = (
    "Best models are the last ones, if there is a floor of those that fall least short of it: no score chose them"
)


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
    floor: str = ""
    """The floor for their best models (``run.best_floor``), in words; empty: none."""
    takes_last: bool = False
    """Whether no score chose them: they are the last (``run.best_by=last``)."""

    @property
    def below(self) -> str:
        """Return which best models miss that floor, and by how much, in words."""
        short = (f"seed {one.seed} by {one.missed:.4f}" for one in self.results if one.missed)
        return ", ".join(short) or "no seed"

    @property
    def best_model(self) -> Path | None:
        """Return the model with the best score of all, or if none reaches ``run.best_floor`` that which is nearest."""
        measured = [one for one in self.results if not math.isnan(one.best)]
        if not measured:
            return None
        return folder_of(self.folder, max(measured, key=lambda one: (-one.missed, one.best)).seed) / "best.zip"


def summarise(record: SeedsRecord, folder: Path) -> SeedsSummary:
    """Write the results of the seeds in ``folder`` so far, and return them.

    ``band.csv`` has the band of the score over time, ``band.json`` that of each opponent too, ``seeds.md`` is the
    card, and ``curve.png`` the picture, where what draws pixels is installed. Seeds that were never measured are left
    out.

    Raises DamagedFileError if a folder of a seed holds something else than a training writes.
    """
    there = [seed for seed in record.seeds if (folder_of(folder, seed) / CURVE_FILE).is_file()]
    runs = {seed: run for seed in there if len((run := read_run(folder_of(folder, seed))).steps)}
    results = tuple(_result(record, seed, runs.get(seed)) for seed in record.seeds)
    finished = [one for one in results if one.how == FINISHED and one.seed in runs]
    score = next(iter(runs.values())).score if runs else None
    found = SeedsSummary(
        folder,
        record.game,
        "" if score is None else f"{score.measure} against {score.opponent}",
        results,
        _together([one.end for one in finished]),
        _together([one.best for one in finished]),
        _floor(next(iter(runs.values()), None)),
        any(run.settings.get("run.best_by") == BY_LAST for run in runs.values()),
    )
    if score is not None:
        _write_bands(record, folder, list(runs.values()), found, score)
    write_text(folder / CARD_FILE, _page(record, found, next(iter(runs), None)))
    return found


def _result(record: SeedsRecord, seed: int, run: RunCurve | None) -> SeedResult:
    how, why = record.ended.get(seed, "not begun"), record.failures.get(seed, "")
    if run is None:
        return SeedResult(seed, how, why, 0, math.nan, math.nan)
    missed = _floors(run)[1]
    return SeedResult(seed, how, why, int(run.steps[-1]), run.score.value, float(run.values["score"][-1]), missed)


def _floors(run: RunCurve) -> tuple[dict[str, float], float]:
    """Return the floors for the best model of a run, and how far it is below."""
    return floors_of(models.facts(run.folder / "best.zip")) if run.settings.get("run.best_floor") else ({}, 0.0)


def _floor(run: RunCurve | None) -> str:
    return "" if run is None else describe_floors(_floors(run)[0])


def _together(values: Sequence[float]) -> Together | None:
    if not values:
        return None
    band = band_of(np.zeros(1, np.int64), np.array(values)[:, None])
    low, high = (band.low, band.high) if len(values) >= ENOUGH else (band.lowest, band.highest)
    return Together(float(band.iqm[0]), float(low[0]), float(high[0]), len(values))


def _write_bands(
    record: SeedsRecord, folder: Path, runs: Sequence[RunCurve], found: SeedsSummary, score: Score
) -> None:
    group = Experiment("", tuple(runs))
    bands = {name: group.band(name) for name in group.names}
    columns = (column.tolist() for column in bands["score"])
    rows = (list(map(_cell, row)) for row in zip(*columns, strict=True))
    write_csv(folder / BAND_CSV, Band._fields, rows)
    plain = {
        "game": found.game,
        "measure": score.measure,
        "opponent": cell(score.opponent),
        "level": LEVEL,
        "seeds": [
            one._asdict() | {"best": null_if_nan(one.best), "end": null_if_nan(one.end)} for one in found.results
        ],
        "end": None if found.end is None else found.end._asdict(),
        "best": None if found.best is None else found.best._asdict(),
        "bands": {name: _columns(band) for name, band in bands.items()},
    }
    write_text(folder / BAND_JSON, json.dumps(plain, indent=1) + "\n")
    try:
        from dicegym.learning.curve_pictures import draw_experiments, write_curves

        write_curves([draw_experiments([group])], folder / PICTURE)
    except DependencyError:  # the numbers are there, and `dicegym runs plot` says what is missing for the picture
        pass


def _cell(value: float) -> int | str:
    """Return a whole number as it is, another one in digits; nothing if nobody knows it."""
    return value if isinstance(value, int) else "" if math.isnan(value) else f"{value:.9f}"


def _columns(band: Band) -> dict[str, list[Any]]:
    return {
        name: [null_if_nan(value) if isinstance(value, float) else value for value in column.tolist()]
        for name, column in band._asdict().items()
    }


def _page(record: SeedsRecord, found: SeedsSummary, measured: int | None) -> str:
    """Return the card, a page of Markdown."""
    words = ["dicegym", "train", record.game, "--seeds", str(len(record.seeds))]
    words += ["--config", record.config] if record.config else []
    words += [word for text in record.overrides for word in ("--set", text)]
    rows = [["measured", found.measure]] if found.measure else []
    together = (("at the end", found.end), ("of the best models", found.best))
    rows += [[title, str(value)] for title, value in together if value is not None]
    rows += [[f"below the floor, {found.floor}", found.below]] if found.floor else []
    rows.append(["command", shlex.join(words)])
    if measured is not None:
        facts = models.facts(folder_of(found.folder, measured) / "best.zip")
        rows.append(["rules", f"fingerprint {facts.get('fingerprint', '')}"])
        if isinstance(versions := facts.get("versions"), dict):
            rows.append(["versions", ", ".join(f"{package} {version}" for package, version in versions.items())])
        rows.append(["machine", str(facts.get("machine", ""))])
    seeds = [
        [
            str(one.seed),
            one.how + (f": {one.why}" if one.why else ""),
            f"{one.steps:,}",
            _shown(one.best),
            _shown(one.end),
        ]
        for one in found.results
    ]
    chosen = (
        f"{CHOSEN_BY_SCORES if not found.takes_last else TAKEN_LAST}; the cards in the folders of the seeds measure "
        "them in other games. Intervals are by the percentile bootstrap over seeds (Agarwal et al., 2021), and over "
        "the luck of training alone."
    )
    titles = ["seed", "how it ended", "steps", "best model", "at the end"]
    tables = [("All seeds", ["what", "value"], rows), ("Each seed", titles, seeds)]
    return markdown_text(Report(f"{len(record.seeds)} seeds of {record.game}", tables, words=[chosen]))


def _shown(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4f}"
