"""The temporary folder of an untrusted program, emptied between matches so that none finds what another left.

The process that empties it may do more than the program, which may have put links where folders were. So folders are
kept open and never named by a path, and no link is followed.
"""

from __future__ import annotations

import os
import stat
import sys
import time

MOST = 10_000
"""Entries that are removed before the rest is left to be thrown away as a whole."""
SECONDS_TO_END = 2.0
"""How long bots' processes may take to end once those that watch them have."""
_FOLDER = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


def empty(folder: str, most: int | None = MOST) -> bool:
    """Remove all that is in ``folder``, whatever a program that has ended made there; return whether it is empty.

    Folders so deep that no path can name what is in them, and folders without any rights, go like all others.

    Args:
        folder: a folder, and no link to one.
        most: entries after which it is given up, since a program can make a million of them; None: never.

    Raises:
        OSError: an entry cannot be removed, or somebody moves folders meanwhile.
    """
    top = os.open(folder, os.O_RDONLY | _FOLDER)
    try:
        return _empty(top, most)
    finally:
        os.close(top)


def throw_away(folder: str) -> None:
    """Remove a folder with all that is in it, also of bots whose processes are ending just now; else it stays."""
    deadline = time.monotonic() + SECONDS_TO_END
    while os.path.lexists(folder):
        try:
            empty(folder, None)
            os.rmdir(folder)
        except OSError:
            if time.monotonic() > deadline:
                return
            time.sleep(0.02)


def _empty(top: int, most: int | None) -> bool:
    here = os.dup(top)
    # For each folder down to here: its name, the identity of the one that it is in, and what else is to do there.
    above: list[tuple[str, tuple[int, int], list[str]]] = []
    removed = 0
    try:
        folders: list[str] | None = None  # in the one that has just been opened
        while True:
            if folders is None:
                folders = []
                for name in os.listdir(here):
                    if most is not None and removed >= most:
                        return False
                    removed += 1
                    if stat.S_ISDIR(os.stat(name, dir_fd=here, follow_symlinks=False).st_mode):
                        folders.append(name)
                    else:
                        os.unlink(name, dir_fd=here)
            elif folders:
                name = folders.pop()
                above.append((name, _identity(here), folders))
                here = _into(here, _opened(name, here))
                folders = None
            elif above:
                name, known, folders = above.pop()
                here = _into(here, os.open("..", os.O_RDONLY | _FOLDER, dir_fd=here))
                if _identity(here) != known:
                    raise OSError(f"folder {name!r} was moved while it was emptied")
                os.rmdir(name, dir_fd=here)
            else:
                return True
    finally:
        os.close(here)


def _into(left: int, entered: int) -> int:
    os.close(left)
    return entered


def _identity(folder: int) -> tuple[int, int]:
    told = os.fstat(folder)
    return told.st_dev, told.st_ino


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
