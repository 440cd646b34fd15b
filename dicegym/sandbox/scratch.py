"""The temporary folder of an untrusted program, emptied between matches so that none finds what another left.

Whoever empties it may do more than the program, which may have put links in places where folders were. So folders are
held open and never named by a path, and no link is followed.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from itertools import count

MOST = 10_000
"""Entries that are removed before the rest is left to be thrown away as a whole."""
_FOLDER = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


def empty(folder: str, most: int | None = MOST) -> bool:
    """Remove all that lies in ``folder``, whatever a program that has ended made there; return whether it is empty.

    Folders so deep that no path can name what is in them, and folders without any rights, go like all others: what
    lies in a folder is moved up before the folder is removed.

    Args:
        folder: a folder, and no link to one.
        most: entries after which it is given up, since a program can make a million of them; None: never.

    Raises:
        OSError: an entry can be neither moved nor removed.
    """
    top = os.open(folder, os.O_RDONLY | _FOLDER)
    try:
        return _empty(top, most)
    finally:
        os.close(top)


def remove(folder: str) -> None:
    """Remove ``folder`` with all that lies in it, like `empty`; what cannot be removed stays."""
    with contextlib.suppress(OSError):
        empty(folder, most=None)
        os.rmdir(folder)


def _empty(top: int, most: int | None) -> bool:
    numbers = count()
    removed = 0
    while names := os.listdir(top):
        for name in names:
            if most is not None and removed >= most:
                return False
            removed += 1
            if not _is_folder(name, top):
                os.unlink(name, dir_fd=top)
                continue
            inside = _opened(name, top)
            try:
                for inner in os.listdir(inside):
                    if _is_folder(inner, inside):
                        os.close(_opened(inner, inside))  # a folder that is moved must be writable
                        os.rename(inner, _free(top, numbers), src_dir_fd=inside, dst_dir_fd=top)
                    else:
                        os.unlink(inner, dir_fd=inside)
                        removed += 1
            finally:
                os.close(inside)
            os.rmdir(name, dir_fd=top)
    return True


def _is_folder(name: str, beneath: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=beneath, follow_symlinks=False).st_mode)


def _free(folder: int, numbers: count[int]) -> str:
    """Return a name that nothing in ``folder`` has."""
    while True:
        name = f".{next(numbers)}"
        try:
            os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return name


def _opened(name: str, beneath: int) -> int:
    """Open a folder in another, giving back to its owner what rights it lacks."""
    try:
        opened = os.open(name, os.O_RDONLY | _FOLDER, dir_fd=beneath)
    except PermissionError:
        if sys.platform == "linux":  # where a mode is changed by path alone: this one names what has been opened
            place = os.open(name, os.O_PATH | _FOLDER, dir_fd=beneath)
            try:
                os.chmod(f"/proc/self/fd/{place}", stat.S_IRWXU)
            finally:
                os.close(place)
        else:
            os.chmod(name, stat.S_IRWXU, dir_fd=beneath, follow_symlinks=False)
        opened = os.open(name, os.O_RDONLY | _FOLDER, dir_fd=beneath)
    os.fchmod(opened, stat.S_IRWXU)
    return opened
