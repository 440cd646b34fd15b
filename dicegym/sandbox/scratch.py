"""The temporary folder of an untrusted program, removed after its match so that no other finds what it left.

The process that removes it may do more than the program, which may have put links where folders were. The system's
``chmod`` and ``rm`` follow no link below the folder, and reach folders too deep for a path.
"""

from __future__ import annotations

import contextlib
import os
import time

SECONDS = 5.0
"""How long one command may take: a program can make a million files. The rest is thrown away as a whole."""
SECONDS_TO_END = 2.0
"""How long bots' processes may take to end once those that watch them have."""


def remove(folder: str, seconds: float = SECONDS) -> bool:
    """Remove ``folder``, whatever a program has made in it; return whether it is gone.

    Folders without any rights go too. A link in place of the folder is left as it is.
    """
    if os.path.islink(folder):
        return False
    with contextlib.suppress(OSError):  # most programs leave nothing
        os.rmdir(folder)
        return True
    import subprocess  # a host starts sooner without it

    quiet = subprocess.DEVNULL
    for command in (["rm", "-rf"], ["chmod", "-R", "u+rwx"], ["rm", "-rf"]):
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            subprocess.run([*command, folder], stdin=quiet, stdout=quiet, stderr=quiet, timeout=seconds, check=False)
        if not os.path.lexists(folder):
            return True
    return False


def throw_away(folder: str) -> None:
    """Remove a folder with all that is in it, also of bots whose processes are ending just now; else it stays."""
    deadline = time.monotonic() + SECONDS_TO_END
    while os.path.lexists(folder) and not remove(folder, 60.0) and time.monotonic() < deadline:
        time.sleep(0.02)
