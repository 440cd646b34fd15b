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
from dicegym.errors import UnknownNameError

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


def test_results_and_ratings_come_back(path: Path) -> None:
    store = ResultStore(path, "yatzy")
    with store.engine.connect() as connection:  # every commit is on disk
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
    assert store.begin_run(7) == 1
    store.write([made_result(0)])
    store.write([made_result(1, after=(1230.25, 1169.75))])
    with pytest.raises(Exception, match="NOT NULL"):  # all games of a call are stored, or none
        store.write(
            [made_result(2, first="carl", after=(1300.0, 1100.0)), made_result(3)._replace(seed=2, number=None)]
        )
    store.write([made_result(0)])  # if the confirmation of a commit is lost, the games are sent again
    store.close()
    store = ResultStore(path, "yatzy")
    assert store.ratings() == {"anna": PlayerRating(1230.25, 2, 2), "bob": PlayerRating(1169.75, 2, 0)}
    assert stored_results(store) == [made_result(0), made_result(1, after=(1230.25, 1169.75))]
    assert store.count_games() == 2
    assert store.begin_run(7) == 2, "another run, so that no game is repeated"
    store.write([made_result(0)])
    assert store.count_games() == 3
    store.close()


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


def test_servers_of_several_games_share_a_store_but_not_ratings(path: Path) -> None:
    stores = {game: ResultStore(path, game) for game in ("yatzy", "hog")}
    for number, store in enumerate(stores.values(), 1):
        assert store.begin_run(7, dicegym.game(store.game)) == number
    stores["yatzy"].write([made_result(0)])
    stores["hog"].write([made_result(0, first="carl")])
    stores["hog"].write([made_result(1, first="dora")])
    for store in stores.values():
        store.close()
    yatzy, hog = ResultStore(path, "yatzy"), ResultStore(path, "hog")
    assert (set(yatzy.ratings()), set(hog.ratings())) == ({"anna", "bob"}, {"bob", "carl", "dora"})
    assert (yatzy.ratings()["bob"].games, hog.ratings()["bob"].games) == (1, 2)
    assert (yatzy.count_games(), hog.count_games()) == (1, 2)
    assert [game.places[0].name for game in stored_results(hog)] == ["carl", "dora"]
    for store in (yatzy, hog):
        store.close()
    with Archive(path, "hog") as archive:
        assert [game.places[0].name for game in archive.games()] == ["carl", "dora"]
        assert (archive.count_games(), len(archive.ratings())) == (2, 3)
        with pytest.raises(UnknownNameError, match="anna"):
            archive.games(player="anna")
