"""Each game, written out, is the game that was reviewed: see `dicegym.checks.playthrough`."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

import pytest
from command_line import Run
from variants import each_game

from dicegym.checks import playthrough
from dicegym.registry import GAMES

FOLDER = Path(__file__).parents[1] / "playthroughs"
REMEDY = "if that is meant: dicegym games GAME --playthrough > tests/playthroughs/GAME.txt, and review the difference"


@each_game
def test_nothing_has_changed(name: str) -> None:
    golden = (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    now = playthrough.playthrough(name).splitlines()
    difference = list(difflib.unified_diff(golden, now, "golden", "now", lineterm="", n=1))
    assert not difference, "\n".join([*difference[:60], REMEDY])


@each_game
def test_it_shows_a_whole_game_and_a_slip(name: str) -> None:
    """A record that breaks off early, or in which nothing goes wrong, would review little."""
    assert {path.stem for path in FOLDER.glob("*")} == {*GAMES}, REMEDY
    text = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    found = re.findall(r"^  ([0-9a-f]{16})  dicegym\.game", text, flags=re.MULTILINE)
    assert len({*found}) == len(found) >= 1, "every setting has a fingerprint of its own"
    _, first, second = re.split(r"^=== ", text, flags=re.MULTILINE)
    assert "--- the end" in first
    assert "-> fault" not in first
    assert len(re.findall(r"-> fault \d+: \S", second)) == 1
    for part in (first, second):
        assert part.count("\nlegal ") == part.count("\nobservation ") == part.count("\naction ") >= 3


@pytest.mark.parametrize(
    ("words", "both"),
    [
        (["yatzy", "-p", "players=1"], "dicegym.game('yatzy', players=1)"),
        (["lucky", "-p", "players=2"], "players=2"),
        (["lucky", "-p", "rounds=3"], "rounds=3"),
        ([GAMES[0]], ""),
    ],
)
def test_the_command_takes_parameters(words: list[str], both: str, run: Run) -> None:
    status, out, _ = run("games", *words, "--playthrough")
    assert status == 0
    tables = [line for line in out.splitlines() if line.startswith("===")]
    assert [both in line for line in tables] == [True, True], tables
    assert both or out == playthrough.playthrough(GAMES[0])
