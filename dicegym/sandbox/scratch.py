"""The temporary folder of an untrusted program, emptied between matches so that nothing is left for the next one.

The emptying process has more rights than the program, which may have replaced folders by links. So folders are kept
open and never named by a path, and links are not followed.
"""

from __future__ import annotations

import os
import stat
import sys
import time

MOST = 10_000  # entries to remove before giving up; the rest goes with the whole folder
SECONDS_TO_END = 2.0  # seconds in which bots' processes end after the processes that watch them
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


def empty(folder: str, most: int | None = MOST) -> bool:
    """Remove everything in ``folder``, whatever an ended program left there; return whether it is empty.

    This includes folders without any rights, and folders nested too deep for a path.

    Args:
        folder: a folder, not a link to one.
        most: give up after this number of entries, since a program can make a million; None: never.

    Raises:
        OSError: an entry cannot be removed, or somebody moves folders meanwhile.
    """
    here = os.open(folder, _FOLDER)
    # For each folder on the way down to `here`: its name, the identity of its parent, and the parent's folders left.
    above: list[tuple[str, tuple[int, int], list[str]]] = []
    removed = 0
    try:
        folders: list[str] | None = None  # of `here`; None: not listed yet
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
                here = _replace(here, _open_folder(name, here))
                folders = None
            elif above:
                name, known, folders = above.pop()
                here = _replace(here, os.open("..", _FOLDER, dir_fd=here))
                if _identity(here) != known:
                    raise OSError(f"folder {name!r} was moved while it was emptied")
                os.rmdir(name, dir_fd=here)
            else:
                return True
    finally:
        os.close(here)


def throw_away(folder: str) -> None:
    """Remove a folder, if it exists, with its contents; retry while bots' processes are ending, then leave it."""
    deadline = time.monotonic() + SECONDS_TO_END
    while os.path.lexists(folder):
        try:
            empty(folder, None)
            os.rmdir(folder)
        except OSError:
            if time.monotonic() > deadline:
                return
            time.sleep(0.02)


def _replace(left: int, entered: int) -> int:
    os.close(left)
    return entered


def _identity(folder: int) -> tuple[int, int]:
    status = os.fstat(folder)
    return status.st_dev, status.st_ino


def _open_folder(name: str, parent: int) -> int:
    """Open a folder in another one, and restore the owner's rights."""
    try:
        opened = os.open(name, _FOLDER, dir_fd=parent)
    except PermissionError:
        if sys.platform == "linux":  # Linux changes modes only by path: this path names the opened folder
            place = os.open(name, os.O_PATH | _FOLDER, dir_fd=parent)
            try:
                os.chmod(f"/proc/self/fd/{place}", stat.S_IRWXU)
            finally:
                os.close(place)
        else:
            os.chmod(name, stat.S_IRWXU, dir_fd=parent, follow_symlinks=False)
        opened = os.open(name, _FOLDER, dir_fd=parent)
    os.fchmod(opened, stat.S_IRWXU)
    return opened
