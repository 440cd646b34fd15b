"""The folder for compiled kernels, and the check that it is safe.

A cached kernel is unpickled and run, so anybody who can write in the folder can run code as the user. It is therefore
used only if nobody but the user and root can put files in it: it and all folders above it belong to one of them, and
others may not write there, except in sticky folders such as ``/tmp``. Otherwise there is a warning, and a temporary
folder serves this process.
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
"""Generations of compiled kernels on disk, so that two checkouts do not evict each other."""
LEFT_BEHIND = 3600.0
"""Seconds after which an unfinished file was left by a killed process."""
OWNERS_KNOWN = hasattr(os, "getuid")
"""False on Windows, where access lists protect the user's folders."""


def is_ours(facts: os.stat_result) -> bool:
    """Return whether a file belongs to this user or root, and nobody else may write to it."""
    return _owned(facts) and not (OWNERS_KNOWN and facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def _owned(facts: os.stat_result) -> bool:
    # In a user namespace, root has another number: the owner of the root folder.
    return not OWNERS_KNOWN or facts.st_uid in (os.getuid(), 0, os.stat(os.sep).st_uid)


def _users_own_group(gid: int) -> bool:
    """Return whether a group has only this user, as on systems with a group for each user."""
    import grp
    import pwd

    try:
        group, user = grp.getgrgid(gid), pwd.getpwuid(os.getuid())
    except KeyError:
        return False
    return group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}


def _check(folder: Path) -> None:
    """Raise PermissionError if others could write in or replace ``folder``, a path without links."""
    for place in (folder, *folder.parents):
        facts = place.stat()
        if not _owned(facts):
            raise PermissionError(f"{place} belongs to another user")
        if not OWNERS_KNOWN or facts.st_mode & stat.S_ISVTX:  # in a sticky folder others cannot replace our files
            continue
        if facts.st_mode & stat.S_IWOTH or (facts.st_mode & stat.S_IWGRP and not _users_own_group(facts.st_gid)):
            raise PermissionError(f"others may write in {place}")


def _prepare(root: Path, generation: str) -> Path:
    """Make, check and return the folder ``generation`` of ``root``. Raises OSError."""
    root = root.expanduser().absolute()
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = root / generation
    folder.mkdir(mode=0o700, exist_ok=True)
    folder = folder.resolve()
    _check(folder)
    # An administrator may have compiled kernels in a folder that is read-only to users.
    if not os.access(folder, os.W_OK | os.X_OK) and not any(folder.glob("*.nbc")):
        raise PermissionError(f"{folder} cannot be written")
    _tidy(folder)
    return folder


def _tidy(current: Path) -> None:
    """Remove old generations, and unfinished files of killed processes."""
    with contextlib.suppress(OSError):  # another process may do the same
        current.touch()
        folders = sorted(current.parent.glob("kernels-*"), key=lambda folder: folder.stat().st_mtime, reverse=True)
        for folder in folders[KEPT_FOLDERS:]:
            if folder != current and is_ours(folder.lstat()):
                shutil.rmtree(folder, ignore_errors=True)
        for entry in os.scandir(current):
            if entry.name.endswith(".tmp") and entry.stat().st_mtime < time.time() - LEFT_BEHIND:
                os.unlink(entry)


def _for_this_process() -> Path:
    folder, maker = Path(tempfile.mkdtemp(prefix="dicegym-")), os.getpid()

    @atexit.register
    def remove() -> None:
        if os.getpid() == maker:  # not in a fork
            shutil.rmtree(folder, ignore_errors=True)

    return folder


def find(generation: str) -> Path:
    """Return a safe folder for the compiled kernels of a ``generation`` of sources.

    It is below ``DICEGYM_CACHE``, or below the user's cache folder. If that cannot be used, there is a RuntimeWarning
    and a temporary folder serves this process.
    """
    configured = os.environ.get("DICEGYM_CACHE")
    try:
        if configured:
            return _prepare(Path(configured), generation)
        from platformdirs import user_cache_path  # takes 10 ms

        return _prepare(user_cache_path("dicegym", appauthor=False), generation)
    except (OSError, RuntimeError) as error:  # unsafe, no such disk, read-only; no home folder
        why = str(error)
    wanted = f"DICEGYM_CACHE={configured}" if configured else "the user's cache folder"
    warnings.warn(
        f"compiled kernels are not kept in {wanted}, because {why}: each process compiles them again. "
        "Set DICEGYM_CACHE to a folder that belongs to you and that nobody else can write in",
        RuntimeWarning,
        stacklevel=2,
    )
    return _for_this_process()
