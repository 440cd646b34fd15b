"""Compiled loops on several cores: kernels release Python's lock, so plain threads are enough."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")

LEAST_ROWS = 512
"""Games that a thread gets at least: two threads were slower than one with 256 games (Hog, two cores)."""
FEW_ROWS = 64
"""As many are enough where a helper is awake (`dicegym.engine.crew`), as one is that just computed a network's part."""


def cores() -> int:
    """Return how many processors this process may use, which on a shared machine may be fewer than it has."""
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1


def let_libraries_wait_idly() -> None:
    """Ask the libraries that are loaded from now on to let their threads sleep while there is nothing to do.

    PyTorch's otherwise wait for each other at full speed: with two of them on a machine that has other things to do,
    an update took twenty times as long, and a product of matrices a hundred times (measured). A choice that the user
    made stands.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def one_thread_of_products() -> AbstractContextManager[Any]:
    """Keep NumPy's matrix products to one thread while the context lasts, if threadpoolctl is installed.

    OpenBLAS's threads wait for each other at full speed: of 64 rows through a network of 256 and 128 units two of them
    needed 0.5 ms a row on two cores that had much else to do, and one 4 us (docs/speed.md has more). Entering and
    leaving takes 8 us. The number is one for the whole process.
    """
    controller = _products()
    limited: AbstractContextManager[Any] = nullcontext() if controller is None else controller.limit(limits=1)
    return limited


@cache
def _products() -> Any:
    """Return what counts the threads of the libraries that are loaded, or None; finding them takes milliseconds."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController().select(user_api="blas")


class Threads:
    """Shares the games of a batch out among threads. What is played does not depend on their number.

    Args:
        count: number of threads, the caller's own included.

    Raises:
        ParameterError: ``count`` is not a whole number from 1 to 1024.
    """

    def __init__(self, count: Any = 1) -> None:
        from dicegym.engine.validate import whole_number  # NumPy, which the command's help does without

        self.count = whole_number("threads", count, 1, 1024, "a number of threads")
        self._executor: ThreadPoolExecutor | None = None
        self._process = 0

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle by the number: threads themselves are started when they are needed."""
        return Threads, (self.count,)

    def edges(self, n: int, few: bool = False) -> list[int]:
        """Return where the parts of ``n`` games begin, one a thread, and the end of the last.

        A ``few`` games may be a part.
        """
        parts = min(self.count, max(1, n // (FEW_ROWS if few else LEAST_ROWS)))
        return [n * part // parts for part in range(parts + 1)]

    def share(self, n: int, work: Callable[[int, int], T]) -> list[tuple[int, T]]:
        """Call ``work(start, end)`` for parts of 0..n; return (start, what it returned) of each, in order.

        An exception of a part is raised when all parts have ended.
        """
        edges = self.edges(n)
        parts = len(edges) - 1
        if parts == 1:
            return [(0, work(0, n))]
        if self._executor is None or self._process != os.getpid():  # a forked process has the pool without its threads
            self._process = os.getpid()
            self._executor = ThreadPoolExecutor(self.count - 1, "dicegym")
        tasks = [self._executor.submit(work, edges[part], edges[part + 1]) for part in range(1, parts)]
        try:
            mine = work(edges[0], edges[1])
        finally:
            _wait_for(tasks)
            errors = [task.exception() for task in tasks]
        if error := next(filter(None, errors), None):
            raise error
        return [(0, mine), *((edges[part], tasks[part - 1].result()) for part in range(1, parts))]


def _wait_for(tasks: Sequence[Future[T]]) -> None:
    """Return when all have ended. Raises what interrupts this after that; a second interruption at once."""
    try:
        wait(tasks)
    except BaseException:  # a part that is still at work would write into what is begun next
        wait(tasks)
        raise
