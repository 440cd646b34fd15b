"""A run's folder: what its files are called, its lock, and its checkpoint. No PyTorch is loaded.

One training at a time writes in a folder. The newest checkpoint is written whole or not at all. The folder holds

    settings.json   the command and all settings, overrides included, and whether the run is finished
    curve.csv       steps and score of every evaluation, and the result against each opponent if there are several;
                    the same command and seed give the same file
    evaluations.csv every evaluation with its interval: steps, opponent, measure, value, low, high, games
    pace.csv        how fast it went: seconds of training, steps, games played to their end
    league.csv      who beat whom among past selves and scripted agents, if the learner plays against itself
    tensorboard/    everything that the algorithm logs
    checkpoint/     the newest checkpoint, from which --resume continues
    best.zip        the model with the best evaluation so far (or as run.best_by says), and best.md, its card with the
                    curve, best.curve.svg
    model.zip       the model at the end, and model.md, its card, with model.curve.svg
    run.lock        locked by the process that writes into the folder, and names it; removed at its end
"""

from __future__ import annotations

import contextlib
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
"""The newest checkpoint is in the first folder that exists: a kill may fall between the moves that change them."""
UNFINISHED = "checkpoint.part"
"""The folder of one that is being written."""
_LONGEST_NOTE = 1000
"""Bytes of what a lock's holder says of itself."""
_OURS: ContextVar[frozenset[str]] = ContextVar("_OURS", default=frozenset())
"""Folders that this thread has locked: it may lock them again."""


@contextlib.contextmanager
def alone_in(folder: Path, wait: float = 0.0) -> Iterator[None]:
    """Lock a run's folder for this process; see `dicegym.files.locked_folder`.

    A function that holds the lock may call others that take it.

    Args:
        folder: the run's.
        wait: seconds to wait for another process that holds it.

    Raises:
        DependencyError: the extra ``train`` is not installed.
        ParameterError: another process, or another thread of this one, holds it, or it cannot be made or written in.
            Nothing was changed.
    """
    place = os.path.realpath(folder)
    if place in _OURS.get():
        yield
        return

    def busy() -> str:
        return (
            f"another training writes in {folder}{_holder(folder)}: wait until it ends, stop it, or give another "
            "--run-dir"
        )

    with locked_folder(folder, LOCK_FILE, ("train", "training"), busy, "give another --run-dir", wait):
        ours = _OURS.set(_OURS.get() | {place})
        try:
            _sign(folder)
            yield
        finally:
            _OURS.reset(ours)


def is_empty(folder: Path) -> bool:
    """Return whether there is nothing in a run's folder, or no such folder; a lock is nothing."""
    return not folder.exists() or all(one.name == LOCK_FILE for one in folder.iterdir())


def _sign(folder: Path) -> None:
    """Say in the lock who holds it; nobody else writes there meanwhile."""
    note = {"process": os.getpid(), "machine": platform.node(), "since": time.strftime("%Y-%m-%d %H:%M:%S")}
    with contextlib.suppress(OSError):
        (folder / LOCK_FILE).write_text(json.dumps(note), encoding="utf-8")


class LockHolder(NamedTuple):
    """Who holds a run's folder, as it says itself."""

    process: int
    machine: str
    since: str


def holder_of(folder: Path) -> LockHolder | None:
    """Return who holds a run's folder, by the note in its lock, which is not touched; None if that does not say.

    Trying the lock would be more reliable, but a training that starts at that moment would be refused.

    Raises PermissionError where a lock in use may not be read, as on Windows.
    """
    try:
        with (folder / LOCK_FILE).open("rb") as file:
            note = json.loads(file.read(_LONGEST_NOTE))
        return LockHolder(int(note["process"]), str(note["machine"]), str(note["since"]))
    except PermissionError:
        raise
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None


def _holder(folder: Path) -> str:
    """Return who holds a lock, as the rest of a sentence; nothing if it does not say."""
    with contextlib.suppress(PermissionError):
        if (found := holder_of(folder)) is not None:
            there = "" if found.machine == platform.node() else f" on {found.machine}"
            return f" since {found.since} (process {found.process}{there})"
    return ""


def newest_checkpoint(folder: Path) -> Path | None:
    """Return the newest whole checkpoint in a run's folder, or None."""
    return next((folder / name for name in CHECKPOINTS if (folder / name).exists()), None)


def replace_checkpoint(folder: Path, fill: Callable[[Path], None]) -> None:
    """Let ``fill`` write a checkpoint into an empty folder; the old one stays until the new one is whole."""
    unfinished, target, old = folder / UNFINISHED, *(folder / name for name in CHECKPOINTS)
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    fill(unfinished)
    if target.exists():  # else it is the old one that is whole, after a kill between the moves below
        shutil.rmtree(old, ignore_errors=True)
        os.replace(target, old)
    os.replace(unfinished, target)
    shutil.rmtree(old, ignore_errors=True)
