"""What removes the folder of a process of Ray's, however that ends: Ray kills such processes, and their children."""

from __future__ import annotations

import subprocess
import sys

_PROGRAM = """
import os, sys
if os.fork():
    os._exit(0)
os.setsid()
sys.stdin.buffer.read()
from dicegym.sandbox import scratch
scratch.throw_away(sys.argv[1])
"""


def reaper_of(folder: str) -> subprocess.Popen[bytes]:
    """Return the pipe to a process that is nobody's child, and removes ``folder`` when this process is gone.

    Closing its standard input has the folder removed too.
    """
    started = subprocess.Popen(
        [sys.executable, "-P", "-s", "-c", _PROGRAM, folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    started.wait()  # for the first of its two processes, which makes the other one nobody's child
    return started
