"""Several seeds in parallel: starting, failing, stopping, resuming, and their band."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

import dicegym
from dicegym.cli import main
from dicegym.errors import DependencyError, DicegymError, ParameterError
from dicegym.learning.configuration import AboutRun, about_run, to_plain, write_about
from dicegym.learning.curves import ENOUGH, Experiment, RunCurve, band_of, interquartile_mean
from dicegym.learning.evaluate import Score
from dicegym.learning.preparation import prepare
from dicegym.learning.run_folder import alone_in, holder_of
from dicegym.learning.seeds import ray_trainer, seeded_training
from dicegym.learning.seeds.job import SeedProcess, SeedTask
from dicegym.learning.seeds.ray_trainer import RayTrainer, train_on_node
from dicegym.learning.seeds.seeded_training import SEEDS_FILE, Backend, holds_seeds, train_seeds
from dicegym.learning.seeds.summary import FAILED, FINISHED, SeedsSummary, folder_of
from dicegym.signals import SignalInterrupt

SMALL = [
    "run.games=16",
    "run.steps=2048",
    "run.evaluate_every=1024",
    "run.card_games=0",
    "algorithm.n_steps=16",
    "algorithm.batch_size=128",
    "network.net_arch=[16]",
]
ARGUMENTS = [word for text in SMALL for word in ("--set", text)]


def _leave_a_run(task: SeedTask, finished: bool = True) -> None:
    """Write the files of a training of one seed."""
    folder = Path(task.folder)
    folder.mkdir(parents=True, exist_ok=True)
    _, settings, command, *_ = prepare(task.game, folder, None, task.overrides, task.resume)
    write_about(folder, AboutRun(command.split(), to_plain(settings), finished))
    (folder / "curve.csv").write_text(f"steps,score\n0,0.1\n2048,0.{task.seed}\n")
    (folder / "pace.csv").write_text("seconds,steps,games\n1.0,2048,70\n")
    score = Score("win rate", "bacon", task.seed / 10, 0.0, 1.0, 50)
    about = {"game": "hog", "players": 2, "parameters": {}, "fingerprint": "f", "score": score.to_json()}
    about |= {"settings": to_plain(settings), "scores": [score.to_json()]}
    (folder / "best.zip").write_text(json.dumps(about))


results: list[SeedsSummary] = []
"""Of what the stage has played in a test."""


class Actor:
    """A trainer that follows a script by its seed: what it writes, and how it ends."""

    scripts: dict[int, Callable[[Actor], str | None]]
    waits = "preparing"

    def __init__(self, task: SeedTask) -> None:
        self.task = task
        self.signals: list[int] = []
        self.over = False

    def poll(self) -> str | None:
        found = "killed" if signal.SIGKILL in self.signals else self.scripts.get(self.task.seed, _finishes)(self)
        self.over = found is not None
        return found

    def stop(self, number: int) -> None:
        self.signals.append(number)


def _finishes(actor: Actor) -> str | None:
    _leave_a_run(actor.task)
    return ""


def _fails(actor: Actor) -> str | None:
    return "out of memory"


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Actor]]:
    """Return a function that trains with actors, two at a time, and returns them in the order of their beginning."""
    monkeypatch.setattr("dicegym.learning.curves.model_file.facts", lambda path: json.loads(path.read_text()))
    monkeypatch.setattr(seeded_training, "LOOK_EVERY", 0.001)

    results.clear()

    def play(folder: Path, scripts: dict[int, Any] | None = None, **how: Any) -> list[Actor]:
        started: list[Actor] = []

        def start(task: SeedTask) -> Actor:
            assert sum(not one.over for one in started) < 2
            actor = Actor(task)
            actor.scripts = scripts or {}
            started.append(actor)
            return actor

        how = {"game": "hog", "overrides": SMALL, "backend": Backend(start, [2]), **how}
        results.append(train_seeds(folder=folder, **how))
        return started

    return play


def test_a_failing_seed_does_not_end_the_others_and_is_retried(
    stage: Callable[..., list[Actor]], tmp_path: Path
) -> None:
    told: list[str] = []
    shown: list[tuple[int, int, int, str]] = []
    started = stage(tmp_path, {2: _fails}, seeds=3, told=told.append, progress=lambda *what: shown.append(what))
    assert [one.task.seed for one in started] == [1, 2, 3]
    words = [text for seed, *_, text in shown if seed == 1]
    assert words == ["waiting for its turn", "preparing", "70 games"]
    assert told == ["seed 2 failed: out of memory"]
    assert [(one.how, one.why) for one in results[-1].results][:2] == [(FINISHED, ""), (FAILED, "out of memory")]

    again = stage(tmp_path, resume=True)  # without the number of seeds
    assert [(one.task.seed, one.task.resume) for one in again] == [(2, False)]
    assert {one.how for one in results[-1].results} == {FINISHED}
    assert stage(tmp_path, resume=True) == []  # finished seeds are not repeated
    more = stage(tmp_path, resume=True, seeds=5, overrides=[*SMALL, "run.steps=4096"])
    assert [(one.task.seed, one.task.resume) for one in more] == [(seed, seed < 4) for seed in range(1, 6)]
    asked = [[text for text in one.task.overrides if text.startswith("run.steps=")][-1] for one in more]
    assert asked == ["run.steps=4096"] * 5
    assert about_run(folder_of(tmp_path, 3)).settings["run"]["steps"] == 4096


def test_a_signal_is_forwarded_and_waiting_trainings_do_not_start(
    stage: Callable[..., list[Actor]], tmp_path: Path
) -> None:
    def stops(actor: Actor) -> str | None:
        if not actor.signals:
            os.kill(os.getpid(), signal.SIGTERM)
            return None
        _leave_a_run(actor.task, finished=False)
        return "saved"

    with pytest.raises(SignalInterrupt, match=r"continue with `dicegym train .* --resume`") as end:
        stage(tmp_path, {1: stops}, seeds=4)
    assert end.value.number == signal.SIGTERM
    assert not (folder_of(tmp_path, 4) / "settings.json").exists()
    again = stage(tmp_path, resume=True)
    assert [one.task.seed for one in again if one.task.resume] == [1]
    assert [one.task.seed for one in again][-1] == 4
    assert {one.how for one in results[-1].results} == {FINISHED}
    stubborn: list[Actor] = []

    def hangs(actor: Actor) -> str | None:
        stubborn[:] = [actor]
        os.kill(os.getpid(), signal.SIGINT)
        return None

    with pytest.raises(KeyboardInterrupt):
        stage(tmp_path / "other", {1: hangs}, seeds=1)
    assert stubborn[0].signals == [signal.SIGINT, signal.SIGINT, signal.SIGKILL]


@pytest.mark.parametrize(
    ("first", "then", "match"),
    [
        ({"seeds": 2}, {"resume": True, "seeds": 1}, "holds 2 seeds"),
        ({"seeds": 2}, {"resume": True, "overrides": ["run.seed=7"]}, "cannot change the seeds"),
        ({"seeds": 2}, {"resume": True, "overrides": ["run.games=32"]}, "cannot change what a run began with"),
        ({"seeds": 2}, {"seeds": 2}, "is not empty"),
        ({}, {"seeds": 0, "folder": "other"}, "number of trainings"),
        ({}, {"resume": True, "seeds": 2, "folder": "other"}, "no trainings of several seeds"),
        ({}, {"seeds": 3, "overrides": ["run.seed=4294967294"], "folder": "other"}, "go beyond"),
        ({}, {"seeds": 2, "overrides": ["run.steps=x"], "folder": "other"}, "run.steps='x' cannot be used"),
    ],
)
def test_invalid_arguments_are_refused_before_any_seed_starts(
    stage: Callable[..., list[Actor]], tmp_path: Path, first: dict[str, Any], then: dict[str, Any], match: str
) -> None:
    stage(tmp_path / "set", **{"seeds": 2, **first})
    folder = tmp_path / str(then.pop("folder", "set"))
    with pytest.raises(ParameterError, match=match):
        stage(folder, **then)


def test_the_results_of_finished_seeds_are_summarised_and_drawn(
    stage: Callable[..., list[Actor]], tmp_path: Path
) -> None:
    stage(tmp_path, seeds=5)
    (found,) = results
    assert [(one.seed, one.how, one.steps, one.end) for one in found.results][2] == (3, FINISHED, 2048, 0.3)
    assert found.end is not None
    assert found.end.middle == pytest.approx(0.3)
    assert found.end.low < 0.3 < found.end.high
    assert "(interquartile mean of 5 and its 95% interval)" in str(found.best)
    assert found.best_model == folder_of(tmp_path, 5) / "best.zip"
    with pytest.raises(SystemExit, match="0"):
        main(["runs", "plot", str(tmp_path), "--output", str(tmp_path / "picture.svg")])
    picture = (tmp_path / "picture.svg").read_text()
    assert "bands: 95 % intervals" in picture  # the text continues in the next line
    assert picture.count("<polygon") == 1


def test_untrusted_settings_start_nothing(stage: Callable[..., list[Actor]], tmp_path: Path) -> None:
    stage(tmp_path, seeds=2)
    assert holds_seeds(tmp_path)
    path = tmp_path / SEEDS_FILE
    path.write_text(path.read_text().replace("[opponents]", f'[opponents]\n"{tmp_path / "evil.py"}" = 1.0'))
    (tmp_path / "evil.py").write_text("def final_strategy(a, b):\n    return 5\n")
    with pytest.raises(ParameterError, match=r"names the program .*evil\.py.*--trust"):
        stage(tmp_path, resume=True, seeds=3)
    for damage in ("[run", "[walk]", "[run]\nseed = -1"):
        path.write_text(damage)
        with pytest.raises(ParameterError, match=SEEDS_FILE):
            stage(tmp_path, resume=True, trust=True)


def test_processors_are_shared_out() -> None:
    two, cluster = Backend(SeedProcess, [2]), Backend(SeedProcess, [4, 2], queues=True)
    assert [two.share(5, workers) for workers in (None, 1, 8)] == [(2, 1), (1, 2), (5, 1)]
    assert [cluster.share(3), cluster.share(3, 1), cluster.share(9)] == [(3, 2), (1, 4), (9, 1)]
    assert Backend(SeedProcess, [], queues=True).share(3) == (3, None), "its first machine is still to come"
    with pytest.raises(ParameterError, match="trainings at once"):
        two.share(3, 0)


def test_interquartile_means_and_intervals() -> None:
    values = np.array([0.0, 1.0, 2.0, 3.0, 100.0])
    assert interquartile_mean(values) == pytest.approx(2.0)  # one is left out at each end
    assert interquartile_mean(values[:3]) == pytest.approx(1.0)  # nobody
    score = Score("win rate", "bacon", 0.5, 0.5, 0.5, 0)
    curves = [(np.array([0, 10]), np.array([0.0, 1.0])), (np.array([5]), np.array([0.7]))]
    runs = [RunCurve(Path(), "hog", 2, score, steps, {"score": values}) for steps, values in curves]
    few = Experiment("", tuple(runs)).band("score")
    assert (few.steps.tolist(), few.runs.tolist()) == ([0, 5, 10], [1, 2, 1])
    assert few.mean == pytest.approx([0.0, 0.6, 1.0])
    assert np.isnan(few.low).all()


@pytest.mark.parametrize(
    ("runs", "least"),
    [(ENOUGH, 0.84), *(pytest.param(runs, least, marks=pytest.mark.slow) for runs, least in ((10, 0.91), (20, 0.92)))],
)
def test_intervals_have_the_documented_coverage(runs: int, least: float) -> None:
    """The page on training says how often: 0.89 for four runs, 0.94 for ten. The percentile bootstrap is too narrow."""
    band = band_of(np.arange(600), np.random.default_rng(runs).normal(size=(runs, 600)))
    covered = ((band.low <= 0) & (band.high >= 0)).mean()
    assert least < covered < 0.98


@pytest.mark.slow
def test_two_seeds_train_in_separate_processes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "set"
    with pytest.raises(SystemExit, match="0"):
        main(["train", "hog", "--run-dir", str(folder), "--seeds", "2", *ARGUMENTS])
    said = capsys.readouterr()
    assert "seed 2, " in said.err
    assert "(mean and range of 2)" in said.out
    assert {"seed-1", "seed-2", SEEDS_FILE} <= set(os.listdir(folder))
    for seed in (1, 2):
        about = about_run(folder_of(folder, seed))
        assert about.finished
        assert about.settings["run"]["seed"] == seed
    curves = [(folder_of(folder, seed) / "curve.csv").read_text() for seed in (1, 2)]
    assert curves[0] != curves[1]
    with pytest.raises(SystemExit, match="0"):
        main(["train", "hog", "--run-dir", str(folder), "--resume"])
    assert "nothing was done" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_runs_on_when_the_command_is_ended(number: int, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    steps = ["--steps", "1000000000", *ARGUMENTS[:2], *ARGUMENTS[4:]]
    command = [sys.executable, "-m", "dicegym", "train", "hog", "--run-dir", str(folder), "--seeds", "2", *steps]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 120
        while len(list(folder.glob("seed-*/best.zip"))) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        children = _children(process.pid)
        assert len(children) == 2
        process.send_signal(number)
        process.wait(30)
    while any(Path(f"/proc/{child}/cmdline").exists() for child in children):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    for seed in (1, 2):
        assert (folder_of(folder, seed) / "checkpoint").is_dir()
        assert not (folder_of(folder, seed) / "run.lock").exists()


def _children(process: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def test_a_game_object_passes_its_parameters_to_the_seeds(stage: Callable[..., list[Actor]], tmp_path: Path) -> None:
    (task,) = (one.task for one in stage(tmp_path, game=dicegym.game("hog", goal=50), seeds=1))
    assert (task.game, task.overrides[0]) == ("hog", "game={players = 2, goal = 50, memory = 0}")


# --- on a cluster -------------------------------------------------------------------------------------------------


ON_NODES = [
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
    """A cluster on which a training has ended, or still runs."""

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


def _node_task(folder: Path) -> SeedTask:
    return SeedTask("hog", str(folder / "seed-3"), 3, "", (), False, 2)


def test_a_training_on_a_cluster_reports_its_needs_and_its_end(tmp_path: Path) -> None:
    for end, said in ((None, None), ("", ""), (DicegymError("lost"), "lost")):
        ray = Ray(end)
        trainer = RayTrainer(ray, _node_task(tmp_path))  # type: ignore[arg-type]
        assert trainer.waits == "waits for a node with room: threads 2, cpu"
        assert (ray.room["num_cpus"], ray.room["num_gpus"]) == (2, 0)
        assert trainer.poll() == said
    for number in (signal.SIGTERM, signal.SIGKILL):
        trainer.stop(number)
    assert ray.cancelled == [False, True]


def test_a_cluster_queues_all_trainings(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = SimpleNamespace(processors=[4, 2])
    monkeypatch.setattr(ray_trainer, "connect", lambda address, told: contextlib.nullcontext(cluster))
    with ray_trainer.ray_backend() as backend:
        assert (backend.processors, backend.queues) == ([4, 2], True)


@pytest.fixture
def node(monkeypatch: pytest.MonkeyPatch) -> list[SeedTask]:
    """Use this process as a node's; return the tasks trained on it."""
    trained: list[SeedTask] = []
    monkeypatch.setattr(ray_trainer, "check_version", lambda version: None)
    monkeypatch.setattr(ray_trainer, "train_seed", trained.append)
    return trained


def test_a_node_without_the_shared_folder_is_refused(node: list[SeedTask], tmp_path: Path) -> None:
    with alone_in(tmp_path / "there"):
        holder = holder_of(tmp_path / "there")
    with pytest.raises(
        DependencyError, match=r"does not see .*here.*mount the storage.*or give a --run-dir on storage"
    ):
        train_on_node("", _node_task(tmp_path / "here"), holder, "")
    assert not node


def test_a_training_resumes_what_its_lost_process_left(
    node: list[SeedTask], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    task = _node_task(tmp_path / "all")
    with alone_in(tmp_path / "all"):
        for resume in (False, True):
            train_on_node("", task, holder_of(tmp_path / "all"), "")
            assert node.pop().resume is resume
            Path(task.folder).mkdir(exist_ok=True)
            Path(task.folder, "settings.json").touch()


def test_a_training_waits_for_the_folder_of_a_lost_process(node: list[SeedTask], tmp_path: Path) -> None:
    task, held, leave = _node_task(tmp_path / "all"), threading.Event(), threading.Event()
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
        assert "is for several seeds" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


@pytest.mark.slow
def test_a_seed_whose_node_dies_continues_exactly_on_another(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    program = Path(__file__).with_name("seeds_on_nodes.py")
    request = {"folder": str(tmp_path / "there"), "overrides": ON_NODES, "result": str(tmp_path / "result.json")}
    subprocess.run([sys.executable, str(program), json.dumps(request)], cwd=tmp_path, check=True, timeout=1200)
    found = json.loads((tmp_path / "result.json").read_text())
    assert found["left"] == 1, "one of two nodes was lost"
    here = train_seeds("hog", tmp_path / "here", 2, overrides=ON_NODES)
    assert found["results"] == [[one.seed, one.how, one.best, one.end] for one in here.results]
    for seed in (1, 2):
        there = folder_of(tmp_path / "there", seed)
        assert (there / "curve.csv").read_bytes() == (folder_of(tmp_path / "here", seed) / "curve.csv").read_bytes()
