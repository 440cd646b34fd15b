"""The server as a user starts it: a process that is interrupted, terminated and killed."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import sys
import threading
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("websockets")
from command_line import Run
from stored_results import stored_results
from talk import Bot, both, eventually, first_box, run, settings

from dicegym.server import server as servers
from dicegym.server.result_store import ResultStore
from dicegym.server.server import LogPrinter, Server
from dicegym.server.server_settings import ServerSettings
from dicegym.signals import ENDING


async def begun(folder: Path, *arguments: str) -> asyncio.subprocess.Process:
    """Start the command that serves Yatzy."""
    code = "import sys; from dicegym.cli import main; main(sys.argv[1:])"
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", code, "server", "start", "yatzy", "--tcp", "0", *arguments),
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )


class Process:
    """``dicegym server start yatzy``, run in a folder of its own."""

    def __init__(self, process: Any) -> None:
        self.process = process
        self.ports = {}

    @classmethod
    @contextlib.asynccontextmanager
    async def started(cls, folder: Path, *arguments: str) -> Any:
        process = await begun(folder, "--store", "results.sqlite", *arguments)
        self = cls(process)
        try:
            line = await self.line("Yatzy on")
            self.ports["tcp"] = int(re.search(r"127\.0\.0\.1:(\d+)", line)[1])
            yield self
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def line(self, part: str) -> Any:
        """Return the next line that contains ``part``."""
        async with asyncio.timeout(60):
            while line := (await self.process.stdout.readline()).decode():
                if part in line:
                    return line
        raise AssertionError(f"the server ended without a line with {part!r}")

    async def rest(self) -> Any:
        """Return the rest of its output, and its status."""
        text = (await self.process.stdout.read()).decode()
        return text, await self.process.wait()


async def play_on(bot: Bot, finals: list[Any]) -> None:
    with contextlib.suppress(ConnectionError):
        while final := await bot.play():
            finals.append(final)


@pytest.mark.slow
@run
async def test_a_killed_server_loses_no_announced_result(tmp_path: Path) -> None:
    finals: list[Any] = []
    async with Process.started(tmp_path) as server:
        bots = [await Bot.named(server, f"bot-{i}") for i in range(8)]
        playing = [asyncio.create_task(play_on(bot, finals)) for bot in bots]
        await eventually(lambda: len(finals) >= 16)
        server.process.send_signal(signal.SIGKILL)
        await asyncio.gather(*playing)
    told = {tuple((row["playerName"], row["total"], row["rating"]) for row in final["standing"]) for final in finals}
    store = ResultStore(tmp_path / "results.sqlite", "yatzy")
    results = stored_results(store)
    stored = {
        tuple((place.name, place.total, round(place.after)) for place in sorted(result.places, key=lambda p: -p.total))
        for result in results
    }
    assert {frozenset(game) for game in told} <= {frozenset(game) for game in stored}
    ratings = defaultdict(lambda: 1200.0)
    for result in results:  # every game began with the ratings after the previous one
        for place in result.places:
            assert place.before == ratings[place.name]
            ratings[place.name] = place.after
        assert len(result.places) == 2
    assert {name: known.rating for name, known in store.ratings().items()} == ratings
    store.close()
    async with Process.started(tmp_path, "--games", "1") as server:
        bots = [await Bot.named(server, name) for name in ("bot-0", "bot-1")]
        assert [bot.seen[0]["rating"] for bot in bots] == [round(ratings["bot-0"]), round(ratings["bot-1"])]
        await asyncio.gather(*(bot.play() for bot in bots))
        text, status = await server.rest()
        assert status == 0
        assert f"results in results.sqlite: {len(results)} games so far; run 2, seed" in text
        assert len(re.findall(r"game 1: bot-\d \d+ \(\d+\), bot-\d \d+ \(\d+\)", text)) == 1


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, *(pytest.param(one, marks=pytest.mark.slow) for one in ENDING if one != signal.SIGTERM)]
)
@run
async def test_a_server_explains_its_stop_by_a_signal(tmp_path: Path, number: int) -> None:
    async with Process.started(tmp_path) as server:
        bots, standing = await both(server, "anna", "bob")
        await bots[0].send(first_box(standing))
        await bots[1].my_turn()
        server.process.send_signal(number)
        error = await bots[0].until("ERROR")
        assert (error["code"], "not rated" in error["message"]) == ("server-stopped", True)
        text, status = await server.rest()
        assert status == 0
        assert "1 games in progress are left unfinished and not rated" in text
        assert "ratings and games are in results.sqlite; to continue, start the server with the same" in text
        last = text.splitlines()[-1]
        assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d the server has stopped: 0 games .* in this run", last)
        assert "Traceback" not in text
    store = ResultStore(tmp_path / "results.sqlite", "yatzy")
    assert (store.count_games(), store.ratings()) == (0, {})
    store.close()


HANGS = "import time\ntime.sleep(1000)\ndef command(standing): pass\n"


async def loading(server: int, before: set[str]) -> Path:
    """Return the process of an agent that process ``server`` has started since it had the children ``before``."""
    async with asyncio.timeout(30):  # the first child is a trial of the isolation
        while True:
            for number in children(server) - before:
                agent = Path("/proc", number)
                with contextlib.suppress(OSError):
                    if b"host_start.py" in (agent / "cmdline").read_bytes():
                        return agent
            await asyncio.sleep(0.05)


def children(process: int) -> set[str]:
    """Return the ids of a process's children."""
    return set(" ".join(one.read_text() for one in Path(f"/proc/{process}/task").glob("*/children")).split())


async def gone(agent: Path) -> None:
    """Wait until a process has ended."""
    async with asyncio.timeout(10):
        with contextlib.suppress(OSError):
            while (agent / "stat").read_text().rpartition(")")[2].split()[0] != "Z":
                await asyncio.sleep(0.05)


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux shows them")
@run
async def test_a_server_that_is_interrupted_while_agents_load_leaves_nothing(tmp_path: Path) -> None:
    (folder := tmp_path / "bots").mkdir()
    (folder / "hangs.py").write_text(HANGS)
    said, before = list[str](), children(os.getpid())
    chosen = settings(tmp_path, agents=(str(folder / "hangs.py"),))
    serving = asyncio.create_task(servers.serve(chosen, said.append))
    agent = await loading(os.getpid(), before)
    os.kill(os.getpid(), signal.SIGINT)
    await serving
    assert "was stopped before it had started" in said[-1]
    await gone(agent)
    assert [path.name for path in tmp_path.iterdir()] == ["bots"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux shows them")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
@run
async def test_a_server_that_ends_while_agents_load_leaves_nothing(tmp_path: Path, number: int) -> None:
    (tmp_path / "hangs.py").write_text(HANGS)
    server = await begun(tmp_path, "--agents", "hangs.py")
    agent = await loading(server.pid, set())
    server.send_signal(number)
    text = (await server.stdout.read()).decode()
    status = await server.wait()
    if number == signal.SIGINT:
        assert status == 0, text
        assert "was stopped before it had started" in text
    await gone(agent)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hangs.py"]


@run
async def test_a_blocked_terminal_stops_no_game(tmp_path: Path) -> None:
    asked, free, lines = threading.Event(), threading.Event(), list[str]()

    def show(line: str) -> None:
        asked.set()
        free.wait()
        lines.append(line)

    printer = LogPrinter(show)
    async with Server(settings(tmp_path, games=3), printer.log) as server:
        bots, standing = await both(server, "anna", "bob")
        await bots[0].send(first_box(standing))
        for _ in range(3):
            await asyncio.gather(*(bot.play() for bot in bots))
        await server.wait_finished()
        assert asked.wait(5)
        free.set()
    printer.close()
    assert any("game 3: " in line for line in lines)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("hog --tcp 0", "has no server protocol; games that have: "),
        ("yatzy --tcp 22222 --ws 22222", "--tcp 22222 and --ws 22222 are one port"),
        ("yatzy", "no client could reach this server: give --tcp PORT"),
        ("yatzy --tcp 70000", "tcp=70000 cannot be used as a port"),
        ("yatzy --tcp 0 --players 7", "players=7 cannot"),
        ("yatzy --tcp 0 --host 0.0.0.0", "no client could log in on 0.0.0.0"),
        ("yatzy --tcp 0 --agents nobody", "there is no agent of Yatzy 'nobody'"),
        ("yatzy --tcp 0 --agents broken.py", "no function command"),
        ("yatzy --tcp 0 --secrets nowhere", "(No such file or directory): give --secrets a file of lines name:secret"),
        ("yatzy --tcp 0 --secrets .", "dicegym: . is a folder: give --secrets a file of lines name:secret\n"),
        ("yatzy --tcp 0 --store notes.txt", "not a database"),
        ("yatzy --tcp 0 --store /proc/x.sqlite", "/proc/x.sqlite cannot be "),
        ("yatzy --tcp 0 --store nowhere/x.sqlite", "nowhere/x.sqlite cannot be used (No such file"),
        ("yatzy --tcp 0 --host no.such.host.invalid --guests", "cannot listen on no.such.host.invalid"),
    ],
)
def test_invalid_settings_are_explained_and_leave_nothing(
    arguments: str, complaint: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DICEGYM_STORE", "results.sqlite")
    (tmp_path / "notes.txt").write_text("no database, but text of some length\n" * 50)
    (tmp_path / "broken.py").write_text("x = 1\n")
    status, _, said = run("server", "start", *arguments.split())
    assert status == 2
    assert complaint in said
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "__pycache__") == ["broken.py", "notes.txt"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("yatzy 127.0.0.1:1 --agent thrifty", "127.0.0.1:1 cannot be reached"),
        ("yatzy ws://127.0.0.1:1 --agent thrifty", "127.0.0.1:1 cannot be reached"),
        ("yatzy nonsense --agent thrifty", "is not an address"),
        ("yatzy 127.0.0.1:1 --agent nobody", "there is no agent of Yatzy 'nobody'"),
        ("hog 127.0.0.1:1 --agent bacon", "Hog has no server protocol"),
    ],
)
def test_failures_to_join_are_explained(arguments: str, complaint: str, run: Run) -> None:
    status, _, said = run("server", "join", *arguments.split())
    assert status == 2
    assert complaint in said


@pytest.mark.parametrize(
    ("missing", "needs", "arguments", "complaint"),
    [
        ("sqlalchemy", "result_store", "start yatzy --tcp 0", "the server needs sqlalchemy"),
        ("websockets", "client_connections", "start yatzy --ws 0", "the server needs websockets"),
        ("websockets", "", "join yatzy ws://127.0.0.1:1 --agent thrifty", "a ws:// address needs websockets"),
    ],
)
def test_missing_packages_are_named_with_their_extra(
    missing: str, needs: str, arguments: str, complaint: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, f"dicegym.server.{needs}", raising=False)  # to be imported again
    for name in [name for name in sys.modules if name.partition(".")[0] == missing]:
        monkeypatch.setitem(sys.modules, name, None)
    status, _, said = run("server", *arguments.split())
    assert status == 2
    assert f"{complaint}, which is not installed: pip install -e '.[arena]'" in said


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="POSIX alone has terminals that hang up")
def test_a_signal_that_was_ignored_stays_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with `nohup`."""

    class HungUp:
        def __init__(self, *_: object) -> None:
            pass

        async def __aenter__(self) -> HungUp:
            return self

        async def __aexit__(self, *_: object) -> None:
            pass

        async def wait_finished(self) -> None:
            os.kill(os.getpid(), signal.SIGHUP)
            await asyncio.sleep(0.1)
            said.append("finished")

    said: list[str] = []
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    monkeypatch.setattr(servers, "Server", HungUp)
    try:
        asyncio.run(servers.serve(ServerSettings("yatzy", tcp=0), said.append))
        assert said == ["finished"]
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
