"""What a store has saved of contests follows from its matches, or is refused."""

from __future__ import annotations

import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from command_line import Run

from dicegym.arena import contest
from dicegym.errors import DependencyError

pytest.importorskip("sqlalchemy")
from dicegym.arena.compare.comparing import compare
from dicegym.arena.saved_results import result_verdicts
from dicegym.arena.store.reading import StoreReader

FAILS = """
seen = []
def final_strategy(score, opponent_score):
    seen.append((score, opponent_score))
    assert seen.count((0, 0)) < 2, "again"
    return 4
"""
FIVE = ["bacon", "swap", "always_roll(5)", "always_roll(3)", "ham"]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of two contests; in one of them entries were struck, at the check and in a match."""
    folder = tmp_path_factory.mktemp("kept")
    (folder / "fails.py").write_text(FAILS)
    (folder / "none.py").write_text("nothing = 1\n")
    store = folder / "store.sqlite"
    contest("hog", [*FIVE[:3], str(folder / "fails.py"), str(folder / "none.py")], 5, 2, games=4, store=store)
    contest("hog", FIVE[:3], 6, 1, games=2, format="swiss", store=store)
    return store


def changed(store: Path, statement: str, path: Path) -> Path:
    """Copy a store, and do something to it."""
    shutil.copy(store, path)
    with closing(sqlite3.connect(path)) as connection, connection:
        before = connection.total_changes
        connection.executescript(statement)
        assert connection.total_changes > before, "this changes nothing"
    return path


def test_saved_results_of_every_format_follow_from_the_matches(kept: Path, tmp_path: Path, run: Run) -> None:
    store = tmp_path / "store.sqlite"
    shutil.copy(kept, store)
    contest("hog", FIVE[:3], 6, 1, games=2, exact=True, store=store)
    contest("hog", FIVE, 7, 1, games=2, format="swiss", seeding=True, store=store)
    contest("lucky", ["cheapest", "gambler", "thrifty", "compound"], 5, 1, games=1, store=store)
    contest("lucky", ["cheapest", "gambler", "thrifty"], 5, 1, format="one_table", games=1, store=store)
    compare("hog", "bacon", "swap", seed=3, games=400, workers=1, store=store)
    before = store.read_bytes()
    with StoreReader(store) as reader:
        assert [entry.reason is None for entry in reader.entries(1)].count(False) == 2, "both were struck"
        found = list(result_verdicts(reader))
    assert [one[1:] for one in found] == [("", "")] * 7
    _, shown, _ = run("arena", "verify", "--store", store)
    assert "7 of 7 stored results computed again: the same" in shown
    assert store.read_bytes() == before


FORGED = {
    "UPDATE standings SET place = 1": "in its standings at 2.place: 1 is saved, and 2 follows",
    "UPDATE standings SET name = 'ham' WHERE contest = 1 AND position = 1": 'standings at 1.name: "ham" is saved',
    """UPDATE standings SET figures = replace(figures, '"wins": ', '"wins": 1') WHERE contest = 1""": "1.wins",
    "DELETE FROM standings WHERE contest = 2": "in its standings: [] is saved",
    """UPDATE contests SET result = replace(result, '"seed": ', '"seed": 1')""": "in its result at matches.1.seed",
    """UPDATE contests SET result = replace(result, '"won": ', '"won": 1')""": "of contest 2, in its result at",
    """UPDATE contests SET result = replace(result, '"fingerprint": "', '"fingerprint": "0')""": "at fingerprint",
    "UPDATE contests SET report = replace(report, 'swap', 'swop')": "in its report at",
    "UPDATE contests SET report = replace(report, '%', '')": "in its report at tables",
    "UPDATE contests SET report = NULL": "in its report: null is saved",
    "UPDATE contests SET result = NULL": "without a result",
    "UPDATE contests SET result = '[]'": "is damaged",
    "UPDATE contests SET result = '{}'": "another form than dicegym writes (KeyError: 'options')",
    "UPDATE contests SET result = json_remove(result, '$.entries')": "another form than dicegym writes (KeyError",
    "UPDATE contests SET result = json_set(result, '$.options.mine', 1)": "another form than dicegym writes (TypeError",
    "UPDATE contests SET result = json_set(result, '$.options', null)": "than dicegym writes (AttributeError",
    "UPDATE contests SET result = json_set(result, '$.disqualified', 3)": "another form than dicegym writes (TypeError",
    "UPDATE contests SET report = '{}'": "is damaged",
    "UPDATE contests SET options = '{\"games\": 3}'": "options",
    "UPDATE fields SET reason = NULL": "is struck for None",
    "UPDATE fields SET reason = 'it cheats' WHERE contest = 2": "is struck for 'it cheats'",
    "DELETE FROM plays WHERE contest = 2": "counts, and is not listed",
    "INSERT INTO plays SELECT 2, max(match), 1 FROM plays WHERE contest = 1": "does not count",
    "DELETE FROM examinations": "a check of",
}
"""What somebody may do to saved results, and what is said of it."""


@pytest.mark.parametrize("done", FORGED)
def test_a_forged_result_is_refused(done: str, kept: Path, tmp_path: Path, run: Run) -> None:
    forged = changed(kept, done, tmp_path / "forged.sqlite")
    status, _, said = run("arena", "verify", "--sample", "1", "--store", forged)
    assert status == 2
    assert FORGED[done] in said


def test_a_match_that_counts_has_to_be_there(kept: Path, tmp_path: Path) -> None:
    lost = "(SELECT match FROM plays WHERE contest = 2 LIMIT 1)"
    tables = [("plays", "match"), ("seats", "match"), ("games", "match"), ("misplays", "match"), ("matches", "id")]
    statement = f"CREATE TEMP TABLE lost AS SELECT {lost} AS match;" + "".join(
        f"DELETE FROM {table} WHERE {column} IN (SELECT match FROM lost);" for table, column in tables
    )
    forged = changed(kept, statement, tmp_path / "forged.sqlite")
    with StoreReader(forged) as reader:
        wrong = [one for one in result_verdicts(reader) if one.wrong]
    assert [one.id for one in wrong] == [2]
    assert re.search(r"a match of .*, which counts, is not stored", wrong[0].wrong)


def test_a_malformed_result_keeps_no_other_contest_from_being_verified(kept: Path, tmp_path: Path) -> None:
    statement = "UPDATE contests SET result = json_remove(result, '$.entries') WHERE id = 1"
    with StoreReader(changed(kept, statement, tmp_path / "forged.sqlite")) as reader:
        assert [bool(one.wrong) for one in result_verdicts(reader)] == [True, False]


def test_what_this_machine_lacks_is_no_forgery(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lack(*_: object) -> None:
        raise DependencyError("there is no jail here")

    monkeypatch.setattr("dicegym.arena.saved_results._wrong", lack)
    with StoreReader(kept) as reader:
        assert [one[1:] for one in result_verdicts(reader)] == [("", "there is no jail here")] * 2


def test_what_cannot_be_made_again_is_said(tmp_path: Path, run: Run) -> None:
    store = tmp_path / "store.sqlite"
    contest("hog", FIVE[:2], 5, 1, games=2, less_luck=True, store=store)
    _, shown, _ = run("arena", "verify", "--store", store)
    assert "0 of 1 stored result " in shown
    assert "contest 1 was left out: only its players can say what luck did" in shown
    changed(store, "UPDATE contests SET format = 'mine.hold'", tmp_path / "other.sqlite")
    with StoreReader(tmp_path / "other.sqlite") as reader:
        assert [one.unknown for one in result_verdicts(reader)] == ["dicegym has no format mine.hold"]
