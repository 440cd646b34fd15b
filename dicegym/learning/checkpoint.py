"""Folders that hold the state of a training: written whole or not at all, with players that cannot be written."""

from __future__ import annotations

import os
import pickle
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import cloudpickle

from dicegym.errors import ParameterError
from dicegym.play.player import Player

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


def dump(state: Any, path: Path, fixed: Sequence[Player]) -> None:
    """Write a state; the ``fixed`` players in it by their number, as a bot's program cannot be written."""
    with path.open("wb") as file:
        _Pickler(file, fixed).dump(state)


def load(path: Path, fixed: Sequence[Player]) -> Any:
    """Return what `dump` wrote, with the same ``fixed`` players. Only for files that one wrote oneself.

    Raises ParameterError if another version of dicegym wrote it, whose classes are not these.
    """
    try:
        with path.open("rb") as file:
            return _Unpickler(file, fixed).load()
    except (ImportError, AttributeError, IndexError) as error:
        raise ParameterError(
            f"{path} was written by another version of dicegym ({error}) and cannot be resumed: begin a new run with "
            f"--set run.start_from={path.parent.parent / 'best.zip'}"
        ) from None


# cloudpickle also writes classes that came from a file which settings name: nobody could import them.
class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]  # it ships no types
    def __init__(self, file: BinaryIO, fixed: Sequence[Player]) -> None:
        super().__init__(file)
        self._numbers = {id(player): number for number, player in enumerate(fixed)}

    def persistent_id(self, thing: object) -> int | None:
        return self._numbers.get(id(thing))


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: BinaryIO, fixed: Sequence[Player]) -> None:
        super().__init__(file)
        self._fixed = fixed

    def persistent_load(self, number: int) -> Player:
        return self._fixed[number]
