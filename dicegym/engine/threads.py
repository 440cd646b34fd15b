"""How many processors there are for this process, and how libraries' threads wait."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any


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


@contextmanager
def one_thread_of_products() -> Iterator[None]:
    """Keep NumPy's matrix products to one thread while the context lasts, if threadpoolctl is installed.

    OpenBLAS's threads wait for each other at full speed: of 64 rows through a network of 256 and 128 units two of them
    needed 0.5 ms a row on two cores that had much else to do, and one 4 us (docs/speed.md has more). Entering and
    leaving takes 8 us. The number is one for the whole process.
    """
    controller = _products()
    if controller is None:
        yield
        return
    with _lock:
        if not _limited:
            _limited.append(controller.limit(limits=1))
        _limited.append(None)
    try:
        yield
    finally:
        with _lock:
            _limited.pop()
            if len(_limited) == 1:
                _limited.pop().restore_original_limits()


_limited: list[Any] = []
"""What puts the number of threads back, and None for each that is inside: the last to leave does it."""
_lock = Lock()


@cache
def _products() -> Any:
    """Return what counts the threads of the libraries that are loaded, or None; finding them takes milliseconds."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController().select(user_api="blas")
