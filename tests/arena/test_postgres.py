"""A store on a real PostgreSQL server, started by the tests, works like a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("psycopg")
from command_line import Run
from made_up import SMALL, disorderly
from postgres import Postgres

import dicegym
from dicegym.arena import Limits, contest
from dicegym.arena.replay.stored_replays import find_replay
from dicegym.arena.storage import Settings, Storage
from dicegym.arena.store.book import Book
from dicegym.arena.store.reading import StoreReader
from dicegym.arena.store.store import ContestStore, remove
from dicegym.errors import ParameterError

ENTRIES = ["always_roll", "bacon", "swap", "tuned"]
THINKS = "def final_strategy(score, opponent_score):\n    for _ in range({}): pass\n    return {} + score % 2\n"


@pytest.fixture
def url(postgres: Postgres) -> str:
    """Return the address of an empty database."""
    return postgres.database()


def told(store: str | Path) -> list[Any]:
    """Return what a store tells of its latest contest."""
    with StoreReader(store) as reader:
        number = reader.contest().id
        matches = [match._replace(id=0) for match in reader.matches(number)]
        return [
            reader.contest()._replace(began="", ended="", run=0),
            reader.result(number),
            reader.standings(number),
            reader.entries(number),
            sorted(matches),
            sorted(one for whole in reader.whole(reader.matches(number)) for one in whole.games),
            sorted(one._replace(match=0) for one in reader.misplays_in(number)),
            reader.figures(number),
            reader.match_places(number),
        ]


def test_a_server_holds_what_a_file_does(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    bot = tmp_path / "Äpfel.py"  # whose name a language sorts elsewhere than its letters do, and which prints anything
    bot.write_text("def final_strategy(score, other):\n    print('a\\0b\\ud800')\n    return 11 if score > 15 else 4\n")
    (tmp_path / "zweig.py").write_text(THINKS.format(0, 4))
    (tmp_path / "empty").mkdir()
    entries = [str(bot), *ENTRIES, str(tmp_path / "zweig.py")]
    for store in (url, tmp_path / "file.sqlite"):
        contest(SMALL, entries, 7, games=2, store=store, executors=disorderly())
    assert told(url) == told(tmp_path / "file.sqlite")
    with StoreReader(url) as reader:
        number = next(reader.matches(1)).id
        find_replay(reader, f"{number}.2").states()
    monkeypatch.chdir(empty := tmp_path / "empty")
    again = contest(SMALL, entries, 7, games=2, store=Storage(url), executors=disorderly()).stored
    assert again is not None
    assert (again.played, again.run) == (0, 2)
    assert again.store.startswith("postgresql://tester:***@127.0.0.1:")
    assert list(empty.iterdir()) == []


def test_a_contest_that_breaks_off_goes_on(url: str) -> None:
    with pytest.raises(KeyboardInterrupt):
        contest(SMALL, ENTRIES, 7, games=5, store=url, executors=disorderly(most=3))
    with StoreReader(url) as reader:
        assert reader.contest(1).played == 3
    result = contest(SMALL, ENTRIES, 7, games=5, store=url, executors=disorderly())
    with StoreReader(url) as reader:
        found = reader.contest()
        assert (found.run, found.played, found.planned) == (2, 6, 6)
        assert len({match.key for match in reader.matches(1)}) == 6
    assert result == contest(SMALL, ENTRIES, 7, games=5, executors=disorderly())


def test_two_processes_do_not_hold_one_contest_at_once_and_it_can_go(url: str) -> None:
    settings = Settings(dicegym.game("hog"), "round_robin", {}, Limits())
    with ContestStore(url) as store, ContestStore(url) as other:
        first, second = Book(store, settings, 1), Book(store, settings, 1)
        first.enter([], [])
        with pytest.raises(ParameterError, match=r"contest 1 of postgresql:.* is being run by another process"):
            remove(other, 1)
        with pytest.raises(ParameterError, match="is being run by another process"):
            second.enter([], [])
        first.close()
        second.enter([], [])
        second.close()
        assert remove(store, 1) == 0
        with StoreReader(url) as reader:
            assert reader.contests() == []


def test_what_cannot_be_used_is_said_in_a_line_without_the_password(
    postgres: Postgres, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    theirs, closed = postgres.database(), postgres.database()
    postgres.run("CREATE TABLE recipes (name TEXT)", database=theirs.rpartition("/")[2])
    postgres.run("CREATE ROLE reader LOGIN PASSWORD 'verysecret'", "SELECT 1", database=closed.rpartition("/")[2])
    reader = postgres.url(closed.rpartition("/")[2], "reader", "verysecret")
    for address, words in (
        (postgres.url(password="verysecret"), "password authentication failed"),
        (postgres.url("nowhere", password=postgres.password), 'database "nowhere" does not exist'),
        ("postgresql://tester:verysecret@127.0.0.1:1/x", "refused"),
        ("postgresql://127.0.0.1:1/x?user=me&password=verysecret", "refused"),
        ("postgresql://me:verysecret@127.0.0.1:port/x", "is no address of a database"),
        ("postgresql://me:very/secret@127.0.0.1:1/x", "store"),
        ("mysql://me:verysecret@127.0.0.1/x", "postgresql://"),
        ("postgresql://me:verysecret@no.such.host.invalid/x", "no.such.host.invalid"),
        (reader, "permission denied"),
        (theirs, "is a database of something else: give another --store"),
    ):
        for command in ("tournament hog bacon swap", "server start yatzy --tcp 0", "server ratings"):
            status, out, err = run(*command.split(), "--store", address)
            said = " ".join(err.split())
            assert status == 2, (command, said)
            if "server" not in command or address is not reader:  # who may only read finds an empty database
                assert words in said
            assert "Traceback" not in said
            assert len(said) < 600
            for secret in ("verysecret", "secret@", postgres.password):
                assert secret not in out + err
    assert list(tmp_path.iterdir()) == []
    tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
    assert postgres.run(tables, database=theirs.rpartition("/")[2]) == [(1,)]
