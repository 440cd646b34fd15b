"""Where compiled kernels are kept, and whom that place belongs to.

A kernel from disk is unpickled and run, so anybody who can write in the folder can run code as its user. It is
therefore used only if nobody but its user (and the machine's owner) can put files in it: it and all folders above it
belong to one of them, and no others may write there, sticky folders such as ``/tmp`` aside. Any other is refused with a
warning, and a temporary one serves this process.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import stat
import tempfile
import time
import warnings
from pathlib import Path

KEPT_FOLDERS = 4
"""How many generations of compiled kernels stay on disk, so that two checkouts do not evict each other."""
LEFT_BEHIND = 3600.0
"""Seconds after which a file that was being written belongs to a process that was killed."""
OWNERS_KNOWN = hasattr(os, "getuid")
"""False on Windows, where the user's folders are the user's own by access lists."""


class RefusedError(Exception):
    """A folder cannot hold compiled kernels; the message says why."""


def is_ours(facts: os.stat_result) -> bool:
    """Return whether a file belongs to this user or to the owner of the machine, and no others may write to it."""
    return _owned(facts) and not (OWNERS_KNOWN and facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def _owned(facts: os.stat_result) -> bool:
    # In a user namespace root's files show another number, that of the root folder's owner.
    return not OWNERS_KNOWN or facts.st_uid in (os.getuid(), 0, os.stat(os.sep).st_uid)


def _users_own_group(gid: int) -> bool:
    """Return whether a group holds this user alone, as where everybody gets a group of their own name."""
    import grp
    import pwd

    try:
        group, user = grp.getgrgid(gid), pwd.getpwuid(os.getuid())
    except KeyError:
        return False
    return group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}


def _check(folder: Path) -> None:
    """Raise `RefusedError` if others could write in ``folder``, a path without links, or put another in its place."""
    for place in (folder, *folder.parents):
        facts = place.stat()
        if not _owned(facts):
            raise RefusedError(f"{place} belongs to another user")
        if not OWNERS_KNOWN or facts.st_mode & stat.S_ISVTX:  # in a sticky one nobody can replace what is ours
            continue
        if facts.st_mode & stat.S_IWOTH or (facts.st_mode & stat.S_IWGRP and not _users_own_group(facts.st_gid)):
            raise RefusedError(f"others may write in {place}")


def _prepare(root: Path, generation: str) -> Path:
    """Return the folder ``generation`` of ``root``, fit for use. Raises `RefusedError` or OSError."""
    root = root.expanduser().absolute()
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = root / generation
    folder.mkdir(mode=0o700, exist_ok=True)
    folder = folder.resolve()
    _check(folder)
    # What an administrator has compiled may be read where it may not be written.
    if not os.access(folder, os.W_OK | os.X_OK) and not any(folder.glob("*.nbc")):
        raise RefusedError(f"{folder} cannot be written")
    _tidy(folder)
    return folder


def _tidy(current: Path) -> None:
    """Remove old generations, and what killed processes were writing in the current one."""
    with contextlib.suppress(OSError):  # another process may tidy up at the same time
        current.touch()
        folders = sorted(current.parent.glob("kernels-*"), key=lambda folder: folder.stat().st_mtime, reverse=True)
        for folder in folders[KEPT_FOLDERS:]:
            if folder != current and is_ours(folder.lstat()):
                shutil.rmtree(folder, ignore_errors=True)
        for entry in os.scandir(current):
            if entry.name.endswith(".tmp") and entry.stat().st_mtime < time.time() - LEFT_BEHIND:
                os.unlink(entry)


def _for_this_process() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="dicegym-"))
    maker = os.getpid()

    def remove() -> None:
        if os.getpid() == maker:  # and not a fork of it
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return folder


def find(generation: str) -> Path:
    """Return a folder for the compiled kernels of a ``generation`` of sources that no others can write in.

    It is below what ``DICEGYM_CACHE`` names, else below the user's cache folder. Where that cannot be used, a new one
    serves this process alone, with a warning (RuntimeWarning).
    """
    configured = os.environ.get("DICEGYM_CACHE")
    try:
        if configured:
            return _prepare(Path(configured), generation)
        from platformdirs import user_cache_path  # 10 ms that DICEGYM_CACHE saves

        return _prepare(user_cache_path("dicegym", appauthor=False), generation)
    except (RefusedError, OSError, RuntimeError) as error:  # in others' hands; no such disk, read-only, no home folder
        why = str(error)
    wanted = f"DICEGYM_CACHE={configured}" if configured else "the user's cache folder"
    warnings.warn(
        f"compiled kernels are not kept in {wanted}, because {why}: each process compiles them again. "
        "Let DICEGYM_CACHE name a folder that belongs to you and that nobody else can write in",
        RuntimeWarning,
        stacklevel=2,
    )
    return _for_this_process()
