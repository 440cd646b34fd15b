"""What the server remembers survives whatever ends it."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dicegym.errors import ParameterError

pytest.importorskip("sqlalchemy")
from dicegym.server.results import ForcedTurn, GameResult, PlayerRating, SeatResult
from dicegym.server.store import Store


def result(number: int, *, first: str = "anna", second: Any = "bob", after: Any = (1216.0, 1184.0)) -> Any:
    places = (SeatResult(first, 231, 1, 1200.0, after[0]), SeatResult(second, 198, 2, 1200.0, after[1]))
    return GameResult(number, 2**64 - 1, 1.5, (256, 512, 1000), places, (ForcedTurn(1, 4, "took more than 10 s"),))


@pytest.fixture
def path(tmp_path: Path) -> Any:
    return tmp_path / "results.sqlite"


def test_results_and_ratings_come_back(path: Path) -> None:
    store = Store(path, "yatzy")
    assert store.begin_run(7) == 1
    store.write([result(0)])
    store.write([result(1, after=(1230.25, 1169.75))])
    store.close()
    store = Store(path, "yatzy")
    assert store.ratings() == {"anna": PlayerRating(1230.25, 2, 2), "bob": PlayerRating(1169.75, 2, 0)}
    assert list(store.results()) == [result(0), result(1, after=(1230.25, 1169.75))]
    assert store.finished() == 2
    assert store.begin_run(7) == 2, "another run, so that no game is played twice"
    store.write([result(0)])
    store.close()


def test_games_are_written_all_or_none(path: Path) -> None:
    store = Store(path, "yatzy")
    store.begin_run(7)
    store.write([result(0)])
    with pytest.raises(Exception, match="UNIQUE"):
        store.write([result(1, first="carl", after=(1300.0, 1100.0)), result(0)])
    assert list(store.results()) == [result(0)]
    assert store.ratings() == {"anna": PlayerRating(1216, 1, 1), "bob": PlayerRating(1184, 1, 0)}
    store.close()


def test_every_commit_reaches_the_disk(path: Path) -> None:
    store = Store(path, "yatzy")
    with store._engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
    store.close()


WRITER = """
import sys
from pathlib import Path
from dicegym.server.results import GameResult, SeatResult
from dicegym.server.store import Store
store = Store(Path(sys.argv[1]), "yatzy")
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
    store = Store(path, "yatzy")
    games = list(store.results())
    assert len(games) > announced
    assert all(len(game.places) == 2 for game in games)
    assert store.ratings()["anna"] == PlayerRating(float(len(games) - 1), len(games), len(games))
    assert store.ratings()["bob"].rating == -float(len(games) - 1)
    store.close()


def test_one_server_at_a_time(path: Path) -> None:
    store = Store(path, "yatzy")
    with pytest.raises(ParameterError, match="in use by another server"):
        Store(path, "yatzy")
    store.close()
    Store(path, "yatzy").close()


def test_wrong_files_are_refused_in_words(path: Path, tmp_path: Path) -> None:
    path.write_bytes(b"hello, this is no database at all, although it is long enough to be looked at" * 20)
    with pytest.raises(ParameterError, match="not a database"):
        Store(path, "yatzy")
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.close()
    with pytest.raises(ParameterError, match="something else"):
        Store(other, "yatzy")
    with pytest.raises(ParameterError, match="No such file"):
        Store(tmp_path / "nowhere" / "results.sqlite", "yatzy")


def test_another_game_or_schema_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    Store(path, "hog").close()
    with pytest.raises(ParameterError, match="holds results of hog"):
        Store(path, "yatzy")
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE about SET value = '0' WHERE name = 'schema'")
    connection.close()
    with pytest.raises(ParameterError, match="schema 0"):
        Store(path, "hog")
