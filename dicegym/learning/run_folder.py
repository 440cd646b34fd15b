"""A run's folder: the names of its files, its lock and its checkpoint. No PyTorch is loaded.

One training at a time writes in a folder. The newest checkpoint is written whole or not at all. The folder holds

    settings.json   the command and all settings, overrides included, and whether the run is finished
    curve.csv       steps and score of every evaluation, and the result against each of several opponents;
                    the same command and seed give the same file
    evaluations.csv every evaluation with its interval: steps, opponent, measure, value, low, high, games
    pace.csv        the speed: seconds of training, steps, finished games
    league.csv      results among past selves and scripted agents, in self-play
    tensorboard/    the log of the algorithm
    checkpoint/     the newest checkpoint, from which --resume continues
    best.zip        the model with the best evaluation so far (or as run.best_by says); best.md, its card, and
                    best.curve.svg, its curve
    model.zip       the model at the end; model.md, its card, and model.curve.svg
    run.lock        locked by the process that writes into the folder, and names it; removed at its end
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import platform
import shutil
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple

from dicegym.files import locked_folder

SETTINGS_FILE, LOCK_FILE = "settings.json", "run.lock"
CURVE_FILE, EVALUATIONS_FILE, PACE_FILE, LEAGUE_FILE = "curve.csv", "evaluations.csv", "pace.csv", "league.csv"
CHECKPOINTS = ("checkpoint", "checkpoint.old")
"""The newest checkpoint is in the first of these folders that exists: a kill may come between the renames."""
UNFINISHED = "checkpoint.part"
"""The folder of a checkpoint that is being written."""
_LONGEST_NOTE = 1000
"""Bytes that are read of a lock."""
_OURS: ContextVar[frozenset[str]] = ContextVar("_OURS", default=frozenset())
"""Folders that this thread has locked, and may lock again."""


@contextlib.contextmanager
def alone_in(folder: Path, wait: float = 0.0) -> Iterator[None]:
    """Lock a run's folder for this process; see `dicegym.files.locked_folder`.

    A function that holds the lock may call others that take it.

    Args:
        folder: the run's folder.
        wait: seconds to wait for another process that holds the lock.

    Raises:
        DependencyError: the extra ``train`` is not installed.
        ParameterError: another process or thread holds the lock, or the folder cannot be made or written in. Nothing
            was changed.
    """
    place = os.path.realpath(folder)
    if place in _OURS.get():
        yield
        return
    extra, busy = ("train", "training"), functools.partial(_describe_holder, folder)
    with locked_folder(folder, LOCK_FILE, extra, busy, "give another --run-dir", wait):
        ours = _OURS.set(_OURS.get() | {place})
        try:
            note = {"process": os.getpid(), "machine": platform.node(), "since": time.strftime("%Y-%m-%d %H:%M:%S")}
            with contextlib.suppress(OSError):
                (folder / LOCK_FILE).write_text(json.dumps(note), encoding="utf-8")
            yield
        finally:
            _OURS.reset(ours)


def _describe_holder(folder: Path) -> str:
    """Return the error message for a folder that another training has locked."""
    since = ""
    with contextlib.suppress(PermissionError):
        if (found := holder_of(folder)) is not None:
            there = "" if found.machine == platform.node() else f" on {found.machine}"
            since = f" since {found.since} (process {found.process}{there})"
    return f"another training writes in {folder}{since}: wait until it ends, stop it, or give another --run-dir"


def is_empty(folder: Path) -> bool:
    """Return whether a run's folder is missing or empty, apart from a lock."""
    return not folder.exists() or all(one.name == LOCK_FILE for one in folder.iterdir())


class LockHolder(NamedTuple):
    """The process that holds a run's folder, by the note in its lock."""

    process: int
    machine: str
    since: str


def holder_of(folder: Path) -> LockHolder | None:
    """Return the holder of a run's folder by the note in its lock; None without a valid note.

    Trying the lock would be more reliable, but could refuse a training that starts at that moment.

    Raises PermissionError where a lock in use cannot be read, as on Windows.
    """
    try:
        with (folder / LOCK_FILE).open("rb") as file:
            note = json.loads(file.read(_LONGEST_NOTE))
        return LockHolder(int(note["process"]), str(note["machine"]), str(note["since"]))
    except PermissionError:
        raise
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None


def newest_checkpoint(folder: Path) -> Path | None:
    """Return the newest whole checkpoint in a run's folder, or None."""
    return next((folder / name for name in CHECKPOINTS if (folder / name).exists()), None)


def replace_checkpoint(folder: Path, fill: Callable[[Path], None]) -> None:
    """Write a checkpoint with ``fill``, called with an empty folder; the old one stays until the new one is whole."""
    unfinished, target, old = folder / UNFINISHED, *(folder / name for name in CHECKPOINTS)
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    fill(unfinished)
    if target.exists():  # otherwise a kill came between the renames below, and `old` is the whole one
        shutil.rmtree(old, ignore_errors=True)
        os.replace(target, old)
    os.replace(unfinished, target)
    shutil.rmtree(old, ignore_errors=True)
