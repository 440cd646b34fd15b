"""Ends a Ray of our own with the process that has started it, however that goes.

Ray's processes end by themselves when the one that started them is killed, but for two agents, which try for minutes to
tell somebody of it. The watchdog is a process that takes note of what Ray starts, by number and time of start, and ends
what is left of it some seconds after its own input has closed. Only where there is /proc; else Ray is left to itself.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

EVERY = 1.0
"""Seconds between two looks at what Ray has started."""
GRACE = 5.0
"""Seconds that all may take to end by themselves."""


class Running(NamedTuple):
    """A process, told from a later one with the same number by when it was started."""

    process: int
    started: int


def running() -> dict[Running, int]:
    """Return the processes of this machine, each with the number of its parent; those that have ended left out."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
            if fields[0] not in (b"Z", b"X"):
                found[Running(int(folder.name), int(fields[19]))] = int(fields[1])
    return found


def children() -> set[Running]:
    """Return the processes that this one has started, and that run."""
    own = os.getpid()
    return {one for one, parent in running().items() if parent == own}


def watch(roots: set[Running]) -> None:
    """Let a process end ``roots``, and what they start, when this one has ended."""
    if not roots:
        return
    words = [f"{one.process}:{one.started}" for one in sorted(roots)]
    dog = subprocess.Popen(
        [sys.executable, "-P", "-s", __file__, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    _dogs.append(dog)  # whose input closes with this process, or with `let_go`


_dogs: list[subprocess.Popen[bytes]] = []


def let_go() -> None:
    """Let the watchdogs of this process look after what is left, and end."""
    while _dogs:
        dog = _dogs.pop()
        if dog.stdin is not None:
            dog.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            dog.wait(2 * GRACE)


def main(words: list[str]) -> None:
    """Be the watchdog."""
    known = {Running(*map(int, word.split(":"))) for word in words}
    over = threading.Event()

    def until_closed() -> None:
        sys.stdin.buffer.read()
        over.set()

    threading.Thread(target=until_closed, daemon=True).start()
    while not over.wait(EVERY):
        _take_note(known)
    _take_note(known)
    deadline = time.monotonic() + GRACE
    while left := known & running().keys():
        if time.monotonic() > deadline:
            for one in left:
                with contextlib.suppress(OSError):
                    os.kill(one.process, 9)
        time.sleep(EVERY / 10)


def _take_note(known: set[Running]) -> None:
    """Add what those that are known have started, and these in turn."""
    now = running()
    numbers: set[int] = set()
    while numbers != (numbers := {one.process for one in known & now.keys()}):
        known |= {one for one, parent in now.items() if parent in numbers}


if __name__ == "__main__":
    main(sys.argv[1:])
