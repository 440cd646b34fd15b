"""The names of Numba and llvmlite that kernels use; with compilation off neither is loaded.

Loading them takes twice as long as all else that a list of games needs. With compilation off the names stand for
nothing: what is made with them at import is never called then.
"""

# mypy: ignore-errors
# Kernels: Numba has no types that mypy could check.

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any


class _Nothing:
    """What takes the place of every name with compilation off, and of all that is made with it."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self


COMPILED: bool
"""False when ``NUMBA_DISABLE_JIT`` is set: kernels are then plain Python functions."""
if TYPE_CHECKING or os.environ.get("NUMBA_DISABLE_JIT", "") in ("", "0"):
    import numba
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.core.errors import TypingError
    from numba.core.options import DefaultOptions
    from numba.extending import intrinsic, overload
    from numba.np.numpy_support import as_dtype

    COMPILED = not numba.config.DISABLE_JIT
else:
    numba = ir = types = cgutils = TypingError = DefaultOptions = intrinsic = overload = as_dtype = _Nothing()
    COMPILED = False

__all__ = [
    "COMPILED",
    "DefaultOptions",
    "TypingError",
    "as_dtype",
    "cgutils",
    "intrinsic",
    "ir",
    "numba",
    "overload",
    "types",
]
