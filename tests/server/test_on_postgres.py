"""A server with a store on a real PostgreSQL server loses no announced result, whatever happens to the latter."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import dicegym
from dicegym.errors import ParameterError

pytest.importorskip("sqlalchemy")
pytest.importorskip("psycopg")
pytest.importorskip("websockets")
from made_up import disorderly
from postgres import Postgres
from stored_results import WRITER, made_result, stored_results
from talk import both, eventually, first_box, run, serving

from dicegym.arena import contest
from dicegym.arena.store.reading import StoreReader
from dicegym.server.history import Archive
from dicegym.server.result_store import ResultStore


def reopened(where: str) -> ResultStore:
    """Return a store that another server has just left."""
    end = time.monotonic() + 5
    while True:
        try:
            return ResultStore(where, "yatzy")
        except ParameterError:
            assert time.monotonic() < end


@pytest.fixture
def url(postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the URL of an empty database; the current folder is the test's own."""
    monkeypatch.chdir(tmp_path)
    return postgres.database()


async def plays(bots: list[Any], games: int) -> None:
    """Play ``games`` games."""

    async def one(bot: Any) -> None:
        for _ in range(games):
            await bot.play()

    await asyncio.gather(*(one(bot) for bot in bots))


@run
async def test_games_go_on_while_the_database_is_out_of_reach(
    postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dicegym.server.result_store.LONGEST_TROUBLE", 0.3)
    url = postgres.database()
    name = url.rpartition("/")[2]
    async with serving(tmp_path, store=url) as server:
        bots, standing = await both(server, "anna", "bob")
        await bots[0].send(first_box(standing))
        await plays(bots, 1)
        with Archive(url) as archive:
            assert archive.count_games()
        # Like a stopped server: it refuses connections and ends existing ones.
        postgres.run(
            f"ALTER DATABASE {name} WITH ALLOW_CONNECTIONS false",
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'",
        )
        waiting = asyncio.create_task(plays(bots, 2))
        await eventually(lambda: any("cannot be used" in line for line in server.told))
        assert not waiting.done()
        postgres.run(f"ALTER DATABASE {name} WITH ALLOW_CONNECTIONS true")
        await waiting
        assert server.store.count_games() == 3
        with pytest.raises(ParameterError, match="in use by another server"):
            ResultStore(url, "yatzy")
        told = [line for line in server.told if "the store at postgresql" in line]
        assert len(told) == 2, "it is logged once, and when it is over"
        assert postgres.password not in "".join(server.told)
    assert list(tmp_path.iterdir()) == []


def test_a_contest_runs_in_the_store_of_a_running_server(postgres: Postgres, url: str) -> None:
    """Its games are stored between the contest's matches; after its connections end, another server can start."""
    store, numbers = ResultStore(url, "yatzy"), itertools.count()
    store.begin_run(7)
    small = dicegym.game("hog", goal=20)
    entries = ["bacon", "swap", "tuned"]

    def write(*_: object) -> None:
        store.write([made_result(next(numbers))])

    result = contest(small, entries, 7, progress=write, executors=disorderly(), games=4, store=url)
    assert result == contest(small, entries, 7, executors=disorderly(), games=4)
    written = next(numbers)
    assert len(stored_results(store)) == written > 3
    with StoreReader(url) as reader:
        assert reader.contest().played == 3
    postgres.run(
        f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{url.rpartition('/')[2]}'",
    )
    other = reopened(url)
    assert other.count_games() == written
    other.close()
    store.engine.dispose()


@pytest.mark.slow
@pytest.mark.parametrize("on", ["a server", "a file"])
def test_a_contest_runs_in_the_store_of_a_server_that_is_killed(
    on: str, postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server loses nothing, and another one can start."""
    monkeypatch.chdir(tmp_path)
    small = dicegym.game("hog", goal=20)
    where = postgres.database() if on == "a server" else str(tmp_path / "both.sqlite")
    with subprocess.Popen([sys.executable, "-c", WRITER, where], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        result = contest(small, ["bacon", "swap", "tuned"], 7, executors=disorderly(), games=40, store=where)
        told = [int(writer.stdout.readline()) for _ in range(20)][-1]
        assert writer.poll() is None, "the contest does not disturb the server"
        os.kill(writer.pid, signal.SIGKILL)
        told = max([told, *map(int, writer.stdout.read().split()[:-1])])
    assert result.stored is not None
    with StoreReader(where) as reader:
        assert reader.contest().played == 3
    store = reopened(where)
    assert len(stored_results(store)) == store.count_games() > told
    assert store.ratings()["anna"].rating == store.count_games() - 1
    store.close()
