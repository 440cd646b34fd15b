"""Results that are on the disk but not in the store yet, because that was locked, full or out of reach.

They stand in a file beside the store (of one on a PostgreSQL server: in the current folder), a line of JSON each, and
are on the disk before a result is told. What is there goes into the store as soon as it can be written, or when a
server starts there again.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from dicegym.errors import DamagedFileError
from dicegym.files import read_bytes
from dicegym.server.results import ForcedTurn, GameResult, SeatResult

LARGEST = 1 << 30
"""Bytes that are read at most: far more than the server lets wait."""


class Run(NamedTuple):
    """A run of a server, as the store has it from its beginning."""

    id: int
    began: str
    seed: str
    version: str


class Finished(NamedTuple):
    """A result with all that its row in the store says."""

    run: Run
    ended: str
    result: GameResult


class Pending:
    """The file of results that wait.

    Args:
        store: the file beside which it is; None: the store is on a server, and it is in the current folder.
        game: whose results.

    Attributes:
        path: where it is.
    """

    def __init__(self, store: Path | None, game: str) -> None:
        beside = Path("dicegym") if store is None else store
        self.path = beside.with_name(f"{beside.name}-{game}-pending")

    def append(self, finished: Sequence[Finished]) -> None:
        """Add results, all or none; they are on the disk when this returns. Raises OSError."""
        new = not self.path.exists()
        data = b"".join(json.dumps(one, separators=(",", ":")).encode() + b"\n" for one in finished)
        with self.path.open("ab", buffering=0) as file:
            before = file.tell()
            try:
                while data:
                    data = data[file.write(data) :]
                os.fsync(file.fileno())
            except OSError:
                with contextlib.suppress(OSError):
                    os.truncate(self.path, before)
                raise
        if new:
            _sync_folder(self.path.parent)

    def read(self) -> list[Finished]:
        """Return what waits, in the order in which it came.

        A last line that is not whole was never told to anybody, and is left out.

        Raises:
            DamagedFileError: the file is damaged, or cannot be read.
        """
        if not self.path.exists():
            return []
        away = "move it away to start without them"
        lines = read_bytes(self.path, f"results wait there; {away}", LARGEST).split(b"\n")[:-1]
        found = []
        for number, line in enumerate(lines, 1):
            try:
                found.append(_finished(json.loads(line)))
            except (ValueError, TypeError, RecursionError):
                reason = f"(results that wait for their store) is damaged in line {number}"
                raise DamagedFileError(self.path, reason, f"take that line out, or {away}") from None
        return found

    def clear(self) -> None:
        """Remove the file: everything is in the store."""
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()
            _sync_folder(self.path.parent)


def _finished(told: list[list[object]]) -> Finished:
    """Return what a line says. Raises TypeError or ValueError."""
    run, ended, (number, seed, seconds, actions, places, incidents) = told
    numbers, texts = (number, seed, *actions, run[0]), (ended, *run[1:])  # type: ignore[misc]  # else a TypeError
    if not all(type(one) is int for one in numbers) or not all(isinstance(one, str) for one in texts):
        raise ValueError
    result = GameResult(
        number,  # type: ignore[arg-type]  # looked at above
        seed,  # type: ignore[arg-type]
        float(seconds),  # type: ignore[arg-type]
        tuple(actions),  # type: ignore[arg-type]
        tuple(SeatResult(*place) for place in places),  # type: ignore[attr-defined]
        tuple(ForcedTurn(*one) for one in incidents),  # type: ignore[attr-defined]
    )
    return Finished(Run(*run), ended, result)  # type: ignore[arg-type]


def _sync_folder(folder: Path) -> None:
    """Have a new or removed name on the disk, where folders can be opened."""
    with contextlib.suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
