"""Single keys, read while something else happens: without Enter, and without an echo."""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import sys
import time
from collections.abc import Callable, Iterator

_STEP = 0.05
"""Seconds from one look to the next, where the system has nothing to wait for."""
_MOST = 1024
"""Bytes that are read at once."""
_KEY = re.compile(r"\x1b(?:\[[0-9;]*[A-Za-z~]|O[A-Za-z])|[\s\S]")
"""What one key sends: a letter, or an escape sequence."""


@contextlib.contextmanager
def keys() -> Iterator[Callable[[float], str] | None]:
    """Yield a function that waits that many seconds for a key and returns what it sent, or nothing.

    None where no keyboard is: the input is a file or a pipe.
    """
    if not sys.stdin.isatty():
        yield None
        return
    try:
        termios, tty = importlib.import_module("termios"), importlib.import_module("tty")
    except ImportError:
        yield _windows
        return
    import select

    number = sys.stdin.fileno()
    read: list[str] = []  # pressed, and not asked for yet

    def wait(seconds: float) -> str:
        if not read:
            ready, _, _ = select.select([number], [], [], max(0.0, seconds))
            read.extend(_KEY.findall(os.read(number, _MOST).decode("utf-8", "replace")) if ready else [])
        return read.pop(0) if read else ""

    before = termios.tcgetattr(number)
    try:
        tty.setcbreak(number)  # Ctrl-C still ends the command
        yield wait
    finally:
        termios.tcsetattr(number, termios.TCSADRAIN, before)


def drop_typed() -> None:
    """Drop what was typed at the keyboard and not read yet; from a file or a pipe nothing is dropped."""
    if sys.stdin is None or sys.stdin.closed or not sys.stdin.isatty():
        return
    try:
        termios = importlib.import_module("termios")
    except ImportError:
        console = importlib.import_module("msvcrt")
        while console.kbhit():
            console.getwch()
        return
    termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def _windows(seconds: float) -> str:
    """Wait for a key on Windows, whose console can only be asked whether there is one."""
    console = importlib.import_module("msvcrt")
    until = time.monotonic() + seconds
    while not console.kbhit():
        if time.monotonic() >= until:
            return ""
        time.sleep(_STEP)
    first = str(console.getwch())
    return first + str(console.getwch()) if first in "\x00\xe0" else first  # arrows, Home and End are two
