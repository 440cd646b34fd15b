"""Run folders: one training at a time writes there, and what is damaged in one is told in words."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pydantic")
pytest.importorskip("filelock")
pytest.importorskip("stable_baselines3")

from dicegym.cli import main
from dicegym.errors import DamagedFileError, ParameterError
from dicegym.learning.building import enough_memory
from dicegym.learning.card import page
from dicegym.learning.configuration import AboutRun, about_run, read_config, write_about
from dicegym.learning.evaluate import Score
from dicegym.learning.league import LeagueTable, Result, read_league
from dicegym.learning.preparation import prepare
from dicegym.learning.run_folder import LOCK_FILE, alone_in, is_empty

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
    assert (folder / LOCK_FILE).exists()  # what a killed one leaves is no obstacle
    with alone_in(folder):
        pass
    assert os.listdir(folder) == []


def refused_in_a_thread(folder: Path) -> str:
    """Return what another thread is told that wants to hold a folder."""
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


def test_another_thread_is_refused_and_whoever_holds_may_call_what_holds(tmp_path: Path) -> None:
    folder = tmp_path / "a/b"
    with alone_in(folder), alone_in(tmp_path / "a/../a/b"):
        assert refused_in_a_thread(folder)
        assert is_empty(folder)
    assert os.listdir(tmp_path) == []  # nothing was put there, so nothing stays
    with alone_in(folder):
        (folder / "z").touch()
        assert not is_empty(folder)
        strange = b'{"process": 1, "machine": "\\u001b[2J", "since": 3}'
        for note in (b"", b"\xff", b"[" * 900, b'{"process": "\x1b"}', strange):  # what holds a lock may say anything
            (folder / LOCK_FILE).write_bytes(note)
            said = refused_in_a_thread(folder)
            assert said.startswith("another training writes in")
            assert "\x1b" not in said


def test_what_is_no_folder_cannot_be_held(tmp_path: Path) -> None:
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
        if name != "mine.toml":  # where a wrong setting has an error that says what to give
            assert isinstance(caught.value, DamagedFileError), (name, damage)
        assert ": " in str(caught.value)
        assert str(caught.value).isprintable(), (name, damage)


def test_names_in_a_league_are_no_formulas_and_come_back(tmp_path: Path) -> None:
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
def test_settings_that_there_is_no_memory_for_are_refused(failure: Exception) -> None:
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
def test_cards_tell_of_whatever_a_model_was_that_a_training_began_with(before: Any, words: str) -> None:
    score = Score("win rate", "even", 0.5, 0.4, 0.6, 20)
    own = {"command": "dicegym train hog", "timesteps": 5, "seconds": 1, "machine": "", "versions": {}}
    of_game = {"game": "hog", "players": 2, "parameters": {}, "fingerprint": "", "algorithm": "PPO"}
    scores = {"score": score.to_json(), "scores": [score.to_json()]}
    settings = {"settings": {"run": {"seed": 1}}, "began_with": before, **scores}
    shown = page({**own, **of_game, **settings}, "model", [score])
    assert words in shown
    assert "\x1b" not in shown
