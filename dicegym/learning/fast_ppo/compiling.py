"""How kernels of `FastMaskablePPO` are compiled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba

from dicegym.engine.jit import CACHE_FOLDER, COMPILED
from dicegym.engine.kernel_cache import KernelCache

F = TypeVar("F", bound=Callable[..., Any])

_IN_ANY_ORDER = {"reassoc", "contract", "nsz", "arcp"}
"""What a compiler may assume of numbers: not that all are finite."""


def fast_kernel(function: F) -> F:
    """Compile ``function``, release the lock while it runs, and keep it on disk by the sources of this folder."""
    compiled: Any = numba.njit(nogil=True, error_model="numpy", fastmath=_IN_ANY_ORDER)(function)
    if COMPILED:
        compiled._cache = KernelCache(function, Path(CACHE_FOLDER), lambda file: False)
    return compiled  # type: ignore[no-any-return]  # Numba has no types
