"""Tables of a row for each position, on disk: mapped into memory, so that all processes share one copy."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dicegym.engine.game import Game
from dicegym.errors import DamagedFileError
from dicegym.files import writing
from dicegym.games.solved import damaged, tables_folder
from dicegym.games.yatzy.rules import SPEC
from dicegym.games.yatzy.solving.positions import POSITIONS, TOTALS

KEPT_FOR = Game(SPEC, 2)
"""The tables are those of any number of players; they are kept with the ones for so many."""
ARRAYS = {"weights": np.uint16, "starts": np.int64, "firsts": np.int64, "scales": np.float64}
"""The arrays of rows, by file, and the type of each; see `dicegym.games.yatzy.solving.rest`."""
SUMS_FILE = "sums.txt"
"""Written last: the checksum of each array, in turn."""

Rows = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def folder_of(name: str) -> Path:
    """Return where the tables ``name`` are kept; the folder need not exist."""
    return tables_folder(KEPT_FOR, name)


def is_kept(folder: Path) -> bool:
    """Return whether there are tables in ``folder``, whole or damaged."""
    return (folder / SUMS_FILE).is_file()


def write(folder: Path, rows: Sequence[np.ndarray]) -> None:
    """Write tables; `is_kept` once all are written."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / SUMS_FILE).unlink(missing_ok=True)
    for name, array in zip(ARRAYS, rows, strict=True):
        with writing(folder / f"{name}.npy") as unfinished, unfinished.open("wb") as stream:
            np.save(stream, array, allow_pickle=False)
    with writing(folder / SUMS_FILE) as unfinished:
        unfinished.write_text(" ".join(str(_sum(array)) for array in rows))


def read(folder: Path, name: str) -> Rows:
    """Return tables that `write` wrote, mapped; copy on write. Raises DamagedFileError if they do not fit together."""
    arrays = []
    for array_name, kind in ARRAYS.items():
        file = folder / f"{array_name}.npy"
        try:
            array = np.asarray(np.load(file, mmap_mode="c", allow_pickle=False))
        except (OSError, ValueError, EOFError) as error:
            raise _damaged(file, f"cannot be read ({error})", name) from None
        if array.dtype != kind or (array_name != "weights" and len(array) != POSITIONS):
            raise _damaged(file, f"holds {array.dtype}[{len(array)}]", name)
        arrays.append(array)
    weights, starts, firsts, scales = arrays
    if starts.shape != (POSITIONS, 2) or weights.ndim != 1 or firsts.ndim != 1 or scales.ndim != 1:
        raise _damaged(folder / "starts.npy", "has another shape than its rows", name)
    ends = starts.sum(axis=1)
    if starts.min() < 0 or ends.max() > len(weights) or firsts.min() < 0 or (firsts + starts[:, 1]).max() > TOTALS + 1:
        raise _damaged(folder / "starts.npy", "leads beyond its rows", name)
    return weights, starts, firsts, scales


def check(folder: Path, name: str) -> None:
    """Raise DamagedFileError unless the tables in ``folder`` are what was written, to the last byte."""
    sums = (folder / SUMS_FILE).read_text(encoding="utf-8", errors="replace").split()
    for array_name, array, known in zip(ARRAYS, read(folder, name), [*sums, *ARRAYS], strict=False):
        if str(_sum(array)) != known:
            raise _damaged(folder / f"{array_name}.npy", "is not what was written", name)


def _sum(array: np.ndarray) -> int:
    return zlib.crc32(np.ascontiguousarray(array).data)


def _damaged(file: Path, reason: str, name: str) -> DamagedFileError:
    return damaged(file, reason, KEPT_FOR, name)
