"""Settings that ask for more memory than there is are a mistake of the settings, and told as one."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from dicegym.errors import ParameterError, one_line


@contextlib.contextmanager
def enough_memory(asked: str) -> Iterator[None]:
    """Raise ParameterError if what is made here cannot have its memory; ``asked`` are the settings that say how much.

    NumPy raises MemoryError, PyTorch a RuntimeError that says so in words.
    """
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "allocate" not in str(error):
            raise
        raise ParameterError(
            f"{asked} cannot be used here, as there is not so much memory ({one_line(error) or 'MemoryError'}): give "
            "smaller numbers"
        ) from None
