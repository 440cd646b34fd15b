"""Trainings that are stopped, killed or finished, and resumed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from variants import FINISHED

pytest.importorskip("sb3_contrib")


from small_runs import ALONE, LEAGUE, SMALL, STEADY, Train, small

from dicegym.cli import main
from dicegym.errors import ParameterError
from dicegym.learning.preparation import prepare
from dicegym.learning.run_folder import newest_checkpoint, replace_checkpoint
from dicegym.players import model_file
from dicegym.signals import SignalInterrupt, status_of

pytestmark = pytest.mark.usefixtures("short_cards")
ONE_ROLLOUT = [*STEADY, "run.steps=256"]


@pytest.mark.parametrize(
    ("game", "overrides"),
    [
        pytest.param(
            game,
            small(game, overrides),
            id=f"{kind}-{game}",
            marks=[] if FINISHED.index(game) == number else [pytest.mark.slow],
        )
        for number, (kind, overrides) in enumerate({"as configured": SMALL, "past selves": ALONE}.items())
        for game in FINISHED
    ],
)
def test_resumed_run_has_the_curve_of_an_uninterrupted_one(
    training: Any, done: Train, game: str, overrides: list[str], tmp_path: Path
) -> None:
    _, whole = done(game, overrides)

    class KilledError(Exception):
        pass

    def kill(done: int, total: int, text: str) -> None:
        if done >= 2100:
            raise KilledError

    with pytest.raises(KilledError):
        training.train(game, tmp_path / "cut", overrides=overrides, progress=kill)
    resumed = training.Run(prepare(game, tmp_path / "cut", None, [], True))
    assert resumed.model.num_timesteps == 2048  # a kill loses at most one checkpoint interval
    training.train(game, tmp_path / "cut", resume=True)
    assert (tmp_path / "cut/curve.csv").read_text() == (whole / "curve.csv").read_text()
    cards = [(folder / "model.md").read_text().splitlines() for folder in (tmp_path / "cut", whole)]
    assert [line for line in cards[0] if "| command" in line] == [line for line in cards[1] if "| command" in line]


def test_a_checkpoint_on_a_full_disk_is_an_os_error(training: Any, tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, before[1]))  # for a model, not for its optimizer
    try:
        with pytest.raises(OSError, match="File too large"):
            training.train("hog", tmp_path / "run", overrides=small("hog"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not (tmp_path / "run" / "checkpoint").exists()


def test_run_killed_before_its_first_checkpoint_resumes_from_the_beginning(training: Any, tmp_path: Path) -> None:
    def kill(done: int, total: int, text: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        training.train("hog", tmp_path / "run", overrides=small("hog"), progress=kill)
    assert not (tmp_path / "run" / "checkpoint").exists()
    assert training.train("hog", tmp_path / "run", resume=True).model.num_timesteps == 3072


@pytest.mark.slow
def test_resuming_with_a_bot_with_memory_and_snapshots(training: Any, tmp_path: Path) -> None:
    overrides = [*SMALL, "self_play.snapshot_every=512", 'opponents={"self"=1,"streak"=1}']
    training.train("hog", tmp_path / "run", overrides=overrides)
    run = training.train("hog", tmp_path / "run", overrides=["run.steps=4096"], resume=True)
    assert run.model.num_timesteps == 4096
    assert json.loads((tmp_path / "run/settings.json").read_text())["settings"]["run"]["steps"] == 4096
    assert "--set run.steps=4096" in model_file.facts(tmp_path / "run/model.zip")["command"]


@pytest.mark.slow
def test_run_killed_with_sigkill_resumes(training: Any, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "dicegym", "train", "hog", "--run-dir", str(tmp_path / "run")]
    settings = [word for text in [*SMALL, "run.steps=10_000_000"] for word in ("--set", text)]
    process = subprocess.Popen([*command, *settings], stderr=subprocess.DEVNULL)
    checkpoint = tmp_path / "run" / "checkpoint" / "state.pt"
    deadline = time.monotonic() + 120
    while not checkpoint.exists():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    resumed = training.train("hog", tmp_path / "run", overrides=["run.steps=4096"], resume=True)
    assert resumed.model.num_timesteps >= 1024


@pytest.mark.slow
def test_ctrl_c_saves_and_resuming_is_exact(training: Any, tmp_path: Path) -> None:
    """In a separate process, at any moment."""
    command = [sys.executable, "-m", "dicegym", "train", "hog", "--run-dir", str(tmp_path / "cut")]
    settings = [word for text in [*STEADY, "run.steps=10_000_000"] for word in ("--set", text)]
    process = subprocess.Popen([*command, *settings], stderr=subprocess.PIPE, text=True)
    curve = tmp_path / "cut/curve.csv"
    deadline = time.monotonic() + 120
    while not curve.exists() or len(curve.read_text().splitlines()) < 3:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    told = process.communicate(timeout=60)[1]
    steps = model_file.facts(tmp_path / "cut/model.zip")["timesteps"]
    assert process.returncode == 130
    assert f"dicegym: interrupted, {steps:,} steps are saved" in told
    assert "Traceback" not in told
    assert model_file.facts(tmp_path / "cut/checkpoint/model.zip")["timesteps"] == steps
    end = f"run.steps={steps + 1024}"
    training.train("hog", tmp_path / "cut", overrides=[end], resume=True)
    training.train("hog", tmp_path / "whole", overrides=[*STEADY, end])
    assert (tmp_path / "cut/curve.csv").read_text() == (tmp_path / "whole/curve.csv").read_text()


def test_an_interrupted_league_continues_exactly(training: Any, done: Train, tmp_path: Path) -> None:
    _, whole = done("hog", LEAGUE)

    def interrupt(done: int, total: int, text: str) -> None:
        if done == 2048 + 16 * 5 and "saving" not in text:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt, match="2,048 steps are saved in "):
        training.train("hog", tmp_path / "cut", overrides=LEAGUE, progress=interrupt)
    assert model_file.facts(tmp_path / "cut/model.zip")["timesteps"] == 2048
    run = training.train("hog", tmp_path / "cut", resume=True)
    for name in ("curve.csv", "league.csv"):
        assert (tmp_path / "cut" / name).read_text() == (whole / name).read_text()
    assert (len(run.learner.league.scripted), len(run.learner.league.past_selves)) == (1, 2)


def test_the_second_ctrl_c_leaves_at_once(training: Any, tmp_path: Path) -> None:
    def interrupt(done: int, total: int, text: str) -> None:
        if done >= 1040:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        training.train("hog", tmp_path / "run", overrides=STEADY, progress=interrupt)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert not (tmp_path / "run/model.zip").exists()
    assert training.train("hog", tmp_path / "run", resume=True).model.num_timesteps == 3072


@pytest.mark.parametrize("change", ["run.games=32", 'opponents={"bacon"=1}', "algorithm.learning_rate=5.0"])
def test_resuming_refuses_what_it_cannot_change(training: Any, done: Train, change: str) -> None:
    _, folder = done("hog", small("hog"))
    before = (folder / "settings.json").read_text()
    with pytest.raises(ParameterError, match="cannot change what a run began with"):
        training.train("hog", folder, overrides=[change], resume=True)
    assert (folder / "settings.json").read_text() == before


def test_interrupted_while_measured_at_the_end_a_run_loses_nothing(
    training: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure, calls = training.Run.evaluate, []

    def evaluate(run: Any, logger: Any) -> None:
        calls.append(run.model.num_timesteps)
        if run.model.num_timesteps >= 3072:
            raise KeyboardInterrupt
        measure(run, logger)

    with monkeypatch.context() as patch:  # undone before the others, which resuming needs
        patch.setattr(training.Run, "evaluate", evaluate)
        with pytest.raises(KeyboardInterrupt):
            training.train("hog", tmp_path / "run", overrides=[*small("hog"), "run.checkpoint_every=1000000"])
    again = training.train("hog", tmp_path / "run", resume=True)
    assert again.first == again.model.num_timesteps == 3072


def test_a_finished_run_is_left_as_it_is_unless_more_is_asked_for(
    training: Any, done: Train, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    first, trained = done("hog", STEADY)
    shutil.copytree(trained, folder)
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file() and path.name != "settings.json"}
    again = training.train("hog", folder, resume=True)
    assert again.finished
    assert not first.finished
    assert again.model.num_timesteps == first.model.num_timesteps == 3072
    assert again.score == first.score
    assert {path: path.read_bytes() for path in before} == before
    with pytest.raises(SystemExit, match="0"):
        main(["train", "hog", "--run-dir", str(folder), "--resume"])
    said = f"{folder} is finished after 3,072 steps, so nothing was done; give more --steps to train on"
    assert said in capsys.readouterr().out
    more = training.train("hog", folder, resume=True, overrides=["run.steps=4096"])
    assert (more.first, more.model.num_timesteps, more.finished) == (3072, 4096, False)


def test_sigterm_saves_as_ctrl_c_does(training: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluate = training.Run.evaluate

    def asked_to_end(run: Any, logger: Any, **given: Any) -> None:
        evaluate(run, logger, **given)
        if run.model.num_timesteps == 1024:
            signal.raise_signal(signal.SIGTERM)

    match = r"steps are saved in .*: `dicegym train hog --run-dir .* --resume` continues"
    with monkeypatch.context() as patch:
        patch.setattr(training.Run, "evaluate", asked_to_end)
        with pytest.raises(SignalInterrupt, match=match) as caught:
            training.train("hog", tmp_path / "run", overrides=STEADY)
    assert status_of(caught.value) == 143
    assert not (tmp_path / "run/run.lock").exists()
    assert model_file.facts(tmp_path / "run/checkpoint/model.zip")["timesteps"] == 1024


# --- signals and kills at the worst moments -----------------------------------------------------------------------


def test_a_signal_during_the_last_update_ends_the_training_before_it_is_measured(
    training: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = training.Run(prepare("hog", tmp_path / "run", None, [*ONE_ROLLOUT, "run.steps=200"], False))
    update, told = type(run.model).train, list[str]()

    def interrupted(model: Any) -> None:
        signal.raise_signal(signal.SIGTERM)
        update(model)

    run.progress = lambda done, total, text: told.append(f"{done} of {total}")
    with monkeypatch.context() as patch:
        patch.setattr(type(run.model), "train", interrupted)
        with pytest.raises(SignalInterrupt, match="256 steps are saved"):
            run.learn()
    assert [one.steps for one in run.state.curve.evaluations] == [0]
    assert told[-1] == "256 of 256"
    again = training.train("hog", tmp_path / "run", resume=True)
    assert (again.first, again.state.curve.evaluations[-1].steps) == (256, 256)


def test_a_signal_before_the_first_step_ends_the_training_at_once(
    training: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    after: list[str] = []

    def measure(run: Any, logger: Any) -> None:
        signal.raise_signal(signal.SIGTERM)
        after.append("went on")

    monkeypatch.setattr(training.Run, "evaluate", measure)
    with pytest.raises(SignalInterrupt, match="--resume"):
        training.train("hog", tmp_path / "run", overrides=ONE_ROLLOUT)
    assert not after


def test_a_kill_while_a_checkpoint_is_replaced_leaves_a_whole_one(tmp_path: Path) -> None:
    """Also after a second kill, when only the old one is left."""

    def fill(folder: Path) -> None:
        assert folder == tmp_path / "checkpoint.part"
        (folder / "state.pt").write_text("new")

    replace_checkpoint(tmp_path, fill)
    (tmp_path / "checkpoint").rename(tmp_path / "checkpoint.old")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.replace", lambda source, target: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            replace_checkpoint(tmp_path, fill)
    assert newest_checkpoint(tmp_path) == tmp_path / "checkpoint.old"
    replace_checkpoint(tmp_path, fill)
    assert [one.name for one in tmp_path.iterdir()] == ["checkpoint"]


def test_a_finished_run_without_its_checkpoint_does_not_start_over(training: Any, done: Train, tmp_path: Path) -> None:
    _, trained = done("hog", STEADY)
    folder = tmp_path / "run"
    shutil.copytree(trained, folder, ignore=shutil.ignore_patterns("checkpoint*"))
    for more in ([], ["run.steps=1_000_000"]):
        with pytest.raises(ParameterError, match="without its checkpoint"):
            training.train("hog", folder, overrides=more, resume=True)
    assert model_file.facts(folder / "model.zip")["timesteps"] == 3072


def test_new_intervals_of_a_resumed_run_count_from_its_start(training: Any, tmp_path: Path) -> None:
    rarely = ["run.checkpoint_every=1_000_000", "run.evaluate_every=1_000_000", "run.card_games=0"]
    training.train("hog", tmp_path / "run", overrides=[*ONE_ROLLOUT, *rarely])
    often = ["run.steps=1_000_000", "run.checkpoint_every=64", "run.evaluate_every=16"]
    run = training.Run(prepare("hog", tmp_path / "run", None, often, True))
    assert (run.first, run.state.next_checkpoint, run.state.next_evaluation) == (256, 320, 272)
