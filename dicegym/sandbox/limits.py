"""What an entry may use."""

from __future__ import annotations

import contextlib
import os
import warnings
from dataclasses import dataclass
from pathlib import Path

from dicegym.engine import jit, kernel_cache
from dicegym.engine.validate import whole_number
from dicegym.errors import ParameterError
from dicegym.sandbox import confinement, landlock

PATIENCE = 10
"""How much more time an entry has on the clock than on a processor."""


@dataclass(frozen=True)
class Limits:
    """What an entry may use, by its referee's clocks.

    Attributes:
        seconds: processor time for all its moves of a match together, and for the contest's whole
            test. A clock on the wall `PATIENCE` times as generous catches what hangs; it leaves out the wait for a
            processor (`dicegym.sandbox.heartbeat.is_late`).
        memory: bytes beyond what the program itself needs (enforced on Linux).
        start: processor time to load; None: as ``seconds``.
        move: processor time for one move; None: as ``seconds``.

    Raises:
        ParameterError: not positive.

    Example:
        >>> from dicegym.contest import Limits
        >>> Limits(seconds=60, memory=1 << 30).seconds
        60
    """

    seconds: float = 10.0
    memory: int = 512 << 20
    start: float | None = None
    move: float | None = None

    @staticmethod
    def wall_of(seconds: float) -> float:
        """Return the seconds on the clock that go with so many of processor time, sleep and waiting included."""
        return PATIENCE * seconds

    @property
    def wall(self) -> float:
        """Seconds on the clock for all moves of a match together."""
        return self.wall_of(self.seconds)

    @property
    def start_seconds(self) -> float:
        """Processor time to load."""
        return self.seconds if self.start is None else self.start

    @property
    def move_seconds(self) -> float:
        """Processor time for one move."""
        return self.seconds if self.move is None else self.move

    @property
    def most_seconds(self) -> float:
        """Processor time that no process can need, whatever it does in a match or in the contest's test."""
        return self.start_seconds + self.seconds

    def __post_init__(self) -> None:
        """Check the values."""
        given = {"seconds": self.seconds, "start": self.start, "move": self.move}
        for name, seconds in given.items():
            if seconds is not None and not seconds > 0:
                raise ParameterError(f"{name}={seconds!r} leaves no time to think: give more than 0")
        whole_number("memory", self.memory, 1 << 20, 1 << 50, "the memory of an entry in bytes")


def limit_memory(extra: int) -> None:
    """Let this process have ``extra`` more bytes of data than it has now, and leave no core file."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError, ValueError, IndexError):  # not Linux, or a lower limit is in force already
        with open("/proc/self/statm", encoding="ascii") as file:
            data = int(file.read().split()[5]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_DATA, (data + extra, data + extra))


def end_with(parent: int) -> None:
    """End this process with process ``parent``; see `confinement.end_with`. It ends at once if that is gone already."""
    try:
        confinement.end_with(parent)
    except ProcessLookupError:
        os._exit(1)


def kernel_folders() -> list[Path]:
    """Return all folders of compiled kernels beside the one of these sources: later processes run what is in them."""
    return sorted(Path(jit.CACHE_FOLDER).parent.glob("kernels-*")) if jit.CACHE_FOLDER else []


def warn_of_kernels() -> None:
    """Warn who lets bots' files play where nothing keeps them from writing what he can write (RuntimeWarning)."""
    if jit.CACHE_FOLDER:
        warnings.warn(
            "compiled kernels are not protected from bots' files, which nothing keeps from files of yours here: they "
            f"could change what later runs load from {jit.CACHE_FOLDER}; let none play that you do not trust",
            RuntimeWarning,
            stacklevel=3,
        )


def give_up_kernels() -> bool:
    """Make this process, and what it starts, unable to change compiled kernels on disk; return whether that holds.

    It holds where the kernel has Landlock (see `dicegym.sandbox.landlock`). What is compiled from now on is kept in
    memory, so let it load what it needs before. Call it before untrusted code is loaded and before threads start.
    """
    kernel_cache.stop_writing()
    return landlock.give_up_writing(kernel_folders())
