"""Stores of other versions, commands that read a server's store, and files that are left."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from dicegym.errors import ParameterError

pytest.importorskip("sqlalchemy")
pytest.importorskip("websockets")
import sqlalchemy as sa
from command_line import Run, run_with
from stored_results import made_result
from talk import Bot, run, serving

from dicegym.arena.store.opening import SCHEMA, engine_at, location_of
from dicegym.arena.store.schema import TABLES
from dicegym.server.history import Archive
from dicegym.server.result_store import ResultStore


@pytest.fixture
def first(tmp_path: Path) -> Path:
    """Return a store of one game, in which the server played a turn of bob."""
    path = tmp_path / "results.sqlite"
    store = ResultStore(path, "yatzy")
    store.begin_run(7)
    store.write([made_result(0)])
    store.end_run()
    store.close()
    return path


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def about(path: Path) -> dict[str, str]:
    connection = sqlite3.connect(path)
    found = dict(connection.execute("SELECT name, value FROM about"))
    connection.close()
    return found


def test_a_new_store_has_the_present_tables(tmp_path: Path) -> None:
    ResultStore(tmp_path / "new.sqlite", "yatzy").close()
    with engine_at(location_of(tmp_path / "new.sqlite")).connect() as connection:
        assert {*sa.inspect(connection).get_table_names()} == {*TABLES.tables}
    assert about(tmp_path / "new.sqlite") == {"schema": SCHEMA}


@pytest.mark.parametrize("opens", [lambda path: ResultStore(path, "yatzy"), Archive], ids=["store", "archive"])
@pytest.mark.parametrize("number", ["99", "x"])
def test_another_schema_is_refused_in_words(tmp_path: Path, opens: Any, number: str) -> None:
    path = tmp_path / "results.sqlite"
    ResultStore(path, "yatzy").close()
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE about SET value = ? WHERE name = 'schema'", (number,))
    connection.close()
    with pytest.raises(ParameterError, match=f"has schema {number}, and dicegym .* reads only schema {SCHEMA}"):
        opens(path)
    assert about(path)["schema"] == number
    assert files(tmp_path) == [path.name]


def test_other_files_are_left_unchanged(tmp_path: Path) -> None:
    secrets, other = tmp_path / "secrets.txt", tmp_path / "other.sqlite"
    secrets.write_text("anna:open sesame please\n" * 50)
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.close()
    before = {path: path.read_bytes() for path in (secrets, other)}
    for path, complaint in ((secrets, "not a database"), (other, "something else"), (tmp_path, "is a folder")):
        with pytest.raises(ParameterError, match=complaint):
            ResultStore(path, "yatzy")
    assert {path: path.read_bytes() for path in (secrets, other)} == before
    assert files(tmp_path) == ["other.sqlite", "secrets.txt"]
    assert not list(tmp_path.parent.glob("*-lock"))


def test_a_lock_is_one_and_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    store = ResultStore(path, "yatzy")
    (tmp_path / "elsewhere").mkdir()
    (link := tmp_path / "elsewhere" / "link.sqlite").symlink_to(path)
    for name in (path, link, path):  # a refused server does not remove the lock
        with pytest.raises(ParameterError, match="in use by another server"):
            ResultStore(name, "yatzy")
    link.unlink()
    link.parent.rmdir()
    store.close()
    assert files(tmp_path) == ["results.sqlite"]
    path.with_name(path.name + "-yatzy-lock").touch()  # as left by a killed server
    ResultStore(path, "yatzy").close()
    assert files(tmp_path) == ["results.sqlite"]


# --- commands that read the store ------------------------------------------------------------------------------------


@run
async def test_a_running_server_is_asked_for_status_ratings_and_games(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DICEGYM_STORE", "results.sqlite")

    async def ask(words: str) -> str:
        status, out, err = await asyncio.to_thread(run_with, capsys, "server", *words.split())
        assert status == 0, err
        return out

    async with serving(tmp_path, store=Path("results.sqlite"), agents=("thrifty",)) as server:
        assert "yatzy: 0 finished games in" in await ask("ratings")
        assert "no game is finished yet" in await ask("games")
        bot = await Bot.named(server, "anna")
        await bot.play()
        assert "yatzy: 1 finished game in results.sqlite" in await ask("ratings yatzy -o status.json")
        status = json.loads(Path("status.json").read_text())
        assert (status["games"], len(status["ratings"])) == (1, 2)
        assert re.search(
            r"1 +(anna|thrifty) +1216 ± 655 provisional +1 +1\n2 +(anna|thrifty) +1184 ± 655 provisional +1 +0",
            await ask("ratings"),
        )
        assert re.search(
            r"^ +1  \d{4}-\d\d-\d\d \d\d:\d\d:\d\d  1\. \w+ \d+ \(1200 to 1216\), 2\. \w+ \d+ \(1200 to 1184\)$",
            (await ask("games --player anna")).rstrip("\n"),
        )
    assert "yatzy: 1 finished game in" in await ask("ratings")
    await ask("games -o games.json")
    listed = json.loads(Path("games.json").read_text())["listed"]
    assert [place["name"] for place in listed[0]["places"]]
    assert files(tmp_path) == ["games.json", "results.sqlite", "status.json"]


def test_a_store_is_read_and_not_changed(first: Path, run: Run) -> None:
    before = first.read_bytes()
    store = ("--store", str(first))
    assert re.search(r"1 +anna +1216 ± 655 provisional +1 +1", run("server", "ratings", *store)[1])
    assert "the server played decision 4 of bob: took more" in run("server", "games", *store)[1]
    assert "anna" in run("server", "games", "--last", str(10**20), *store)[1], "more than a database counts means all"
    assert first.read_bytes() == before
    assert files(first.parent) == [first.name]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("ratings", "is not a file: a server makes one where it is started; give its --store"),
        ("games --store two", "servers of hog, yatzy have written to two: name the game"),
        ("games hogg --store two", "Did you mean 'hog'"),
        ("ratings yatzy", "is not a file: a server makes one"),
        ("games --store notes.txt", "notes.txt is not a database, .*nothing in it was changed"),
        ("games --store empty", "empty is empty"),
        ("ratings --store first.sqlite -o no/x.json", "the folder no does not exist"),
        ("games --store first.sqlite --player ana", "Did you mean 'anna'"),
        ("games hog --store first.sqlite", "no server of hog has stored games in .*; stored: yatzy"),
        ("games yatsy --store first.sqlite", "no game 'yatsy'. Did you mean 'yatzy'"),
    ],
)
def test_invalid_requests_are_explained(
    words: str, complaint: str, first: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    monkeypatch.chdir(first.parent)
    first.rename("first.sqlite")
    Path("notes.txt").write_text("no database, but text of some length\n" * 50)
    Path("empty").touch()
    for game in ("hog", "yatzy"):
        store = ResultStore("two", game)
        store.begin_run(1)
        store.close()
    before = files(first.parent)
    status, _, err = run("server", *words.split())
    assert status == 2
    assert re.search(complaint, " ".join(err.split()))
    assert files(first.parent) == before
