"""Where compiled kernels are kept, and whom that place belongs to.

A kernel from disk is unpickled and run, so anybody who can write in the folder can run code as its user. It is
therefore used only if nobody but its user (and the machine's owner) can put files in it: it and all folders above it
belong to one of them, and no others may write there, sticky folders such as ``/tmp`` aside. One of our own that others
may write in is tightened; any other is refused with a warning, and a private one below the temporary folder serves.
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
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
LEFT_BEHIND = 3600.0
"""Seconds after which a file that was being written belongs to a process that was killed."""
OWNERS_KNOWN = hasattr(os, "getuid")
"""False on Windows, where the user's folders are the user's own by access lists."""


class RefusedError(Exception):
    """A folder cannot hold compiled kernels; the message says why."""


def is_ours(facts: os.stat_result) -> bool:
    """Return whether a file belongs to this user or to the owner of the machine, and no others may write to it."""
    return _owned(facts) and not (OWNERS_KNOWN and facts.st_mode & OTHERS_WRITE)


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


def _check_above(folder: Path) -> None:
    """Raise `RefusedError` if others could put another folder in the place of ``folder``, a path without links."""
    for above in folder.parents:
        facts = above.stat()
        if not _owned(facts):
            raise RefusedError(f"{above} above it belongs to another user")
        loose = facts.st_mode & OTHERS_WRITE if OWNERS_KNOWN and not facts.st_mode & stat.S_ISVTX else 0
        if loose & stat.S_IWOTH or (loose and not _users_own_group(facts.st_gid)):
            raise RefusedError(f"others may write in {above} above it")


def _own(folder: Path) -> bool:
    """Make ``folder`` or tighten it; return whether others could have written in it before. Raises `RefusedError`."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    facts = folder.lstat()
    if not stat.S_ISDIR(facts.st_mode):
        raise RefusedError(f"{folder} is not a folder")
    if not _owned(facts):
        raise RefusedError(f"{folder} belongs to another user")
    if is_ours(facts) or facts.st_mode & stat.S_ISVTX:  # in a sticky one nobody can replace what is ours
        return False
    if any(not child.name.startswith("kernels-") and child.suffix != ".nbc" for child in folder.iterdir()):
        raise RefusedError(f"others may write in {folder}, and it holds more than kernels")  # meant to be shared?
    folder.chmod(stat.S_IMODE(facts.st_mode) & ~OTHERS_WRITE)
    return True


def _prepare(root: Path, generation: str) -> Path:
    """Return the folder ``generation`` of ``root``, fit for use. Raises `RefusedError` or OSError."""
    root = root.expanduser().absolute()
    if root == _temporary() and root.is_symlink():  # its name is known to everybody
        raise RefusedError(f"{root} is a link")
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    root = root.resolve()
    _check_above(root)
    _own(root)
    folder = root / generation
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
    if _own(folder):  # who knows what they have put there
        shutil.rmtree(folder)
        _own(folder)
    # What an administrator has compiled may be read where it may not be written.
    if not os.access(folder, os.W_OK | os.X_OK) and not any(folder.glob("*.nbc")):
        raise RefusedError(f"{folder} cannot be written")
    _tidy(root, folder)
    return folder


def _tidy(root: Path, current: Path) -> None:
    """Remove old generations, and what killed processes were writing in the current one."""
    with contextlib.suppress(OSError):  # another process may tidy up at the same time
        current.touch()
        folders = sorted(root.glob("kernels-*"), key=lambda folder: folder.stat().st_mtime, reverse=True)
        for folder in folders[KEPT_FOLDERS:]:
            if folder != current and is_ours(folder.lstat()):
                shutil.rmtree(folder, ignore_errors=True)
        for entry in os.scandir(current):
            if entry.name.endswith(".tmp") and entry.stat().st_mtime < time.time() - LEFT_BEHIND:
                os.unlink(entry)


def _users_cache() -> Path:
    from platformdirs import user_cache_path  # 10 ms that DICEGYM_CACHE saves

    return user_cache_path("dicegym", appauthor=False)


def _temporary() -> Path:
    """Return a folder below the temporary one that the next process finds again."""
    user = os.getuid() if OWNERS_KNOWN else os.environ.get("USERNAME", "user")
    return Path(tempfile.gettempdir()) / f"dicegym-{user}"


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

    The first of these that will do: what ``DICEGYM_CACHE`` names, else the user's cache folder; one with the user's
    name below the temporary folder; a new one for this process alone. Warns (RuntimeWarning) if the one that was
    asked for is not used, or the user's own is in others' hands.
    """
    configured = os.environ.get("DICEGYM_CACHE")
    why = ""
    try:
        return _prepare(Path(configured) if configured else _users_cache(), generation)
    except RefusedError as refused:
        why = str(refused)
    except (OSError, RuntimeError) as error:  # no such disk, read-only, no home folder
        why = str(error) if configured else ""
    try:
        instead = _prepare(_temporary(), generation)
    except (RefusedError, OSError):
        instead = _for_this_process()
    if why:
        wanted = f"DICEGYM_CACHE={configured}" if configured else "the user's cache folder"
        warnings.warn(
            f"compiled kernels are not kept in {wanted}, because {why}: they go to {instead}. "
            "Let DICEGYM_CACHE name a folder that belongs to you and that nobody else can write in",
            RuntimeWarning,
            stacklevel=2,
        )
    return instead
