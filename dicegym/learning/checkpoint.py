"""Folders that hold the state of a training: written whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

NAMES = ("checkpoint", "checkpoint.old")
"""The newest checkpoint is in the first folder that exists: a kill may fall between the moves that change them."""


def newest(folder: Path) -> Path | None:
    """Return the newest whole checkpoint in a run's folder, or None."""
    return next((folder / name for name in NAMES if (folder / name).exists()), None)


def replace(folder: Path, fill: Callable[[Path], None]) -> None:
    """Let ``fill`` write a checkpoint into an empty folder; the old one stays until the new one is whole."""
    unfinished, target, old = folder / "checkpoint.part", *(folder / name for name in NAMES)
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    fill(unfinished)
    shutil.rmtree(old, ignore_errors=True)
    if target.exists():
        os.replace(target, old)
    os.replace(unfinished, target)
    shutil.rmtree(old, ignore_errors=True)
