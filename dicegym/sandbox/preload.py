"""What the fork server of a `Sandbox` imports once, so that each referee it forks starts in a tenth of the time.

Importing this module makes Numba ready to load kernels: it imports its extensions (``scipy.linalg`` among them) and
installs their registries, which took 0.35 of the 0.5 s in which a referee started. Nothing else imports this module.
"""

from __future__ import annotations

import signal

signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group: the command itself says what it ended

from numba.core.registry import cpu_target  # noqa: E402

import dicegym.sandbox.worker  # noqa: E402, F401  # what the fork server forks

cpu_target.typing_context.refresh()
cpu_target.target_context.refresh()
