"""What a process gives up of the file system, for good and with all that it starts (Linux's Landlock).

Bots run as their user, so the modes of files do not keep them from the folder of compiled kernels, from which every
later process of that user runs code; nor do they keep root. Landlock does, without any privileges, from Linux 5.13 on.
Elsewhere these functions say so and change nothing.

There are two ways of it:

- `give_up_writing`: all may be written but some folders. Landlock lists what is allowed. So everything beside the way
  to a folder is, as it is found there when the process gives up: nothing new can then be made directly in a folder on
  that way (the home folder, say, for ``~/.cache/dicegym``), but in all others there and elsewhere.
- `confine`: nothing may be read, listed, executed or written but what is named; nor does the process reach TCP ports
  (from version 4 on), devices by ioctl (5), other processes by signals or abstract sockets (6).

What Landlock does not govern at any version: whether a path exists and its attributes can be asked for, modes and
owners can be changed as the user may. `dicegym.sandbox.seccomp` forbids the latter.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import sys
from collections.abc import Iterable, Iterator
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


def _writing() -> int:
    known = version()
    return _WRITE_FILE | _REMOVE_AND_MAKE | (_REFER if known >= 2 else 0) | (_TRUNCATE if known >= 3 else 0)


def _everything() -> int:
    return _writing() | _EXECUTE | _READ_FILE | _READ_DIR | (_IOCTL_DEV if version() >= 5 else 0)


def _new(files: int, network: int = 0, scoped: int = 0) -> int:
    """Return a descriptor of a set of rules, which is closed when another program is executed."""
    wanted = _Ruleset(files, network, scoped)
    # Older kernels refuse a longer structure than theirs, unless all beyond is 0: so it ends where theirs may.
    size = 24 if scoped else 16 if network else 8
    return linux.call(_CREATE_RULESET, ctypes.byref(wanted), ctypes.c_size_t(size), ctypes.c_uint32(0))


def _allow(descriptor: int, path: str | os.PathLike[str], rights: int, follow: bool = True) -> None:
    """Grant ``rights`` to a file, or beneath a folder; nothing where there is none."""
    with contextlib.suppress(OSError):  # gone meanwhile, or a link: what it leads to has a rule of its own
        place = os.open(path, os.O_PATH | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW))
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


def _beside(folders: Iterable[Path]) -> Iterator[Path]:
    """Yield what lies in the folders above ``folders`` and on the way to none of them."""
    from pathlib import Path  # here, as who runs beside a bot starts sooner without it

    kept = {folder.resolve() for folder in folders}
    way = {above for folder in kept for above in folder.parents}
    for above in way - kept:
        if kept.isdisjoint(above.parents):
            with contextlib.suppress(OSError), os.scandir(above) as entries:
                yield from (path for entry in entries if (path := Path(entry.path)) not in way | kept)


def ruleset(folders: Iterable[Path]) -> int:
    """Return a descriptor for `restrict`: all may be written but ``folders``. Raises OSError."""
    rights = _writing()
    descriptor = _new(rights)
    for path in _beside(folders):
        _allow(descriptor, path, rights, follow=False)
    return descriptor


def allow_list(read: Iterable[str | Path], write: Iterable[str | Path], names: Iterable[str | Path] = ()) -> int:
    """Return a descriptor for `restrict`: only what is named may be read, written or listed; see `confine`."""
    files = _everything()
    known = version()
    try:
        descriptor = _new(files, _TCP if known >= 4 else 0, _ABSTRACT_SOCKETS_AND_SIGNALS if known >= 6 else 0)
    except OSError:  # Red Hat's Linux 9 has told a version of which it had but a part
        descriptor = _new(files)
    for path in names:
        _allow(descriptor, path, _READ_DIR)
    for path in read:
        _allow(descriptor, path, _READ_FILE | _READ_DIR)
    for path in write:
        _allow(descriptor, path, files & ~_NOT_IN_A_SCRATCH_FOLDER)
    return descriptor


def restrict(descriptor: int) -> None:
    """Put the rules in force for this thread and all that it starts from now on. Raises OSError."""
    linux.give_up_new_privileges()
    linux.call(_RESTRICT_SELF, ctypes.c_int(descriptor), ctypes.c_uint32(0))


def give_up_writing(folders: Iterable[Path]) -> bool:
    """Make this process and its children to come unable to change anything in ``folders``; return whether that holds.

    Call it before the first thread starts: others than the calling one keep their rights.
    """
    if not version():
        return False
    try:
        _restrict_and_close(ruleset(folders))
    except OSError:
        return False
    return True


def confine(read: Iterable[str | Path], write: Iterable[str | Path] = (), names: Iterable[str | Path] = ()) -> int:
    """Leave this process and its children to come nothing of the file system but what is named here.

    Call it before the first thread starts: others than the calling one keep their rights. Descriptors that are open
    keep theirs.

    Args:
        read: files, and folders with all beneath, that may be read. Links are followed now; where one leads outside
            later is out of reach. What does not exist is passed over.
        write: folders in which everything may be done but to execute, and to make devices, pipes and sockets; files
            (``/dev/null``) that may be read and written.
        names: folders that may be listed, with all beneath, but not read: an importer lists a folder for its modules.

    Returns:
        The version of Landlock that holds; 0: none does, and nothing has changed.
    """
    if not version():
        return 0
    try:
        _restrict_and_close(allow_list(read, write, names))
    except OSError:
        return 0
    return version()


def _restrict_and_close(descriptor: int) -> None:
    try:
        restrict(descriptor)
    finally:
        os.close(descriptor)
