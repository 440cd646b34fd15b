"""What a process gives up before it loads an untrusted program.

Each layer works without the others, needs no privileges, and cannot be undone: resource limits, root's rights, access
by other processes, open descriptors, then the file system (`dicegym.sandbox.landlock`) and system calls
(`dicegym.sandbox.seccomp`). This runs once per match, so it is fast and imports only what it needs.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import signal
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from dicegym.sandbox import landlock, linux, seccomp

if TYPE_CHECKING:
    from pathlib import Path

try:  # before the fork: loading it takes longer than everything else here
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]  # None: missing

LIBRARIES = 16 << 30
"""Bytes of address space for mapped files and reserved memory, where seccomp forbids shared memory. Large libraries
reserve several GB and use a small part."""
FILE = 16 << 20
"""Bytes of one file."""
DESCRIPTORS = 64
"""Open files."""
THREADS = 64
"""Threads beyond those of the whole machine when the process is confined, because the system counts the threads of all
processes of a user."""

_CHANCE = ("/dev/urandom", "/dev/random")
"""Devices that some libraries read to seed their generators."""
_UNSEEN = 256 << 20
"""Estimate of a process's bytes beyond its resident memory, for systems without /proc."""
_CAPABILITIES_VERSION = 0x20080522
_UNUSED_USERS = 0x60000000  # no real user has an id from here on


class Bounds(NamedTuple):
    """System limits of a confined process.

    Attributes:
        memory: bytes beyond what the process uses when it is confined.
        cpu: seconds of processor time from now on; then the process is killed. A backstop: the referee's limits are
            lower.
    """

    memory: int
    cpu: int


def confine(
    bounds: Bounds,
    read: Iterable[str | Path] = (),
    write: Iterable[str | Path] = (),
    keep: Iterable[int] = (),
    parent: int | None = None,
    free: bool = False,
) -> tuple[str, ...]:
    """Give up everything that an untrusted program does not need, for this process and for good.

    Call it in a separate process with one thread, before any code of the program runs.

    Args:
        bounds: system limits.
        read: readable files, and folders with all their contents; `dicegym.sandbox.jail.readable` lists Python's.
        write: folders, and files like ``/dev/null``, that are also writable.
        keep: descriptors that stay open, in addition to 0, 1 and 2.
        parent: the process that started this one; this process ends with it, however it ends. None: it does not.
        free: apply only the limits, so that within them the process may do what its user may.

    Returns:
        Names of the layers in force. Layers that the system lacks are left out; the others still hold.
    """
    with contextlib.suppress(OSError):  # it already leads a session
        os.setsid()
    _close_all_but(keep)
    layers = []
    filtered = seccomp.available()
    # Free programs are trusted: they may map libraries of any size, and accidents fill only private memory.
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
    """Cache what the system supports, before forking the processes that call `confine`."""
    landlock.version()
    seccomp.available()
    with contextlib.suppress(OSError):  # glibc loads it when a thread ends, and aborts the process if it cannot
        ctypes.CDLL("libgcc_s.so.1")


def end_with(parent: int) -> None:
    """End this process as soon as process ``parent``, which forked it, has ended in any way (on Linux).

    Otherwise a program that killed its referee would run forever, and everything that waits for its end would hang.
    """
    with contextlib.suppress(OSError):
        linux.prctl(linux.PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _close_all_but(keep: Iterable[int]) -> None:
    try:
        end = os.sysconf("SC_OPEN_MAX")
    except (OSError, ValueError):
        end = 1 << 10
    for before, after in itertools.pairwise([2, *sorted({*keep} - {0, 1, 2}), end]):
        os.closerange(before + 1, after)


def _limit(bounds: Bounds, filtered: bool) -> bool:
    """Set the system's limits; return whether all required ones were set."""
    if resource is None:
        return False
    used = resource.getrusage(resource.RUSAGE_SELF)
    addresses = data = used.ru_maxrss * 1024 + _UNSEEN
    with contextlib.suppress(OSError), open("/proc/self/statm", "rb") as file:
        numbers = file.read().split()
        addresses, data = (int(numbers[index]) * resource.getpagesize() for index in (0, 5))
    required = {
        "RLIMIT_CORE": 0,
        "RLIMIT_CPU": int(used.ru_utime + used.ru_stime) + 1 + bounds.cpu,
        "RLIMIT_FSIZE": FILE,
        "RLIMIT_NOFILE": DESCRIPTORS,
        # Writable private memory; mapped libraries do not count. Neither does shared memory: seccomp forbids it, and
        # without seccomp all addresses are limited.
        "RLIMIT_DATA": data + bounds.memory,
        "RLIMIT_AS": addresses + bounds.memory + (LIBRARIES if filtered else 0),
        "RLIMIT_STACK": 8 << 20,  # does not count as data, and many users lift its limit
        "RLIMIT_NPROC": _threads_of_the_machine() + THREADS,
    }
    optional = dict.fromkeys(("RLIMIT_MEMLOCK", "RLIMIT_MSGQUEUE", "RLIMIT_RTPRIO"), 0)
    optional["RLIMIT_SIGPENDING"] = DESCRIPTORS  # counted for all processes of the user together
    missed = {name for name, value in (required | optional).items() if not _set_limit(name, value)}
    return not missed & required.keys()


def _set_limit(name: str, value: int) -> bool:
    kind = getattr(resource, name, None)
    if kind is None:
        return False
    _, most = resource.getrlimit(kind)
    value = value if most == resource.RLIM_INFINITY else min(value, most)
    try:
        resource.setrlimit(kind, (value, value))
    except (OSError, ValueError):  # macOS has some limits that it does not let processes set
        return False
    return True


def _threads_of_the_machine() -> int:
    with contextlib.suppress(OSError, ValueError, IndexError), open("/proc/loadavg", "rb") as file:
        return int(file.read().split()[3].split(b"/")[1])
    return 1 << 10


def _give_up_privileges() -> bool:
    """Drop root's rights; return whether none is left."""
    if os.geteuid() == 0 and hasattr(os, "setresuid"):
        # RLIMIT_NPROC does not bind processes whose real user is root. The effective user opens files, and stays.
        with contextlib.suppress(OSError):  # a namespace without other users
            # A random user for each process: threads are counted per user. Process ids are no substitute, since they
            # are the same in all jails.
            os.setresuid(_UNUSED_USERS + int.from_bytes(os.urandom(3), "big"), 0, 0)
    if sys.platform != "linux":
        return os.geteuid() != 0
    try:
        linux.give_up_new_privileges()
    except OSError:
        return False
    nothing = (ctypes.c_uint32 * 6)()  # effective, permitted and inheritable capabilities, lower halves first
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_VERSION, 0)
    return bool(linux.libc().capset(ctypes.byref(header), ctypes.byref(nothing)) == 0)
