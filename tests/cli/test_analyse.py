"""The commands that say what decisions cost."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from command_line import run_with

import dicegym
from dicegym.arena.match import play_match
from dicegym.arena.replay import replay_of, save
from dicegym.play.player import FunctionPlayer


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A game of Hog, in a file."""
    game = dicegym.game("hog", goal=30)
    players = [FunctionPlayer(lambda turn: 11, "ten"), FunctionPlayer(lambda turn: 6, "five")]
    save(replay_of(game, ["ten", "five"], 3, play_match(game, players, 3, 1)), tmp_path / "game.json")
    return tmp_path / "game.json"


def test_a_game_is_analysed_in_every_form(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sheet, plain = tmp_path / "a.csv", tmp_path / "a.json"
    files = ["-o", str(sheet), "-o", str(plain)]
    status, out, err = run_with(capsys, "values", "analyse", str(file), *files)
    assert (status, err) == (0, "")
    assert out.startswith("Hog: ")
    assert "regret" in out
    assert "Marks: ?! a doubtful choice from 2.0% on" in out
    values = json.loads(plain.read_text("utf-8"))
    rows = list(csv.DictReader(sheet.read_text("utf-8").splitlines()))
    assert len(rows) == len(values["decisions"])
    assert [float(row["cost"]) for row in rows] == [row["cost"] for row in values["decisions"]]
    for total in values["totals"]:
        came = total["start"] - total["cost"] + total["gained"] + total["luck"]
        assert came == pytest.approx(total["result"], abs=1e-9)
    status, short, _ = run_with(capsys, "values", "analyse", str(file), "--worst", "1", "--values", "exact")
    assert status == 0
    assert "Move " in short
    assert len(short) < len(out)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["FILE", "--values", "guesses"], "there is no source of values 'guesses'"),
        (["FILE", "-o", "x.gif"], "must end in .json or .csv"),
        (["nothing.json"], "cannot be read"),
        ([], "Missing argument 'ID'"),
    ],
)
def test_what_cannot_be_analysed(
    arguments: list[str], words: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = run_with(
        capsys, "values", "analyse", *(str(file) if one == "FILE" else one for one in arguments)
    )
    assert (status, out) == (2, "")
    assert words in err


def test_agents_are_graded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain = tmp_path / "grades.json"
    words = ["values", "grade", "hog", "bacon", "best_by_scores", "--games", "20", "-p", "goal=30", "-o", str(plain)]
    status, out, err = run_with(capsys, *words)
    assert (status, err) == (0, "")
    assert "20 games each, against always_roll(5)" in out
    lines = out.splitlines()
    assert [line.split()[0] for line in lines[2:5]] == ["agent", "best_by_scores", "bacon"]
    values = json.loads(plain.read_text("utf-8"))
    assert values["grades"][0]["name"] == "bacon"
    assert values["grades"][0]["error_rate"]["mean"] > values["grades"][1]["error_rate"]["mean"]
    assert run_with(capsys, "values", "grade", "hog", "nobody")[0] == 2


def test_a_replay_tells_what_mistakes_cost(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "game.html"
    status, plain, _ = run_with(capsys, "arena", "replay", str(file))
    assert status == 0
    assert " loses " not in plain
    status, out, err = run_with(capsys, "arena", "replay", str(file), "--analyse")
    assert (status, err) == (0, "")
    told = [line for line in out.splitlines() if "?? loses" in line]
    assert told
    assert all("better: " in line for line in told)
    status, own, _ = run_with(capsys, "arena", "replay", str(file), "--analyse", "--seat", "0")
    first = plain.splitlines()[0].split(": ")[1].split(", ")[0]
    assert all(line.startswith(f"{first}: ") for line in own.splitlines() if " loses " in line)
    assert run_with(capsys, "arena", "replay", str(file), "--analyse", "-o", str(page))[0] == 0
    assert "?? loses" in page.read_text("utf-8")
