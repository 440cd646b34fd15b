"""How many functions a piece of code calls: what it takes, whatever machine it runs on and whatever runs beside it.

What is no call, such as a loop, or what one call does in compiled code, is not seen.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator


class Calls:
    """A number of calls, of Python's functions and of C's."""

    def __init__(self) -> None:
        self.made = 0
        self.counting = True

    def count(self, _frame: object, event: str, _argument: object) -> None:
        """Count an event that a profiler is told of."""
        self.made += self.counting and event in ("call", "c_call")


@contextlib.contextmanager
def counted(threads: bool = False) -> Iterator[Calls]:
    """Count the calls of this thread, or with ``threads`` also those of all threads that begin meanwhile.

    Leaving adds a handful.

    Raises RuntimeError if another profiler runs, or took over meanwhile.
    """
    calls, before, of_threads = Calls(), sys.getprofile(), threading.getprofile()
    if before is not None:
        raise RuntimeError(f"{before!r} profiles this thread already, and nothing can be counted beside it")
    if threads:
        threading.setprofile(calls.count)
    sys.setprofile(calls.count)
    try:
        yield calls
    finally:
        ours = sys.getprofile() == calls.count
        sys.setprofile(None)
        threading.setprofile(of_threads)
        calls.counting = False
    if not ours:
        raise RuntimeError("another profiler took over, and calls were not counted to the end")
