"""Reading stores: lists, matches, games, places; the commands that show them; and removing contests."""

from __future__ import annotations

import contextlib
import csv
import json
import math
import re
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import Run
from made_up import SMALL, disorderly

import dicegym
from dicegym.arena import contest
from dicegym.arena.pages.stored_contest import build_page
from dicegym.arena.ratings.match_places import MatchPlaces, group_matches
from dicegym.arena.report import plain_text
from dicegym.arena.results import ContestResult
from dicegym.arena.running import FORMATS
from dicegym.arena.store.reading import StoreReader
from dicegym.arena.store.store import ContestStore, lock_contest, remove
from dicegym.errors import DamagedFileError, ParameterError, UnknownNameError

pytestmark = pytest.mark.xdist_group("arena")
BOTS = {
    "ann": "def final_strategy(score, opponent_score):\n    return 5\n",
    "bad": "def final_strategy(score, opponent_score):\n    return 11 if score > 10 else 4\n",
    "<b>bob": "def final_strategy(score, opponent_score):\n    return 3\n",
}


class Made:
    """A store with some contests, and their results by number."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "made.sqlite"
        bots = folder / "bots"
        bots.mkdir()
        for name, source in BOTS.items():
            (bots / f"{name}.py").write_text(source)
        self.results: dict[int, ContestResult] = {}
        hog = {"store": self.path, "executors": disorderly(ahead=1), "games": 5}
        files = [str(bots / f"{name}.py") for name in BOTS]
        self.add(contest(SMALL, [*files, "bacon", "swap"], seed=11, **hog))
        self.add(
            contest(
                dicegym.game("lucky", players=3, rounds=10),
                ["idle", "thrifty", "cheapest"],
                seed=12,
                **hog | {"games": 25},
            )
        )
        # The same matches in another contest, and a run that has lost an entry.
        self.add(contest(SMALL, [files[0], "bacon", "swap"], seed=11, format="swiss", **hog))
        self.add(contest(SMALL, [files[0], "bacon", "swap"], seed=11, **hog), again=1)

    def add(self, result: ContestResult, again: int = 0) -> None:
        assert result.stored is not None
        assert result.stored.contest == (again or len(self.results) + 1)
        self.results[result.stored.contest] = result


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return Made(tmp_path_factory.mktemp("made"))


@pytest.fixture
def reader(made: Made) -> Iterator[StoreReader]:
    with StoreReader(made.path) as opened:
        yield opened


@pytest.fixture
def copied(made: Made, tmp_path: Path) -> Path:
    copy = tmp_path / "copy.sqlite"
    with contextlib.closing(sqlite3.connect(made.path)) as source, contextlib.closing(sqlite3.connect(copy)) as target:
        source.backup(target)
    return copy


def change(path: Path, statement: str, *values: object) -> None:
    with contextlib.closing(sqlite3.connect(path)) as store, store:
        store.execute(statement, values)


def test_contests_are_listed_with_all_that_makes_them(reader: StoreReader, made: Made) -> None:
    found = reader.contests()
    assert [one.id for one in found] == [1, 2, 3]
    for one in found:
        result = made.results[one.id]
        assert (one.game, one.format, one.seed) == (result.game, result.format, result.seed)
        assert result.provenance is not None
        assert (one.players, one.fingerprint) == (result.provenance.players, result.provenance.fingerprint)
        assert dict(one.parameters) == result.provenance.parameters
        assert one.ended is not None
        assert one.began < one.ended
        assert one.played == len(result.matches)
    assert [one.run for one in found] == [2, 1, 1]
    assert [one.id for one in reader.contests("lucky")] == [2]
    assert reader.contest().id == 1  # the one that ended last
    assert reader.contest(2).game == "lucky"
    with pytest.raises(UnknownNameError, match=r"there is no contest 9.*Known: 1, 2, 3.*made.sqlite"):
        reader.contest(9)


def test_entries_are_told_by_what_they_are_made_of(reader: StoreReader) -> None:
    found = reader.entries(1)
    assert [(one.name, one.withdrawn) for one in found] == [
        ("ann", False),
        ("bacon", False),
        ("swap", False),
        ("<b>bob", True),
        ("bad", True),
    ]
    assert all(re.fullmatch("[0-9a-f]{64}", one.identity) for one in found)
    assert len({one.identity for one in found}) == 5
    assert found[0].kind == "bot"
    assert list(found[0].files) == ["ann.py"]
    assert found[4].reason == "final_strategy(11, 0) returned 11, outside -1..10"


@pytest.mark.parametrize("number", [1, 2, 3])
def test_report_matches_and_places_are_those_of_the_result(reader: StoreReader, made: Made, number: int) -> None:
    report, result = reader.report(number), made.results[number]
    assert report is not None
    assert plain_text(report) == result.text()
    assert reader.result(number) == json.loads(json.dumps(result.to_json()))
    assert [row["name"] for row in reader.standings(number)] == [row.name for row in result.standings]
    stored = list(reader.matches(number))
    assert Counter((one.entries, one.wins, one.shares, one.faults, one.seed, one.games) for one in stored) == Counter(
        (row.entries, row.wins, row.shares, row.faults, row.seed, row.games) for row in result.matches
    )
    assert group_matches(reader.match_places(number)) == group_matches(
        MatchPlaces(row.entries, row.places) for row in result.matches
    )
    games = {whole.match.id: len(whole.games) for whole in reader.whole(stored)}
    assert games == {one.id: one.games for one in stored}
    assert [reader.match(one.id) for one in stored] == stored
    for row in reader.figures(number):
        own = [one for one in stored if row.name in one.entries]
        assert row.matches == len(own)
        assert row.games == sum(one.games for one in own)
        assert row.wins == sum(one.wins[one.entries.index(row.name)] for one in own)
        assert math.isclose(row.shares, sum(one.shares[one.entries.index(row.name)] for one in own))


def test_matches_come_by_entry_and_by_age(reader: StoreReader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dicegym.arena.store.reading.TOGETHER", 2)  # so that a few matches are several parts
    every = [one.id for one in reader.matches(2)]
    assert len(every) == 4
    assert every == sorted(set(every))
    assert [one.id for one in reader.matches(2, last=3)] == every[-3:]
    assert [one.id for one in reader.matches(2, last=2, before=every[-1])] == every[-3:-1]
    assert [one.id for one in reader.matches(2, last=999)] == every
    of_bacon = list(reader.matches(1, entry="bacon"))
    assert {one.entries for one in of_bacon} == {("ann", "bacon"), ("bacon", "swap")}
    assert [one.id for one in reader.matches(1, "bacon", last=1)] == [of_bacon[-1].id]
    assert sum(len(one.games) for one in reader.whole(reader.matches(2))) == sum(one.games for one in reader.matches(2))
    with pytest.raises(UnknownNameError, match=r"no entry 'bacn'.*Did you mean 'bacon'.*in contest 1"):
        list(reader.matches(1, entry="bacn"))
    with pytest.raises(UnknownNameError, match=r"there is no match 9999.*they go up to \d+; `dicegym arena matches`"):
        reader.match(9999)


def test_of_a_contest_that_has_not_ended_there_is_what_was_played(copied: Path) -> None:
    change(copied, "UPDATE contests SET ended = NULL, planned = 9 WHERE id = 1")
    with StoreReader(copied) as reader:
        assert reader.report(1) is None
        assert reader.result(1) is None
        assert reader.standings(1) == []
        page = build_page(reader, reader.contest(1))
        assert page.report.heading == "hog: not ended, 3 of 9 matches played, seed 11"
        assert ("format", "round-robin") in page.report.facts
        assert len(page.matches) == 3
    change(copied, "DELETE FROM plays WHERE contest = 1")
    with StoreReader(copied) as reader:
        report = build_page(reader, reader.contest(1)).report
        assert not report.tables
        assert report.words[0] == "No match has finished yet."


def test_a_store_that_cannot_be_read_is_said_in_words(run: Run, tmp_path: Path) -> None:
    (tmp_path / "text.sqlite").write_text("no database at all, but long enough to be taken for one" * 20)
    (tmp_path / "empty.sqlite").touch()
    for name, words in (
        ("nosuch.sqlite", r"no store .*nosuch\.sqlite: `dicegym tournament` makes one"),
        ("text.sqlite", r"text\.sqlite"),
        ("empty.sqlite", "is empty: no contest has been stored in it"),
        ("", "a folder"),
        ("/", "a folder"),
    ):
        with pytest.raises(ParameterError, match=words):
            StoreReader(tmp_path / name)
        assert run("arena", "list", "--store", tmp_path / name)[0] == 2


# --- removing -------------------------------------------------------------------------------------------------------


def everything(path: Path, contest: int) -> list[Any]:
    with StoreReader(path) as reader:
        matches = list(reader.matches(contest))
        return [matches, list(reader.whole(matches)), reader.entries(contest), reader.report(contest)]


def counts(path: Path) -> dict[str, int]:
    tables = ("contests", "matches", "seats", "plays", "agents", "fields", "answers")
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return {name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in tables}


def test_what_other_contests_have_too_stays_and_with_the_last_all_goes(copied: Path) -> None:
    before, kept = counts(copied), everything(copied, 3)
    with ContestStore(copied) as store:
        gone = remove(store, 1)
    after = counts(copied)
    assert everything(copied, 3) == kept
    assert gone == before["matches"] - after["matches"] == 6 - len(kept[0])  # 3, and 3 of the run before
    assert after["contests"] == before["contests"] - 1
    assert after["answers"] == before["answers"]  # of the same seed
    with StoreReader(copied) as reader:
        assert [one.id for one in reader.contests()] == [2, 3]
    with ContestStore(copied) as store:
        for number in (2, 3):
            remove(store, number)
    assert counts(copied) == dict.fromkeys(counts(copied), 0)
    with StoreReader(copied) as reader, pytest.raises(UnknownNameError, match="holds no contest"):
        reader.contest()


def test_a_contest_that_is_being_held_stays(copied: Path) -> None:
    before = counts(copied)
    for number in (1, 3):  # of one seed: what is removed may be the other's next match
        busy = pytest.raises(ParameterError, match=f"contest {number} of .* is being run by another process")
        with ContestStore(copied) as holder, lock_contest(holder, number), ContestStore(copied) as store, busy:
            remove(store, 1)
    assert counts(copied) == before


# --- the command line -----------------------------------------------------------------------------------------------


def test_contests_are_listed_and_shown_with_report_and_ratings(run: Run, made: Made, tmp_path: Path) -> None:
    file = tmp_path / "list.json"
    status, out, _ = run("arena", "list", "--store", made.path, "-o", file)
    lines = out.splitlines()
    assert status == 0
    assert re.match(r"ID +Game +Format +Entries +Matches +Seed +Ended", lines[0])
    assert re.match(r" 1 +hog +round-robin +3 +3 +11 +20\d\d-\d\d-\d\d \d\d:\d\d$", lines[1])
    assert re.match(r" 2 +lucky +groups +3 ", lines[2])
    assert [one["seed"] for one in json.loads(file.read_text())] == [11, 12, 11]
    files = {kind: tmp_path / f"standings.{kind}" for kind in ("csv", "json", "html")}
    options = [word for file in files.values() for word in ("-o", file)]
    status, out, _ = run("arena", "show", 1, "--store", made.path, *options)
    assert status == 0
    assert re.search(r"^began .* UTC by dicegym .*, in 2 runs; ended .* UTC; matches: 3$", out, re.MULTILINE)
    assert re.search(r"^<b>bob +bot +[0-9a-f]{12} +- .* withdrawn$", out, re.MULTILINE)
    assert re.search(r"^ann +bot +[0-9a-f]{12} +2 +10 +0 ", out, re.MULTILINE)
    assert made.results[1].heading in out
    assert "95% interval" in out
    found = json.loads(files["json"].read_text())
    assert {row["name"] for row in found["ratings"]["ratings"]} == {"ann", "bacon", "swap"}
    with open(files["csv"], newline="") as opened:
        rows = list(csv.DictReader(opened))
    assert [row["name"] for row in rows] == [row.name for row in made.results[1].standings]
    assert "<title>Hog: round robin</title>" in files["html"].read_text()


def test_matches_are_listed_and_written(run: Run, made: Made, tmp_path: Path) -> None:
    file = tmp_path / "matches.csv"
    status, out, _ = run("arena", "matches", 1, "--store", made.path, "--entry", "bacon", "-o", file)
    assert status == 0
    assert len(out.splitlines()) == 3
    with open(file, newline="") as opened:
        rows = list(csv.DictReader(opened))
    assert [row["entries"] for row in rows] == ["ann bacon", "bacon swap"]
    status, out, _ = run("arena", "matches", 2, "--store", made.path, "--last", 3)
    assert re.search(r"the newest 3 of \d+; --last 0 lists all$", out)
    assert len(out.splitlines()) == 5


def test_everything_is_exported(run: Run, made: Made, tmp_path: Path) -> None:
    written = [word for ending in ("json", "csv", "md") for word in ("-o", tmp_path / f"all.{ending}")]
    status, out, _ = run("arena", "show", 2, "--store", made.path, *written)
    assert status == 0
    assert out.count("wrote ") == 4
    assert (tmp_path / "all.md").read_text().startswith("# Lucky")
    found = json.loads((tmp_path / "all.json").read_text())
    assert found["contest"]["game"] == "lucky"
    assert found["result"]["standings"] == found["standings"]
    match = found["matches"][0]
    played, game = match["played"][0], dicegym.game("lucky", players=3, rounds=10)
    state = game.new_game(match["seed"], played["number"])[0]
    for action in played["actions"]:
        game.step(state, action)
    assert state["over"]
    assert game.returns(state).tolist() == [played["returns"][player] for player in played["seats"]]
    assert sorted(path.stem for path in tmp_path.glob("*.csv")) == ["all", "all-matches"]


def test_a_contest_is_removed_when_somebody_says_so(run: Run, copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("typer.confirm", lambda question: "Remove contest 2 (lucky" not in question)
    status, out, _ = run("arena", "rm", 2, "--store", copied)
    assert (status, out) == (1, "")
    status, out, _ = run("arena", "rm", 2, "--store", copied, "--yes")
    assert status == 0
    assert re.search(r"^removed contest 2 \(lucky.* and deleted \d+ matches", out)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(FORMATS))
def test_every_format_has_a_page_and_sheets(name: str, run: Run, tmp_path: Path) -> None:
    words = ("tournament", "hog", "bacon", "swap", "--format", name.replace("_", "-"), "--games", 2, "--workers", 1)
    sheet, page = tmp_path / "a.csv", tmp_path / "a.html"
    status, _, err = run(*words, "--store", tmp_path / "a.sqlite", "--seed", 4, "-o", sheet, "-o", page)
    assert status == 0, err
    with open(sheet, newline="") as file:
        assert {row["name"] for row in csv.DictReader(file)} == {"bacon", "swap"}
    with open(tmp_path / "a-matches.csv", newline="") as file:
        assert {row["entry"] for row in csv.DictReader(file)} == {"bacon", "swap"}
    text = page.read_text()
    assert f"Hog: {name.replace('_', ' ')}" in text
    for fact in ("seats", "format", "seed", "games", "faults", "rules", "isolation", "limits", "versions", "date"):
        assert f"<dt>{fact}</dt>" in text
    assert "dicegym arena replay 1 --store" in text
    status, _, err = run(*words, "--store", "none", "-o", page)
    assert (status, "needs a stored contest" in err) == (2, True)


# --- stores that hold what nobody writes ---------------------------------------------------------------------

NONSENSE = (
    *("x", "[[", b"\xff", -1, 10**18, 1e300, float("inf"), "[[[1],1]]", '{"a": []}', str(10**40), "9" * 5_000),
    *("[[[1,2],-2]]", "[[[1,2],1.5]]"),
)
READ = {
    "contests": ("options", "limits", "seed", "ended", "run", "planned", "result", "report"),
    "rules": ("game", "players", "parameters", "fingerprint", "version"),
    "agents": ("name", "identity", "files"),
    "fields": ("given", "withdrawn"),
    "matches": ("seed", "number", "games", "places", "failure", "outcome", "actions"),
    "seats": ("player", "wins", "share", "faults"),
}
"""Columns that commands read."""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("small") / "store.sqlite"
    contest(SMALL, ["bacon", "swap"], 1, executors=disorderly(), games=1, store=path)
    return path


def spoilt(small: Path, table: str, column: str, value: object) -> bool:
    """Put a wrong value into a store; return whether the database accepts it."""
    try:
        change(small, f"UPDATE {table} SET {column} = ?", value)
    except sqlite3.IntegrityError:
        return False
    return True


@pytest.mark.parametrize("values", [1, pytest.param(len(NONSENSE), marks=pytest.mark.slow)])
@pytest.mark.parametrize(("table", "column"), [(table, column) for table in READ for column in READ[table]])
def test_no_command_meets_nonsense_with_a_traceback(
    table: str, column: str, values: int, small: Path, tmp_path: Path, run: Run
) -> None:
    """With one value, half of the commands run, chosen by the column; with all values, all of them."""
    path = tmp_path / "store.sqlite"
    number = sum(map(ord, column))
    commands: list[tuple[Any, ...]] = [
        ("arena", "list", "-o", tmp_path / "list.json"),
        ("arena", "show"),
        ("arena", "show", "-o", tmp_path / "page.html", "-o", tmp_path / "all.json", "-o", tmp_path / "all.csv"),
        ("arena", "matches", "-o", tmp_path / "matches.csv"),
        ("arena", "replay", "1.1", "-o", tmp_path / "game.json"),
    ]
    for value in (NONSENSE[(number + i) % len(NONSENSE)] for i in range(values)):
        shutil.copy(small, path)
        if not spoilt(path, table, column, value):
            continue
        for words in commands[number % 2 :: 2] if values == 1 else commands:
            status, _, said = run(*words, "--store", path)
            assert status in (0, 2), words
            assert status == 0 or said.startswith("dicegym: ")
            assert "Traceback" not in said


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("matches", "outcome", "[[0],[1]]"),
        ("matches", "outcome", '{"seats": [[0, 1]], "returns": -1, "incidents": []}'),
        ("matches", "outcome", '{"seats": [[0, 1]], "returns": [[1.0, -1.0]], "incidents": [[-1, 1, 1, "x"]]}'),
        ("seats", "wins", 999),
        ("matches", "failure", "[[]]"),
        ("answers", "outcome", b"x"),
    ],
)
def test_no_contest_goes_on_with_nonsense(table: str, column: str, value: object, small: Path, tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    shutil.copy(small, path)
    assert spoilt(path, table, column, value)
    with pytest.raises(DamagedFileError, match="is damaged"):
        contest(SMALL, ["bacon", "swap"], 1, 1, games=1, store=path)
