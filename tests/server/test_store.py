"""The server's store survives any end of the server."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import dicegym
from dicegym.errors import ParameterError, UnknownNameError

pytest.importorskip("sqlalchemy")
from stored_results import WRITER, made_result, stored_results

from dicegym.server.game_results import PlayerRating
from dicegym.server.history import Archive
from dicegym.server.result_store import ResultStore


@pytest.fixture
def path(tmp_path: Path) -> Any:
    return tmp_path / "results.sqlite"


def test_a_reading_thread_waits_for_a_writing_one(path: Path) -> None:
    store = ResultStore(path, "yatzy")
    store.begin_run(7)
    writes, may_end = threading.Event(), threading.Event()

    def write() -> None:
        with store.writing():
            writes.set()
            may_end.wait(20)
        store.write([made_result(0)])

    with ThreadPoolExecutor(2) as threads:
        writing = threads.submit(write)
        assert writes.wait(20)
        asking = threads.submit(store.count_games)
        with pytest.raises(TimeoutError):
            asking.result(0.3)
        may_end.set()
        assert asking.result(20) in (0, 1)
        writing.result(20)
    assert store.count_games() == 1
    store.close()


@pytest.mark.parametrize("kind", ["a file", "PostgreSQL"])
def test_results_and_ratings_come_back(
    kind: str, path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of each game's servers, which share a store."""
    monkeypatch.chdir(path.parent)
    durable: dict[str, object] = {"PRAGMA journal_mode": "wal", "PRAGMA synchronous": 2}
    null, name, where = "NOT NULL", path.name, str(path)
    if kind == "PostgreSQL":
        pytest.importorskip("psycopg")
        durable, null = {"SHOW synchronous_commit": "on"}, "null value"
        name, where = r"store at postgresql://tester:\*\*\*@.*", request.getfixturevalue("postgres").database()
        with pytest.raises(ParameterError, match="is empty"):
            Archive(where)
    store, other = ResultStore(where, "yatzy"), ResultStore(where, "hog")
    with store.engine.connect() as connection:
        found = {setting: connection.exec_driver_sql(setting).scalar() for setting in durable}
    assert found == durable, "every commit is on disk"
    assert [one.begin_run(7, dicegym.game(one.game)) for one in (store, other)] == [1, 2]
    games = [made_result(0), made_result(1, after=(1230.25, 1169.75))]
    store.write(games[:1])
    store.write(games[1:])
    other.write([made_result(0, "carl"), made_result(1, "dora")])
    with pytest.raises(ParameterError, match=f"{name} is in use by another server"):
        ResultStore(where, "yatzy")
    with pytest.raises(Exception, match=null):  # all games of a call are stored, or none
        store.write([made_result(2, "carl"), made_result(3)._replace(number=None)])
    store.write(games[:1])  # if the confirmation of a commit is lost, the games are sent again
    for one in (store, other):
        one.close()
    store, other = ResultStore(where, "yatzy"), ResultStore(where, "hog")
    assert store.ratings() == {"anna": PlayerRating(1230.25, 2, 2), "bob": PlayerRating(1169.75, 2, 0)}
    assert {name: known.games for name, known in other.ratings().items()} == {"bob": 2, "carl": 1, "dora": 1}
    assert (stored_results(store), store.count_games(), other.count_games()) == (games, 2, 2)
    assert store.begin_run(7) == 3, "another run, so that no game is repeated"
    store.write(games[:1])
    assert store.count_games() == 3
    for one in (store, other):
        one.close()
    with Archive(where, "hog") as archive:
        assert [game.places[0].name for game in archive.games()] == ["carl", "dora"]
        assert [game.places[0].name for game in archive.games(player="dora")] == ["dora"]
        assert (archive.count_games(), len(archive.ratings()), archive.name) == (2, 3, other.name)
        with pytest.raises(UnknownNameError, match="anna"):
            archive.games(player="anna")
    assert [one.name for one in path.parent.iterdir()] == ([path.name] if kind == "a file" else [])


def test_a_writer_that_is_killed_loses_nothing_it_announced(path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True) as writer:
        announced = [int(writer.stdout.readline()) for _ in range(20)][-1]
        os.kill(writer.pid, signal.SIGKILL)
        announced = max([announced, *map(int, writer.stdout.read().split()[:-1])])
    store = ResultStore(path, "yatzy")
    games = stored_results(store)
    assert len(games) > announced
    assert all(len(game.places) == 2 for game in games)
    assert store.ratings()["anna"] == PlayerRating(float(len(games) - 1), len(games), len(games))
    assert store.ratings()["bob"].rating == -float(len(games) - 1)
    store.close()
