"""Trainings of several seeds on a Ray cluster, as a match is played there: a task, done again when its node is lost.

A training sends its run's folder after each checkpoint, and is done again from there; no file system need be shared.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from dicegym.arena.provenance import package_version
from dicegym.arena.ray_executor import Cluster, WorkFailedError, connected, fetch, on_node, write_files
from dicegym.errors import DicegymError
from dicegym.files import LARGEST_TEXT, read_text
from dicegym.learning import checkpoint
from dicegym.learning.files import LOCK_FILE, SETTINGS_FILE
from dicegym.learning.lock import alone_in
from dicegym.learning.seeds.process import LIBRARY_THREADS, Voice, carry_out
from dicegym.learning.seeds.task import FAILED, STOPPED, Said, SeedEvent, SeedTask, TrainingEnd
from dicegym.learning.seeds.training import Workshop
from dicegym.players.trust import SEAL, is_sealed, write_seal

HEAD = {"node:__internal_head__": 0.001}
"""What only the first node of a cluster has, with which the cluster ends."""
ROOM_SECONDS = 15.0
"""Seconds after which a training that no node has room for says so."""
RunFiles = dict[str, bytes]
"""By their paths from a run's folder, what is in its files."""


def read_run(folder: Path) -> RunFiles:
    """Return a run, of checkpoints the newest, of seals those that hold."""
    newest, (name, *_) = checkpoint.newest(folder), checkpoint.NAMES
    others = {path: content for path, content in _read(folder).items() if not path.startswith(name)}
    return others | {f"{name}/{path}": content for path, content in (_read(newest) if newest else {}).items()}


def _read(top: Path) -> RunFiles:
    found = RunFiles()
    for file in top.rglob("[!.]*"):  # names of files that are not written to their end begin with a dot
        holds = (sealed := _sealed_by(file)) is None or is_sealed(sealed)
        if file.is_file() and not file.is_symlink() and file.name != LOCK_FILE and holds:
            found[file.relative_to(top).as_posix()] = file.read_bytes()
    return found


def write_run(run: RunFiles, folder: Path) -> None:
    """Write what `read_run` returned, the checkpoint whole or not at all, with seals of this user; other files stay."""
    top = f"{checkpoint.NAMES[0]}/"
    within = {path.removeprefix(top): content for path, content in run.items() if path.startswith(top)}
    _write({path: content for path, content in run.items() if not path.startswith(top)}, folder)
    if within:
        checkpoint.replace(folder, lambda empty: _write(within, empty))


def _write(contents: RunFiles, top: Path) -> None:
    write_files(contents, top)
    for sealed in filter(None, (_sealed_by(top / name) for name in contents)):
        write_seal(sealed)


def _sealed_by(file: Path) -> Path | None:
    """Return what a file is the seal of; None if it is no seal."""
    return file.parent if file.name == SEAL else file.with_suffix("") if file.suffix == f".{SEAL}" else None


class SeedInbox:
    """Takes what a training says, and has its run as it came last; becomes an actor of Ray's."""

    def __init__(self, run: RunFiles) -> None:
        self._run, self._news = run, list[SeedEvent | RunFiles]()

    def put(self, news: SeedEvent | RunFiles) -> None:
        """Take an event, or the run after a checkpoint."""
        self._news.append(news)
        self._run = news if isinstance(news, dict) else self._run

    def run(self) -> RunFiles:
        """Return the run as it came last."""
        return self._run

    def take(self) -> list[SeedEvent | RunFiles]:
        """Return what has come since the last call."""
        found, self._news = self._news, []
        return found


class SeedVoice(Voice):
    """Says to an inbox what happens, and sends it the run after each checkpoint.

    Args:
        put: puts something into the inbox.
        folder: of the run.
    """

    def __init__(self, put: Callable[[SeedEvent | RunFiles], None], folder: Path) -> None:
        super().__init__(io.StringIO())
        self._put, self._folder, self._sent = put, folder, 0

    def say(self, event: SeedEvent) -> None:
        """Say an event."""
        self._put(event)

    def progress(self, done: int, total: int, text: str) -> None:
        """Say how far it is, and send a new checkpoint."""
        super().progress(done, total, text)
        newest = checkpoint.newest(self._folder)
        if newest is not None and self._sent != newest.stat().st_mtime_ns:
            self._sent = newest.stat().st_mtime_ns
            self._put(read_run(self._folder))


def train_on_node(version: str, task: SeedTask, inbox: Any, config: str, where: str) -> TrainingEnd:
    """Train in this process of Ray's, in a folder of its own; return how that ended.

    Args:
        version: of dicegym where the training was asked for.
        task: what to do, with the folder that it has there.
        inbox: the actor of a `SeedInbox`.
        config: text of the configuration; empty: the game's own.
        where: the folder in which paths of settings begin, if the node has it.

    Raises DependencyError if the node cannot do it.
    """
    with on_node(version):
        top = Path(tempfile.mkdtemp())
    folder, own, run = top / "run", top / "config.toml", fetch(inbox.run.remote())
    own.write_text(config, encoding="utf-8")
    write_run(run, folder)
    os.chdir(where if os.path.isdir(where) else top)

    def put(news: SeedEvent | RunFiles) -> None:
        fetch(inbox.put.remote(news))

    put(Said(f"trains on {socket.gethostname()}"))
    task = task._replace(folder=str(folder), config=str(own) if config else "", resume=SETTINGS_FILE in run)
    end = carry_out(task, SeedVoice(put, folder))
    put(read_run(folder))
    return end


class RayTrainer:
    """A training on a cluster, as seen from here; a `dicegym.learning.seeds.task.SeedTrainer`.

    Args:
        cluster: where.
        task: what to do.
    """

    def __init__(self, cluster: Cluster, task: SeedTask) -> None:
        self._cluster, self._called, self._stopped = cluster, f"seed {task.seed}", False
        self._folder = Path(task.folder)
        config = read_text(task.config, "name a file of settings", LARGEST_TEXT) if task.config else ""
        self._inbox = cluster.ray.remote(num_cpus=0, resources=HEAD)(SeedInbox).remote(read_run(self._folder))
        self._room, self._since, self._waits = f"threads {task.threads}, {task.device}", time.monotonic(), True
        room = {"num_cpus": task.threads, "num_gpus": 1 if task.device.startswith("cuda") else 0}
        threads = {"env_vars": {name: str(task.threads) for name in LIBRARY_THREADS}}
        train = cluster.remote(train_on_node, **room, max_calls=1, runtime_env=threads)
        self._work = train.remote(package_version(), task, self._inbox, config, os.getcwd())

    def events(self) -> list[SeedEvent]:
        """Return what happened since the last call; see `dicegym.learning.seeds.task.SeedTrainer`."""
        self._cluster.look()
        ended = self._cluster.ray.wait([self._work], timeout=0)[0]  # first: then all that it said is there
        found = list[SeedEvent]()
        if self._waits and time.monotonic() - self._since > ROOM_SECONDS:
            self._waits = False
            found.append(Said(f"waits for a node of the cluster with room: {self._room}"))
        for news in self._cluster.result(self._inbox.take.remote(), f"the words of {self._called}"):
            self._waits = False
            if isinstance(news, dict):
                write_run(news, self._folder)
            else:
                found.append(news)
        if ended:
            try:
                found.append(self._cluster.result(self._work, self._called))
            except DicegymError as error:
                how = STOPPED if self._stopped and not isinstance(error, WorkFailedError) else FAILED
                found.append(TrainingEnd(how, str(error)))
        return found

    def stop(self, number: int, force: bool = False) -> None:
        """Interrupt it, or end its process; see `dicegym.learning.seeds.task.SeedTrainer`."""
        self._stopped = True
        self._cluster.ray.cancel(self._work, force=force)

    def kill(self) -> None:
        """End it now, if need be before a node had room for it."""
        self.stop(signal.SIGKILL, force=True)

    def close(self) -> None:
        """Give back what it holds."""
        self._cluster.ray.kill(self._inbox)


@contextlib.contextmanager
def ray_workshop(
    address: str | None = None, workers: int | None = None, told: Callable[[str], None] = lambda line: None
) -> Iterator[Callable[[int], Workshop]]:
    """Connect to a cluster, and yield what `dicegym.learning.seeds.training.train_seeds` takes as workshop.

    Args:
        address: as for `dicegym.arena.ray_executor.connected`, whose errors this raises.
        workers: trainings at once; default: as many as the cluster has room for.
        told: called with a line that says where they are, and with one for each node that is lost.
    """
    with connected(address, told) as cluster, contextlib.ExitStack() as held:

        def hire(task: SeedTask, log: Path) -> RayTrainer:
            """Begin a training, whose folder is held to the end; what libraries print stays on the node."""
            held.enter_context(alone_in(Path(task.folder)))
            return RayTrainer(cluster, task)

        def workshop(seeds: int) -> Workshop:
            each = cluster.processors.values()
            at_once = min(seeds, workers or seeds)
            share = min(max(each), sum(each) // min(at_once, sum(each))) if each else None
            return Workshop(hire, at_once, share)

        yield workshop
