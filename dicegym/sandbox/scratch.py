"""The temporary folder of an untrusted program, emptied between matches so that none finds what another left."""

from __future__ import annotations

import os
import stat
from itertools import count

MOST = 10_000
"""Entries that are removed before the rest is left to be thrown away as a whole."""


def empty(folder: str, most: int | None = MOST) -> bool:
    """Remove all that lies in ``folder``, whatever a program that has ended made there; return whether it is empty.

    Folders so deep that no path can name what is in them, folders without any rights and links cost nothing more:
    what lies in a folder is moved up before the folder is removed, and no link is followed.

    Args:
        folder: nobody else changes it meanwhile.
        most: entries after which it is given up, since a program can make a million of them; None: never.

    Raises:
        OSError: an entry can be neither moved nor removed.
    """
    names = (f"{folder}/.{number}" for number in count())
    removed = 0
    while True:
        with os.scandir(folder) as found:
            entries = list(found)
        if not entries:
            return True
        for entry in entries:
            if most is not None and removed >= most:
                return False
            removed += 1
            if not entry.is_dir(follow_symlinks=False):
                os.unlink(entry.path)
                continue
            os.chmod(entry.path, stat.S_IRWXU)  # a folder: `is_dir` has looked at it and not at what it leads to
            with os.scandir(entry.path) as found:
                inner = list(found)
            for one in inner:
                if one.is_dir(follow_symlinks=False):
                    os.chmod(one.path, stat.S_IRWXU)  # a folder that is moved must be writable
                    os.rename(one.path, next(name for name in names if not os.path.lexists(name)))
                else:
                    os.unlink(one.path)
                    removed += 1
            os.rmdir(entry.path)
