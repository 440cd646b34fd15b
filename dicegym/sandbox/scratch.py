"""The temporary folder of an untrusted program, removed between matches so that nothing is left for the next one.

No link in the folder is followed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time

SECONDS_TO_END = 2.0  # seconds in which bots' processes end after the processes that watch them


def throw_away(folder: str) -> None:
    """Remove a folder, if it exists, with its contents; retry while bots' processes are ending, then leave it.

    This includes folders without any rights, and folders nested too deep for `shutil.rmtree`.
    """
    deadline = time.monotonic() + SECONDS_TO_END
    while os.path.isdir(folder) and not os.path.islink(folder) and time.monotonic() < deadline:
        try:
            shutil.rmtree(folder)
        except (OSError, RecursionError):
            with contextlib.suppress(OSError):  # a system without these commands
                for command in (["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
                    subprocess.run([*command, folder], stderr=subprocess.DEVNULL, check=False)
            time.sleep(0.02)
