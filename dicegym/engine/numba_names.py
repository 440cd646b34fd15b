"""The names of Numba and llvmlite that kernels use, and placeholders for them with compilation off.

Loading these libraries takes twice as long as everything else that a list of games needs.
"""

# mypy: ignore-errors
# Numba is untyped.

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any


def _is_off() -> bool:
    """Return whether NUMBA_DISABLE_JIT is set, as Numba reads it."""
    try:
        return bool(int(os.environ.get("NUMBA_DISABLE_JIT") or 0))
    except ValueError:
        return False


class _Nothing:
    """A placeholder for every name, and for everything made with it; it is never used."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self


COMPILED: bool
"""False when ``NUMBA_DISABLE_JIT`` is set: kernels are then plain Python functions."""
if TYPE_CHECKING or not _is_off():
    import numba
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.core.errors import TypingError
    from numba.extending import intrinsic, overload
    from numba.np.numpy_support import as_dtype

    COMPILED = not numba.config.DISABLE_JIT
else:
    numba = ir = types = cgutils = TypingError = intrinsic = overload = as_dtype = _Nothing()
    COMPILED = False

__all__ = ["COMPILED", "TypingError", "as_dtype", "cgutils", "intrinsic", "ir", "numba", "overload", "types"]
