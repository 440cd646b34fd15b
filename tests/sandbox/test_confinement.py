"""What a confined process can and cannot do, tried in a real child, with and without a jail."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
from pathlib import Path
from typing import Any

import confined
import pytest

from dicegym.sandbox import jail, landlock, seccomp
from dicegym.sandbox.seccomp import RULES

pytestmark = pytest.mark.skipif(
    not landlock.version() or not seccomp.available(), reason="this kernel has no Landlock or no seccomp"
)
LEVELS = (
    "process",
    pytest.param("jail", marks=pytest.mark.skipif(bool(jail.probe("jail")), reason=f"no jail: {jail.probe('jail')}")),
)

MEMORY = 256 << 20

# In these, PARENT is the process that watches, PORT listens on loopback, ABSTRACT is a socket's name, SECRET a file in
# somebody's home, BOT the bot's own file, OTHER one beside it, FOLDER where it may write; c is the C library.
TOOLS = """
import ctypes, errno, fcntl, mmap, multiprocessing, pathlib, resource, signal, socket, subprocess, tempfile, threading
PARENT, PORT, ABSTRACT, SECRET, BOT, OTHER = json.loads({given!r})
c = ctypes.CDLL(None, use_errno=True)

def call(function, *arguments):
    if function(*arguments) == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

def system(number, *arguments):
    call(c.syscall, ctypes.c_long(number), *(ctypes.c_long(value) for value in arguments))

def mapped(flags):
    area = mmap.mmap(-1, 600 << 20, flags=flags)
    area.write(bytes(600 << 20))

def zero_mapped():
    with open("/dev/zero", "r+b") as file:
        mmap.mmap(file.fileno(), 600 << 20).write(bytes(600 << 20))

def datagram():
    one, other = socket.socketpair(type=socket.SOCK_DGRAM)
    one.sendto(b"x", ABSTRACT)

def message():
    one, other = socket.socketpair(type=socket.SOCK_DGRAM)
    one.sendmsg([b"x"], [], 0, ABSTRACT)

def connect():
    one, other = socket.socketpair(type=socket.SOCK_DGRAM)
    one.connect(ABSTRACT)

def owned_pipe():
    reader, writer = os.pipe()
    fcntl.fcntl(reader, fcntl.F_SETOWN, PARENT)

def threads():
    threading.stack_size(32768)
    over = threading.Event()
    try:
        for _ in range(20000):
            threading.Thread(target=over.wait, daemon=True).start()
    finally:
        over.set()

def big_file():
    with open(FOLDER + "/big", "wb") as file:
        for _ in range(40):
            file.write(bytes(1 << 20))

def many_descriptors():
    copies = []
    try:
        for _ in range(1000):
            copies.append(os.dup(0))
    finally:
        for copy in copies:
            os.close(copy)
"""

NO = r"PermissionError: \[Errno (1|13)\].*"
NOT_THERE = r"(PermissionError|FileNotFoundError): .*"
NOT_HERE = r"(PermissionError|OSError): \[Errno (13|30)\].*"
DENIED: dict[str, tuple[str, str]] = {
    "fork": ("os.fork()", NO),
    "forkpty": ("os.forkpty()", r"(PermissionError|FileNotFoundError): .*"),
    "clone": ("system({clone}, 17, 0, 0, 0, 0)", NO),
    "clone3": ("system(435, 0, 0)", r"OSError: \[Errno 38\].*"),
    "another program": ("subprocess.run(['true'])", NO),
    "spawn": ("os.posix_spawn('/bin/true', ['true'], dict())", NO),
    "execute": ("os.execv('/bin/true', ['true'])", NO),
    "multiprocessing": ("multiprocessing.Process(target=print).start()", NO),
    "kill the parent": ("os.kill(PARENT, 0)", NO),
    "kill process 1": ("os.kill(1, 0)", NO),
    "kill its group": ("os.kill(0, 0)", NO),
    "kill all": ("os.kill(-1, 0)", NO),
    "kill a group": ("os.killpg(os.getpgid(0), 0)", NO),
    "signal a thread": ("system({tgkill}, PARENT, PARENT, 0)", NO),
    "signal by descriptor": ("os.pidfd_open(PARENT)", NO),
    "signal by a pipe": ("owned_pipe()", NO),
    "trace": ("call(c.ptrace, 16, PARENT, 0, 0)", NO),
    "read memory": ("call(c.process_vm_readv, PARENT, None, 0, None, 0, 0)", NO),
    "memory of the parent": ("open(f'/proc/{{PARENT}}/mem', 'rb')", NOT_THERE),
    "descriptors of the parent": ("os.listdir(f'/proc/{{PARENT}}/fd')", NOT_THERE),
    "its own memory": ("open('/proc/self/mem', 'r+b')", NOT_HERE),
    "processes": ("os.listdir('/proc')", NO),
    "a secret": ("open(SECRET).read()", NOT_THERE),
    "a secret's folder": ("os.listdir(os.path.dirname(SECRET))", NOT_THERE),
    "homes": ("os.listdir('/home')", NOT_THERE),
    "the root": ("os.listdir('/')", NOT_THERE),
    "users": ("open('/etc/passwd').read()", NOT_THERE),
    "another bot": ("open(OTHER).read()", NOT_THERE),
    "write its own file": ("open(BOT, 'a')", NOT_HERE),
    "write beside its file": ("open(BOT + '.new', 'w')", NOT_HERE),
    "write packages": ("open(os.__file__, 'a')", NOT_HERE),
    "link what it may read": ("os.link(BOT, FOLDER + '/hard')", r"(PermissionError|OSError): .*"),
    "move what it may read": ("os.rename(BOT, FOLDER + '/moved')", r"(PermissionError|OSError): .*"),
    "link beside its file": ("os.symlink('/', BOT + '.link')", NOT_HERE),
    "a secret through a link": ("[os.symlink(SECRET, FOLDER + '/link'), open(FOLDER + '/link').read()]", NOT_THERE),
    "shared folder": ("open('/dev/shm/dicegym-test', 'w')", NOT_THERE),
    "everybody's folder": ("open('/var/tmp/dicegym-test', 'w')", NOT_THERE),
    "devices": ("os.listdir('/dev')", NO),
    "a terminal": ("open('/dev/tty', 'w')", r"(PermissionError|FileNotFoundError|OSError): .*"),
    "type into a terminal": ("fcntl.ioctl(0, 0x5412, b'x')", NO),
    "mode": ("os.chmod(SECRET, 0)", NO),
    "owner": ("os.chown(SECRET, 0, 0)", NO),
    "times": ("os.utime(SECRET, (0, 0))", NO),
    "attribute": ("os.setxattr(SECRET, 'user.x', b'')", NO),
    "empty": ("os.truncate(SECRET, 0)", NO),
    "watch": ("call(c.inotify_init1, 0)", NO),
    "pipe by name": ("os.mkfifo(FOLDER + '/pipe')", NO),
    "network": ("socket.create_connection(('127.0.0.1', PORT))", NO),
    "datagram": ("datagram()", NO),
    "message": ("message()", NO),
    "connected pair": ("connect()", NO),
    "abstract socket": ("socket.socket(socket.AF_UNIX).connect(ABSTRACT)", NO),
    "other pairs": ("socket.socketpair(socket.AF_INET)", NO),
    "memory file": ("os.memfd_create('x')", NO),
    "shared memory of System V": ("call(c.shmget, 0, 4096, 0o1600)", NO),
    "semaphores of System V": ("call(c.semget, 0, 1, 0o1600)", NO),
    "messages of POSIX": ("system({mq_open}, 0, 0, 0, 0)", NO),
    "shared gigabyte": ("mapped(mmap.MAP_SHARED)", NO),
    "private gigabyte": ("mapped(mmap.MAP_PRIVATE)", r"OSError: \[Errno 12\].*"),
    "a stack of a gigabyte": ("mapped(mmap.MAP_PRIVATE | 0x100)", NO),
    "zeros of a gigabyte": ("zero_mapped()", NOT_THERE),
    "bytes": ("bytes(600 << 20)", "MemoryError: "),
    "big file": ("big_file()", r"OSError: \[Errno (27|28)\].*"),
    "many descriptors": ("many_descriptors()", r"OSError: \[Errno 24\].*"),
    "threads without end": ("threads()", "RuntimeError: can't start new thread"),
    "raise a limit": ("resource.setrlimit(resource.RLIMIT_CPU, (10**6, 10**6))", "(ValueError|PermissionError): .*"),
    "change a limit": ("resource.setrlimit(resource.RLIMIT_NOFILE, (10, 10))", "(ValueError|PermissionError): .*"),
    "limits of the parent": ("resource.prlimit(PARENT, resource.RLIMIT_CPU, (1, 1))", ".*Error: .*"),
    "be nicer to itself": ("os.nice(-5)", NO),
    "choose processors": ("os.sched_setaffinity(0, [0])", NO),
    "be another user": ("os.setresuid(0, 0, 0)", NO),
    "have rights": ("system({capset}, 0, 0)", NO),
    "namespaces": ("call(c.unshare, 0x10000000)", NO),
    "mount": ("call(c.mount, b'x', b'/', b'tmpfs', 0, None)", NO),
    "change the root": ("os.chroot('/')", NO),
    "leave its group": ("os.setpgid(0, 0)", NO),
    "leave its session": ("os.setsid()", NO),
    "outlive": ("call(c.prctl, 1, 0, 0, 0, 0)", NO),
    "open itself": ("call(c.prctl, 4, 1, 0, 0, 0)", NO),
    "queues": ("system(425, 1, 0)", NO),
    "programs for the kernel": ("system({bpf}, 0, 0, 0)", NO),
    "faults": ("system({userfaultfd}, 0)", NO),
    "counters": ("system({perf_event_open}, 0, 0, -1, -1, 0)", NO),
    "keys": ("system({keyctl}, 0, 0)", NO),
    "rules of Landlock": ("system({landlock_create_ruleset}, 0, 0, 1)", NO),
    "the kernel's log": ("system({syslog}, 10, 0, 0)", NO),
    "hold up who opens": ("fcntl.fcntl(os.open(BOT, os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_RDLCK)", NO),
    "write all disks": ("system({sync})", NO),
    "requests of all": ("system({io_setup}, 1, 0)", NO),
    "a large pipe": ("fcntl.fcntl(os.pipe()[0], 1031, 1 << 20)", NO),
    "a newer call": ("system(500)", r"OSError: \[Errno 38\].*"),
}

ALLOWED = {
    "threads": "[thread.start() or thread.join() for thread in [threading.Thread(target=len, args=['x'])]] and None",
    "matrices": "(lambda numpy: (numpy.ones((300, 300)) @ numpy.ones((300, 300))).sum())(__import__('numpy'))",
    "pool of threads": "list(__import__('concurrent.futures').futures.ThreadPoolExecutor(2).map(abs, [-1]))",
    "packages": "__import__('gymnasium.spaces') and None",
    "temporary file": "tempfile.TemporaryFile().write(bytes(1 << 20))",
    "temporary folder": "os.rename(tempfile.mkdtemp(), FOLDER + '/renamed')",
    "its own file": "open(BOT).read()",
    "nothing": "open('/dev/null', 'w').write('x')",
    "chance": "len(os.urandom(4)) + len(open('/dev/urandom', 'rb').read(4))",
    "own signals": "os.kill(os.getpid(), 0)",
    "own limits": "resource.getrlimit(resource.RLIMIT_CPU) and None",
    "memory": "len(bytes(100 << 20))",
    "own memory": "mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE).write(b'x')",
    "a mapped file": "mmap.mmap(os.open(BOT, os.O_RDONLY), 0, access=mmap.ACCESS_READ)[:1]",
    "pairs": "[end.close() for end in socket.socketpair()] and None",
    "asyncio": "__import__('asyncio').run(__import__('asyncio').sleep(0))",
    "clocks": "__import__('time').sleep(0)",
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("place with a space: and\na line")
    for name in ("home/.ssh/id", "bots/bot.py", "bots/other.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("secret")
    (folder / "own").mkdir()
    return folder


@pytest.fixture(scope="module", params=LEVELS)
def found(request: pytest.FixtureRequest, place: Path) -> dict[str, Any]:
    """Return the result of each attempt in one child, and its layers."""
    column = 0 if os.uname().machine == "x86_64" else 1
    numbers = {name: pair[column] for rule in RULES for name, pair in rule.calls.items()}
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as abstract:
        name = f"\0dicegym-{os.getpid()}"
        abstract.bind(name)
        abstract.listen()
        bot = place / "bots" / "bot.py"
        given = [os.getpid(), server.getsockname()[1], name, str(place / "home/.ssh/id"), str(bot)]
        attempts = {name: code.format(**numbers) for name, (code, _) in DENIED.items()} | ALLOWED
        lines = [f"    {name!r}: tried(lambda: {code})," for name, code in attempts.items()]
        tools = TOOLS.format(given=json.dumps([*given, str(place / "bots" / "other.py")]))
        told = "print(json.dumps({'layers': LAYERS, 'uid': os.getuid(), 'found': found}))"
        code = "\n".join([tools, "found = {", *sorted(lines, key=lambda line: "threads()" in line), "}", told])
        done = confined.run(request.param, code, place / "own", [bot], memory=MEMORY)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", DENIED)
def test_forbidden(name: str, found: dict[str, Any]) -> None:
    assert re.fullmatch(DENIED[name][1], found["found"][name])


@pytest.mark.parametrize("name", ALLOWED)
def test_allowed(name: str, found: dict[str, Any]) -> None:
    assert found["found"][name].startswith("done")


def test_the_layers_are_named_and_nothing_changes_outside(found: dict[str, Any], place: Path) -> None:
    always = ["limits", "no privileges", "closed to others"]
    assert found["layers"] == [*always, f"Landlock {landlock.version()}", "seccomp"]
    assert found["uid"] != 0
    secret = place / "home/.ssh/id"
    assert secret.read_text() == "secret"
    assert secret.stat().st_mtime > 10**9
    assert sorted(path.name for path in (place / "bots").iterdir()) == ["bot.py", "other.py"]
    assert not Path("/dev/shm/dicegym-test").exists()


WITHOUT = """
import mmap
def more():
    return mmap.mmap(-1, 600 << 20, flags=mmap.MAP_SHARED).write(b"x")
print(json.dumps([LAYERS, tried(more), tried(lambda: bytes(600 << 20)), tried(lambda: len(bytes(100 << 20)))]))
"""


@pytest.mark.parametrize("missing", ["landlock.version = lambda: 0", "seccomp.available = lambda: False", "both"])
def test_other_layers_hold_without_a_missing_one(missing: str, tmp_path: Path) -> None:
    lines = ["landlock.version = lambda: 0", "seccomp.available = lambda: False"] if missing == "both" else [missing]
    patch = "\n".join(["from dicegym.sandbox import landlock, seccomp", *lines])
    done = confined.run("process", WITHOUT, tmp_path, patch=patch, memory=MEMORY)
    layers, shared, private, little = json.loads(done.stdout)
    expected = {"limits", "no privileges", "closed to others"}
    expected |= {f"Landlock {landlock.version()}", "seccomp"} if missing != "both" else set()
    assert {*layers} == {layer for layer in expected if layer.partition(" ")[0].lower() not in missing}
    assert shared.startswith("PermissionError" if "seccomp" in layers else "OSError: [Errno 12]")
    assert private == "MemoryError: "
    assert little == f"done: {100 << 20}"


def has_all_users() -> bool:
    """Return whether this process may become any user; some containers map only a few users."""
    known = Path("/proc/self/uid_map")
    return os.geteuid() == 0 and known.exists() and known.read_text().split()[2:] == [str(2**32 - 1)]


@pytest.mark.skipif(not has_all_users(), reason="others keep their user")
@pytest.mark.parametrize("level", LEVELS)
def test_each_process_has_another_user(level: str, tmp_path: Path) -> None:
    """Otherwise a bot could use up its opponent's threads."""
    users = [confined.run(level, "print(os.getuid())", tmp_path).stdout for _ in range(2)]
    assert all(int(user) >= 1 << 20 for user in users)
    assert users[0] != users[1]


def test_descriptors_are_closed_but_those_that_are_kept(tmp_path: Path) -> None:
    """The program may not use open files of its parent."""
    readers = [os.pipe()[0] for _ in range(3)]
    code = "print(json.dumps([tried(lambda fd=fd: os.fstat(fd).st_size) for fd in given['keep'] + given['closed']]))"
    done = confined.run("process", code, tmp_path, keep=readers[1:2], closed=[readers[0], readers[2]])
    kept, *closed = json.loads(done.stdout)
    for reader in readers:
        os.close(reader)
    assert kept.startswith("done")
    assert all(one.startswith("OSError: [Errno 9]") for one in closed)


def test_a_process_without_its_parent_does_not_begin(tmp_path: Path) -> None:
    done = confined.run("process", "print('began')", tmp_path, patch="confinement.end_with(1)")
    assert (done.returncode, done.stdout) == (1, "")


@pytest.mark.slow
def test_processor_time_ends(tmp_path: Path) -> None:
    done = confined.run("process", "while True:\n    pass\n", tmp_path, cpu=1)
    assert done.returncode == -signal.SIGKILL


def test_all_limits_are_finite(tmp_path: Path) -> None:
    """Each limit must hold alone, whatever the user's own limits are."""
    lift = "from resource import *; setrlimit(RLIMIT_STACK, getrlimit(RLIMIT_STACK)[1:] * 2)"
    names = ["AS", "CORE", "CPU", "DATA", "FSIZE", "MEMLOCK", "MSGQUEUE", "NOFILE", "NPROC", "RTPRIO", "SIGPENDING"]
    code = f"print([one for one in {[*names, 'STACK']} if -1 in getrlimit(globals()['RLIMIT_' + one])])"
    done = confined.run("process", code, tmp_path, patch=lift)
    assert (done.stdout, done.stderr) == ("[]\n", "")
