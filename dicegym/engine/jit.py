"""How kernels are compiled and cached.

Numba keys a cached function on the file that holds it alone: after a change of a rule, a loop in another
file that calls it would go on running the old rule. So all kernels live in a folder named by a hash of
every source file that kernels stand in or take constants from (`KERNEL_SOURCES`, which a test compares with the
imports); a change of any of them starts a new folder.

Environment variables:
    DICEGYM_CACHE: folder for compiled kernels (default: ``dicegym`` in the user's cache folder).
    NUMBA_DISABLE_JIT=1: run every kernel as plain Python (for debuggers, coverage and reading).
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# mypy: disable-error-code="attr-defined"
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core.options import DefaultOptions

PACKAGE = Path(__file__).parents[1]
COMPILED: bool = not numba.config.DISABLE_JIT
"""False when ``NUMBA_DISABLE_JIT`` is set: kernels are then plain Python functions."""
KERNEL_SOURCES = ("engine", "games", "envs/batch_kernels.py")
"""Folders and files of the package that compiled code depends on."""
KEPT_FOLDERS = 4
"""How many generations of compiled kernels stay on disk, so that two checkouts do not evict each other."""

_COUNTING_CAN_BE_SET = hasattr(DefaultOptions, "_nrt")
"""Numba lists this option without promising to keep it; without it kernels are right and slower."""

F = TypeVar("F", bound=Callable[..., Any])


def source_hash(package: Path = PACKAGE) -> str:
    """Return 16 hexadecimal digits that change with any file of `KERNEL_SOURCES` below ``package``."""
    digest = hashlib.sha256()
    for place in KERNEL_SOURCES:
        found = package / place
        for path in sorted(found.rglob("*.py")) if found.is_dir() else [found]:
            digest.update(str(path.relative_to(package)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _cache_root() -> Path:
    if configured := os.environ.get("DICEGYM_CACHE"):
        return Path(configured).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "dicegym"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "dicegym"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "dicegym"


def _usable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _private(folder: Path) -> bool:
    """Make ``folder``; return whether nobody else can write in it. Numba unpickles what it finds in its cache."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        facts = folder.lstat()
    except OSError:
        return False
    if not hasattr(os, "getuid"):  # Windows, where the temporary folder is the user's own
        return True
    return stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.getuid() and not facts.st_mode & 0o022


def _drop_old_generations(root: Path, current: Path) -> None:
    with contextlib.suppress(OSError):  # another process may tidy up at the same time
        current.touch()
        folders = sorted(root.glob("kernels-*"), key=lambda folder: folder.stat().st_mtime, reverse=True)
        for folder in folders[KEPT_FOLDERS:]:
            if folder != current:
                shutil.rmtree(folder, ignore_errors=True)


def _cache_folder() -> str:
    root = _cache_root()
    generation = f"kernels-{source_hash()}"
    if numba.config.BOUNDSCHECK:  # Numba would take the cached function without the checks
        generation += "-checked"
    folder = root / generation
    if not _usable(folder):  # a read-only home: compile once per machine start rather than once per process
        user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
        root = Path(tempfile.gettempdir()) / f"dicegym-{user}"
        folder = root / generation
        if not (_private(root) and _usable(folder)):
            return tempfile.mkdtemp(prefix="dicegym-")
    _drop_old_generations(root, folder)
    return str(folder)


CACHE_FOLDER: str = _cache_folder() if COMPILED else ""


@contextlib.contextmanager
def _cached_in_our_folder() -> Iterator[None]:
    """Point Numba's cache setting at our folder while one function is decorated, and back again."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = CACHE_FOLDER
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


def kernel(function: F) -> F:
    """Compile ``function`` with Numba, release the lock while it runs, and cache it on disk."""
    return _compiled(function, counted=True)


def loop_kernel(function: F) -> F:
    """As `kernel`, for loops over records and rows: arrays in them are borrowed from the caller and not counted.

    Counting references took nearly half the time of a batch's step: every ``observations[i]`` counted up and down,
    atomically. In return such a kernel can allocate no array, nor assign one slice to another (Numba refuses to
    compile it), and kernels that it calls may not return arrays, which nobody would ever free.
    """
    return _compiled(function, counted=False)


def _compiled(function: F, counted: bool) -> F:
    options: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}
    if _COUNTING_CAN_BE_SET:  # said in either case: else a kernel takes it from whichever happens to call it first
        options["_nrt"] = counted
    with _cached_in_our_folder():
        compiled: F = numba.njit(**options)(function)
    return compiled


def records(n: int, dtype: np.dtype) -> np.ndarray:
    """Return ``n`` records of zeros in the form that kernels take, compiled or not."""
    states = np.zeros(n, dtype)
    return states if COMPILED else states.view(np.recarray)
