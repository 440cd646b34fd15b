"""Stores that are locked, full, damaged or read-only: helpful messages, and no lost results."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dicegym.errors import DicegymError, ParameterError

pytest.importorskip("sqlalchemy")
pytest.importorskip("websockets")
from command_line import Run
from stored_results import made_result, stored_results
from talk import Bot, both, eventually, first_box, run, serving

from dicegym.arena.store.opening import BusyError, trouble_of
from dicegym.server import result_store as store_module
from dicegym.server.history import Archive
from dicegym.server.result_store import ResultStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a file of thirty games."""
    path = tmp_path / "results.sqlite"
    store = ResultStore(path, "yatzy")
    store.begin_run(7)
    store.write([made_result(number, f"anna-{number % 7}") for number in range(30)])
    store.end_run()
    store.close()
    return path


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock a file like another program."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        yield
        connection.execute("ROLLBACK")


def state_of(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir() if path.is_file()}


def asked(path: Path) -> None:
    """Read everything in a store."""
    with Archive(path) as archive:
        archive.count_games()
        archive.ratings()
        archive.games()
        archive.games(3, "bob")


def served(path: Path) -> None:
    store = ResultStore(path, "yatzy")
    try:
        store.ratings()
        store.count_games()
    finally:
        store.close()


def complaint_of(look: Callable[[Path], None], path: Path) -> str | None:
    try:
        look(path)
    except ParameterError as error:
        return str(error)
    return None


# --- damaged --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_flipped_bytes_are_explained_or_harmless(path: Path) -> None:
    good, draw, told = path.read_bytes(), random.Random(7), 0
    for _ in range(60):
        data = bytearray(good)
        for _ in range(draw.choice((1, 3, 30))):
            data[draw.randrange(len(data))] = draw.randrange(256)
        path.write_bytes(data)
        for look in (asked, served):
            for end in ("-wal", "-shm"):
                path.with_name(path.name + end).unlink(missing_ok=True)
            before = state_of(path.parent)
            error = complaint_of(look, path)
            if error is not None:
                told += 1
                assert str(path) in error
                assert len(error) < 600
                assert state_of(path.parent) == before
    assert told > 20


DAMAGES = {
    "half": lambda data: data[: len(data) // 2],
    "a page less": lambda data: data[:-4096],
    "no beginning": lambda data: b"\0" * 100 + data[100:],
    "no first page": lambda data: b"\xff" * 4096 + data[4096:],
    "a page of zeros": lambda data: data[:8192] + b"\0" * 4096 + data[12288:],
    "text": lambda data: b"no database, but text of some length\n" * 50,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_refused_with_a_way_out_and_not_touched(
    damage: str, path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    monkeypatch.chdir(path.parent)
    monkeypatch.setenv("DICEGYM_STORE", path.name)
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    before = state_of(path.parent)
    for words in ("start yatzy --tcp 0", "ratings yatzy", "games --last 0"):
        status, _, err = run("server", *words.split())
        said = " ".join(err.split())
        if status:  # a reading command may not touch the damaged part
            assert status == 2
            assert "Traceback" not in said
            assert "nothing in it was changed" in said
            assert "put a backup in its place" in said
            assert ("sqlite3 results.sqlite .recover" in said) == (
                damage not in ("text", "no beginning", "no first page")
            )
        assert state_of(path.parent) == before
        assert status or not words.startswith("start")


def test_stores_that_cannot_be_opened_are_explained(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="No such file"):
        ResultStore(tmp_path / "nowhere" / "x.sqlite", "yatzy")
    with pytest.raises(ParameterError, match="is not a file: a server makes"):
        Archive(tmp_path / "nowhere" / "x.sqlite")
    os.mkfifo(pipe := tmp_path / "pipe")
    (loop := tmp_path / "loop").symlink_to("loop")
    for strange in (pipe, loop, Path("/dev/zero"), tmp_path):
        with pytest.raises(ParameterError, match=f"{strange} (is not a file|cannot be|is a folder)"):
            ResultStore(strange, "yatzy")
        with pytest.raises(ParameterError, match="is not a file: a server makes"):
            Archive(strange)


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap, to make a folder read-only for root too")
def test_a_read_only_store_is_explained(path: Path) -> None:
    (folder := path.parent / "sealed").mkdir()
    sealed = Path(shutil.copy(path, folder))
    jail = ["bwrap", "--dev-bind", "/", "/", "--die-with-parent"]
    jail += [word for place in (folder, path) for word in ("--ro-bind", str(place), str(place))]
    if subprocess.run([*jail, "true"], capture_output=True, check=False).returncode:
        pytest.skip("namespaces are forbidden here")
    before = state_of(folder)
    said = spoken([*jail, sys.executable, "-c", LOOK, str(sealed), str(path)]).splitlines()
    assert [line for line in said if "games" in line] == ["30 games"] * 2, "reading works"
    of_folder, of_file = (line for line in said if "games" not in line)
    assert "Read-only file system" in of_folder
    assert "give another --store" in of_folder
    assert "attempt to write a readonly database" in of_file
    assert state_of(folder) == before


LOOK = """
import sys
from pathlib import Path
from dicegym.errors import ParameterError
from dicegym.server.history import Archive
from dicegym.server.result_store import ResultStore
for path in map(Path, sys.argv[1:]):
    with Archive(path) as archive:
        print(archive.count_games(), "games")
    try:
        ResultStore(path, "yatzy")
    except ParameterError as error:
        print(*str(error).split())
"""


def spoken(command: list[str]) -> str:
    """Return the output of a successful program."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


FULL = """
import asyncio, resource, sys
from stored_results import stored_results
from pathlib import Path
from dicegym.errors import ParameterError
from dicegym.server.result_store import ResultStore
from dicegym.server.game_results import GameResult, SeatResult
path = Path(sys.argv[1])
lines = []
store = ResultStore(path, "yatzy", lines.append)
store.begin_run(1)
_, most = resource.getrlimit(resource.RLIMIT_FSIZE)
places = (SeatResult("anna", 231, 1, 1200.0, 1216.0), SeatResult("bob", 100, 2, 1200.0, 1184.0))
async def main():
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 17, most))  # like a full disk: no file grows beyond this
    told = []
    for number in range(1000, 2000):
        done = store.keep(GameResult(number, 5, 1.5, tuple(range(1000)), places, ()))
        await asyncio.wait([done], timeout=0.2)
        if not done.done():
            break
        told.append(number)
    stored = {result.number for result in stored_results(store)}
    print(bool(told), stored >= {*told}, number in stored)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    await done
    await store.drain()
    print({result.number for result in stored_results(store)} >= {*told, number}, lines)
asyncio.run(main())
store.close()
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 10, most))
try:
    ResultStore(path, "yatzy").begin_run(2)
except ParameterError as error:
    print(error)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs limits on the size of files")
def test_a_full_disk_loses_no_announced_result(path: Path) -> None:
    said = spoken([sys.executable, "-c", FULL, str(path)])
    first, last, refused = said.splitlines()
    assert first == "True True False", "unstored results are not announced"
    assert last.startswith("True [")
    assert "make room on its disk" in last
    assert "can be written again" in last
    assert "make room on its disk, or give another --store" in refused


# --- locked ---------------------------------------------------------------------------------------------------------


async def plays(bots: list[Bot], games: int) -> list[Any]:
    """Play ``games`` games; return their FINALs."""
    return [(await asyncio.gather(*(bot.play() for bot in bots)))[0] for _ in range(games)]


@run
async def test_a_locked_file_loses_no_result_and_stops_no_other_game(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    async with serving(tmp_path) as server:
        bots, standing = await both(server, "anna", "bob")
        with locked(path):
            await bots[0].send(first_box(standing))
            waiting = asyncio.create_task(plays(bots, 1))
            await eventually(lambda: any("is locked by another program" in line for line in server.told))
            others, standing = await both(server, "cleo", "dan")
            await others[0].send(first_box(standing))
            more = asyncio.create_task(plays(others, 1))
            await asyncio.sleep(0.3)
            assert not waiting.done(), "announced only after it is stored"
        (final,), (other,) = await waiting, await more
        assert final["key"] == other["key"] == "FINAL"
        assert server.store.count_games() == 2
        told = [line for line in server.told if "results.sqlite" in line]
        assert any("for at most 300 s to be announced, and other games continue" in line for line in told)
        assert any("can be written again: 2 results are stored" in line for line in told)
        assert len(told) == 3, "it is logged once"
    results = ResultStore(path, "yatzy")
    assert [result.number for result in stored_results(results)] == [0, 1]
    results.close()


@run
async def test_a_locked_file_is_refused_at_the_start(tmp_path: Path) -> None:
    ResultStore(path := tmp_path / "results.sqlite", "yatzy").close()
    with locked(path), pytest.raises(BusyError, match="is locked by another program"):
        await serving(tmp_path).__aenter__()
    ResultStore(path, "yatzy").close()


@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        ("locked", r"locked .*stops.*; 1 unannounced results"),
        ("damaged", r"is damaged .*stops: .*\.recover.*; 1 unannounced results"),
        ("a fault of ours", r"cannot be written to .*division by zero"),
    ],
)
@run
async def test_a_store_that_stays_broken_stops_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trouble: str, words: str
) -> None:
    def damaged(results: object) -> None:
        error = sqlite3.DatabaseError("database disk image is malformed")
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise error

    if trouble == "locked":  # which may end
        monkeypatch.setattr(store_module, "LONGEST_TROUBLE", 0.3)
    with contextlib.ExitStack() as stack:
        async with serving(tmp_path) as server:
            bots, standing = await both(server, "anna", "bob")
            if trouble == "locked":
                stack.enter_context(locked(tmp_path / "results.sqlite"))
            else:
                monkeypatch.setattr(server.store, "write", damaged if trouble == "damaged" else lambda results: 1 / 0)
            await bots[0].send(first_box(standing))
            playing = [asyncio.create_task(bot.play()) for bot in bots]
            with pytest.raises(DicegymError, match=words):
                await server.wait_finished()
    assert [await bot for bot in playing] == [{}, {}], "no FINAL, and the connection is closed"
    store = ResultStore(tmp_path / "results.sqlite", "yatzy")
    assert store.count_games() == 0
    store.close()


def test_errors_of_sqlite_and_others() -> None:
    assert trouble_of(ValueError()) is None
    assert trouble_of(sqlite3.IntegrityError("UNIQUE constraint failed")) is None
    assert not trouble_of(sqlite3.OperationalError("no such column: x")).passes
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("PRAGMA max_page_count = 1")
        with pytest.raises(sqlite3.OperationalError) as full:
            connection.execute("CREATE TABLE x (y)")
    assert trouble_of(full.value).passes
