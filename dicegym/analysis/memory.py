"""How much memory and disk there are to be had, for work that says before it starts how much it takes."""

from __future__ import annotations

import os
from pathlib import Path

_MEMINFO = Path("/proc/meminfo")
_GROUPS = Path("/sys/fs/cgroup")


def available_memory(meminfo: Path = _MEMINFO, groups: Path = _GROUPS) -> int | None:
    """Return the bytes of memory that a program may still take here without swapping; None where nobody says.

    On Linux the smaller one of what the system has available and what the limit of the container leaves. Elsewhere the
    machine's free pages, if the system counts them.

    Args:
        meminfo: where Linux tells.
        groups: where it tells of limits.
    """
    known = [found for found in (_of_system(meminfo), _of_group(groups)) if found is not None]
    return min(known) if known else _free_pages()


def _of_system(meminfo: Path) -> int | None:
    try:
        lines = meminfo.read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError, IndexError, StopIteration):
        return None


def _of_group(groups: Path) -> int | None:
    """Return what a container's limit leaves; files that it has read count as used, and can be had again."""
    try:
        most = int((groups / "memory.max").read_text(encoding="ascii"))  # "max" without a limit
        used = int((groups / "memory.current").read_text(encoding="ascii"))
        words = dict(line.split() for line in (groups / "memory.stat").read_text(encoding="ascii").splitlines())
        return max(0, most - used + int(words.get("inactive_file", 0)))
    except (OSError, ValueError):
        return None


def _free_pages() -> int | None:
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # Windows has no such thing, macOS not this one
        return None


def in_words(size: int) -> str:
    """Return a number of bytes for people: ``2.2 GB``, with powers of 1000."""
    for unit, bytes_each in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= bytes_each:
            return f"{size / bytes_each:.{1 if size < 100 * bytes_each else 0}f} {unit}"
    return f"{size} bytes"
