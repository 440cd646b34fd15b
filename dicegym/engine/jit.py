"""How kernels are compiled and cached.

Numba keys a cached function on the file that holds it alone: after a change of a rule, a loop in another
file that calls it would keep running the old rule. So all kernels live in a folder named by a hash of
every source file that holds kernels or constants of theirs (`KERNEL_SOURCES`, which a test compares with the
imports); a change of any of them starts a new folder. A checkout and an installed wheel of the same sources share one.
`dicegym.engine.kernel_cache` writes what is in it, and `dicegym.engine.cache_folder` finds its place.

Environment variables:
    DICEGYM_CACHE: folder for compiled kernels (default: ``dicegym`` in the user's cache folder).
        It must belong to the user alone; see `dicegym.engine.cache_folder`.
    NUMBA_DISABLE_JIT=1: run every kernel as plain Python (for debuggers, coverage and reading).
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# mypy: disable-error-code="attr-defined"
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from dicegym.engine import cache_folder
from dicegym.engine.numba_names import COMPILED as COMPILED  # noqa: PLC0414 - for other modules, too
from dicegym.engine.numba_names import DefaultOptions, numba

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
    "messages.py",
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
"""Files below ``games`` that no compiled code depends on: what a screen says must not make everybody compile again."""
APART = "solving"
"""Folders below ``games`` of this name hold kernels that nothing outside of them calls, and which call none of another
such folder. They are kept by the sources of their own folder, as kernels of other packages are, so that a change of one
solver compiles that solver alone."""

_COUNTING_CAN_BE_SET = hasattr(DefaultOptions, "_nrt")
"""Numba lists this option without promising to keep it; without it kernels are right and slower."""

F = TypeVar("F", bound=Callable[..., Any])


def kernel_sources(package: Path) -> list[Path]:
    """Return the files below ``package`` that `KERNEL_SOURCES` stand for."""
    found = []
    for place in KERNEL_SOURCES:
        for path in sorted((package / place).rglob("*.py")) or [package / place]:
            if place != "games" or (path.name not in WITHOUT_KERNELS and path.parent.name != APART):
                found.append(path)
    return found


def source_hash(package: Path = PACKAGE) -> str:
    """Return 16 hexadecimal digits that change with any file of `kernel_sources`."""
    digest = hashlib.sha256()
    for path in kernel_sources(package):
        digest.update(str(path.relative_to(package)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


_PARTS = frozenset(map(str, kernel_sources(PACKAGE)))


def _file_of(function: Any) -> str:
    """Return the file of a function, compiled or not."""
    return str(getattr(function, "py_func", function).__code__.co_filename)


def _generation() -> str:
    """Return the name of the folder for what is compiled of these sources in Numba's present mode."""
    # Numba would take the cached function without the checks.
    return f"kernels-{source_hash()}{'-checked' if numba.config.BOUNDSCHECK else ''}"


CACHE_FOLDER: str = str(cache_folder.find(_generation())) if COMPILED else ""


def kernel(function: F) -> F:
    """Compile ``function`` with Numba, release the lock while it runs, and keep it on disk."""
    return _compiled(function, counted=True)


def loop_kernel(function: F) -> F:
    """As `kernel`, for loops over records and rows: arrays in them are borrowed from the caller and not counted.

    Counting references took nearly half the time of a batch's step: every ``observations[i]`` counted up and down,
    atomically. In return such a kernel can allocate no array, nor assign one slice to another (Numba refuses to
    compile it), and kernels that it calls may not return arrays, which nobody would ever free.
    """
    return _compiled(function, counted=False)


def _compiled(function: F, counted: bool) -> F:
    if not COMPILED:
        return function
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    if _COUNTING_CAN_BE_SET:  # said in either case: else a kernel takes it from whichever happens to call it first
        options["_nrt"] = counted
    compiled = numba.njit(**options)(function)
    file = _file_of(function)
    sources = "" if file in _PARTS else kernel_cache.hash_beside(file)
    compiled._cache = kernel_cache.KernelCache(function, Path(CACHE_FOLDER), sources)  # what `cache=True` does
    return compiled


def keep(name: str, key: Any, function: Callable[..., Any], compute: Callable[[], str]) -> str:
    """Return what ``compute`` gives, or what an earlier process kept of it beside the kernels of the same sources.

    Args:
        name: begins the file's name.
        key: all that the result depends on beside the sources of the package.
        function: a kernel of the rules; results for rules outside of the package are not kept.
        compute: is called where nothing is kept yet.
    """
    if not COMPILED or _file_of(function) not in _PARTS:
        return compute()
    path = Path(CACHE_FOLDER, f"{name}-{hashlib.sha256(repr(key).encode()).hexdigest()[:32]}.kept")
    found = kernel_cache.load_entry(path, key)
    if found is None:
        found = compute()
        with contextlib.suppress(OSError):  # a folder that can only be read, or is full
            kernel_cache.save_entry(path, key, found)
    return str(found)


def declare(dtype: np.dtype, function: Callable[..., Any]) -> None:
    """Let compiled loops over records of ``dtype`` depend on the sources of ``function``, one of its game's kernels."""
    if COMPILED and (file := _file_of(function)) not in _PARTS:
        kernel_cache.declare(dtype, file)


def records(n: int, dtype: np.dtype) -> np.ndarray:
    """Return ``n`` records of zeros in the form that kernels take, compiled or not."""
    states = np.zeros(n, dtype)
    return states if COMPILED else states.view(np.recarray)
