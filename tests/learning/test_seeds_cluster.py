"""Seeds on a cluster: what travels, and what becomes of a training whose node dies."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("sb3_contrib")

from dicegym.arena.ray_executor import WorkFailedError
from dicegym.cli import main
from dicegym.errors import DicegymError, ParameterError
from dicegym.learning import checkpoint
from dicegym.learning.lock import alone_in
from dicegym.learning.seeds import ray_trainer
from dicegym.learning.seeds.ray_trainer import RayTrainer, SeedInbox, SeedVoice, read_run, write_run
from dicegym.learning.seeds.summary import folder_of
from dicegym.learning.seeds.task import FAILED, FINISHED, STOPPED, Progressed, Said, SeedTask, TrainingEnd
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


def _run(folder: Path, name: str = "checkpoint") -> None:
    (folder / name).mkdir(parents=True)
    (folder / "tensorboard" / "run_0").mkdir(parents=True)
    (folder / "curve.csv").write_text("steps,score\n")
    (folder / "settings.json").write_text("{}")
    (folder / name / "model.zip").write_bytes(b"new")
    (folder / "tensorboard" / "run_0" / "events").write_bytes(b"\0")
    write_seal(folder / name)


@pytest.mark.parametrize("name", ["checkpoint", "checkpoint.old"])
def test_all_of_a_run_travels_and_what_was_sealed_is_sealed_again(name: str, tmp_path: Path) -> None:
    """A kill may fall between the moves that change checkpoints: then the newest has the other name."""
    there, here = tmp_path / "there", tmp_path / "here"
    _run(there, name)
    write_seal(there / "settings.json")
    (there / "settings.json").write_text("{ }")  # somebody else did that
    _run(here)
    (here / "checkpoint" / "model.zip").write_bytes(b"old")
    (here / "best.zip").write_bytes(b"stays")
    with alone_in(there):
        contents = read_run(there)
    for seal in [path for path in contents if path.endswith("seal")]:
        contents[seal] = b"another machine's"
    write_run(contents, here)
    assert (here / "checkpoint" / "model.zip").read_bytes() == b"new"
    assert (here / "best.zip").read_bytes() == b"stays"
    assert (here / "tensorboard" / "run_0" / "events").read_bytes() == b"\0"
    assert is_sealed(here / "checkpoint")
    assert not is_sealed(here / "settings.json")
    assert not (here / "run.lock").exists()


def test_a_training_sends_each_checkpoint_once_and_is_done_again_from_the_last(tmp_path: Path) -> None:
    inbox = SeedInbox({"settings.json": b"old"})
    voice = SeedVoice(inbox.put, tmp_path)
    voice.progress(0, 4, "games")
    _run(tmp_path)
    for done in (1, 2):
        voice.progress(done, 4, "games")
    checkpoint.replace(tmp_path, lambda empty: write_run({"model.zip": b"newer"}, empty))
    voice.progress(4, 4, "games")
    told = inbox.take()
    runs = [news for news in told if isinstance(news, dict)]
    assert [run["checkpoint/model.zip"] for run in runs] == [b"new", b"newer"]
    assert inbox.run() == runs[-1]
    assert told[0] == Progressed(0, 4, "games")
    assert inbox.take() == []


class Ray:
    """A cluster on which a training has ended in some way, or has not; what it says goes into an inbox here."""

    def __init__(self, end: TrainingEnd | DicegymError | None) -> None:
        self.ray: Any = self
        self.end, self.cancelled, self.inbox, self.work = end, list[bool](), SeedInbox({}), object()

    def remote(self, function: Any = None, **options: Any) -> Any:
        if function is None:
            put_away = SimpleNamespace(take=SimpleNamespace(remote=self.inbox.take))
            return lambda kind: SimpleNamespace(remote=lambda run: put_away)
        return SimpleNamespace(remote=lambda *arguments: self.work)

    def look(self) -> None:
        """Find all nodes there."""

    def wait(self, references: list[Any], timeout: float) -> tuple[list[Any], list[Any]]:
        return (references, []) if self.end else ([], references)

    def result(self, reference: Any, called: str) -> Any:
        if isinstance(self.end, DicegymError) and reference is self.work:
            raise self.end
        return self.end if reference is self.work else reference

    def cancel(self, reference: Any, force: bool) -> None:
        self.cancelled.append(force)


def _trainer(ray: Any, folder: Path) -> RayTrainer:
    return RayTrainer(ray, SeedTask("hog", str(folder), 3, "", (), False, False, 2))


def test_a_training_without_room_says_so_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = _trainer(Ray(None), tmp_path / "here")
    assert trainer.events() == []
    monkeypatch.setattr(ray_trainer, "ROOM_SECONDS", -1.0)
    assert trainer.events() == [Said("waits for a node of the cluster with room: threads 2, cpu")]
    assert trainer.events() == []


@pytest.mark.parametrize("stopped", [True, False])
@pytest.mark.parametrize("error", [None, WorkFailedError("no space left"), DicegymError("lost")])
def test_how_a_training_has_ended_is_told_after_all_that_it_said(
    stopped: bool, error: DicegymError | None, tmp_path: Path
) -> None:
    ray = Ray(error or TrainingEnd(FINISHED))
    trainer = _trainer(ray, tmp_path / "here")
    if stopped:
        trainer.stop(15)
    _run(tmp_path / "there")
    ray.inbox.put(read_run(tmp_path / "there"))
    ray.inbox.put(Said("a word"))
    how = FINISHED if error is None else STOPPED if stopped and not isinstance(error, WorkFailedError) else FAILED
    assert trainer.events() == [Said("a word"), TrainingEnd(how, str(error or ""))]
    assert (tmp_path / "here" / "checkpoint" / "model.zip").read_bytes() == b"new"


def test_a_training_is_interrupted_and_then_killed(tmp_path: Path) -> None:
    ray = Ray(None)
    trainer = _trainer(ray, tmp_path)
    ray.inbox.put(Progressed(1, 2, ""))
    assert trainer.events() == [Progressed(1, 2, "")]
    trainer.stop(15)
    trainer.kill()
    assert ray.cancelled == [False, True]


def test_a_workshop_holds_the_folders_of_trainings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster, refused = SimpleNamespace(processors={"one": 4, "two": 2}), list[str]()
    monkeypatch.setattr(ray_trainer, "connected", lambda address, told: contextlib.nullcontext(cluster))
    monkeypatch.setattr(ray_trainer, "RayTrainer", lambda cluster, task: task)
    tasks = [SeedTask("hog", str(tmp_path / str(seed)), seed, "", (), False, False, 2) for seed in (3, 4)]
    with ray_trainer.ray_workshop() as workshop:
        place = workshop(3)
        assert (place.at_once, place.threads) == (3, 2)
        for task in tasks:
            place.hire(task, tmp_path / "log")
        thread = threading.Thread(target=_try_to_hold, args=(tmp_path / "3", refused))
        thread.start()
        thread.join()
        assert "another training writes in" in refused[0]
    for seed in (3, 4):
        with alone_in(tmp_path / str(seed)):
            pass


def _try_to_hold(folder: Path, refused: list[str]) -> None:
    try:
        with alone_in(folder):
            pass
    except ParameterError as error:
        refused.append(str(error))


def test_clusters_are_for_several_seeds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--ray", "auto"], ["--ray"], ["--workers", "2"]):
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
    assert sum("was lost: other nodes do its work again" in line for line in found["told"]) == 1
    assert sum("trains on" in line for line in found["told"]) == 3, "both, and again the one whose node was killed"
    here = train_seeds("hog", tmp_path / "here", 2, overrides=SMALL)
    assert found["results"] == [[one.seed, one.how, one.best, one.end] for one in here.results]
    for seed in (1, 2):
        there = folder_of(tmp_path / "there", seed)
        assert (there / "curve.csv").read_bytes() == (folder_of(tmp_path / "here", seed) / "curve.csv").read_bytes()
        assert is_sealed(there / "checkpoint")
