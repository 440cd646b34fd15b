"""The sweep: a study of short trainings, the bad ones given up, going on where it was."""

from __future__ import annotations

import importlib.util
import shlex
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sb3_contrib")
pytest.importorskip("optuna")

import optuna
from typer.testing import CliRunner

from dicegym.cli.app import whole_command
from dicegym.learning.configuration import override, read_config
from dicegym.shipped import shipped_folder

FIXED = [
    "run.games=16",
    "run.torch_threads=1",
    "algorithm.n_steps=8",
    "algorithm.batch_size=64",
]


@pytest.fixture(scope="module")
def script() -> Any:
    spec = importlib.util.spec_from_file_location("dicegym_sweep", shipped_folder("training") / "sweep.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(script: Any, folder: Path, *arguments: str) -> Any:
    import typer

    app = typer.Typer()
    app.command()(script.sweep)
    settings = [word for text in FIXED for word in ("--set", text)]
    return CliRunner().invoke(app, ["hog", "--run-dir", str(folder), "--steps", "512", *settings, *arguments])


def test_a_study_gives_up_what_goes_badly_and_goes_on(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(script, "NOT_BEFORE", 1)
    monkeypatch.setattr(script, "EVALUATIONS", 2)
    first = run(script, tmp_path / "study", "--trials", "2")
    assert first.exit_code == 0, first.output
    again = run(script, tmp_path / "study", "--trials", "2", "--seed", "1")
    assert "4 trials" in again.output
    assert sorted(path.name for path in (tmp_path / "study").glob("trial-*")) == [f"trial-00{i}" for i in range(4)]
    storage = script.JournalStorage(script.JournalFileBackend(str(tmp_path / "study/study.log")))
    study = optuna.load_study(study_name="hog", storage=storage)
    done = [trial for trial in study.trials if trial.state == optuna.trial.TrialState.COMPLETE]
    assert done
    for trial in done:  # what is reported is the run's own curve
        curve = (tmp_path / f"study/trial-{trial.number:03}/curve.csv").read_text().split()[1:]
        scores = [float(line.split(",")[1]) for line in curve]
        assert list(trial.intermediate_values.values()) == pytest.approx(scores, abs=1e-8)
        assert trial.value == pytest.approx(max(scores), abs=1e-8)
        assert not list((tmp_path / f"study/trial-{trial.number:03}").glob("*.md"))
    advised = next(line for line in again.output.splitlines() if "dicegym train" in line)
    words = shlex.split(advised)[1:]
    whole_command().make_context("dicegym", list(words))  # can be typed
    assert all(text.partition("=")[0] in advised for text in FIXED)


def test_a_trial_is_pruned_by_its_evaluations(script: Any, tmp_path: Path) -> None:
    class Trial(optuna.trial.FixedTrial):
        def should_prune(self) -> bool:
            return True

    trial = Trial({"width": 64, "learning_rate": 1e-3, "ent_coef": 0.1, "gae_lambda": 0.9, "n_epochs": 2})
    with pytest.raises(optuna.TrialPruned, match=r"win rate against .* after 0 steps"):
        script.objective(trial, "hog", tmp_path, ["run.steps=512"], FIXED)


def test_what_is_tried_can_be_set(script: Any) -> None:
    trial = optuna.create_study().ask()
    settings = override(read_config("hog"), script.suggest(trial))
    assert settings.network.net_arch == [trial.params["width"]] * 2


def test_mistakes_are_told(script: Any, tmp_path: Path) -> None:
    wrong = run(script, tmp_path / "study", "--trials", "1", "--set", "run.stepz=5")
    assert "Did you mean 'steps'" in str(wrong.exception)
