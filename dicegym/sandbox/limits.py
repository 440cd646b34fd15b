"""What an entry may use."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from dicegym.engine.validate import whole_number
from dicegym.errors import ParameterError


@dataclass(frozen=True)
class Limits:
    """What an entry may use.

    Attributes:
        seconds: wall-clock time to load; then to answer all questions of the contest's test; and for all its
            moves of a match together.
        memory: bytes beyond what the program itself needs (enforced on Linux).

    Raises:
        ParameterError: not positive.
    """

    seconds: float = 10.0
    memory: int = 512 << 20

    def __post_init__(self) -> None:
        """Check the values."""
        if not self.seconds > 0:
            raise ParameterError(f"seconds={self.seconds!r} leaves no time to think: give more than 0")
        whole_number("memory", self.memory, 1 << 20, 1 << 50, "the memory of an entry in bytes")


def limit_memory(extra: int) -> None:
    """Let this process have ``extra`` more bytes of data than it has now, and leave no core file."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError, ValueError, IndexError):  # not Linux, or a lower limit is in force already
        with open("/proc/self/statm", encoding="ascii") as file:
            data = int(file.read().split()[5]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_DATA, (data + extra, data + extra))
