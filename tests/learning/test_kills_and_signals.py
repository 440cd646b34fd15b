"""Trainings that a signal or a kill meets at its worst moment, and what is resumed then."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sb3_contrib")

from small_runs import STEADY, Train

from dicegym.errors import ParameterError
from dicegym.learning.preparation import prepare
from dicegym.learning.run_folder import newest_checkpoint, replace_checkpoint
from dicegym.players import model_file
from dicegym.signals import SignalInterrupt

pytestmark = pytest.mark.usefixtures("short_cards")
ONE_ROLLOUT = [*STEADY, "run.steps=256"]


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


def test_a_kill_while_a_checkpoint_takes_the_place_of_one_leaves_one_always(tmp_path: Path) -> None:
    """Also the second kill in a row: then the old one lies where it was put aside."""

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


def test_a_finished_run_without_its_checkpoint_does_not_begin_anew(training: Any, done: Train, tmp_path: Path) -> None:
    _, trained = done("hog", STEADY)
    folder = tmp_path / "run"
    shutil.copytree(trained, folder, ignore=shutil.ignore_patterns("checkpoint*"))
    for more in ([], ["run.steps=1_000_000"]):
        with pytest.raises(ParameterError, match="without its checkpoint"):
            training.train("hog", folder, overrides=more, resume=True)
    assert model_file.facts(folder / "model.zip")["timesteps"] == 3072


def test_intervals_that_a_resumed_run_is_given_count_from_there_on(training: Any, tmp_path: Path) -> None:
    rarely = ["run.checkpoint_every=1_000_000", "run.evaluate_every=1_000_000", "run.card_games=0"]
    training.train("hog", tmp_path / "run", overrides=[*ONE_ROLLOUT, *rarely])
    often = ["run.steps=1_000_000", "run.checkpoint_every=64", "run.evaluate_every=16"]
    run = training.Run(prepare("hog", tmp_path / "run", None, often, True))
    assert (run.first, run.state.next_checkpoint, run.state.next_evaluation) == (256, 320, 272)
