"""What the server remembers survives whatever ends it."""

from __future__ import annotations

import os
import signal
import sqlite3
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
from stored_results import stored_results

from dicegym.server.game_results import ForcedTurn, GameResult, PlayerRating, SeatResult
from dicegym.server.history import Archive
from dicegym.server.result_store import ResultStore


def result(number: int, *, first: str = "anna", second: Any = "bob", after: Any = (1216.0, 1184.0)) -> Any:
    places = (SeatResult(first, 231, 1, 1200.0, after[0]), SeatResult(second, 198, 2, 1200.0, after[1]))
    return GameResult(number, 2**64 - 1, 1.5, (256, 512, 1000), places, (ForcedTurn(1, 4, "took more than 10 s"),))


@pytest.fixture
def path(tmp_path: Path) -> Any:
    return tmp_path / "results.sqlite"


def test_who_asks_waits_while_another_thread_writes(path: Path) -> None:
    store = ResultStore(path, "yatzy")
    store.begin_run(7)
    writes, may_end = threading.Event(), threading.Event()

    def write() -> None:
        with store.writing():
            writes.set()
            may_end.wait(20)
        store.write([result(0)])

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
    assert store.begin_run(7) == 1
    store.write([result(0)])
    store.write([result(1, after=(1230.25, 1169.75))])
    store.close()
    store = ResultStore(path, "yatzy")
    assert store.ratings() == {"anna": PlayerRating(1230.25, 2, 2), "bob": PlayerRating(1169.75, 2, 0)}
    assert stored_results(store) == [result(0), result(1, after=(1230.25, 1169.75))]
    assert store.count_games() == 2
    assert store.begin_run(7) == 2, "another run, so that no game is played twice"
    store.write([result(0)])
    store.close()


def test_games_are_written_all_or_none(path: Path) -> None:
    store = ResultStore(path, "yatzy")
    store.begin_run(7)
    store.write([result(0)])
    with pytest.raises(Exception, match="NOT NULL"):
        store.write([result(1, first="carl", after=(1300.0, 1100.0)), result(2)._replace(seed=2, number=None)])
    assert stored_results(store) == [result(0)]
    assert store.ratings() == {"anna": PlayerRating(1216, 1, 1), "bob": PlayerRating(1184, 1, 0)}
    store.close()


def test_every_commit_reaches_the_disk(path: Path) -> None:
    store = ResultStore(path, "yatzy")
    with store.engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
    store.close()


WRITER = """
import sys
from pathlib import Path
from dicegym.server.history import Archive
from dicegym.server.game_results import GameResult, SeatResult
from dicegym.server.result_store import ResultStore
store = ResultStore(Path(sys.argv[1]), "yatzy")
store.begin_run(1)
for number in range(10**6):
    places = (SeatResult("anna", 1, 1, 0.0, float(number)), SeatResult("bob", 0, 2, 0.0, -float(number)))
    store.write([GameResult(number, 0, 0.0, (), places, ())])
    print(number, flush=True)
"""


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


def test_one_server_at_a_time(path: Path) -> None:
    store = ResultStore(path, "yatzy")
    with pytest.raises(ParameterError, match="in use by another server"):
        ResultStore(path, "yatzy")
    store.close()
    ResultStore(path, "yatzy").close()


def test_wrong_files_are_refused_in_words(path: Path, tmp_path: Path) -> None:
    path.write_bytes(b"hello, this is no database at all, although it is long enough to be looked at" * 20)
    with pytest.raises(ParameterError, match="not a database"):
        ResultStore(path, "yatzy")
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.close()
    with pytest.raises(ParameterError, match="something else"):
        ResultStore(other, "yatzy")
    with pytest.raises(ParameterError, match="No such file"):
        ResultStore(tmp_path / "nowhere" / "results.sqlite", "yatzy")


def test_servers_of_several_games_share_a_store_and_no_rating(path: Path) -> None:
    stores = {game: ResultStore(path, game) for game in ("yatzy", "hog")}
    for number, store in enumerate(stores.values(), 1):
        assert store.begin_run(7, dicegym.game(store.game)) == number
    stores["yatzy"].write([result(0)])
    stores["hog"].write([result(0, first="carl")])
    stores["hog"].write([result(1, first="dora")])
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


def test_another_schema_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    ResultStore(path, "hog").close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE about SET value = '0' WHERE name = 'schema'")
    connection.close()
    with pytest.raises(ParameterError, match="schema 0"):
        ResultStore(path, "hog")


def test_a_game_that_is_stored_twice_counts_once(path: Path) -> None:
    """A server's answer to a commit may be lost, and what it stored is sent again."""
    store = ResultStore(path, "yatzy")
    store.begin_run(7)
    for _ in range(2):
        store.write([result(0)])
    assert store.count_games() == 1
    assert store.ratings()["bob"].games == 1
    store.close()
