"""How kernels are compiled and cached.

Numba's cache depends only on the file of the cached function: after a change of a rule, a loop in another file would
keep running the old rule. So kernels are cached in a folder named by a hash of all source files with kernels or their
constants (`KERNEL_SOURCES`, which a test compares with the imports). A change of any of them starts a new folder. A
checkout and an installed wheel of the same sources share one. `dicegym.engine.kernel_cache` writes the files, and
`dicegym.engine.cache_folder` chooses the folder.

Environment variables:
    DICEGYM_CACHE: folder for compiled kernels (default: ``dicegym`` in the user's cache folder).
        Nobody else may write in it; see `dicegym.engine.cache_folder`.
    NUMBA_DISABLE_JIT=1: run every kernel as plain Python, for debuggers and coverage.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# mypy: disable-error-code="attr-defined"
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from dicegym.engine import cache_folder
from dicegym.engine.numba_names import COMPILED as COMPILED  # noqa: PLC0414 - for other modules
from dicegym.engine.numba_names import numba

if COMPILED:
    from dicegym.engine import kernel_cache

PACKAGE = Path(__file__).parents[1]
KERNEL_SOURCES = ("engine", "games", "envs/batch_kernels.py")
"""Folders and files of the package that compiled code depends on."""
WITHOUT_KERNELS = (
    "adapter.py",
    "chance.py",
    "controls.py",
    "exact.py",
    "examination.py",
    "hidden.py",
    "interface.py",
    "keyboard.py",
    "luck.py",
    "original_contest.py",
    "parts.py",
    "picture.py",
    "positions.py",
    "protocol.py",
    "rules_page.py",
    "solved.py",
    "text.py",
    "values.py",
    "web_controls.py",
    "worth.py",
)
"""Files below ``games`` that no compiled code depends on: a change of them needs no new compilation."""
APART = "solving"
"""Folders of this name below ``games`` have kernels that only their own folder calls. These are cached by the sources
of that folder, like kernels of other packages, so that a change of a solver compiles only that solver."""

F = TypeVar("F", bound=Callable[..., Any])


def kernel_sources(package: Path) -> list[Path]:
    """Return the files of `KERNEL_SOURCES` below ``package``."""
    found = []
    for place in KERNEL_SOURCES:
        for path in sorted((package / place).rglob("*.py")) or [package / place]:
            if place != "games" or (path.name not in WITHOUT_KERNELS and path.parent.name != APART):
                found.append(path)
    return found


def source_hash(package: Path = PACKAGE) -> str:
    """Return a hash of `kernel_sources`, 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for path in kernel_sources(package):
        digest.update(str(path.relative_to(package)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


_PARTS = frozenset(map(str, kernel_sources(PACKAGE)))


def _file_of(function: Any) -> str:
    """Return the file of a function, compiled or not."""
    return str(getattr(function, "py_func", function).__code__.co_filename)


def _generation() -> str:
    """Return the folder's name for these sources in Numba's present mode."""
    # Numba would use a cached function without checks.
    return f"kernels-{source_hash()}{'-checked' if numba.config.BOUNDSCHECK else ''}"


CACHE_FOLDER: str = str(cache_folder.find(_generation())) if COMPILED else ""


def kernel(function: F) -> F:
    """Compile ``function`` with Numba, cached on disk; it runs without Python's lock."""
    return _compiled(function, counted=True)


def loop_kernel(function: F) -> F:
    """Compile as `kernel` does, without reference counts, for loops over records and rows.

    Atomic counting for every ``observations[i]`` took nearly half the time of a batch's step. Without it, a kernel
    cannot allocate arrays or assign one slice to another (Numba refuses to compile that). Kernels that it calls must
    not return arrays, which would never be freed.
    """
    return _compiled(function, counted=False)


def _compiled(function: F, counted: bool) -> F:
    if not COMPILED:
        return function
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    if hasattr(numba.core.options.DefaultOptions, "_nrt"):  # not documented; without it kernels are only slower
        options["_nrt"] = counted  # always: otherwise a kernel takes it from the first one that calls it
    compiled = numba.njit(**options)(function)
    file = _file_of(function)
    sources = "" if file in _PARTS else kernel_cache.hash_beside(file)
    compiled._cache = kernel_cache.KernelCache(function, Path(CACHE_FOLDER), sources)  # as by `cache=True`
    return compiled


def declare(dtype: np.dtype, function: Callable[..., Any]) -> None:
    """Make cached loops over records of ``dtype`` depend on the sources of ``function``, a kernel of its game."""
    if COMPILED and (file := _file_of(function)) not in _PARTS:
        kernel_cache.declare(dtype, file)


def records(n: int, dtype: np.dtype) -> np.ndarray:
    """Return ``n`` records of zeros, in the form that kernels take."""
    states = np.zeros(n, dtype)
    return states if COMPILED else states.view(np.recarray)
