"""What the fork server of a `Sandbox` imports once, so that each referee it forks starts in a tenth of the time.

Importing this module makes Numba ready to load kernels: it imports its extensions (``scipy.linalg`` among them) and
installs their registries, which took 0.35 of the 0.5 s in which a referee started. The rules of the game to be played
take as long again. Nothing else imports this module.
"""

from __future__ import annotations

import contextlib
import os
import signal

signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group: the command itself says what it ended

from numba.core.registry import cpu_target  # noqa: E402

from dicegym import games  # noqa: E402
from dicegym.sandbox import confinement, linux, worker  # noqa: E402  # the last is what the fork server forks
from dicegym.sandbox.fork_server import GAME  # noqa: E402

cpu_target.typing_context.refresh()
cpu_target.target_context.refresh()
if name := os.environ.pop(GAME, ""):
    confinement.end_with(os.getppid())  # compiling takes a minute, and the command may end before
    with contextlib.suppress(Exception):  # whatever is wrong with it, referees will say
        worker.rehearse(games.game(name))
    with contextlib.suppress(OSError):
        linux.prctl(linux.PDEATHSIG, 0)  # the thread that began may end before its process
