"""How many functions a piece of code calls: what it takes, whatever machine it runs on and whatever runs beside it."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator


class Calls:
    """A number of calls, of Python's functions and of C's."""

    def __init__(self) -> None:
        self.made = 0

    def count(self, _frame: object, event: str, _argument: object) -> None:
        """Count an event that a profiler is told of."""
        self.made += event in ("call", "c_call")


@contextlib.contextmanager
def counted(threads: bool = False) -> Iterator[Calls]:
    """Count the calls of this thread, or with ``threads`` also those of all threads that begin meanwhile."""
    calls, before, of_threads = Calls(), sys.getprofile(), threading.getprofile()
    if threads:
        threading.setprofile(calls.count)
    sys.setprofile(calls.count)
    try:
        yield calls
    finally:
        sys.setprofile(before)
        threading.setprofile(of_threads)
