"""The number of processors for this process, and settings of libraries' threads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


def cores() -> int:
    """Return the number of processors that this process may use."""
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1


def let_libraries_wait_idly() -> None:
    """Make threads of libraries that are loaded later sleep while they wait.

    PyTorch's threads otherwise wait in a loop: with two of them on a busy machine, an update took twenty times as long,
    and a product of matrices a hundred times (measured). A value that the user has set stays.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


@contextmanager
def one_thread_of_products() -> Iterator[None]:
    """Compute NumPy's matrix products in one thread inside the context, if threadpoolctl is installed.

    OpenBLAS's threads wait in a loop: for 64 rows through a network of 256 and 128 units, two threads needed 0.5 ms a
    row on two busy cores, and one thread 4 us (docs/speed.md has more). Entering and leaving takes 8 us. The setting
    applies to the whole process. Where threads overlap, one may compute with several, and the last to leave may
    leave it at one: no result changes.
    """
    controller = _products()
    if controller is None:
        yield
        return
    with controller.limit(limits=1):
        yield


@cache
def _products() -> Any:
    """Return the controller of the loaded libraries' threads, or None; finding them takes milliseconds."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController().select(user_api="blas")
