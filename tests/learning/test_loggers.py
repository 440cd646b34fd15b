"""Weights & Biases and MLflow beside TensorBoard: told what is recorded, in the same run again when one is resumed."""

from __future__ import annotations

import json
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytest.importorskip("sb3_contrib")

from dicegym.errors import DependencyError, ParameterError
from dicegym.learning import log_packages
from dicegym.learning.configuration import override, read_config
from dicegym.learning.loggers import logs_of
from dicegym.learning.train import train

SMALL = [
    "run.steps=256",
    "run.games=16",
    "run.torch_threads=1",
    "run.card_games=0",
    "run.evaluate_every=128",
    "algorithm.n_steps=8",
    "algorithm.batch_size=64",
]


class FakeRun:
    """Keeps what a run of Weights & Biases is told."""

    def __init__(self, **about: Any) -> None:
        self.about, self.rows, self.code = about, [], None

    def define_metric(self, name: str, step_metric: str) -> None:
        assert (name, step_metric) == ("*", "steps")

    def log(self, row: dict[str, Any]) -> None:
        self.rows.append(row)

    def finish(self, exit_code: int) -> None:
        self.code = exit_code


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[FakeRun]:
    """Put a fake in place of Weights & Biases; return the runs that it is asked for."""
    found: list[FakeRun] = []
    fake: Any = ModuleType("wandb")
    fake.__spec__ = ModuleSpec("wandb", None)
    fake.Error = type("Error", (Exception,), {})
    fake.init = lambda **about: found.append(FakeRun(**about)) or found[-1]
    monkeypatch.setitem(sys.modules, "wandb", fake)
    return found


def test_what_is_recorded_is_told_and_a_resumed_training_goes_on_there(runs: list[FakeRun], tmp_path: Path) -> None:
    folder = tmp_path / "hog"
    train("hog", folder, overrides=[*SMALL, 'run.log=["wandb"]'])
    (first,) = runs
    assert first.code == 0
    assert first.about["name"] == "hog"
    assert first.about["group"] == tmp_path.name
    assert first.about["config"]["run.steps"] == 256
    scores = {
        row["steps"]: row["evaluation/exact win rate"] for row in first.rows if "evaluation/exact win rate" in row
    }
    curve = [line.split(",") for line in (folder / "curve.csv").read_text().split()[1:]]
    assert scores == pytest.approx({int(steps): float(score) for steps, score in curve})
    assert not (folder / "tensorboard").exists()
    train("hog", folder, overrides=["run.steps=512"], resume=True)
    assert runs[1].about["id"] == first.about["id"] == json.loads((folder / "logs.json").read_text())["wandb"]
    assert runs[1].about["resume"] == "allow"
    assert min(row["steps"] for row in runs[1].rows) >= 256


def test_logging_elsewhere_changes_nothing_of_a_training(runs: list[FakeRun], tmp_path: Path) -> None:
    train("hog", tmp_path / "a", overrides=[*SMALL, 'run.log=["tensorboard","wandb"]'])
    train("hog", tmp_path / "b", overrides=SMALL)
    assert (tmp_path / "a/curve.csv").read_text() == (tmp_path / "b/curve.csv").read_text()
    for folder in "ab":
        assert list((tmp_path / folder / "tensorboard").rglob("events*"))
    assert len(runs) == 1


def test_a_training_that_is_broken_off_says_so(runs: list[FakeRun], tmp_path: Path) -> None:
    def stop(steps: int, score: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train("hog", tmp_path / "a", overrides=[*SMALL, 'run.log=["wandb"]'], evaluated=stop)
    assert runs[0].code == 1


def test_what_is_not_installed_is_told_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_packages, "find_spec", lambda name: None)
    for name in ("wandb", "mlflow"):
        with pytest.raises(DependencyError, match=rf"needs {name}, .*: pip install {name}$"):
            train("hog", tmp_path / "a", overrides=[*SMALL, f'run.log=["{name}"]'])
    assert not (tmp_path / "a").exists()


def test_one_that_does_not_begin_is_told_of(runs: list[FakeRun], tmp_path: Path) -> None:
    import wandb

    def refuse(**about: Any) -> None:
        raise wandb.Error("no API key")

    wandb.init = refuse
    with pytest.raises(ParameterError, match=r"no API key.*wandb login"):
        logs_of(override(read_config("hog"), ['run.log=["wandb"]']), tmp_path)


def test_only_known_ones_can_be_named() -> None:
    with pytest.raises(ParameterError, match='give a list of "tensorboard", "wandb" and "mlflow"'):
        override(read_config("hog"), ['run.log=["tensorbord"]'])


@pytest.mark.slow
def test_mlflow_keeps_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow")
    uri = f"sqlite:///{tmp_path}/mlflow.db"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    folder = tmp_path / "hog"
    against = 'run.evaluate_against=["always_roll(5)","bacon"]'
    train("hog", folder, overrides=[*SMALL, against, 'run.log=["mlflow"]'])
    run_id = json.loads((folder / "logs.json").read_text())["mlflow"]
    client = mlflow.MlflowClient(uri)
    found = client.get_run(run_id)
    assert found.info.status == "FINISHED"
    assert found.data.params["algorithm.name"] == "MaskablePPO"
    curve = [line.split(",") for line in (folder / "curve.csv").read_text().split()[1:]]
    history = client.get_metric_history(run_id, "evaluation/against always_roll_5_")
    assert [(one.step, one.value) for one in history] == [
        (int(steps), pytest.approx(float(against), abs=1e-8)) for steps, _, against, _ in curve
    ]
    train("hog", folder, overrides=["run.steps=512"], resume=True)
    assert len(client.search_runs([found.info.experiment_id])) == 1
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "nonsense://nowhere")
    with pytest.raises(ParameterError, match="MLFLOW_TRACKING_URI"):
        logs_of(override(read_config("hog"), ['run.log=["mlflow"]']), tmp_path)
