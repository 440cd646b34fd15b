"""Seeds on a cluster whose nodes see the run's folder, and what becomes of a training whose node dies."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("sb3_contrib")


from dicegym.cli import main
from dicegym.errors import DependencyError, DicegymError
from dicegym.learning.run_folder import alone_in, holder_of
from dicegym.learning.seeds import ray_trainer
from dicegym.learning.seeds.job import SeedTask
from dicegym.learning.seeds.ray_trainer import RayTrainer, train_on_node
from dicegym.learning.seeds.seeded_training import train_seeds
from dicegym.learning.seeds.summary import folder_of

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


class Ray:
    """A cluster on which a training has ended in some way, or has not."""

    def __init__(self, end: str | DicegymError | None) -> None:
        self.ray: Any = self
        self.end, self.cancelled, self.sent = end, list[bool](), list[Any]()

    def remote(self, function: Any, **options: Any) -> Any:
        self.room = options
        return SimpleNamespace(remote=lambda *arguments: self.sent.append(arguments))

    def look(self) -> None:
        """Find all nodes there."""

    def wait(self, references: list[Any], timeout: float) -> tuple[list[Any], list[Any]]:
        return ([], references) if self.end is None else (references, [])

    def result(self, reference: Any, called: str) -> Any:
        if isinstance(self.end, DicegymError):
            raise self.end
        return self.end

    def cancel(self, reference: Any, force: bool) -> None:
        self.cancelled.append(force)


def _task(folder: Path) -> SeedTask:
    return SeedTask("hog", str(folder / "seed-3"), 3, "", (), False, 2)


def test_a_training_says_what_it_needs_and_what_has_ended_it(tmp_path: Path) -> None:
    for end, said in ((None, None), ("", ""), (DicegymError("lost"), "lost")):
        ray = Ray(end)
        trainer = RayTrainer(ray, _task(tmp_path))  # type: ignore[arg-type]
        assert trainer.waits == "waits for a node with room: threads 2, cpu"
        assert (ray.room["num_cpus"], ray.room["num_gpus"]) == (2, 0)
        assert trainer.poll() == said
    for number in (signal.SIGTERM, signal.SIGKILL):
        trainer.stop(number)
    assert ray.cancelled == [False, True]


def test_a_cluster_takes_all_trainings_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = SimpleNamespace(processors={"one": 4, "two": 2})
    monkeypatch.setattr(ray_trainer, "connect", lambda address, told: contextlib.nullcontext(cluster))
    with ray_trainer.ray_backend() as backend:
        assert (backend.processors, backend.queues) == ([4, 2], True)


@pytest.fixture
def node(monkeypatch: pytest.MonkeyPatch) -> list[SeedTask]:
    """Let this process be a node's; return what is trained on it."""
    trained: list[SeedTask] = []
    monkeypatch.setattr(ray_trainer, "prepare_process", lambda version: None)
    monkeypatch.setattr(ray_trainer, "train_seed", trained.append)
    return trained


def test_a_node_that_does_not_see_the_folder_is_told_what_to_do(node: list[SeedTask], tmp_path: Path) -> None:
    with alone_in(tmp_path / "there"):
        holder = holder_of(tmp_path / "there")
    with pytest.raises(
        DependencyError, match=r"does not see .*here.*mount the storage.*or give a --run-dir on storage"
    ):
        train_on_node("", _task(tmp_path / "here"), holder, "")
    assert not node


def test_a_training_goes_on_from_what_its_lost_process_left(
    node: list[SeedTask], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    task = _task(tmp_path / "all")
    with alone_in(tmp_path / "all"):
        for resume in (False, True):
            train_on_node("", task, holder_of(tmp_path / "all"), "")
            assert node.pop().resume is resume
            Path(task.folder).mkdir(exist_ok=True)
            Path(task.folder, "settings.json").touch()


def test_a_training_waits_for_the_folder_of_a_lost_process(node: list[SeedTask], tmp_path: Path) -> None:
    task, held, leave = _task(tmp_path / "all"), threading.Event(), threading.Event()
    Path(task.folder).mkdir(parents=True)

    def hold() -> None:
        with alone_in(Path(task.folder)):
            held.set()
            leave.wait(30)

    with alone_in(tmp_path / "all"):
        thread = threading.Thread(target=hold)
        thread.start()
        held.wait(30)
        threading.Timer(0.2, leave.set).start()
        train_on_node("", task, holder_of(tmp_path / "all"), "")
        thread.join()
    assert node


def test_clusters_are_for_several_seeds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--ray", "auto"], ["--workers", "2"]):
        with pytest.raises(SystemExit, match="2"):
            main(["train", "hog", "--run-dir", str(tmp_path / "x"), *words])
        assert "is about several seeds" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


@pytest.mark.slow
def test_a_seed_whose_node_dies_goes_on_elsewhere_as_if_nothing_had_happened(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    program = Path(__file__).with_name("seeds_on_nodes.py")
    request = {"folder": str(tmp_path / "there"), "overrides": SMALL, "result": str(tmp_path / "result.json")}
    subprocess.run([sys.executable, str(program), json.dumps(request)], cwd=tmp_path, check=True, timeout=1200)
    found = json.loads((tmp_path / "result.json").read_text())
    assert sum("was lost: other nodes do its work again" in line for line in found["told"]) == 1
    here = train_seeds("hog", tmp_path / "here", 2, overrides=SMALL)
    assert found["results"] == [[one.seed, one.how, one.best, one.end] for one in here.results]
    for seed in (1, 2):
        there = folder_of(tmp_path / "there", seed)
        assert (there / "curve.csv").read_bytes() == (folder_of(tmp_path / "here", seed) / "curve.csv").read_bytes()
