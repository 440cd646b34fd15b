"""A process that has confined itself reaches nothing of the file system but what was named."""

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

LISTED = """
import json, os, sys
from dicegym.sandbox import landlock
read, write, other = sys.argv[1:]
version = landlock.confine([read, "/nowhere"], [write])

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
    "write": tried(lambda: open(write + "/new", "w").write("new")),
    "move": tried(lambda: os.rename(write + "/new", write + "/folder/new")),
    "remove": tried(lambda: os.unlink(write + "/folder/new")),
    "link into it": tried(lambda: os.link(read + "/file", write + "/hard")),
    "make a pipe": tried(lambda: os.mkfifo(write + "/pipe")),
    "other": tried(lambda: open(other + "/file").read()),
    "list other": tried(lambda: os.listdir(other)),
    "through a link": tried(lambda: open(read + "/link").read()),
    "truncate": tried(lambda: os.truncate(read + "/file", 0)),
    "move away": tried(lambda: os.rename(read, write + "/read")),
    "symlink": tried(lambda: os.symlink("/", read + "/symlink")),
    "null": tried(lambda: open("/dev/null", "w")),
}))
"""


@needs_landlock
def test_nothing_is_left_but_what_is_named(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("read", "write", "other")]
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
    assert found.pop("link into it") in {"PermissionError", "OSError"}  # EXDEV: between folders of other rights
    assert {name: what for name, what in found.items() if what != "PermissionError"} == {
        "read": "read",
        "write": 3,
        "move": None,
        "remove": None,
    }


def test_a_refusing_kernel_is_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise OSError(1, os.strerror(1))

    monkeypatch.setattr(landlock, "version", lambda: 1)
    monkeypatch.setattr(landlock, "_rules", refuse)
    assert landlock.confine([tmp_path]) == 0
    assert os.listdir("/")


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
    from dicegym.server.local_agents import LocalAgent

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
    from dicegym.server.server_settings import ServerSettings

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
