"""System calls that Python has no function for, by ctypes.

This module runs in processes of untrusted programs, once per match: it uses only the standard library and does no work
at import.
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
    """Make system call ``number``. Raises OSError if the kernel refuses."""
    return _checked(libc().syscall(ctypes.c_long(number), *arguments))


def prctl(option: int, value: int) -> None:
    """Set an attribute of this process. Raises OSError if the system lacks the attribute, or prctl itself."""
    if sys.platform != "linux" or not hasattr(libc(), "prctl"):
        raise OSError(38, "this system has no prctl")
    _checked(libc().prctl(ctypes.c_int(option), ctypes.c_ulong(value), *[ctypes.c_ulong(0)] * 3))


def give_up_new_privileges() -> None:
    """Keep executed programs from gaining privileges; the kernel requires this before any confinement.

    Raises OSError.
    """
    prctl(NO_NEW_PRIVILEGES, 1)


def _checked(result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result
