"""Compiled kernels on disk: one file for each kernel and signature, used only if it is intact and the user's own.

Numba's own cache has an index file. A damaged index stops every start (seen with Numba 0.68: ``UnpicklingError``), and
two processes that write at once can make it point to the wrong data. Here a file's name is a hash of everything that
the compiled code depends on, and its first bytes are a hash of the rest:

    bytes 0 to 31    SHA-256 of what follows
    bytes 32 on      pickle of (key, compiled function as Numba reduces it)

A damaged file is removed and the kernel compiled. If files cannot be written, kernels stay in memory.

The folder's name depends on the package's sources (`dicegym.engine.jit`). The key of a kernel of another package has a
hash of the Python files beside it, and so has the key of a loop that is compiled for the record of its game
(`declare`).
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
# Numba is untyped.

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import sys
import uuid
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core.caching import CompileResultCacheImpl, NullCache
from numba.core.serialize import dumps

from dicegym.engine.cache_folder import is_ours

_MADE_BY = (
    sys.implementation.cache_tag,
    numba.__version__,
    llvmlite.__version__,
    np.__version__,
    str(getattr(numba.config, "OPT", "")),
)
_DIGEST = 32
_FORM = CompileResultCacheImpl.__new__(CompileResultCacheImpl)  # without its constructor, which looks for a folder
_OPEN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)

_outside: dict[str, str | None] = {}
"""Text of a Numba record type -> hash of the sources of its game outside the package; None: unknown."""


# --- sources outside the package ---------------------------------------------------------------------------


@functools.lru_cache(maxsize=64)
def _hash_of(files: tuple[tuple[str, int, int], ...]) -> str:
    digest = hashlib.sha256()
    for path, _, _ in files:
        digest.update(path.encode() + b"\0" + Path(path).read_bytes() + b"\0")
    return digest.hexdigest()


def hash_beside(file: str) -> str | None:
    """Return a hash of the Python files in the folder of ``file``, and below it if that is a package.

    None if that is not a file (a notebook's cell, the prompt), or a file cannot be read.
    """
    try:
        if not os.path.isfile(file):
            return None
        folder = Path(file).resolve().parent
        paths = sorted(folder.rglob("*.py") if (folder / "__init__.py").exists() else folder.glob("*.py"))
        facts = [(str(path), path.stat()) for path in paths]
        return _hash_of(tuple((path, found.st_mtime_ns, found.st_size) for path, found in facts))
    except OSError:
        return None


def declare(dtype: np.dtype, file: str) -> None:
    """Make cached loops over records of ``dtype`` depend on the sources beside ``file``, the rules of its game."""
    record = numba.from_dtype(dtype)
    _outside[str(record)] = _outside[repr(record)] = hash_beside(file)


# --- files -------------------------------------------------------------------------------------------------


def load_entry(path: Path, key: Any) -> Any:
    """Return the data saved in a file under ``key``; None if the file is missing, damaged or not the user's own."""
    try:
        with open(os.open(path, os.O_RDONLY | _OPEN), "rb") as file:
            content = file.read() if is_ours(os.fstat(file.fileno())) else b""
    except FileNotFoundError:
        return None
    except OSError:  # a link, an unreadable block
        content = b""
    if hashlib.sha256(content[_DIGEST:]).digest() == content[:_DIGEST]:
        with contextlib.suppress(Exception):  # unpickling can raise anything
            found, data = pickle.loads(content[_DIGEST:])
            if found == key:
                return data
    drop_entry(path)
    return None


def save_entry(path: Path, key: Any, data: Any) -> None:
    """Write ``data`` atomically, even if other processes write at the same time. Raises OSError."""
    body = dumps((key, data))
    unfinished = path.with_name(f"{path.name}.{uuid.uuid4().hex[:16]}.tmp")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # another process may have removed it
    try:
        with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _OPEN, 0o600), "wb") as file:
            file.write(hashlib.sha256(body).digest() + body)
        os.replace(unfinished, path)
    except BaseException:
        drop_entry(unfinished)
        raise


def drop_entry(path: Path) -> None:
    """Remove a file if it exists."""
    with contextlib.suppress(OSError):
        path.unlink()


# --- Numba's side ------------------------------------------------------------------------------------------


class KernelCache(NullCache):
    """Numba's interface to the cached code of one function.

    Args:
        function: the function that is compiled.
        folder: the folder for the files (`dicegym.engine.cache_folder`).
        sources: hash of the sources that the folder's name does not depend on; None: unknown, so nothing is cached.
    """

    def __init__(self, function: Callable[..., Any], folder: Path, sources: str | None) -> None:
        name = f"{function.__module__}.{function.__qualname__}".replace("<", "").replace(">", "")
        self._folder, self._sources, self._function = folder, sources, function
        self._stem = f"{name[-100:]}-{function.__code__.co_firstlineno}"

    @property
    def cache_path(self) -> str:
        """The folder, for Numba's statistics."""
        return str(self._folder)

    def _path(self, key: Any) -> Path:
        digest = hashlib.sha256(repr(key).encode()).hexdigest()[:32]
        return self._folder / f"{self._stem}-{digest}.nbc"

    def _key(self, sig: Any, codegen: Any) -> Any:
        """Return everything that the compiled code depends on; None if it is unknown."""
        text = repr(sig)
        sources = (self._sources, *(found for record, found in _outside.items() if record in text))
        if None in sources:
            return None
        code = hashlib.sha256(self._function.__code__.co_code)
        if closure := self._function.__closure__:
            code.update(dumps(tuple(cell.cell_contents for cell in closure)))
        return _MADE_BY, sources, sig, codegen.magic_tuple(), code.hexdigest()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the cached function for a signature, or None."""
        target_context.refresh()
        key = self._key(sig, target_context.codegen())
        data = load_entry(self._path(key), key) if key else None
        if data is None:
            return None
        try:
            return _FORM.rebuild(target_context, data)
        except Exception:  # intact, but not a compiled function
            drop_entry(self._path(key))
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Cache a compiled function, unless it depends on addresses of this process."""
        key = self._key(sig, data.codegen)
        if not key or data.library.has_dynamic_globals:
            return
        try:
            save_entry(self._path(key), key, _FORM.reduce(data))
        except OSError as error:
            warnings.warn(
                f"compiled kernels cannot be kept in {self._folder} ({error.strerror or error}): the next process "
                "compiles them again. Make room there, or set DICEGYM_CACHE to another folder",
                RuntimeWarning,
                stacklevel=2,
            )
