"""What the fork server of a `Sandbox` imports once, so that each referee starts in a tenth of the time.

Importing this module prepares Numba to load kernels: Numba imports its extensions, such as ``scipy.linalg``, and
installs their registries. That took 0.35 of the 0.5 s in which a referee started. Loading the rules of the game takes
as long again. Only the fork server imports this module.
"""

from __future__ import annotations

import contextlib
import os
import signal

signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group, but the command itself stops the server
# If the command's streams are closed, their numbers are free here. Referees would get pipes with these numbers, and
# lose them when they redirect their streams.
while (spare := os.open(os.devnull, os.O_RDWR)) < 3:
    pass
os.close(spare)

from numba.core.registry import cpu_target  # noqa: E402

from dicegym import games  # noqa: E402
from dicegym.sandbox import confinement, linux, worker  # noqa: E402  # the last one holds what referees run
from dicegym.sandbox.fork_server import GAME  # noqa: E402

cpu_target.typing_context.refresh()
cpu_target.target_context.refresh()
if name := os.environ.pop(GAME, ""):
    confinement.end_with(os.getppid())  # compiling takes a minute, and the command may end before
    with contextlib.suppress(Exception):  # referees will report any error
        worker.rehearse(games.game(name))
    with contextlib.suppress(OSError):
        linux.prctl(linux.PDEATHSIG, 0)  # the signal follows the thread that started us, which may end before the rest
