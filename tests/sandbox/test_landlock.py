"""What a process has given up writing to stays as it is, whatever it and its children do."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import dicegym
from dicegym.arena import check
from dicegym.engine import jit
from dicegym.errors import AgentError
from dicegym.sandbox import landlock, limits
from dicegym.sandbox.jobs import entry

needs_landlock = pytest.mark.skipif(
    not landlock.version(), reason="this kernel has no Landlock, or it is switched off there"
)

ATTEMPTS = """
import json, os, pathlib, subprocess, sys
from dicegym.sandbox import landlock
root = pathlib.Path(sys.argv[1])
kept = root / "way" / "kept"
assert landlock.give_up_writing([kept])

def tried(do):
    try:
        do()
    except OSError as error:
        return type(error).__name__
    return "done"

child = f"open({str(kept / 'file')!r}, 'w')"
print(json.dumps({
    "read": tried((kept / "file").read_text),
    "write": tried(lambda: (kept / "file").write_text("x")),
    "append": tried(lambda: open(kept / "file", "a")),
    "truncate": tried(lambda: os.truncate(kept / "file", 0)),
    "make": tried((kept / "new").touch),
    "make a folder": tried((kept / "folder" / "new").mkdir),
    "remove": tried((kept / "file").unlink),
    "remove a folder": tried((kept / "folder").rmdir),
    "rename": tried(lambda: (kept / "file").rename(kept / "other")),
    "move in": tried(lambda: (root / "free" / "file").rename(kept / "file")),
    "move away": tried(lambda: kept.rename(root / "free" / "kept")),
    "replace": tried(lambda: kept.rename(root / "way" / "old")),
    "link": tried(lambda: os.symlink("/", kept / "link")),
    "hard link": tried(lambda: os.link(root / "free" / "file", kept / "hard")),
    "through a link": tried(lambda: (root / "free" / "link" / "file").write_text("x")),
    "child": subprocess.run([sys.executable, "-c", child], capture_output=True).returncode,
    "beside": tried(lambda: (root / "free" / "file").write_text("x")),
    "new beside": tried(lambda: (root / "free" / "a" / "b").mkdir(parents=True)),
    "moved beside": tried(lambda: (root / "free" / "file").rename(root / "free" / "a" / "file")),
    "file on the way": tried(lambda: (root / "way" / "file").write_text("x")),
    "new on the way": tried(lambda: (root / "way" / "new").touch()),
    "null": tried(lambda: open("/dev/null", "w").write("x")),
}))
"""


@needs_landlock
def test_nothing_in_the_folder_can_be_changed(tmp_path: Path) -> None:
    for name in ("way/kept/file", "way/kept/folder/file", "way/file", "free/file"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("as it was")
    (tmp_path / "free" / "link").symlink_to(tmp_path / "way" / "kept")
    done = subprocess.run([sys.executable, "-c", ATTEMPTS, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    may = {"read", "beside", "new beside", "moved beside", "file on the way", "null"}
    assert {name for name, what in found.items() if what == "done"} == may
    assert found["child"] == 1
    assert found["write"] == "PermissionError"
    kept = tmp_path / "way" / "kept"
    assert sorted(path.name for path in kept.rglob("*")) == ["file", "file", "folder"]
    assert (kept / "file").read_text() == "as it was"


def test_beside_the_way(tmp_path: Path) -> None:
    for name in ("a/kept/inside", "a/b", "a/other", "c"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "a" / "file").touch()
    found = set(landlock._beside([tmp_path / "a" / "kept", tmp_path / "a" / "b"]))
    assert {path for path in found if path.is_relative_to(tmp_path)} == {
        tmp_path / "a" / "other",
        tmp_path / "a" / "file",
        tmp_path / "c",
    }
    assert Path("/") not in found
    assert not any(tmp_path.is_relative_to(path) for path in found)
    inner = set(landlock._beside([tmp_path / "a", tmp_path / "a" / "kept"]))
    assert not any(path.is_relative_to(tmp_path / "a") for path in inner)


def test_a_kernel_without_landlock_is_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "version", lambda: 0)
    assert not landlock.give_up_writing([tmp_path])
    (tmp_path / "file").touch()


def test_a_refusing_kernel_is_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(folders: object) -> int:
        raise OSError(1, os.strerror(1))

    monkeypatch.setattr(landlock, "version", lambda: 1)
    monkeypatch.setattr(landlock, "ruleset", refuse)
    assert not landlock.give_up_writing([tmp_path])


LISTED = """
import json, os, sys
from dicegym.sandbox import landlock
read, write, names, other = sys.argv[1:]
version = landlock.confine([read, "/nowhere"], [write], [names])

def tried(do):
    try:
        return do()
    except OSError as error:
        return type(error).__name__

print(json.dumps({
    "version": version,
    "read": tried(lambda: open(read + "/file").read()),
    "list what is read": tried(lambda: os.listdir(read)),
    "write what is read": tried(lambda: open(read + "/file", "w").close()),
    "execute": tried(lambda: os.execv(read + "/file", ["file"])),
    "list names": tried(lambda: os.listdir(names)),
    "read a name": tried(lambda: open(names + "/file").read()),
    "write": tried(lambda: open(write + "/new", "w").write("new")),
    "move": tried(lambda: os.rename(write + "/new", write + "/folder/new")),
    "remove": tried(lambda: os.unlink(write + "/folder/new")),
    "link into it": tried(lambda: os.link(names + "/file", write + "/hard")),
    "make a pipe": tried(lambda: os.mkfifo(write + "/pipe")),
    "other": tried(lambda: open(other + "/file").read()),
    "list other": tried(lambda: os.listdir(other)),
    "through a link": tried(lambda: open(read + "/link").read()),
}))
"""


@needs_landlock
def test_nothing_is_left_but_what_is_named(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("read", "write", "names", "other")]
    for folder in folders:
        (folder / "folder").mkdir(parents=True)
        (folder / "file").write_text(folder.name)
        (folder / "file").chmod(0o755)
    (tmp_path / "read" / "link").symlink_to(tmp_path / "other" / "file")
    done = subprocess.run(
        [sys.executable, "-c", LISTED, *map(str, folders)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found.pop("version") == landlock.version()
    assert sorted(found.pop("list what is read")) == ["file", "folder", "link"]
    assert sorted(found.pop("list names")) == ["file", "folder"]
    assert found.pop("link into it") in {"PermissionError", "OSError"}  # EXDEV: between folders of other rights
    assert {name: what for name, what in found.items() if what != "PermissionError"} == {
        "read": "read",
        "write": 3,
        "move": None,
        "remove": None,
    }


def test_an_allow_list_where_there_is_no_landlock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "version", lambda: 0)
    assert landlock.confine([tmp_path]) == 0
    assert os.listdir("/")


@needs_landlock
def test_each_version_of_landlock(tmp_path: Path) -> None:
    """A newer kernel takes the rules of all older ones."""
    code = """
import os, sys
from dicegym.sandbox import landlock
for known in range(1, landlock.version() + 1):
    if os.fork():
        assert os.wait()[1] == 0
        continue
    landlock.version = lambda: known
    assert landlock.confine(["/usr"], [sys.argv[1]]) == known
    open(f"{sys.argv[1]}/{known}", "w").write("x")
    try:
        os.listdir("/")
    except PermissionError:
        print("confined by version", known, flush=True)
    os._exit(0)
"""
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    versions = range(1, landlock.version() + 1)
    assert done.stdout.splitlines() == [f"confined by version {known}" for known in versions]


# --- bots --------------------------------------------------------------------------------------------------

POISONER = """
import os, pathlib
folder = pathlib.Path({folder!r})
places = [folder / "planted.nbc", folder.parent / "kernels-planted", *map(pathlib.Path, {kernels})]
def final_strategy(score, opponent_score):
    results = set()
    for place in places:
        try:
            place.write_bytes(b"")
            results.add("done")
        except OSError as error:
            results.add(type(error).__name__)
    raise ValueError(sorted(results))
"""


@pytest.fixture
def poisoner(tmp_path: Path) -> Path:
    """Return the file of a bot that tries to damage every compiled kernel, and to plant one."""
    assert dicegym.game("hog").new_game() is not None  # so that there are some
    path = tmp_path / "poisoner.py"
    path.write_text(POISONER.format(folder=jit.CACHE_FOLDER, kernels=sorted(kernels())[:50]))
    return path


def kernels() -> dict[str, int]:
    return {str(path): path.stat().st_size for path in Path(jit.CACHE_FOLDER).parent.rglob("*.nbc")}


compiled = pytest.mark.skipif(not jit.COMPILED, reason="nothing is compiled")


@needs_landlock
@compiled
def test_a_bot_of_a_contest_cannot_change_compiled_kernels(poisoner: Path) -> None:
    report = check(poisoner, "hog", limits=limits.Limits(seconds=30))
    assert "ValueError (says: \"['FileNotFoundError']" in report.reason or "['PermissionError']" in report.reason, (
        report.reason
    )
    assert 0 not in kernels().values()


@needs_landlock
@compiled
def test_a_bot_on_the_server_cannot_change_compiled_kernels(tmp_path: Path) -> None:
    assert dicegym.game("yatzy").new_game() is not None
    bot = tmp_path / "bot.py"
    planted = Path(jit.CACHE_FOLDER, "planted.nbc")
    bot.write_text(f"open({str(planted)!r}, 'wb')")
    from dicegym.sandbox.jail import Isolation
    from dicegym.server.agents import LocalAgent

    agent = LocalAgent("mine", str(bot), dicegym.game("yatzy"), 30.0, print, Isolation.PROCESS)

    async def start() -> None:
        try:
            await agent.start()
        finally:
            await agent.stop()

    with pytest.raises(AgentError, match=r"PermissionError|FileNotFoundError"):
        asyncio.run(start())
    assert not planted.exists()


@compiled
@pytest.mark.parametrize(
    ("shipped", "level", "known", "warned"),
    [(True, "none", 1, 0), (False, "none", 1, 1), (False, "process", 1, 0), (False, "process", 0, 1)],
)
def test_a_server_warns_where_kernels_are_not_protected(
    shipped: bool, level: str, known: int, warned: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("websockets")
    from dicegym.server.server import Server
    from dicegym.server.settings import ServerSettings

    monkeypatch.setattr(landlock, "version", lambda: known)
    bot = tmp_path / "mine.py"
    bot.write_text("")
    agent = "gather" if shipped else str(bot)
    server = Server(ServerSettings("yatzy", tcp=0, agents=(agent,), isolation=level))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        server._named_agents(None)
    assert len(caught) == warned


def test_what_ships_is_trusted(tmp_path: Path) -> None:
    game = dicegym.game("hog")
    (tmp_path / "bot.py").write_text("def final_strategy(a, b):\n    return 6\n")
    assert entry(game, "a", "best_by_scores").trusted
    assert entry(game, "a", dicegym.agent("hog", "always_roll")).trusted  # the caller has run it already
    assert not entry(game, "a", tmp_path / "bot.py").trusted


def test_the_folders_of_compiled_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("kernels-a", "kernels-b-checked", "else"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(jit, "CACHE_FOLDER", str(tmp_path / "kernels-a"))
    assert limits.kernel_folders() == [tmp_path / "kernels-a", tmp_path / "kernels-b-checked"]
    monkeypatch.setattr(jit, "CACHE_FOLDER", "")
    assert limits.kernel_folders() == []
