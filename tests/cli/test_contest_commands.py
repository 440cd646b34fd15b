"""Commands that compare players: tournaments, exact win rates, comparisons."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Run

from dicegym.arena.running import FORMATS


def test_tournament_prints_the_report_and_writes_json(run: Run, tmp_path: Path) -> None:
    target, text = tmp_path / "result.json", tmp_path / "result.md"
    command = ("tournament", "hog", "always_roll", "bacon", "swap", "-o", target, "--workers", "1")
    status, out, _ = run(*command, "--games", "120", "--limit", "seconds=20", "-o", text)
    assert status == 0
    assert "Win rate against `always_roll(5)`" in out
    assert "Games in which the row was ahead of the column" in out
    assert text.read_text().startswith(f"# {out.splitlines()[0]}\n\n## Rankings\n\n| Ranking |")
    found = json.loads(target.read_text())
    assert (found["version"], found["games_per_match"], found["limits"]["seconds"]) == (1, 120, 20)
    assert [sum(match["wins"]) for match in found["matches"]] == [120] * 3
    status, out, _ = run(*command, "--exact", "--games", "0")
    assert status == 0
    assert out.startswith("Hog: 3 entries, round robin, no games, ranked by exact win rates")
    assert [row["name"] for row in json.loads(target.read_text())["standings"]] == ["swap", "always_roll", "bacon"]


@pytest.mark.parametrize("able", [["bacon"], []])
def test_a_tournament_without_two_who_can_play_has_failed(run: Run, able: list[str], tmp_path: Path) -> None:
    """Its report says who cannot and why, and a script is told by the status."""
    broken, target = [tmp_path / f"{name}.py" for name in ("one", "two")], tmp_path / "result.json"
    for path in broken:
        path.write_text("def final_strategy(score):\n    return 1\n")
    status, out, err = run("tournament", "hog", *able, *broken, "-o", target, "--workers", "1", "--store", "none")
    assert (status, "disqualified" in out, "fewer than two entries can play" in err) == (1, True, True)
    found = json.loads(target.read_text())
    assert [row["name"] for row in found["standings"]] == able
    assert {row["name"] for row in found["disqualified"]} == {"one", "two"}


def test_a_tournament_of_another_format_with_names_of_ones_own(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "odd=name.py").write_text("def final_strategy(score, opponent_score):\n    return 4\n")
    monkeypatch.chdir(tmp_path)
    entries = "bacon eight=always_roll(8) odd=name.py four=./odd=name.py"
    how = "--format swiss --rounds 2 --seeds 2 --games 1 --workers 1 --store none -o a.json"
    status, out, _ = run("tournament", "hog", *entries.split(), *how.split())
    assert status == 0
    assert out.startswith("Hog: 4 entries, swiss, 2 rounds of matches of 1 game, seed ")
    found = json.loads((tmp_path / "a.json").read_text())
    assert {row["name"] for row in found["standings"]} == {"bacon", "eight", "odd=name", "four"}
    assert (found["format"], found["options"]["seeds"], len(found["matches"])) == ("swiss", 2, 8)


def test_the_help_of_tournaments_lists_all_formats(run: Run) -> None:
    _, out, _ = run("tournament", "--help")
    assert f"--format {'|'.join(form.title for form in FORMATS.values())}" in " ".join(out.split())


def test_exact_values_are_written_with_all_digits(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "value.json"
    status, out, _ = run("evaluate", "bacon", "--game", "hog", "--against", "swap", "-o", file)
    assert status == 0
    assert out.startswith("0.3382 exact win rate against swap")
    (found,) = json.loads(file.read_text())
    assert found["value"] == pytest.approx(0.33815334555401344, abs=1e-13)
    assert found["fingerprint"] == "207688ba5d2c1c26"
    quick = ["-p", "goal=20", "--seconds", "1"]
    status, out, _ = run("values", "exploitability", "hog", "always_roll(5)", *quick, "-o", file)
    assert status == 0
    found = json.loads(file.read_text())["exploitability"]["always_roll(5)"]
    assert 0.5 < found["low"] <= found["high"] < 1


def test_compare_says_who_is_better(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    how = ["--seed", "1", "--workers", "1", "--store", str(tmp_path / "arena.sqlite")]
    status, out, _ = run("compare", "hog", "always_roll(5)", "swap", *how, "-o", str(file))
    assert status == 0
    assert "swap is better than always_roll(5)" in out
    found = json.loads(file.read_text("utf-8"))
    assert (found["decision"], found["second"], found["claims"]["alpha"]) == ("better", "swap", 0.05)
    status, again, told = run("compare", "hog", "always_roll(5)", "swap", *how)
    assert (status, again) == (0, out)
    assert ": 0 checks and matches done now, " in told
