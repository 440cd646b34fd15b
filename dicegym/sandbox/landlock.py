"""What a process gives up of the file system, for good and with all that it starts (Linux's Landlock).

Bots run as their user, so the modes of files do not keep them from the folder of compiled kernels, from which every
later process of that user runs code; nor do they keep root. Landlock does, without any privileges, from Linux 5.13 on.
Elsewhere these functions say so and change nothing.

`confine` leaves what is named: nothing else may be read, listed, executed or written. Nor does the process reach TCP
ports (from version 4 on), devices by ioctl (5), other processes by signals or abstract sockets (6).

What Landlock does not govern at any version: whether a path exists and its attributes can be asked for, modes and
owners can be changed as the user may. `dicegym.sandbox.seccomp` forbids the latter.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from dicegym.sandbox import linux

if TYPE_CHECKING:
    from pathlib import Path

# Numbers of system calls added since 2019 are the same on all of Linux's architectures but alpha.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION = 1
"""Flag of the first call: return the version instead."""
_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = (1 << bit for bit in range(4))
_MAKE_CHAR, _MAKE_SOCK, _MAKE_FIFO, _MAKE_BLOCK = (1 << bit for bit in (6, 9, 10, 11))
_REMOVE_AND_MAKE = sum(1 << bit for bit in range(4, 13))
_REFER = 1 << 13
"""Moving between folders; since version 2. Version 1 forbids it to all who are restricted at all."""
_TRUNCATE = 1 << 14
"""Since version 3."""
_IOCTL_DEV = 1 << 15
"""Since version 5."""
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_NOT_IN_A_SCRATCH_FOLDER = _EXECUTE | _MAKE_CHAR | _MAKE_BLOCK | _MAKE_SOCK | _MAKE_FIFO | _IOCTL_DEV

_TCP = 0b11
"""Binding and connecting; since version 4."""
_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11
"""What is not to reach beyond the process's own; since version 6."""


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


@functools.cache
def version() -> int:
    """Return the version of Landlock that the kernel has; 0: none, or it is switched off."""
    if sys.platform != "linux":
        return 0
    try:
        return linux.call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION))
    except (OSError, AttributeError):
        return 0


def _everything() -> int:
    known, files = version(), _EXECUTE | _WRITE_FILE | _READ_FILE | _READ_DIR | _REMOVE_AND_MAKE
    return files | (_REFER if known >= 2 else 0) | (_TRUNCATE if known >= 3 else 0) | (_IOCTL_DEV if known >= 5 else 0)


def _new(files: int, network: int = 0, scoped: int = 0) -> int:
    """Return a descriptor of a set of rules, which is closed when another program is executed."""
    wanted = _Ruleset(files, network, scoped)
    # Older kernels refuse a longer structure than theirs, unless all beyond is 0: so it ends where theirs may.
    size = 24 if scoped else 16 if network else 8
    return linux.call(_CREATE_RULESET, ctypes.byref(wanted), ctypes.c_size_t(size), ctypes.c_uint32(0))


def _allow(descriptor: int, path: str | os.PathLike[str], rights: int) -> None:
    """Grant ``rights`` to a file, or beneath a folder; a missing path is passed over."""
    with contextlib.suppress(OSError):
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            folder = os.path.isdir(path)
            allowed = _Beneath(rights if folder else rights & _OF_FILES, place)
            if allowed.allowed:
                linux.call(
                    _ADD_RULE,
                    ctypes.c_int(descriptor),
                    ctypes.c_int(_PATH_BENEATH),
                    ctypes.byref(allowed),
                    ctypes.c_uint32(0),
                )
        finally:
            os.close(place)


def _rules(read: Iterable[str | Path], write: Iterable[str | Path]) -> int:
    """Return a descriptor of the rules that `confine` puts in force. Raises OSError."""
    files, known = _everything(), version()
    try:
        descriptor = _new(files, _TCP if known >= 4 else 0, _ABSTRACT_SOCKETS_AND_SIGNALS if known >= 6 else 0)
    except OSError:  # Red Hat's Linux 9 reports a version that it has only in part
        descriptor = _new(files)
    for path in read:
        _allow(descriptor, path, _READ_FILE | _READ_DIR)
    for path in write:
        _allow(descriptor, path, files & ~_NOT_IN_A_SCRATCH_FOLDER)
    return descriptor


def confine(read: Iterable[str | Path], write: Iterable[str | Path] = ()) -> int:
    """Leave this process and its children to come nothing of the file system but what is named here.

    Call it before the first thread starts: others than the calling one keep their rights. Descriptors that are open
    keep theirs.

    Args:
        read: files, and folders with all beneath, that may be read. Links are followed now; where one leads outside
            later is out of reach. What does not exist is passed over.
        write: folders in which everything may be done but to execute, and to make devices, pipes and sockets; files
            (``/dev/null``) that may be read and written.

    Returns:
        The version of Landlock that holds; 0: none does, and nothing has changed.
    """
    if not version():
        return 0
    try:
        descriptor = _rules(read, write)
        try:
            linux.give_up_new_privileges()
            linux.call(_RESTRICT_SELF, ctypes.c_int(descriptor), ctypes.c_uint32(0))
        finally:
            os.close(descriptor)
    except OSError:
        return 0
    return version()
