"""Folders that a process gives up writing to, for good and with all that it starts (Linux's Landlock).

Bots run as their user, so the modes of files do not keep them from the folder of compiled kernels, from which every
later process of that user runs code; nor do they keep root. Landlock does, without any privileges, from Linux 5.13 on.
Elsewhere `give_up_writing` says so and changes nothing.

Landlock lists what is allowed. So everything beside the way to a folder is, as it is found there when the process
gives up: nothing new can then be made directly in a folder on that way (the home folder, say, for
``~/.cache/dicegym``), but in all others there and elsewhere.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

# Numbers of system calls added since 2019 are the same on all of Linux's architectures but alpha.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION = 1
"""Flag of the first call: return the version instead."""
_PATH_BENEATH = 1
_NO_NEW_PRIVILEGES = 38
"""Option of prctl without which an unprivileged process may not restrict itself."""

_WRITE_FILE = 1 << 1
_REMOVE_AND_MAKE = sum(1 << bit for bit in range(4, 13))
_REFER = 1 << 13
"""Moving between folders; since version 2. Version 1 forbids it to all who are restricted at all."""
_TRUNCATE = 1 << 14
"""Since version 3."""
_OF_FILES = _WRITE_FILE | _TRUNCATE


class _Ruleset(ctypes.Structure):
    _fields_ = (("handled", ctypes.c_uint64),)


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _call(number: int, *arguments: object) -> int:
    result: int = _libc().syscall(number, *arguments)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


@functools.cache
def version() -> int:
    """Return the version of Landlock that the kernel has; 0: none, or it is switched off."""
    if sys.platform != "linux":
        return 0
    try:
        return _call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION))
    except (OSError, AttributeError):
        return 0


def _rights() -> int:
    known = version()
    return _WRITE_FILE | _REMOVE_AND_MAKE | (_REFER if known >= 2 else 0) | (_TRUNCATE if known >= 3 else 0)


def _beside(folders: Iterable[Path]) -> Iterator[Path]:
    """Yield what lies in the folders above ``folders`` and on the way to none of them."""
    kept = {folder.resolve() for folder in folders}
    way = {above for folder in kept for above in folder.parents}
    for above in way - kept:
        if kept.isdisjoint(above.parents):
            with contextlib.suppress(OSError), os.scandir(above) as entries:
                yield from (path for entry in entries if (path := Path(entry.path)) not in way | kept)


def ruleset(folders: Iterable[Path]) -> int:
    """Return a descriptor for `restrict`: all may be written but ``folders``. Raises OSError."""
    rights = _rights()
    wanted = _Ruleset(rights)
    descriptor = _call(
        _CREATE_RULESET, ctypes.byref(wanted), ctypes.c_size_t(ctypes.sizeof(wanted)), ctypes.c_uint32(0)
    )
    for path in _beside(folders):
        with contextlib.suppress(OSError):  # gone meanwhile, or a link: what it leads to has a rule of its own
            place = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                allowed = _Beneath(rights if path.is_dir() else rights & _OF_FILES, place)
                _call(
                    _ADD_RULE,
                    ctypes.c_int(descriptor),
                    ctypes.c_int(_PATH_BENEATH),
                    ctypes.byref(allowed),
                    ctypes.c_uint32(0),
                )
            finally:
                os.close(place)
    return descriptor


def restrict(descriptor: int) -> None:
    """Put the rules in force for this thread and all that it starts from now on. Raises OSError."""
    if _libc().prctl(_NO_NEW_PRIVILEGES, *(ctypes.c_ulong(value) for value in (1, 0, 0, 0))):
        raise OSError(ctypes.get_errno(), "this process cannot give up new privileges")
    _call(_RESTRICT_SELF, ctypes.c_int(descriptor), ctypes.c_uint32(0))


def give_up_writing(folders: Iterable[Path]) -> bool:
    """Make this process and its children to come unable to change anything in ``folders``; return whether that holds.

    Call it before the first thread starts: others than the calling one keep their rights.
    """
    if not version():
        return False
    try:
        descriptor = ruleset(folders)
        try:
            restrict(descriptor)
        finally:
            os.close(descriptor)
    except OSError:
        return False
    return True
