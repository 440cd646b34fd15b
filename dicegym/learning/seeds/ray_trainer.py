"""Trainings of several seeds on a Ray cluster: each is a task of Ray's, in a folder of its own on some node.

A mailbox on this machine takes what a training says, and its run's folder after each checkpoint. From that it goes on
elsewhere when its node is lost: no file system need be shared.
"""

from __future__ import annotations

import contextlib
import contextvars
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from dicegym.arena.ray_cluster import Cluster, Work, connected, node_folder
from dicegym.errors import DicegymError
from dicegym.files import LARGEST_TEXT, read_text
from dicegym.learning import checkpoint
from dicegym.learning.files import LOCK_FILE
from dicegym.learning.lock import alone_in
from dicegym.learning.seeds.process import SeedProcess
from dicegym.learning.seeds.task import FAILED, STOPPED, Said, Saved, SeedEvent, SeedTask, TrainingEnd
from dicegym.learning.seeds.training import Workshop
from dicegym.players.seal import SEAL, is_sealed, write_seal

CHECKPOINT = checkpoint.NAMES[0]
WORD_EVERY = 0.2
"""Seconds between two words of a training to its mailbox."""


def read_run(folder: Path) -> dict[str, bytes]:
    """Return the files of a run's folder by their paths in it: of checkpoints the newest, of seals those that hold."""
    newest, found = checkpoint.newest(folder), dict[str, bytes]()
    for file in sorted(folder.rglob("*")):
        where, *rest = file.relative_to(folder).parts
        if where.startswith(CHECKPOINT):
            if newest is None or where != newest.name:
                continue
            where = CHECKPOINT
        sealed = _sealed_by(file)
        if file.is_file() and not file.is_symlink() and file.name != LOCK_FILE and (not sealed or is_sealed(sealed)):
            found["/".join((where, *rest))] = file.read_bytes()
    return found


def write_run(files: dict[str, bytes], folder: Path) -> None:
    """Write what `read_run` returned into a run's folder, its checkpoint whole or not at all, with seals of this user.

    What is in the folder besides stays.
    """

    def write(names: Iterable[str], top: Path) -> None:
        for name in names:
            target = top / name.removeprefix(f"{CHECKPOINT}/")
            target.parent.mkdir(parents=True, exist_ok=True)
            if sealed := _sealed_by(target):
                seals.append(sealed)
                continue
            unfinished = target.with_name(f".{target.name}.part")
            unfinished.write_bytes(files[name])
            os.replace(unfinished, target)
        while seals:
            write_seal(seals.pop())

    seals: list[Path] = []
    inside = [name for name in files if name.startswith(f"{CHECKPOINT}/")]
    write(files.keys() - set(inside), folder)
    if inside:
        checkpoint.replace(folder, lambda empty: write(inside, empty))


def _sealed_by(file: Path) -> Path | None:
    """Return what a file is the seal of; None if it is no seal."""
    return file.parent if file.name == SEAL else file.with_suffix("") if file.suffix == f".{SEAL}" else None


class Mailbox:
    """What a training and whoever began it tell each other; becomes an actor of Ray's."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self._files, self._starts = files, 0
        self._said: list[tuple[SeedEvent, dict[str, bytes]]] = []
        self._signals: list[int] = []

    def start(self) -> dict[str, bytes]:
        """Return the files to begin with, on whatever node."""
        self._starts += 1
        if self._starts > 1:
            self._said.append((Said("its node was lost; it goes on elsewhere from the last checkpoint that came"), {}))
        return self._files

    def report(self, said: list[tuple[SeedEvent, dict[str, bytes]]]) -> list[int]:
        """Take what happened, each with the files that it left; return signals that came meanwhile."""
        self._said += said
        self._files = next((files for _, files in reversed(said) if files), self._files)
        signals, self._signals = self._signals, []
        return signals

    def collect(self, signals: list[int]) -> tuple[bool, list[tuple[SeedEvent, dict[str, bytes]]]]:
        """Take signals; return whether the training has begun anywhere, and what was reported since the last call."""
        self._signals += signals
        said, self._said = self._said, []
        return self._starts > 0, said


def train_on_node(task: SeedTask, config: str, where: str, references: list[Any]) -> None:
    """Train on a node, in a folder of its own.

    Args:
        task: what to do, with the folder that it has where it was begun.
        config: text of the configuration; empty: the game's own.
        where: folder in which whoever began it works; paths of settings begin there if the node has it.
        references: the mailbox.
    """
    import ray

    (mailbox,) = references
    top = Path(tempfile.mkdtemp(dir=node_folder()))
    run, own = top / "run", top / "config.toml"
    write_run(ray.get(mailbox.start.remote()), run)
    own.write_text(config, encoding="utf-8")
    (top / "outbox").mkdir()
    begun = (run / "settings.json").is_file()
    task = task._replace(folder=str(run), outbox=str(top / "outbox"), config=str(own) if config else "", resume=begun)
    process = SeedProcess(task, top / "log", Path(where) if os.path.isdir(where) else top)
    over = False
    while not over:
        time.sleep(WORD_EVERY)
        said = [(event, _taken(event)) for event in process.events()]
        over = any(isinstance(event, TrainingEnd) for event, _ in said)
        for number in ray.get(mailbox.report.remote(said)):
            process.stop(number)
    process.close()
    shutil.rmtree(top, ignore_errors=True)


def _taken(event: SeedEvent) -> dict[str, bytes]:
    """Return the files of the copy of a run's folder that an event names, and remove it."""
    if not isinstance(event, Saved):
        return {}
    files = read_run(Path(event.folder))
    shutil.rmtree(event.folder)
    return files


class RayTrainer:
    """A training on a cluster, as seen from here; a `dicegym.learning.seeds.task.SeedTrainer`.

    Args:
        cluster: where.
        task: what to do.
        log: is not used: what libraries print stays on the node, but for the last line of one that fails.
    """

    def __init__(self, cluster: Cluster, task: SeedTask, log: Path) -> None:
        self._cluster, self._folder = cluster, Path(task.folder)
        self._held = contextlib.ExitStack()
        # What a lock remembers of its thread is undone in the order of its doing: each trainer has a memory of its own.
        self._memory = contextvars.copy_context()
        self._memory.run(self._held.enter_context, alone_in(self._folder))
        here = cluster.ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
            cluster.ray.get_runtime_context().get_node_id(), soft=False
        )
        there = read_run(self._folder) if (self._folder / "settings.json").is_file() else {}
        self._mailbox = cluster.ray.remote(num_cpus=0, scheduling_strategy=here)(Mailbox).remote(there)
        config = read_text(task.config, "name a file of settings", LARGEST_TEXT) if task.config else ""
        gpus = 1 if task.device.startswith("cuda") else 0
        arguments = task, config, os.getcwd()
        self._work = Work(train_on_node, arguments, [self._mailbox], task.threads, gpus)
        self._running = cluster.start(self._work)
        self._signals: list[int] = []
        self._over = False

    def events(self) -> Iterable[SeedEvent]:
        """Return what happened since the last call; see `dicegym.learning.seeds.task.SeedTrainer`."""
        if self._over:
            return []
        ray = self._cluster.ray
        ended = bool(ray.wait([self._running], timeout=0)[0])  # before what it has said is asked for
        stopped, signals, self._signals = bool(self._signals), self._signals, []
        begun, said = ray.get(self._mailbox.collect.remote(signals))
        for _, files in said:
            if files:
                write_run(files, self._folder)
        found = [event for event, _ in said]
        if stopped and not begun:  # there is nothing to save
            found.append(TrainingEnd(STOPPED))
        self._over = any(isinstance(event, TrainingEnd) for event in found)
        if ended and not self._over:
            try:
                if not self._cluster.result(self._running)[0]:
                    self._running = self._cluster.start(self._work)
            except DicegymError as error:
                self._over = True
                found.append(TrainingEnd(FAILED, str(error)))
        self._cluster.look()
        return found

    def stop(self, number: int) -> None:
        """Hand on a signal; see `dicegym.learning.seeds.task.SeedTrainer`."""
        self._signals.append(number)

    def kill(self) -> None:
        """End it now; what it does is ended with it."""
        self._cluster.ray.cancel(self._running, force=True)

    def close(self) -> None:
        """End what is left of it, and let go of its folder here."""
        self.kill()
        self._cluster.ray.kill(self._mailbox)
        self._memory.run(self._held.close)


@contextlib.contextmanager
def ray_workshop(
    address: str | None = None, workers: int | None = None, told: Callable[[str], None] = lambda line: None
) -> Iterator[Callable[[int], Workshop]]:
    """Connect to a cluster, and yield what `dicegym.learning.seeds.training.train_seeds` takes as workshop.

    Args:
        address: as for `dicegym.arena.ray_cluster.connected`.
        workers: trainings at once; default: as many as the cluster has room for.
        told: called with a line that says where they are, and with one for each node that is lost.

    Raises as `dicegym.arena.ray_cluster.connected` does.
    """
    with connected(address) as ray:
        cluster = Cluster(ray, told)

        def workshop(seeds: int) -> Workshop:
            at_once = min(seeds, workers or seeds)
            there = cluster.processors
            share = there // min(at_once, there) if there else None
            return Workshop(lambda task, log: RayTrainer(cluster, task, log), at_once, share)

        yield workshop
