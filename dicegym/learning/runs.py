"""Trainings as those who watch them find them: where they lie, how each stands, and what it has noted of itself.

Folders are read while trainings write in them, and may hold anything: what cannot be read becomes a ``problem``, and
the rest is read all the same. No PyTorch is loaded.
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
"""How far below a folder of trainings one may lie."""
MOST_RUNS = 1_000
"""That are looked at."""
SILENT = 600.0
"""Seconds without a word after which a training of another machine is taken for one that has ended."""
RECENT = 30.0
"""Seconds over which the speed of a training is averaged."""
_NOT_RUNS = frozenset({"tensorboard", *CHECKPOINTS, UNFINISHED})

_Found = TypeVar("_Found")


@dataclass(frozen=True)
class WatchedRun:
    """A training as it stands.

    Attributes:
        folder: its own.
        name: by which it is asked for: the folder it was found in, and the way from there.
        state: `PREPARING`, `RUNNING`, `FINISHED`, `INTERRUPTED` or `DAMAGED`.
        game: a game's name, or empty where nothing says it.
        of_steps: decisions of the learner that were asked for.
        changed: when something in it was last written, in seconds since 1970.
        problem: what cannot be read of it, in words.
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
        """Decisions of the learner so far, by the latest file that tells."""
        known = [0, *(one.steps for one in self.pace[-1:]), *(one.steps for one in self.evaluations[-1:])]
        return max(known + ([int(at) for at in self.curve.steps[-1:]] if self.curve else []))

    @property
    def games_a_second(self) -> float | None:
        """Of the last half minute that is noted."""
        return next((games for _, games, _ in reversed(speeds(self.pace, RECENT))), None)

    @property
    def seconds_left(self) -> float | None:
        """How long it still takes at its pace, if it is running and that is known."""
        found = speeds(self.pace, RECENT)
        if self.state != RUNNING or not found or not found[-1].steps:
            return None
        return max(0, self.of_steps - self.steps) / found[-1].steps

    def model(self) -> Path | None:
        """Return the file that plays as the training's best model does so far; None before the first."""
        return find_trained(self.folder)

    def newest(self) -> Path | None:
        """Return the file that plays as the learner did when it was last saved."""
        saved = newest_checkpoint(self.folder)
        there = [self.folder / "model.zip", *([saved / "model.zip"] if saved else [])]
        return max(filter(Path.is_file, there), key=_changed, default=None)


class TrainingSpeed(NamedTuple):
    """How fast a training went at some time."""

    seconds: float
    """Of training, in the middle of what this is the mean of."""
    games: float
    """A second."""
    steps: float
    """A second."""


def speeds(pace: Sequence[Pace], over: float = 0.0) -> list[TrainingSpeed]:
    """Return how fast a training went, as means of ``over`` seconds at least, by the pace that it has noted."""
    found, since = [], 0
    for number in range(1, len(pace)):
        passed = pace[number].seconds - pace[since].seconds
        if passed > 0 and (passed >= over or number == len(pace) - 1):
            games, steps = pace[number].games - pace[since].games, pace[number].steps - pace[since].steps
            found.append(TrainingSpeed(pace[since].seconds + passed / 2, games / passed, steps / passed))
            since = number
    return found


def find_folders(root: Path) -> list[Path]:
    """Return the folders of trainings in ``root`` and below, `MOST_RUNS` at most; none if there is no such folder."""
    found: list[Path] = []
    for place, folders, files in os.walk(root, onerror=None):
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
    """Return the folders of trainings below some folders, by their names; two such folders of one name are told apart.

    A name is the last part of the folder that was searched, and the way from there: ``runs/hog/seed-1``.
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
    """Return how the training in a folder stands. Never raises for what is in it."""
    problems: list[str] = []
    preparing = _is_preparing(folder)
    about = None if preparing else _tried(about_run, folder, problems)
    pace = _tried(read_pace, folder, problems) or []
    evaluations = [one for one in _tried(read_evaluations, folder, problems) or () if abs(one.steps) <= MOST_STEPS]
    # Before its first evaluation a run has neither of both, and right after it one of them.
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
    """Return what changes whenever a training has written something that is shown, without reading it."""
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
    """Return when the newest of some files was written, in seconds since 1970; 0 if none is there."""
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
    """Return whether a training holds a folder and has noted nothing there yet."""
    return not (folder / SETTINGS_FILE).exists() and _is_held(folder)


def _is_held(folder: Path) -> bool:
    """Return whether somebody trains in a folder, by the note in its lock."""
    try:
        holder = holder_of(folder)
    except PermissionError:
        return True
    if holder is None:
        return False
    if holder.machine != platform.node():
        return time.time() - _changed(*_files(folder)) < SILENT
    if holder.process <= 0 or os.name == "nt":  # where a signal of 0 would end it
        return holder.process > 0
    try:
        os.kill(holder.process, 0)
    except (PermissionError, OverflowError):  # it is there, and another user's
        return True
    except ProcessLookupError:
        return False
    return True
