"""The fork server of all referees. It preloads what they need, so each starts in a tenth of the time.

This module loads nothing else of the package. A command starts the server first, and loads its own modules meanwhile.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sys
import threading
import types
from collections.abc import Iterator
from multiprocessing import forkserver
from typing import Any

_STARTED_WITH = {"PYTHONHASHSEED": "0", "PYTHONSAFEPATH": "1"}
"""The second keeps modules in the current folder, such as a bot called ``random.py``, from being imported."""
_STARTING = threading.Lock()
"""`plain_start` changes what all threads share: without a lock, one thread would restore another one's changes."""
GAME = "DICEGYM_FORK_SERVER_GAME"
"""Variable that names the game whose rules the fork server loads, if it is known at the start."""


@contextlib.contextmanager
def plain_start(**variables: str) -> Iterator[None]:
    """Start processes that do not run this process's script again, and in which sets of strings keep their order.

    They find ``variables`` in their environment.

    Without this, multiprocessing would run the caller's script in each process: without a ``__main__`` guard it would
    start another contest. It also forbids children to daemons, such as the workers of a ``multiprocessing.Pool``, since
    children could outlive them. Ours cannot: they end when the pipe to this process closes.
    """
    with _STARTING:
        this = multiprocessing.current_process()
        daemon = this.daemon
        variables |= _STARTED_WITH
        main, before = sys.modules["__main__"], {name: os.environ.get(name) for name in variables}
        sys.modules["__main__"] = types.ModuleType("__main__")
        os.environ |= variables
        this.daemon = False
        try:
            yield
        finally:
            this.daemon = daemon
            sys.modules["__main__"] = main
            for name, value in before.items():
                os.environ.pop(name)
                if value is not None:
                    os.environ[name] = value


def start_loading(game: str = "") -> Any:
    """Start the fork server of all referees if it does not run; return the context that forks processes from it.

    The server takes as long to load as this process takes to load the package: call this first and do other work before
    the first `Sandbox`. Systems without a fork server use "spawn", and nothing is started.

    Args:
        game: registered name of the game whose rules a new server loads too. Otherwise each referee loads them.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["dicegym.sandbox.preload"])
    with plain_start(**{GAME: game}):
        forkserver.ensure_running()
    return context
