"""What the zoo stands in: namespaces of its own, in which whatever escapes from a contest is counted, and ends.

``caged`` runs a program there; ``python -m zoo.cage`` is its first process, which outlives whatever bots do. It ends
with all others when its input closes, so also when whoever started it is killed. In the cage the system is read-only,
temporary folders are small, empty and its own, the only network is its own loopback, and the home is a new one.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

UNSHARE = ("unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount", "--mount-proc")
NAMESPACES = (*UNSHARE, "--net", "--ipc", "--uts")
SCRATCH = ("/tmp", "/dev/shm", "/var/tmp")  # the cage has its own
HOME = "/tmp/home"
ROOM = "512m"
SECONDS_TO_END = 30.0
"""Seconds for processes to end with their parent, on a busy machine."""


class Caged(NamedTuple):
    """The result of a program in a cage."""

    status: int
    output: str
    left: list[str]
    """Processes, files, sockets, shared memory and mounts that were not there before."""
    seconds: float


def why_not() -> str:
    """Return why a cage cannot be made here; empty if it can."""
    if shutil.which("unshare") is None:
        return "needs unshare (util-linux)"
    tried = subprocess.run([*NAMESPACES, "true"], capture_output=True, text=True, check=False)
    return "" if tried.returncode == 0 else f"namespaces are forbidden here: {tried.stderr.strip()}"


def caged(
    command: list[str],
    work: Path,
    seconds: float,
    kept: tuple[str, ...] = (),
    environment: Mapping[str, str] = MappingProxyType({}),
) -> Caged:
    """Run ``command`` in a cage for at most ``seconds``; the folders must not contain each other.

    Args:
        command: program and arguments.
        work: the only folder outside the cage that it may write.
        seconds: after this time the cage ends.
        kept: folders that it sees inside the cage's empty folders.
        environment: additional variables.
    """
    note = work / "cage.json"
    request = {"command": command, "seconds": seconds, "work": str(work), "kept": kept, "note": str(note)}
    tests = Path(__file__).resolve().parents[1]
    paths = f"{tests.parent}{os.pathsep}{tests}"
    begun = time.monotonic()
    with subprocess.Popen(
        [*NAMESPACES, sys.executable, "-m", "zoo.cage", json.dumps(request)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=os.environ | {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"} | environment,
    ) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        status = process.wait()
    left = json.loads(note.read_text()) if note.exists() else ["(the cage ended before it could look)"]
    return Caged(status, output, left, time.monotonic() - begun)


# --- inside ------------------------------------------------------------------------------------------------


def _mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(source.encode(), target.encode(), kind.encode(), flags, data.encode()):
        number = ctypes.get_errno()
        raise OSError(number, f"{os.strerror(number)}: mount {source} {target}")


_RDONLY, _REMOUNT, _BIND, _REC, _PRIVATE = 1, 32, 4096, 16384, 1 << 18


def _build(work: str, kept: list[str]) -> None:
    """Empty the scratch folders, except ``kept``; make everything else except ``work`` read-only."""
    _mount("none", "/", "", _REC | _PRIVATE)
    shown = [(folder, os.open(folder, os.O_PATH)) for folder in sorted({work, *kept})]
    for folder in SCRATCH:
        if os.path.isdir(folder):
            _mount("tmpfs", folder, "tmpfs", 0, f"size={ROOM}")
    for folder, number in shown:
        if folder.startswith(SCRATCH):
            os.makedirs(folder, exist_ok=True)
        _mount(f"/proc/self/fd/{number}", folder, "", _BIND)
        if folder in kept:
            _mount("none", folder, "", _REMOUNT | _BIND | _RDONLY)
        os.close(number)
    _mount("none", "/", "", _REMOUNT | _BIND | _RDONLY)
    os.chdir("/")
    with socket.socket() as line, contextlib.suppress(OSError):
        import fcntl

        fcntl.ioctl(line, 0x8914, struct.pack("16sh", b"lo", 1 | 0x40))  # up and running


def _limit() -> None:
    for limit, most in (
        (resource.RLIMIT_DATA, 4 << 30),
        (resource.RLIMIT_FSIZE, 1 << 30),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, 600),
    ):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(limit, (most, most))
    with contextlib.suppress(OSError), open("/proc/sys/kernel/pid_max", "w", encoding="ascii") as file:
        file.write("4000")  # only of this PID namespace, if the kernel supports that


def _files(shown: list[str]) -> set[str]:
    seen = set()
    for top in SCRATCH:
        for folder, folders, files in os.walk(top):
            folders[:] = [name for name in folders if os.path.join(folder, name) not in shown]
            seen |= {os.path.join(folder, name) for name in (*files, *folders)}
    return seen


def _sockets() -> set[str]:
    """Return listening, bound and connected sockets."""
    found = set()
    for name in ("tcp", "tcp6", "udp", "udp6", "unix"):
        with contextlib.suppress(OSError):
            lines = Path("/proc/self/net", name).read_text().splitlines()[1:]
            found |= {f"{name} {line.split()[-1]}" for line in lines if name != "unix" or len(line.split()) > 7}
    return found


def _shared() -> set[str]:
    found = set()
    for name in ("shm", "sem", "msg"):
        with contextlib.suppress(OSError):
            lines = Path("/proc/sysvipc", name).read_text().splitlines()[1:]
            found |= {f"sysv {name} {line.split()[1]}" for line in lines}
    return found


def _mounts() -> set[str]:
    return {" ".join(line.split()[:3]) for line in Path("/proc/self/mounts").read_text().splitlines()}


def _things(shown: list[str]) -> set[str]:
    return _files(shown) | _sockets() | _shared() | _mounts()


def _processes() -> list[str]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
            if folder.name != "1" and state != "Z":
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                found.append(f"process {folder.name} {state}: {command[:200]}")
    return found


def _guard(seconds: float) -> None:
    """End this cage when its input closes, or after ``seconds``."""

    def until_closed() -> None:
        while os.read(0, 1024):
            pass
        os._exit(3)

    def until_late() -> None:
        time.sleep(seconds)
        print("the cage has ended: its time is over", flush=True)
        os._exit(4)

    for guard in (until_closed, until_late):
        threading.Thread(target=guard, daemon=True).start()


def main(request: dict[str, Any]) -> int:
    """Run as the first process of a cage; return the program's status."""
    _guard(request["seconds"])
    shown = [request["work"], *request["kept"]]
    _build(request["work"], request["kept"])
    _limit()
    os.makedirs(HOME)
    before = _things(shown)
    own = os.environ | {"HOME": HOME, "TMPDIR": SCRATCH[0]}
    status = subprocess.run(
        request["command"], stdin=subprocess.DEVNULL, cwd=request["work"], env=own, check=False
    ).returncode
    deadline = time.monotonic() + SECONDS_TO_END
    while (left := _processes()) and time.monotonic() < deadline:
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.02)
    left += sorted(one for one in _things(shown) - before if not one.startswith(HOME))
    Path(request["note"]).write_text(json.dumps(left))
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group, but the parent ends this process
    sys.exit(main(json.loads(sys.argv[1])))
