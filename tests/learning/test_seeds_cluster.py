"""Seeds on a cluster: what travels, and what becomes of a training whose node dies."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("sb3_contrib")

from dicegym.arena.ray_executor import WorkFailedError
from dicegym.cli import main
from dicegym.errors import DicegymError
from dicegym.learning.lock import alone_in
from dicegym.learning.seeds import ray_trainer
from dicegym.learning.seeds.ray_trainer import RayTrainer, read_run, write_run
from dicegym.learning.seeds.summary import folder_of
from dicegym.learning.seeds.task import FAILED, STOPPED, Said, SeedTask, TrainingEnd
from dicegym.learning.seeds.training import train_seeds
from dicegym.players.trust import is_sealed, write_seal

SMALL = [
    "run.games=16",
    "run.steps=20480",
    "run.evaluate_every=4096",
    "run.checkpoint_every=1024",
    "run.card_games=0",
    "run.torch_threads=1",
    "algorithm.n_steps=16",
    "algorithm.batch_size=128",
    "network.net_arch=[16]",
]


def _run(folder: Path, checkpoint: str = "checkpoint") -> None:
    (folder / checkpoint).mkdir(parents=True)
    (folder / "tensorboard" / "run_0").mkdir(parents=True)
    (folder / "curve.csv").write_text("steps,score\n")
    (folder / "settings.json").write_text("{}")
    (folder / checkpoint / "model.zip").write_bytes(b"new")
    (folder / "tensorboard" / "run_0" / "events").write_bytes(b"\0")
    write_seal(folder / checkpoint)


@pytest.mark.parametrize("checkpoint", ["checkpoint", "checkpoint.old"])
def test_all_of_a_run_travels_and_what_was_sealed_is_sealed_again(checkpoint: str, tmp_path: Path) -> None:
    """A kill may fall between the moves that change checkpoints: then the newest has the other name."""
    there, here = tmp_path / "there", tmp_path / "here"
    _run(there, checkpoint)
    write_seal(there / "settings.json")
    (there / "settings.json").write_text("{ }")  # somebody else did that
    _run(here)
    (here / "checkpoint" / "model.zip").write_bytes(b"old")
    (here / "best.zip").write_bytes(b"stays")
    with alone_in(there):
        contents = read_run(there)
    for name in [name for name in contents if name.endswith("seal")]:
        contents[name] = b"another machine's"
    write_run(contents, here)
    assert (here / "checkpoint" / "model.zip").read_bytes() == b"new"
    assert (here / "best.zip").read_bytes() == b"stays"
    assert (here / "tensorboard" / "run_0" / "events").read_bytes() == b"\0"
    assert is_sealed(here / "checkpoint")
    assert not is_sealed(here / "settings.json")
    assert not (here / "run.lock").exists()


def test_a_question_that_ray_asks_again_is_answered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[int]] = []

    def events(signals: list[int]) -> tuple[bool, list[TrainingEnd], dict[str, bytes]]:
        asked.append(signals)
        return False, [TrainingEnd(STOPPED)], {}

    training = ray_trainer.NodeTraining()
    monkeypatch.setattr(training, "events", events)
    assert training.answer(1, [2]) == training.answer(1, [2]) == (False, [TrainingEnd(STOPPED)], {})
    assert asked == [[2]]
    training.answer(2, [])
    assert asked == [[2], []]


@pytest.mark.parametrize(("error", "end"), [(WorkFailedError, FAILED), (DicegymError, STOPPED)])
def test_work_that_fails_while_it_is_stopped_is_told(error: type[DicegymError], end: str, tmp_path: Path) -> None:
    def fail(*_: object) -> None:
        raise error("no space left")

    trainer = object.__new__(RayTrainer)
    trainer._task = SeedTask("hog", str(tmp_path), 3, "", (), False, False, 2)
    trainer._cluster = SimpleNamespace(  # type: ignore[assignment]
        ray=SimpleNamespace(wait=lambda asked, timeout: (asked, [])), look=lambda: None, result=fail
    )
    trainer._asked, trainer._stopped = object(), True
    assert trainer.events() == [TrainingEnd(end, "no space left")]


def test_a_trainer_that_cannot_begin_lets_go_of_its_folder(tmp_path: Path) -> None:
    def refuse(contents: object) -> None:
        raise MemoryError("the store is full")

    cluster: Any = SimpleNamespace(ray=SimpleNamespace(put=refuse))
    with pytest.raises(MemoryError):
        RayTrainer(cluster, SeedTask("hog", str(tmp_path / "run"), 3, "", (), False, False, 2), tmp_path / "log")
    with alone_in(tmp_path / "run"):
        pass


def test_who_waits_for_room_says_so_once_and_can_be_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed: list[object] = []
    actor = SimpleNamespace(answer=SimpleNamespace(remote=lambda *question: question))
    ray = SimpleNamespace(
        put=lambda contents: contents,
        remote=lambda **room: lambda kind: SimpleNamespace(remote=lambda: actor),
        wait=lambda asked, timeout: ([], asked),
        kill=killed.append,
    )
    cluster: Any = SimpleNamespace(ray=ray, look=lambda: None)
    task = SeedTask("hog", str(tmp_path / "seed-3"), 3, "", (), False, False, 2)
    trainer = RayTrainer(cluster, task, tmp_path / "log")
    assert trainer.events() == []
    monkeypatch.setattr(ray_trainer, "ROOM_SECONDS", 0.0)
    assert trainer.events() == [Said("waits for a node of the cluster with room: threads 2, cpu")]
    assert trainer.events() == []
    trainer.stop(15)
    assert trainer.events() == [TrainingEnd(STOPPED)]
    trainer.close()
    assert killed == [actor]
    with alone_in(tmp_path / "seed-3"):
        pass


def test_clusters_are_for_several_seeds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--ray", "local"], ["--ray"], ["--workers", "2"]):
        with pytest.raises(SystemExit, match="2"):
            main(["train", "hog", "--run-dir", str(tmp_path / "x"), *words])
        assert "is about several seeds" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


@pytest.mark.slow
def test_a_seed_whose_node_dies_goes_on_elsewhere_as_if_nothing_had_happened(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    program = Path(__file__).with_name("seeds_on_nodes.py")
    request = {"folder": str(tmp_path / "there"), "overrides": SMALL, "result": str(tmp_path / "result.json")}
    subprocess.run([sys.executable, str(program), json.dumps(request)], cwd=tmp_path, check=True, timeout=500)
    found = json.loads((tmp_path / "result.json").read_text())
    assert any("its node was lost" in line for line in found["told"])
    assert any("waits for a node of the cluster with room: threads 1, cpu" in line for line in found["told"])
    here = train_seeds("hog", tmp_path / "here", 2, overrides=SMALL)
    assert found["results"] == [[one.seed, one.how, one.best, one.end] for one in here.results]
    for seed in (1, 2):
        there = folder_of(tmp_path / "there", seed)
        assert (there / "curve.csv").read_bytes() == (folder_of(tmp_path / "here", seed) / "curve.csv").read_bytes()
        assert is_sealed(there / "checkpoint")
