"""`dicegym values solve` with a solution that counts."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from command_line import run_with
from solutions_toy import Counting, Toy, play_with


@pytest.fixture(autouse=True)
def counting(monkeypatch: pytest.MonkeyPatch) -> type[Counting]:
    """Return the one solution that Hog has in these tests."""
    kind = type("Counting", (Counting,), {})
    play_with(monkeypatch, Toy(kind))
    return kind


def test_it_says_what_it_takes_solves_and_tells(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    status, out, err = run_with(capsys, "values", "solve", "hog", "-p", "goal=20", "--to", "0.1", "-o", str(file))
    assert status == 0
    assert re.search(r"counting of dicegym.game\('hog'.*it takes 1\.0 kB of memory", err)
    assert "what is left 0.1\nkept in " in out
    found = json.loads(file.read_text())
    assert (found["quality"], found["goal"], found["done"], found["game"]) == (0.1, 0.01, False, "hog")

    status, out, err = run_with(capsys, "values", "solve", "hog", "-p", "goal=20", "--to", "0.1")
    assert (status, err) == (0, "dicegym: solved already, nothing is computed; for a better one give --to\n")
    assert "what is left 0.1\nkept in " in out

    status, out, _ = run_with(capsys, "values", "solve", "-o", str(file))
    assert status == 0
    assert out.count("dicegym values solve hog counting -p goal=") == 2
    assert "    what is left 0.1\n" in out
    assert "    not solved yet\n" in out
    assert [one["quality"] for one in json.loads(file.read_text())] == [0.1, None]


def test_an_end_says_how_to_go_on(capsys: pytest.CaptureFixture[str], counting: type[Counting]) -> None:
    counting.stop_at = 3
    status, out, err = run_with(capsys, "values", "solve", "hog", "counting", "-p", "goal=20")
    assert (status, out) == (130, "")
    assert "the best tables so far are kept: solve again by `dicegym values solve hog counting -p goal=20`" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--minutes", "3"], "no game is named"),
        (["yatzy"], "ask for hog"),
        (["hog"], "give it goal=20, or goal=30"),
        (["hog", "nothing", "-p", "goal=20"], "counting"),
        (["hog", "-p", "goal=20", "--to", "-1"], "'--to'"),
        (["hog", "-p", "goal=20", "-o", "/nowhere/at/all.json"], "no folder"),
    ],
)
def test_what_cannot_be_asked(capsys: pytest.CaptureFixture[str], words: list[str], said: str) -> None:
    status, out, err = run_with(capsys, "values", "solve", *words)
    assert (status, out) == (2, "")
    assert said in err
