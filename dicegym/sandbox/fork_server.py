"""The fork server of all referees, which has loaded what they need: each then starts in a tenth of the time.

This module loads nothing of the package. A command starts the server first, and loads its own modules beside it.
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
"""The second keeps what is in the current folder, such as a bot called ``random.py``, from being imported."""
_STARTING = threading.Lock()
"""What is changed for a moment belongs to all threads: each would keep what another one has changed."""
GAME = "DICEGYM_FORK_SERVER_GAME"
"""Names to the fork server the game whose rules it loads, if that is known when it starts."""


@contextlib.contextmanager
def plain_start(**variables: str) -> Iterator[None]:
    """Start processes so that they need nothing of this one's script, and so that sets of strings keep their order.

    They find ``variables`` in their environment.

    multiprocessing would run the caller's script again in each process; without a ``__main__`` guard it would start
    another contest there. And a daemon, as the workers of a ``multiprocessing.Pool`` are, may start none, lest they
    outlive it. These do not: they end when the pipe to this one closes.
    """
    with _STARTING:
        this = multiprocessing.current_process()
        daemon = this.daemon
        variables |= _STARTED_WITH
        main, before = sys.modules["__main__"], {name: os.environ.get(name) for name in variables}
        sys.modules["__main__"] = types.ModuleType("__main__")
        os.environ |= variables
        if daemon:
            this.daemon = False
        try:
            yield
        finally:
            if daemon:
                this.daemon = True
            sys.modules["__main__"] = main
            for name, value in before.items():
                os.environ.pop(name)
                if value is not None:
                    os.environ[name] = value


def start_loading(game: str = "") -> Any:
    """Let the fork server of all referees load what they need; return the context that makes processes of it.

    It loads the rules of ``game`` too, a registered name, unless it runs already: then each referee does so itself.

    The server takes as long as this process takes to load the package: call this first, and do other work that precedes
    the first `Sandbox` beside it. Without a fork server nothing is begun.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["dicegym.sandbox.preload"])
    with plain_start(**{GAME: game}):
        forkserver.ensure_running()
    return context
