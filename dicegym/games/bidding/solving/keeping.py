"""Large arrays on disk: files, and the list of them, which is written last, so that all are old or all are new."""

from __future__ import annotations

import contextlib
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dicegym import files
from dicegym.engine.game import Game
from dicegym.errors import DamagedFileError
from dicegym.games.solved import report_damage


def _sum(array: np.ndarray) -> int:
    plain: Any = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return zlib.crc32(plain)


def write(folder: Path, kind: str, tag: int, arrays: Mapping[str, np.ndarray], facts: Mapping[str, Any]) -> None:
    """Write arrays and facts about them, in place of what was written as this kind before.

    Args:
        folder: where; it is made if it is missing.
        kind: what they are, as files are called.
        tag: a number that tells these arrays from those written before.
        arrays: by name.
        facts: whatever JSON can say.
    """
    folder.mkdir(parents=True, exist_ok=True)
    told = {}
    for name, array in arrays.items():
        file = f"{kind}-{tag:08d}-{name}.npy"
        with files.writing(folder / file) as path, path.open("wb") as stream:
            np.save(stream, array, allow_pickle=False)
        told[name] = {"file": file, "shape": list(array.shape), "dtype": str(array.dtype), "crc32": _sum(array)}
    files.write_text(folder / f"{kind}.json", json.dumps({"arrays": told, "facts": facts}, indent=1) + "\n")
    _tidy(folder, kind, {entry["file"] for entry in told.values()})


def _tidy(folder: Path, kind: str, kept: set[Any]) -> None:
    for path in folder.glob(f"{kind}-*.npy"):
        if path.name not in kept:
            with contextlib.suppress(OSError):  # on Windows one that somebody reads; it goes the next time
                path.unlink()


def remove(folder: Path, kind: str) -> None:
    """Remove what was written as this kind, if anything."""
    (folder / f"{kind}.json").unlink(missing_ok=True)
    _tidy(folder, kind, set())


def facts(folder: Path, kind: str, game: Game, name: str) -> dict[str, Any] | None:
    """Return the facts that were written, or None if there are none. Raises DamagedFileError.

    ``game`` and ``name`` say whose tables they are, for errors.
    """
    found = _list(folder, kind, game, name)
    return None if found is None else found["facts"]


def _list(folder: Path, kind: str, game: Game, name: str) -> dict[str, Any] | None:
    path = folder / f"{kind}.json"
    if not path.exists():
        return None
    try:
        found = json.loads(files.read_text(path, ""))
        if isinstance(found["arrays"], dict) and isinstance(found["facts"], dict):
            return dict(found)
        raise report_damage(path, "is no list of tables", game, name)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise report_damage(path, "is no list of tables", game, name) from None


def read(folder: Path, kind: str, game: Game, name: str, *, mapped: bool) -> tuple[dict[str, np.ndarray], Any]:
    """Return arrays and facts that were written, which must be there.

    Args:
        folder: where.
        kind: as of `write`.
        game: whose tables they are, for errors.
        name: what they are called, for errors.
        mapped: whether arrays stay on disk and are read where they are asked for; else they can be written to.

    Raises DamagedFileError if one is missing, broken off or changed: each has a checksum.
    """
    found = _list(folder, kind, game, name)
    if found is None:
        raise report_damage(folder / f"{kind}.json", "is missing", game, name)
    arrays = {}
    for key, entry in found["arrays"].items():
        path = folder / kind
        try:
            path = folder / Path(str(entry["file"])).name
            with path.open("rb") as stream:
                array = np.load(path if mapped else stream, mmap_mode="r" if mapped else None, allow_pickle=False)
            whole = list(array.shape) == entry["shape"] and str(array.dtype) == entry["dtype"]
            whole = whole and _sum(array) == entry["crc32"]
        except (OSError, ValueError, KeyError, TypeError, EOFError, DamagedFileError) as error:
            raise report_damage(path, f"cannot be read ({error})", game, name) from None
        if not whole:
            raise report_damage(path, "is not what was written", game, name)
        arrays[key] = array
    return arrays, found["facts"]
