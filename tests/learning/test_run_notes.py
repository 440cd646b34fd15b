"""Logs of trainings, and how folders with any content are read."""

from __future__ import annotations

import json
import math
import os
import platform
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pydantic")
pytest.importorskip("filelock")
pytest.importorskip("stable_baselines3")

import dicegym
from dicegym.cli import main
from dicegym.errors import DamagedFileError, ParameterError
from dicegym.learning import runs
from dicegym.learning.building import enough_memory
from dicegym.learning.card import page
from dicegym.learning.configuration import AboutRun, about_run, read_config, write_about
from dicegym.learning.curves import Curve, Pace, PaceLog, read_evaluations, read_pace
from dicegym.learning.evaluate import Score
from dicegym.learning.league import LeagueTable, Result, read_league
from dicegym.learning.preparation import prepare
from dicegym.learning.run_folder import (
    CURVE_FILE,
    EVALUATIONS_FILE,
    LOCK_FILE,
    PACE_FILE,
    SETTINGS_FILE,
    alone_in,
    is_empty,
)
from dicegym.learning.runs import DAMAGED, FINISHED, INTERRUPTED, RUNNING, find_folders, inspect_run, name_runs, speeds
from dicegym.players.agent_info import describe_agent
from dicegym.players.model_file import find_trained, replace_facts
from dicegym.shipped import shipped_folder

SCORE = Score("win rate", 'say "hi", bot', 0.25, 0.2, 0.3, 400)
MODEL = shipped_folder("agents") / "hog" / "ppo.zip"


def begun(folder: Path, finished: bool = False) -> Path:
    """Return the folder of a started run without evaluations."""
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
    """Log steps that took a second each."""
    for at in steps:
        log.note(float(at), at, at // 10, now=True)


def test_a_pace_log_is_read_back(tmp_path: Path) -> None:
    noted(PaceLog(tmp_path), 0, 100, 200)
    assert [one.steps for one in read_pace(tmp_path)] == [0, 100, 200]
    noted(PaceLog(tmp_path, 150), 180)  # resumed from a checkpoint in between
    assert [one.steps for one in read_pace(tmp_path)] == [0, 100, 180]
    (tmp_path / PACE_FILE).write_text("nonsense\n\x00")
    log = PaceLog(tmp_path, 100)  # writes damaged notes anew
    noted(log, 100)
    for steps in range(1, 50):  # and logs only now and then
        log.note(100 + steps / 100, 100 + steps, steps)
    assert [one.games for one in read_pace(tmp_path)] == [10]


def test_evaluations_are_read_again_with_their_intervals(tmp_path: Path) -> None:
    curve, other = Curve(), SCORE._replace(opponent="b", measure="exact win rate", games=0)
    for steps in (0, 100, 200, 200):  # measured again, it is replaced
        curve.add(steps, SCORE, [SCORE, other])
    curve.write(tmp_path)
    assert [(steps, scores) for steps, _, scores in read_evaluations(tmp_path)] == [
        (steps, (SCORE, other)) for steps in (0, 100, 200)
    ]


def test_speeds_are_means_over_stretches(tmp_path: Path) -> None:
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
    assert (found.state, found.evaluations, found.problem) == (state, [], "")  # a run without logs has no problem
    assert (found.steps, found.of_steps, found.game, found.games_a_second) == (500, 1000, "hog", None)


@pytest.mark.parametrize("file", [SETTINGS_FILE, CURVE_FILE, EVALUATIONS_FILE, PACE_FILE, "best.zip", LOCK_FILE])
@pytest.mark.parametrize(
    "content", [b"", b"\x00\xff" * 40, b"[" * 5000, b"steps,seconds,games\n1,nan", b'{"command": 3', b"steps,score\n1"]
)
def test_a_damaged_file_does_not_hide_the_others(tmp_path: Path, file: str, content: bytes) -> None:
    folder = begun(tmp_path / "run")
    (folder / file).write_bytes(content)
    found = inspect_run(folder, "run")
    assert found.state == (DAMAGED if file == SETTINGS_FILE else INTERRUPTED)
    assert found.name == "run"
    assert found.steps >= 0
    if file in (SETTINGS_FILE, CURVE_FILE, "best.zip"):
        assert found.problem


@pytest.mark.parametrize("fact", [{"players": math.inf}, {"score": SCORE._replace(value=10**400).to_json()}])
def test_huge_numbers_do_not_hide_the_other_files(tmp_path: Path, fact: dict[str, Any]) -> None:
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


@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize(
    ("file", "text"),
    [
        (PACE_FILE, "seconds,steps,games\n0,0,0\n1,{0},5\n2,3,{0}\n"),
        (EVALUATIONS_FILE, "steps,opponent,measure,value,low,high,games\n{0},a,b,0.5,0.4,0.6,7\n"),
    ],
)
def test_numbers_larger_than_floats_are_left_out(file: str, text: str, sign: str, tmp_path: Path) -> None:
    folder = begun(tmp_path / "run")
    (folder / file).write_text(text.format(sign + "9" * 400))
    found = replace(inspect_run(folder, "run"), state=RUNNING)
    assert (found.steps, found.evaluations, found.games_a_second, found.seconds_left) == (500, [], None, None)


def test_seeds_are_found_while_they_are_trained(tmp_path: Path) -> None:
    seeds = [tmp_path / "five" / f"seed-{number}" for number in (1, 2)]
    with alone_in(tmp_path / "five"):
        assert find_folders(tmp_path) == [tmp_path / "five"]  # it prepares them
        for one in seeds:
            begun(one)
        assert find_folders(tmp_path) == seeds
    assert find_folders(tmp_path) == seeds


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
    assert len(find_folders(tmp_path)) == 1


# --- folders and their locks --------------------------------------------------------------------------------------


HOLD = """
import sys, time
from pathlib import Path
from dicegym.learning.run_folder import alone_in
with alone_in(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_another_process_is_refused_until_the_holder_ends_however_it_does(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(folder)], stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        said = rf"another training writes in .*run since \d{{4}}-.* \(process {holder.pid}\): wait until it ends"
        with pytest.raises(ParameterError, match=said), alone_in(folder):
            pass
        for resumed in ([], ["--resume"]):
            with pytest.raises(SystemExit, match="2"):
                main(["train", "hog", "--run-dir", str(folder), *resumed])
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.communicate()
    assert (folder / LOCK_FILE).exists()  # the lock of a killed process does not block
    with alone_in(folder):
        pass
    assert os.listdir(folder) == []


def refused_in_a_thread(folder: Path) -> str:
    """Return the error in another thread that locks a folder."""
    said: list[str] = []

    def hold() -> None:
        try:
            with alone_in(folder):
                pass
        except ParameterError as error:
            said.append(str(error))

    thread = threading.Thread(target=hold)
    thread.start()
    thread.join()
    (found,) = said
    return found


def test_another_thread_is_refused_and_the_holder_may_lock_again(tmp_path: Path) -> None:
    folder = tmp_path / "a/b"
    with alone_in(folder), alone_in(tmp_path / "a/../a/b"):
        assert refused_in_a_thread(folder)
        assert is_empty(folder)
    assert os.listdir(tmp_path) == []  # empty folders are removed
    with alone_in(folder):
        (folder / "z").touch()
        assert not is_empty(folder)
        strange = b'{"process": 1, "machine": "\\u001b[2J", "since": 3}'
        for note in (b"", b"\xff", b"[" * 900, b'{"process": "\x1b"}', strange):  # a note may contain anything
            (folder / LOCK_FILE).write_bytes(note)
            said = refused_in_a_thread(folder)
            assert said.startswith("another training writes in")
            assert "\x1b" not in said


def test_only_a_folder_can_be_locked(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    for path in (tmp_path / "file", tmp_path / "file/below", tmp_path / "loop"):
        with pytest.raises(ParameterError, match="cannot use the folder"), alone_in(path):
            pass


def test_a_run_is_finished_unless_more_is_asked_for(tmp_path: Path) -> None:
    plain = {"run": {"steps": 100}}
    write_about(tmp_path, AboutRun(["dicegym", "train", "hog"], plain, finished=True))
    for overrides, finished in (
        ([], True),
        (["run.steps=50"], True),
        (["run.steps=101"], False),
        (["run.card_games=5"], False),
        (["run.torch_threads=1"], True),
    ):
        assert prepare("hog", tmp_path, None, overrides, resume=True).finished is finished, overrides
    write_about(tmp_path, AboutRun(["dicegym", "train", "hog"], plain, finished=False))
    assert not prepare("hog", tmp_path, None, [], resume=True).finished
    for settings in ('{"run": 3}', '{"run": {"steps": "x"}}', '{"nothing": {}}', "[]", '"x"', "null"):
        (tmp_path / "settings.json").write_text(f'{{"command": "dicegym train hog", "settings": {settings}}}')
        with pytest.raises(ParameterError, match=r"settings\.json"):
            prepare("hog", tmp_path, None, [], resume=True)


DAMAGE: dict[str, Callable[[Path, bytes], object]] = {
    "cut off": lambda path, whole: path.write_bytes(whole[: len(whole) // 2]),
    "empty": lambda path, whole: path.write_bytes(b""),
    "binary": lambda path, whole: path.write_bytes(bytes(range(256))),
    "NUL": lambda path, whole: path.write_bytes(whole + b"\0"),
    "another type": lambda path, whole: path.write_bytes(b"[1, 2]\n"),
    "other names": lambda path, whole: path.write_bytes(b'{"\\u001b[2J": 1}'),
    "deep": lambda path, whole: path.write_bytes(b"[" * 200_000),
    "huge number": lambda path, whole: path.write_bytes(b"9" * 100_000),
    "a folder": lambda path, whole: path.mkdir(),
    "a loop": lambda path, whole: path.symlink_to(path.name),
    "a pipe": lambda path, whole: os.mkfifo(path),
    "absent": lambda path, whole: None,
    "too large": lambda path, whole: _sparse(path),
}


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(100 << 20)


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_files_give_one_class_of_error_with_a_way_out(damage: str, tmp_path: Path) -> None:
    about = json.dumps({"command": "dicegym train hog", "settings": {"run": {"seed": 3}}}).encode()
    league = b"member,kind,joined,share,even,against a,games against a\na,past self,0,1.0,0.5,,\n"
    for name, whole, read in (
        ("settings.json", about, lambda path: about_run(path.parent)),
        ("league.csv", league, read_league),
        ("mine.toml", b"[run]\nsteps = 5\n[algorithm]\nname = 'PPO'\n", lambda path: read_config("hog", path)),
    ):
        path = tmp_path / name
        path.write_bytes(whole)
        read(path)
        path.unlink()
        DAMAGE[damage](path, whole)
        harmless = {("mine.toml", "empty"), ("mine.toml", "cut off")}  # these are settings too, only fewer
        if (name, damage) in harmless:
            continue
        with pytest.raises(ParameterError) as caught:
            read(path)
        if name != "mine.toml":  # where a wrong setting has its own error
            assert isinstance(caught.value, DamagedFileError), (name, damage)
        assert ": " in str(caught.value)
        assert str(caught.value).isprintable(), (name, damage)


def test_names_in_a_league_are_escaped_and_read_back(tmp_path: Path) -> None:
    table = LeagueTable(0.5)
    for name in ("=1+1", "b\x1b[2J", "c"):
        table.add(name, "agent", 0)
    table.record("=1+1", "c", Result(0.75, 8))
    table.write(tmp_path, {"=1+1": 0.5, "c": 0.5})
    written = (tmp_path / "league.csv").read_text()
    assert "\x1b" not in written
    assert not any(line.startswith("=") for line in written.splitlines())
    again, shares = read_league(tmp_path / "league.csv")
    assert list(again.kinds) == ["'=1+1", "b\\x1b[2J", "c"]
    assert again.results["'=1+1", "c"] == Result(0.75, 8)
    assert shares == {"'=1+1": 0.5, "b\\x1b[2J": 0.0, "c": 0.5}


@pytest.mark.parametrize("failure", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory")])
def test_settings_that_need_too_much_memory_are_refused(failure: Exception) -> None:
    with pytest.raises(ParameterError, match=r"cannot be used here, .* give smaller numbers"), enough_memory("games"):
        raise failure
    with pytest.raises(RuntimeError, match="other"), enough_memory("run.games"):
        raise RuntimeError("other")


@pytest.mark.parametrize(
    ("before", "words"),
    [
        ({"timesteps": 5}, "| stage 1 | a model: 5 steps; the next"),  # what `save_model` writes
        ({"command": [1], "timesteps": "x", "seconds": {}, "path": "\x1b[2J"}, "| stage 1 | a model; the next"),
        ({"command": "`|\x1b", "timesteps": 10**400, "seconds": 10**400}, "| stage 1 | `'\\|\\x1b`; the next"),
        ({"command": "dicegym", "timesteps": 5, "seconds": 2.5, "path": "a"}, "`dicegym`: 5 steps, 2 s; the next"),
        (5, "| command"),
    ],
)
def test_cards_describe_any_earlier_stage(before: Any, words: str) -> None:
    score = Score("win rate", "even", 0.5, 0.4, 0.6, 20)
    own = {"command": "dicegym train hog", "timesteps": 5, "seconds": 1, "machine": "", "versions": {}}
    of_game = {"game": "hog", "players": 2, "parameters": {}, "fingerprint": "", "algorithm": "PPO"}
    scores = {"score": score.to_json(), "scores": [score.to_json()]}
    settings = {"settings": {"run": {"seed": 1}}, "began_with": before, **scores}
    shown = page({**own, **of_game, **settings}, "model", [score])
    assert words in shown
    assert "\x1b" not in shown
