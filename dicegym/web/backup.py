"""Copies of what a server of pages keeps, made while it runs: databases by SQLite's own means, other files whole."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import stat
from pathlib import Path
from typing import NamedTuple

from dicegym.errors import DamagedFileError, ParameterError

PARTS = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside a database, and a copy does not have: all of it is in the copy."""
HEADER = b"SQLite format 3\0"
STORE = "store"
"""Where in a copy the store of contests lies; the folder of the pages is in ``pages``."""
PAGES = "pages"


class BackedUp(NamedTuple):
    """What was copied."""

    files: int
    databases: int
    size: int
    """Bytes."""


def back_up(folder: Path, store: str, target: Path) -> BackedUp:
    """Copy a server's folder and its store into a folder that is not there yet; it appears when all of it is copied.

    Args:
        folder: what the server keeps.
        store: of contests; one that is a file is copied if it is there, and one on a server is for its own tools.
        target: where to.

    Raises:
        ParameterError: there is nothing to copy, or the target is there already, or cannot be written.
        DamagedFileError: a database is damaged.
    """
    if not folder.is_dir():
        raise ParameterError(f"{folder} is not a folder: give --folder as to `dicegym web`")
    if target.exists():
        raise ParameterError(f"{target} is there already: name a folder that is not, such as {target}-2")
    if target.resolve().is_relative_to(folder.resolve()):
        raise ParameterError(f"{target} is inside {folder}, which is copied: name a folder elsewhere")
    partial = target.with_name(f".{target.name}.partial")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(mode=0o700)
        found = [_copied(path, partial / PAGES / path.relative_to(folder)) for path in _files(folder)]
        if "://" not in store and Path(store).is_file():
            found.append(_copied(Path(store), partial / STORE / Path(store).name))
        os.replace(partial, target)
    except OSError as error:
        raise ParameterError(f"{error.filename or target} cannot be copied: {error.strerror}") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return BackedUp(len(found), sum(found), sum(path.stat().st_size for path in _files(target)))


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if stat.S_ISREG(path.lstat().st_mode) and not _is_part(path))


def _is_part(path: Path) -> bool:
    """Return whether a file belongs to a database beside it."""
    return any(path.name.endswith(part) and path.with_name(path.name.removesuffix(part)).is_file() for part in PARTS)


def _copied(source: Path, target: Path) -> bool:
    """Copy a file; return whether it is a database."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with source.open("rb") as file:
        database = file.read(len(HEADER)) == HEADER
    if not database:
        with contextlib.suppress(FileNotFoundError):  # a game that was put away meanwhile
            shutil.copy2(source, target)
        return False
    try:
        with (
            contextlib.closing(sqlite3.connect(f"{source.resolve().as_uri()}?mode=ro", uri=True)) as there,
            contextlib.closing(sqlite3.connect(target)) as copy,
        ):
            there.backup(copy)
            whole = copy.execute("PRAGMA quick_check").fetchone()[0]
    except sqlite3.Error as error:
        raise DamagedFileError(source, f"cannot be read by SQLite ({error})", "take an earlier backup") from None
    if whole != "ok":
        raise DamagedFileError(source, "is damaged", "take an earlier backup")
    return True
