"""Find trainings in folders, and read their state and progress.

Folders are read while trainings write in them, and may hold anything: a file that cannot be read becomes a ``problem``,
and the others are still read. No PyTorch is loaded.
"""

from __future__ import annotations

import contextlib
import math
import os
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

from dicegym.errors import DicegymError
from dicegym.escape import one_line
from dicegym.learning.configuration import Plain, about_run
from dicegym.learning.curves import MOST_STEPS, Evaluation, Pace, RunCurve, read_evaluations, read_pace, read_run
from dicegym.learning.run_folder import (
    CHECKPOINTS,
    CURVE_FILE,
    LOCK_FILE,
    SETTINGS_FILE,
    UNFINISHED,
    holder_of,
    newest_checkpoint,
)
from dicegym.players.model_file import MODELS, find_trained

PREPARING, RUNNING, FINISHED, INTERRUPTED, DAMAGED = "preparing", "running", "finished", "interrupted", "damaged"
"""States of a training."""
DEEPEST = 6
"""Depth to which a folder is searched for trainings."""
MOST_RUNS = 1_000
"""Trainings that are read."""
SILENT = 600.0
"""Seconds without a change after which a training on another machine counts as ended."""
RECENT = 30.0
"""Seconds over which the speed of a training is averaged."""
_NOT_RUNS = frozenset({"tensorboard", *CHECKPOINTS, UNFINISHED})

_Found = TypeVar("_Found")


@dataclass(frozen=True)
class WatchedRun:
    """The state and progress of a training.

    Attributes:
        folder: the run's folder.
        name: the searched folder and the path from there; see `name_runs`.
        state: `PREPARING`, `RUNNING`, `FINISHED`, `INTERRUPTED` or `DAMAGED`.
        game: a game's name; empty if unknown.
        of_steps: decisions of the learner in all, by the settings.
        changed: when a file in the folder was last written, in seconds since 1970.
        problem: which files cannot be read, and why.
    """

    folder: Path
    name: str
    state: str
    game: str
    command: Sequence[str]
    settings: Plain
    of_steps: int
    pace: Sequence[Pace]
    evaluations: Sequence[Evaluation]
    curve: RunCurve | None
    changed: float
    problem: str = ""

    @property
    def steps(self) -> int:
        """Decisions of the learner so far, the most that a file mentions."""
        known = [0, *(one.steps for one in self.pace[-1:]), *(one.steps for one in self.evaluations[-1:])]
        return max(known + ([int(at) for at in self.curve.steps[-1:]] if self.curve else []))

    @property
    def games_a_second(self) -> float | None:
        """Games per second in the last `RECENT` seconds of the log, if known."""
        return next((games for _, games, _ in reversed(speeds(self.pace, RECENT))), None)

    @property
    def seconds_left(self) -> float | None:
        """Remaining seconds at its recent speed, if it is running and that is known."""
        found = speeds(self.pace, RECENT)
        if self.state != RUNNING or not found or not found[-1].steps:
            return None
        return max(0, self.of_steps - self.steps) / found[-1].steps

    def model(self) -> Path | None:
        """Return the file of the best model so far; None before the first."""
        return find_trained(self.folder)

    def newest(self) -> Path | None:
        """Return the latest saved file of the learner; None before the first."""
        files = [one / "model.zip" for one in (self.folder, newest_checkpoint(self.folder)) if one is not None]
        return max(filter(Path.is_file, files), key=_changed, default=None)


class TrainingSpeed(NamedTuple):
    """The mean speed of a training over a stretch of time."""

    seconds: float
    """Seconds of training in the middle of the stretch."""
    games: float
    """Games per second."""
    steps: float
    """Decisions of the learner per second."""


def speeds(pace: Sequence[Pace], over: float = 0.0) -> list[TrainingSpeed]:
    """Return the speeds in a training's pace, each over at least ``over`` seconds; the last may be shorter."""
    found, since = [], 0
    for number in range(1, len(pace)):
        passed = pace[number].seconds - pace[since].seconds
        if passed > 0 and (passed >= over or number == len(pace) - 1):
            games, steps = pace[number].games - pace[since].games, pace[number].steps - pace[since].steps
            found.append(TrainingSpeed(pace[since].seconds + passed / 2, games / passed, steps / passed))
            since = number
    return found


def find_folders(root: Path) -> list[Path]:
    """Return the folders of trainings in ``root`` and below, at most `MOST_RUNS`; none if ``root`` does not exist."""
    found: list[Path] = []
    for place, folders, files in os.walk(root):
        here = Path(place)
        depth = len(here.relative_to(root).parts)
        folders[:] = sorted(one for one in folders if one not in _NOT_RUNS and not one.startswith("."))
        begun = SETTINGS_FILE in files and bool({CURVE_FILE, LOCK_FILE, *MODELS} & {*files})
        if begun or (LOCK_FILE in files and not folders and _is_preparing(here)):  # several seeds have folders
            found.append(here)
            folders.clear()
        if depth >= DEEPEST:
            folders.clear()
        if len(found) >= MOST_RUNS:
            break
    return found


def name_runs(roots: Sequence[Path]) -> dict[str, Path]:
    """Return the folders of trainings below ``roots`` by name.

    A name is the last part of the root and the path from there, ``runs/hog/seed-1``; a second root with the same last
    part is numbered, ``runs-2``.
    """
    found: dict[str, Path] = {}
    taken: dict[str, Path] = {}
    for root in dict.fromkeys(root.resolve() for root in roots):
        called, number = root.name or "runs", 2
        while taken.setdefault(called, root) != root:
            called, number = f"{root.name or 'runs'}-{number}", number + 1
        for folder in find_folders(root):
            found["/".join((called, *folder.relative_to(root).parts))] = folder
    return found


def inspect_run(folder: Path, name: str) -> WatchedRun:
    """Return the state of the training in a folder, whatever its files contain."""
    problems: list[str] = []
    preparing = _is_preparing(folder)
    about = None if preparing else _tried(about_run, folder, problems)
    pace = _tried(read_pace, folder, problems) or []
    evaluations = [one for one in _tried(read_evaluations, folder, problems) or () if abs(one.steps) <= MOST_STEPS]
    # A run has neither file before its first evaluation, and only one right after it.
    measured = (folder / CURVE_FILE).is_file() and (folder / MODELS[0]).is_file()
    curve = _tried(read_run, folder, problems) if measured else None
    steps = about.settings.get("run", {}).get("steps", 0) if about else 0
    game = curve.game if curve else (about.command[2] if about and len(about.command) > 2 else "")
    state = PREPARING if preparing else DAMAGED
    if about is not None:
        state = FINISHED if about.finished else RUNNING if _is_held(folder) else INTERRUPTED
    return WatchedRun(
        folder,
        name,
        state,
        one_line(game, 60),
        about.command if about else (),
        about.settings if about else {},
        steps if isinstance(steps, int) and steps <= MOST_STEPS else 0,
        [one for one in pace if math.isfinite(one.seconds) and max(abs(one.steps), abs(one.games)) <= MOST_STEPS],
        [one for one in evaluations if all(math.isfinite(score.value) for score in one.scores)],
        curve,
        _changed(*_files(folder)),
        "; ".join(problems),
    )


def signature(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """Return a value that changes with every file that a training writes; no file is read."""
    found = []
    for one in _files(folder):
        with contextlib.suppress(OSError):
            facts = one.stat()
            found.append((one.name, facts.st_mtime_ns, facts.st_size))
    return tuple(found)


def _files(folder: Path) -> list[Path]:
    with contextlib.suppress(OSError):
        return sorted(one for one in folder.iterdir() if one.is_file() and not one.is_symlink())
    return []


def _changed(*paths: Path) -> float:
    """Return when the newest of ``paths`` was written, in seconds since 1970; 0 if none exists."""
    found = [0.0]
    for one in paths:
        with contextlib.suppress(OSError):
            found.append(one.stat().st_mtime)
    return max(found)


def _tried(read: Callable[[Path], _Found], folder: Path, problems: list[str]) -> _Found | None:
    try:
        return read(folder)
    except (DicegymError, OSError, ValueError) as error:
        problems.append(one_line(error, 300))
        return None


def _is_preparing(folder: Path) -> bool:
    """Return whether a training holds a folder and has written no settings yet."""
    return not (folder / SETTINGS_FILE).exists() and _is_held(folder)


def _is_held(folder: Path) -> bool:
    """Return whether a training runs in a folder, by the note in its lock."""
    try:
        holder = holder_of(folder)
    except PermissionError:
        return True
    if holder is None:
        return False
    if holder.machine != platform.node():
        return time.time() - _changed(*_files(folder)) < SILENT
    if holder.process <= 0 or os.name == "nt":  # a signal of 0 would end the process there
        return holder.process > 0
    try:
        os.kill(holder.process, 0)
    except (PermissionError, OverflowError):  # it exists and belongs to another user
        return True
    except ProcessLookupError:
        return False
    return True
