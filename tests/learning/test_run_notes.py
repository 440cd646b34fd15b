"""What trainings note for those who watch them, and how their folders are read while anything may stand in them."""

from __future__ import annotations

import json
import math
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import dicegym
from dicegym.learning import runs
from dicegym.learning.configuration import AboutRun, write_about
from dicegym.learning.curves import Curve, Pace, PaceLog, read_evaluations, read_pace
from dicegym.learning.evaluate import Score
from dicegym.learning.run_folder import CURVE_FILE, EVALUATIONS_FILE, LOCK_FILE, PACE_FILE, SETTINGS_FILE
from dicegym.learning.runs import DAMAGED, FINISHED, INTERRUPTED, RUNNING, inspect_run, name_runs, speeds
from dicegym.players.agent_info import describe_agent
from dicegym.players.model_file import find_trained, replace_facts
from dicegym.shipped import shipped_folder

SCORE = Score("win rate", 'say "hi", bot', 0.25, 0.2, 0.3, 400)
MODEL = shipped_folder("agents") / "hog" / "ppo.zip"


def begun(folder: Path, finished: bool = False) -> Path:
    """Return the folder of a run that has begun, with nothing measured."""
    folder.mkdir(parents=True)
    write_about(folder, AboutRun(["dicegym", "train", "hog"], {"run": {"steps": 1000, "seed": 1}}, finished))
    (folder / CURVE_FILE).write_text("steps,score\n0,0.1\n500,0.25\n")
    shutil.copy(MODEL, folder / "best.zip")
    return folder


def hold(folder: Path, process: int, machine: str = platform.node()) -> None:
    (folder / LOCK_FILE).write_text(json.dumps({"process": process, "machine": machine, "since": "today"}))


def ended() -> int:
    """Return the number of a process that is gone."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


def noted(log: PaceLog, *steps: int) -> None:
    """Note steps, of which each took a second."""
    for at in steps:
        log.note(float(at), at, at // 10, now=True)


def test_what_was_noted_is_read_again(tmp_path: Path) -> None:
    noted(PaceLog(tmp_path), 0, 100, 200)
    assert [one.steps for one in read_pace(tmp_path)] == [0, 100, 200]
    noted(PaceLog(tmp_path, 150), 180)  # resumed from a checkpoint in between
    assert [one.steps for one in read_pace(tmp_path)] == [0, 100, 180]
    (tmp_path / PACE_FILE).write_text("nonsense\n\x00")
    log = PaceLog(tmp_path, 100)  # writes damaged notes anew
    noted(log, 100)
    for steps in range(1, 50):  # and notes now and then alone
        log.note(100 + steps / 100, 100 + steps, steps)
    assert [one.games for one in read_pace(tmp_path)] == [10]


def test_evaluations_are_read_again_with_their_intervals(tmp_path: Path) -> None:
    curve, other = Curve(), SCORE._replace(opponent="b", measure="exact win rate", games=0)
    for steps in (0, 100, 200, 200):  # measured anew, it gives way
        curve.add(steps, SCORE, [SCORE, other])
    curve.write(tmp_path)
    assert [(steps, scores) for steps, _, scores in read_evaluations(tmp_path)] == [
        (steps, (SCORE, other)) for steps in (0, 100, 200)
    ]


def test_speed_is_told_of_stretches(tmp_path: Path) -> None:
    pace = [Pace(float(second), 100 * second, 10 * second) for second in range(11)]
    assert [(one.seconds, one.games, one.steps) for one in speeds(pace, 5)] == [(2.5, 10, 100), (7.5, 10, 100)]
    assert speeds(pace[:1]) == []


@pytest.mark.parametrize(
    ("finished", "holder", "state"),
    [
        (True, None, FINISHED),
        (False, None, INTERRUPTED),
        (False, "me", RUNNING),
        (False, "gone", INTERRUPTED),
        (False, "elsewhere", RUNNING),
        (False, "elsewhere, silent", INTERRUPTED),
    ],
)
def test_the_state_of_a_run(tmp_path: Path, finished: bool, holder: str | None, state: str) -> None:
    folder = begun(tmp_path / "run", finished)
    if holder == "me":
        hold(folder, os.getpid())
    elif holder == "gone":
        hold(folder, ended())
    elif holder:
        hold(folder, 1, "another machine")
        for file in folder.iterdir() if "silent" in holder else ():
            os.utime(file, (0, 0))
    found = inspect_run(folder, "run")
    assert (found.state, found.evaluations, found.problem) == (state, [], "")  # nothing was noted, and that is no harm
    assert (found.steps, found.of_steps, found.game, found.games_a_second) == (500, 1000, "hog", None)


@pytest.mark.parametrize("file", [SETTINGS_FILE, CURVE_FILE, EVALUATIONS_FILE, PACE_FILE, "best.zip", LOCK_FILE])
@pytest.mark.parametrize(
    "content", [b"", b"\x00\xff" * 40, b"[" * 5000, b"steps,seconds,games\n1,nan", b'{"command": 3', b"steps,score\n1"]
)
def test_damaged_files_cost_nobody_the_rest(tmp_path: Path, file: str, content: bytes) -> None:
    folder = begun(tmp_path / "run")
    (folder / file).write_bytes(content)
    found = inspect_run(folder, "run")
    assert found.state == (DAMAGED if file == SETTINGS_FILE else INTERRUPTED)
    assert found.name == "run"
    assert found.steps >= 0
    if file not in (SETTINGS_FILE, LOCK_FILE, EVALUATIONS_FILE, PACE_FILE) or b"nan" in content:
        assert found.problem or not found.evaluations or file in (LOCK_FILE, EVALUATIONS_FILE, PACE_FILE)


@pytest.mark.parametrize("fact", [{"players": math.inf}, {"score": SCORE._replace(value=10**400).to_json()}])
def test_numbers_beyond_all_bounds_cost_nobody_the_rest(tmp_path: Path, fact: dict[str, Any]) -> None:
    folder, huge = begun(tmp_path / "run"), 10**400
    replace_facts(folder / "best.zip", fact)
    write_about(folder, AboutRun(["dicegym", "train", "hog"], {"run": {"steps": huge}}, False))
    (folder / PACE_FILE).write_text(f"seconds,steps,games\n1,1,1\n2,5,5\n3,{huge},{huge}\n")
    (folder / LOCK_FILE).write_text('{"process": 1e999, "machine": "x", "since": "y"}')
    assert inspect_run(folder, "run").state == INTERRUPTED
    hold(folder, os.getpid())
    found = inspect_run(folder, "run")
    assert (found.state, found.seconds_left, found.games_a_second) == (RUNNING, 0, 4)
    assert "is not a score" in found.problem or "does not hold" in found.problem
    assert find_trained(folder) == folder / "best.zip"
    assert describe_agent(dicegym.game("hog"), str(folder / "best.zip"))


def test_runs_are_found_at_any_depth_and_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a/runs/hog", "a/runs/deep/er/seed-1", "b/runs/hog"):
        begun(tmp_path / name)
    (tmp_path / "a/runs/other").mkdir()
    (tmp_path / "a/runs/other" / SETTINGS_FILE).write_text("{}")  # of something else
    found = name_runs([tmp_path / "a/runs", tmp_path / "b/runs", tmp_path / "a/runs", tmp_path / "nowhere"])
    assert found == {
        "runs/deep/er/seed-1": tmp_path / "a/runs/deep/er/seed-1",
        "runs/hog": tmp_path / "a/runs/hog",
        "runs-2/hog": tmp_path / "b/runs/hog",
    }
    monkeypatch.setattr(runs, "MOST_RUNS", 1)
    assert len(runs.find_folders(tmp_path)) == 1
