"""A confined process can use only the named files."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import dicegym
from dicegym.engine import jit
from dicegym.errors import AgentError
from dicegym.sandbox import landlock

needs_landlock = pytest.mark.skipif(
    not landlock.version(), reason="this kernel has no Landlock, or it is switched off there"
)


@pytest.mark.parametrize("version", [0, 1])
def test_a_kernel_without_landlock_or_that_refuses_it(
    version: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise OSError(1, os.strerror(1))

    monkeypatch.setattr(landlock, "version", lambda: version)
    monkeypatch.setattr(landlock, "_rules", refuse)
    assert landlock.confine([tmp_path]) == 0
    assert os.listdir("/")


@needs_landlock
def test_each_version_of_landlock(tmp_path: Path) -> None:
    """A newer kernel accepts the rules of all older versions."""
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

compiled = pytest.mark.skipif(not jit.COMPILED, reason="nothing is compiled")


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
    from dicegym.server.admission import Secrets
    from dicegym.server.server import Server
    from dicegym.server.server_settings import ServerSettings

    monkeypatch.setattr(landlock, "version", lambda: known)
    bot = tmp_path / "mine.py"
    bot.write_text("")
    agent = "gather" if shipped else str(bot)
    server = Server(ServerSettings("yatzy", tcp=0, agents=(agent,), isolation=level))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        server._named_agents(Secrets({}))
    assert len(caught) == warned
