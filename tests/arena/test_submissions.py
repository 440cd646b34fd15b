"""A folder of submissions as entries: which files are entries, their names, and broken ones."""

from __future__ import annotations

from pathlib import Path

import pytest

import dicegym
from dicegym import arena
from dicegym.arena import contest
from dicegym.arena.entries import entries_of
from dicegym.arena.submissions import Submission, names_for, read_folder
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.registry import GAMES

BOT = "def final_strategy(score, opponent_score):\n    return {}\n"


@pytest.fixture(scope="module")
def game() -> Game:
    """A small one: before its contests each entry is asked 400 questions instead of 10,000."""
    return dicegym.game("hog", goal=20)


def write(path: Path, text: str = "") -> Path:
    """Write a bot and its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text or BOT.format(4))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "monday"
    (root / "gus").mkdir(parents=True)
    for name, text in {
        "ann.py": BOT.format(5),
        "ann/hog.py": BOT.format(6),
        "bob/hog.py": "from own import number\n" + BOT.format("number"),
        "bob/own.py": "number = 3\n",
        "cid/project/src/hog.py": BOT.format(2),
        "dot/strategy.py": BOT.format(1),
        "hal.py": "def final_strategy(",
        "ivy.zip": "no model",
        "README.md": "Submissions",
        **dict.fromkeys(("cid/__MACOSX/hog.py", "eve/one/hog.py", "eve/two/hog.py", "fay/a.py", "fay/b.py"), ""),
        **dict.fromkeys(("_helper.py", ".git/hog.py"), ""),
    }.items():
        write(root / name, text)
    return root


def test_each_file_and_folder_is_an_entry(folder: Path, game: Game) -> None:
    found = entries_of(game, folder)
    assert [entry.name for entry in found.entries] == ["bob", "cid", "dot", "hal", "monday/ann.py", "monday/ann/"]
    reasons = {bad.name: bad.reason for bad in found.broken}
    assert list(reasons) == ["eve", "fay", "gus", "ivy"]
    assert reasons["eve"] == "its folder holds hog.py 2 times (one/hog.py, two/hog.py): keep one"
    assert reasons["fay"].startswith("its folder holds no hog.py, but a.py, b.py: name it so, or give ")
    assert reasons["gus"] == "its folder holds no hog.py"
    assert any(remark.startswith("no entries in ") and "README.md" in remark for remark in found.remarks)
    assert [record.name for record in found.records] == sorted([*(e.name for e in found.entries), *reasons])
    assert {record.name: list(record.files) for record in found.records}["bob"] == ["hog.py", "own.py"]


def test_a_broken_submission_stops_nobody(folder: Path, game: Game) -> None:
    assert [entry.name for entry in entries_of(game, [folder / "bob", "bacon"]).entries] == [
        "bacon",
        "bob",
    ]
    found = contest(game, [folder, "bacon"], seed=0, workers=1)
    assert {row.name for row in found.standings} == {"monday/ann.py", "monday/ann/", "bob", "cid", "dot", "bacon"}
    assert [bad.name for bad in found.disqualified] == ["eve", "fay", "gus", "hal", "ivy"]
    assert len(found.matches) == 15
    text = found.text()
    assert text.index("disqualified: eve") < text.index("Games in which the row was ahead")
    rates = {row.name: row["win_rate"] for row in found.standings}
    assert rates["monday/ann.py"] == 0.5  # always_roll(5) is the baseline


def test_names_are_unique_and_sensible(folder: Path, tmp_path: Path, game: Game) -> None:
    write(tmp_path / "tuesday" / "bob.py", BOT.format(7))
    write(tmp_path / "tuesday" / "bacon.py", BOT.format(8))
    found = entries_of(game, [tmp_path / "tuesday", "bacon", folder])
    names = {entry.name for entry in found.entries}
    assert {"bacon", "tuesday/bacon.py", "tuesday/bob.py", "monday/bob/", "monday/ann.py", "monday/ann/"} <= names
    again = entries_of(game, [folder, tmp_path / "tuesday", "bacon"])
    assert {entry.name for entry in again.entries} == names
    write(tmp_path / "wednesday" / "bob.py", BOT.format(9))
    found = entries_of(game, [tmp_path / "wednesday", tmp_path / "tuesday"])
    assert {"tuesday/bob.py", "wednesday/bob.py"} <= {entry.name for entry in found.entries}
    twice = [Submission("x", "a/x.py", tmp_path)] * 3
    assert names_for(twice, {"y"}) == ["a/x.py", "a/x.py (2)", "a/x.py (3)"]


def test_a_folder_without_entries_is_refused(tmp_path: Path, game: Game) -> None:
    write(tmp_path / "notes" / "README.md", "nothing")
    (tmp_path / "empty").mkdir()
    for words in ("notes has no entries of Hog, only README.md: a folder of submissions", "empty is empty: a folder"):
        name = words.partition(" ")[0]
        with pytest.raises(ParameterError, match=words):
            entries_of(game, ["bacon", str(tmp_path / name)])


@pytest.mark.parametrize("name", GAMES)
def test_the_shipped_agents_are_a_folder_of_submissions(name: str, root: Path) -> None:
    game = dicegym.game(name)
    found = read_folder(game, root / "agents" / name).submissions
    models = [path.stem for path in (root / "agents" / name).glob("*.zip")]  # of any parameters
    assert names_for(found, ()) == sorted({*dicegym.agent_names(game), *models})
    assert not any(one.problem for one in found)


PLAIN = BOT.format(6)


NEEDS = "import math\nimport random\nimport numpy\nfour = int(math.sqrt(16) + numpy.zeros(1)[0])\n"
"""Imports that a neighbour called math.py, random.py or numpy.py must not change."""


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("one_by_one", [False, True])
@pytest.mark.parametrize("isolation", ["auto", "none"])
def test_no_submission_is_in_the_way_of_another(tmp_path: Path, game: Game, one_by_one: bool, isolation: str) -> None:
    """Neither one with the name of a module, nor one that another imports and cannot see."""
    names = ("math", "random", "numpy", "dice", "ann")
    for name in names:
        (tmp_path / f"{name}.py").write_text(f"{NEEDS}{PLAIN}")
    (tmp_path / "bea.py").write_text(f"{NEEDS}from dice import six_sided\n{PLAIN}")
    (tmp_path / "bob.py").write_text("from ann import final_strategy\n")
    (tmp_path / "guy.py").write_text(f"try:\n    import ann\nexcept ImportError:\n    pass\n{PLAIN}")
    (tmp_path / "_shared.py").write_text(PLAIN)
    (tmp_path / "cid.py").write_text("from _shared import final_strategy\n")
    (tmp_path / "eva").mkdir()
    (tmp_path / "eva" / "hog.py").write_text("from math import own\nfrom helper import final_strategy\n")
    (tmp_path / "eva" / "math.py").write_text("own = 1\n")
    (tmp_path / "eva" / "helper.py").write_text(PLAIN)
    given = [path for path in sorted(tmp_path.iterdir()) if path.name[0] != "_"] if one_by_one else [tmp_path]
    field = entries_of(game, given)
    assert not field.broken
    assert {one.name for one in field.entries} == {*names, "bea", "bob", "guy", "cid", "eva"}
    assert {one.name: [file for file, _ in one.seal[1:]] for one in field.entries if one.seal[1:]} == {
        "cid": ["_shared.py"],
        "eva": ["helper.py", "math.py"],
    }
    found = contest(game, given, games=1, isolation=isolation)
    assert [bad.name for bad in found.disqualified] == ["bob"]
    assert "(ann beside it is another entry, which no bot sees" in found.disqualified[0].reason
    for name in (*names, "bea", "bob"):  # alone, where a neighbour may be a helper, and none hides a module
        assert arena.check(tmp_path / f"{name}.py", game, debug=True).ok


def test_an_entry_is_called_after_its_folder_where_its_file_is_called_as_all(tmp_path: Path, game: Game) -> None:
    for name in ("ann/final_strategy", "bob/hog_contest", "cid/mine", "dot/best", "dot/next", "eva/own/hog"):
        write(tmp_path / f"{name}.py")
    files = sorted(tmp_path.rglob("*.py"))
    write(tmp_path / "fay" / "strategy.py")
    write(tmp_path / "fay" / "compare.py", "def compare(a, b):\n    pass\n")
    found = entries_of(game, [tmp_path])
    assert {one.name for one in found.entries} == {"ann", "bob", "cid", "eva", "fay"}
    assert [bad.name for bad in found.broken] == ["dot"]
    for given in (files, list(map(str, files))):
        names = {one.name for one in entries_of(game, given).entries}
        assert names == {"ann", "bob", "mine", "best", "next", "own"}
    folders = sorted(path for path in tmp_path.iterdir() if path.name not in ("eva", "fay"))
    assert {one.name for one in entries_of(game, folders).entries} == {"ann", "bob", "mine", "best", "next"}


def test_a_bot_above_submissions_reads_nothing_of_them(tmp_path: Path) -> None:
    """Neither what was submitted beside a bot's file, nor the folder of a bot whose file is a link."""
    for name in ("hog.py", "subs/bob/deep/hog.py", "subs/ann/hog.py", "fred/src/hog.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(BOT.format(4))
    (tmp_path / "fred" / "hog.py").symlink_to("src/hog.py")
    given = [arena.Named("top", tmp_path / "hog.py"), arena.Named("fred", tmp_path / "fred/hog.py"), tmp_path / "subs"]
    entries = entries_of(dicegym.game("hog"), given).entries
    (top,) = [one for one in entries if one.name == "top"]
    assert {"fred", "subs/bob", "subs/ann"} <= {*top.origin.hidden}
