"""System calls that Python has no function for, by ctypes.

What stands here runs beside untrusted programs and once for every match: standard library alone, nothing at import.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys

PDEATHSIG, DUMPABLE, NO_NEW_PRIVILEGES = 1, 4, 38
"""Options of `prctl`: PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS."""


@functools.cache
def libc() -> ctypes.CDLL:
    """Return the C library of this process."""
    return ctypes.CDLL(None, use_errno=True)


def call(number: int, *arguments: object) -> int:
    """Make system call ``number``. Raises OSError where the kernel refuses."""
    result: int = libc().syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def prctl(option: int, *arguments: int) -> None:
    """Set an attribute of this process. Raises OSError where the system has no such attribute, or no prctl."""
    if sys.platform != "linux" or not hasattr(libc(), "prctl"):
        raise OSError(38, "this system has no prctl")
    padded = (*arguments, 0, 0, 0, 0)[:4]
    if libc().prctl(ctypes.c_int(option), *(ctypes.c_ulong(value) for value in padded)) < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def give_up_new_privileges() -> None:
    """Let no program that is executed bring rights; without that, nobody may restrict itself. Raises OSError."""
    prctl(NO_NEW_PRIVILEGES, 1)
