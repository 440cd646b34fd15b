"""Restrict a process and its children to named files, for good (Linux's Landlock).

Bots run as their user, so file modes do not protect the folder of compiled kernels, from which every later process of
that user runs code. Modes do not restrict root either. Landlock does both, without privileges, from Linux 5.13 on.
Elsewhere these functions report that and change nothing.

After `confine`, only the named files can be read, listed, executed or written. TCP ports (from version 4 on), devices
by ioctl (5), and other processes by signals or abstract sockets (6) are out of reach.

No version of Landlock hides whether a path exists or its attributes, or restricts changes of modes and owners.
`dicegym.sandbox.seccomp` forbids the latter.
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

# System calls added since 2019 have the same numbers on all architectures except alpha.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION = 1  # flag of the first call: only return the version
_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = (1 << bit for bit in range(4))
_MAKE_CHAR, _MAKE_SOCK, _MAKE_FIFO, _MAKE_BLOCK = (1 << bit for bit in (6, 9, 10, 11))
_REMOVE_AND_MAKE = sum(1 << bit for bit in range(4, 13))
_REFER = 1 << 13  # moving between folders; since version 2. Version 1 always forbids it
_TRUNCATE = 1 << 14  # since version 3
_IOCTL_DEV = 1 << 15  # since version 5
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_NOT_IN_A_SCRATCH_FOLDER = _EXECUTE | _MAKE_CHAR | _MAKE_BLOCK | _MAKE_SOCK | _MAKE_FIFO | _IOCTL_DEV

_TCP = 0b11  # binding and connecting; since version 4
_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11  # scoped to the process and its children; since version 6


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


@functools.cache
def version() -> int:
    """Return the kernel's version of Landlock; 0: it has none, or it is switched off."""
    if sys.platform != "linux":
        return 0
    try:
        return linux.call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION))
    except (OSError, AttributeError):
        return 0


def _new(files: int, network: int = 0, scoped: int = 0) -> int:
    """Return a descriptor of a set of rules, which is closed when another program is executed."""
    wanted = _Ruleset(files, network, scoped)
    # Older kernels know fewer fields, and refuse a longer structure unless the rest is 0.
    size = 24 if scoped else 16 if network else 8
    return linux.call(_CREATE_RULESET, ctypes.byref(wanted), ctypes.c_size_t(size), ctypes.c_uint32(0))


def _allow(descriptor: int, path: str | os.PathLike[str], rights: int) -> None:
    """Grant ``rights`` to a file, or to everything in a folder; skip a missing path."""
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
    """Return a descriptor of the rules of `confine`. Raises OSError."""
    known, files = version(), _EXECUTE | _WRITE_FILE | _READ_FILE | _READ_DIR | _REMOVE_AND_MAKE
    files |= (_REFER if known >= 2 else 0) | (_TRUNCATE if known >= 3 else 0) | (_IOCTL_DEV if known >= 5 else 0)
    try:
        descriptor = _new(files, _TCP if known >= 4 else 0, _ABSTRACT_SOCKETS_AND_SIGNALS if known >= 6 else 0)
    except OSError:  # Red Hat Enterprise Linux 9 implements its reported version only in part
        descriptor = _new(files)
    for path in read:
        _allow(descriptor, path, _READ_FILE | _READ_DIR)
    for path in write:
        _allow(descriptor, path, files & ~_NOT_IN_A_SCRATCH_FOLDER)
    return descriptor


def confine(read: Iterable[str | Path], write: Iterable[str | Path] = ()) -> int:
    """Restrict this process and its future children to the named files and folders.

    Call it before the first thread starts: only the calling thread is restricted. Open descriptors keep their rights.

    Args:
        read: readable files, and folders with all their contents. Links are followed now; links that later lead outside
            cannot be followed. Missing paths are skipped.
        write: folders in which everything is allowed except executing files and making devices, pipes and sockets;
            files (``/dev/null``) that may be read and written.

    Returns:
        The version of Landlock in force; 0: none, and nothing has changed.
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
