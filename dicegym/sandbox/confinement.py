"""Confinement: what a process gives up before it loads an untrusted program.

Each layer holds without the others, needs no privileges, and cannot be taken back: limits of the system, rights of
root, no way to look into the process, descriptors closed, then the file system (`dicegym.sandbox.landlock`) and system
calls (`dicegym.sandbox.seccomp`). It runs once for every match, so it is quick and imports no more than it needs.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from dicegym.sandbox import landlock, linux, seccomp

if TYPE_CHECKING:
    from pathlib import Path

try:  # now, and not when a process has been forked: to load it takes longer than all the rest
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]  # which says that it is missing

LIBRARIES = 16 << 30
"""Bytes of addresses that files mapped for reading, and what is reserved but not used, may take where seccomp keeps a
process from shared memory; large libraries ask for several GB that way and use a small part."""

_CHANCE = ("/dev/urandom", "/dev/random")
"""Devices that some libraries read to seed generators of theirs."""
_UNSEEN = 256 << 20
"""Bytes that a process has beyond what of it is in memory, where a system has no /proc."""
_CAPABILITIES_VERSION = 0x20080522
_NOBODY_ELSE = 0x60000000
"""Ids of users from here on are nobody's."""


class Bounds(NamedTuple):
    """What the system lets a confined process have.

    Attributes:
        memory: bytes beyond what the process has when it is confined.
        cpu: seconds of processor time from now on; the process is ended when it has had them. A backstop above what
            the referee judges.
        file: bytes of one file.
        files: descriptors open at a time.
        threads: threads at a time beyond as many as there are on the whole machine when it is confined: the system
            counts those of all processes of the user.
    """

    memory: int = 512 << 20
    cpu: int = 60
    file: int = 16 << 20
    files: int = 64
    threads: int = 64


def confine(
    bounds: Bounds,
    read: Iterable[str | Path] = (),
    write: Iterable[str | Path] = (),
    keep: Iterable[int] = (),
    parent: int | None = None,
    free: bool = False,
) -> tuple[str, ...]:
    """Give up, in this process and for good, all that an untrusted program has no business with.

    Call it in a process of its own that runs one thread, before any code of the program.

    Args:
        bounds: limits of the system.
        read: files, and folders with all beneath, that may be read; `dicegym.sandbox.jail.readable` names Python's.
        write: folders, and files like ``/dev/null``, that may also be changed.
        keep: descriptors that stay open, with 0, 1 and 2.
        parent: process that has started this one; with it this process ends, in whatever way it goes. None: leave that.
        free: keep the limits alone; the process may do else what its user may.

    Returns:
        Names of the layers that hold. What the system does not have is left out, and the others hold all the same.
    """
    with contextlib.suppress(OSError):  # leads a session of its own already
        os.setsid()
    _close_all_but(keep)
    layers = []
    filtered = seccomp.available()
    # Programs that are free are trusted: they may import libraries of any size, and accidents fill memory of their own.
    if _limit(bounds, filtered or free):
        layers.append("limits")
    if not free:
        os.umask(0o077)
        if _give_up_privileges():
            layers.append("no privileges")
        with contextlib.suppress(OSError):
            linux.prctl(linux.DUMPABLE, 0)
            layers.append("closed to others")
    if parent is not None:
        end_with(parent)
    if not free:
        if known := landlock.confine([*read, *_CHANCE], write):
            layers.append(f"Landlock {known}")
        if filtered and seccomp.install():
            layers.append("seccomp")
    return tuple(layers)


def prepare() -> None:
    """Ask the system once what it has, in a process that is going to fork those who call `confine`: they know then."""
    landlock.version()
    seccomp.available()
    with contextlib.suppress(OSError):  # glibc loads it when a thread ends, and ends the process where it cannot
        ctypes.CDLL("libgcc_s.so.1")


def end_with(parent: int) -> None:
    """End this process as soon as process ``parent``, which has forked it, has ended in whatever way (on Linux).

    Without this, a program that killed its referee would run for ever, and all that waits for its end would wait.
    """
    with contextlib.suppress(OSError):
        linux.prctl(linux.PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _close_all_but(keep: Iterable[int]) -> None:
    first = 3
    for descriptor in sorted(one for one in {*keep} if one >= first):
        os.closerange(first, descriptor)
        first = descriptor + 1
    try:
        end = os.sysconf("SC_OPEN_MAX")
    except (OSError, ValueError):
        end = 1 << 10
    os.closerange(first, max(end, first))


def _limit(bounds: Bounds, filtered: bool) -> bool:
    """Set what the system enforces; return whether all of it could be."""
    if resource is None:
        return False

    def to(name: str, value: int) -> bool:
        kind = getattr(resource, name, None)
        if kind is None:
            return False
        _, most = resource.getrlimit(kind)
        value = value if most == resource.RLIM_INFINITY else min(value, most)
        try:
            resource.setrlimit(kind, (value, value))
        except (OSError, ValueError):  # macOS knows some of these and takes no values
            return False
        return True

    used = resource.getrusage(resource.RUSAGE_SELF)
    addresses = data = used.ru_maxrss * 1024 + _UNSEEN
    with contextlib.suppress(OSError), open("/proc/self/statm", "rb") as file:
        numbers = file.read().split()
        addresses, data = (int(numbers[index]) * resource.getpagesize() for index in (0, 5))
    set_all = [
        to("RLIMIT_CORE", 0),
        to("RLIMIT_CPU", int(used.ru_utime + used.ru_stime) + 1 + bounds.cpu),
        to("RLIMIT_FSIZE", bounds.file),
        to("RLIMIT_NOFILE", bounds.files),
        # What a process writes to; libraries mapped for reading take no memory of its own. Shared memory would not
        # count here: seccomp forbids it, and where there is no seccomp all addresses are limited.
        to("RLIMIT_DATA", data + bounds.memory),
        to("RLIMIT_AS", addresses + bounds.memory + (LIBRARIES if filtered else 0)),
        to("RLIMIT_STACK", 8 << 20),  # which is not counted as data, and whose limit many users lift
        to("RLIMIT_NPROC", _threads_of_the_machine() + bounds.threads),
    ]
    for name in ("RLIMIT_MEMLOCK", "RLIMIT_MSGQUEUE", "RLIMIT_RTPRIO"):
        to(name, 0)
    to("RLIMIT_SIGPENDING", bounds.files)  # counted for all processes of the user together
    return all(set_all)


def _threads_of_the_machine() -> int:
    with contextlib.suppress(OSError, ValueError, IndexError), open("/proc/loadavg", "rb") as file:
        return int(file.read().split()[3].split(b"/")[1])
    return 1 << 10


def _give_up_privileges() -> bool:
    """Drop what root may and nobody else; return whether nothing of it is left."""
    if os.geteuid() == 0 and hasattr(os, "setresuid"):
        # RLIMIT_NPROC does not bind whose real user is root. The effective one opens files, and stays.
        with contextlib.suppress(OSError):  # a namespace that has no other user
            # Each another one, as threads are counted by users; in jails, the ids of processes are alike.
            os.setresuid(_NOBODY_ELSE + int.from_bytes(os.urandom(3), "big"), 0, 0)
    if sys.platform != "linux":
        return os.geteuid() != 0
    try:
        linux.give_up_new_privileges()
    except OSError:
        return False
    nothing = (ctypes.c_uint32 * 6)()  # effective, permitted and inheritable capabilities, lower halves first
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_VERSION, 0)
    return bool(linux.libc().capset(ctypes.byref(header), ctypes.byref(nothing)) == 0)
