"""The one door behind which models and checkpoints are unpickled: only for files that somebody said they trust.

A pickle is a program: reading one does whatever its author wrote. Everything else in `dicegym.players` and
`dicegym.learning` reads plain data; a test walks the sources and finds no other place.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

from dicegym.errors import ModelError, one_line
from dicegym.play.player import Player

TRUST = "--trust (in Python trust=True)"
"""How somebody says so."""


def untrusted(called: object, reason: str) -> ModelError:
    """Return the error for a file that plain data does not explain.

    Args:
        called: what it is called.
        reason: what is in it that only a program can make.
    """
    return ModelError(
        f"{called} cannot be loaded as data alone: {reason}. To load the rest of it runs whatever its author wrote: if "
        f"you trust whoever made it, say so by {TRUST}; contests take it, if its layers are plain, once "
        "dicegym.save_model has written it anew"
    )


def load_sb3(kind: Any, path: str | os.PathLike[str], device: Any, replaced: dict[str, Any] | None) -> Any:
    """Return the model of class ``kind`` in a file of Stable-Baselines3, which runs what the file says.

    Args:
        kind: the algorithm's class.
        path: the file.
        device: a ``torch.device``.
        replaced: attributes that are set to this instead of what the file has.

    Raises:
        ModelError: the file cannot be loaded, such as for a class of somebody's that cannot be imported.
    """
    try:
        return kind.load(path, device=device, custom_objects=replaced)
    except ModuleNotFoundError as error:
        raise ModelError(
            f"{path} needs the module {error.name!r}, in which a class of its policy is defined: run from the folder "
            "where that module is, or add it to PYTHONPATH"
        ) from error
    except Exception as error:  # whatever unpickling somebody's classes may raise
        text = f"{type(error).__name__}: {one_line(error)}"
        raise ModelError(f"{path} cannot be loaded as a {kind.__name__} model ({text})") from error


def load_object(path: Path, fixed: Sequence[Player]) -> Any:
    """Return what is pickled in a file, which runs what the file says.

    Args:
        path: the file.
        fixed: the players that stand in it by their number, as a bot's program cannot be written.

    Raises:
        ModelError: it is damaged, or another version of dicegym wrote it, whose classes are not these.
    """
    try:
        with path.open("rb") as file:
            return _Unpickler(file, fixed).load()
    except Exception as error:  # whatever unpickling somebody's classes may raise
        raise ModelError(
            f"{path} cannot be loaded: it is damaged, or of another version of dicegym ({type(error).__name__}: "
            f"{one_line(error)})"
        ) from error


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: BinaryIO, fixed: Sequence[Player]) -> None:
        super().__init__(file)
        self._fixed = fixed

    def persistent_load(self, number: int) -> Player:
        return self._fixed[number]
