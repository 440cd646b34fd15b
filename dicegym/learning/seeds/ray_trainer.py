"""Trainings of several seeds on a Ray cluster: each is a process as on this machine, on some node, behind an actor.

Its run's folder comes back after each checkpoint. From that it goes on elsewhere when its node is lost: no file system
need be shared.
"""

from __future__ import annotations

import contextlib
import contextvars
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from dicegym.arena.ray_cluster import MOST_LOSSES, Cluster, connected, on_node, own_version
from dicegym.errors import DicegymError
from dicegym.files import LARGEST_TEXT, read_text, writing
from dicegym.learning import checkpoint
from dicegym.learning.files import LOCK_FILE
from dicegym.learning.lock import alone_in
from dicegym.learning.seeds.process import SeedProcess
from dicegym.learning.seeds.task import FAILED, STOPPED, Said, SeedEvent, SeedTask, TrainingEnd
from dicegym.learning.seeds.training import Workshop
from dicegym.players.seal import SEAL, is_sealed, write_seal

CHECKPOINT = checkpoint.NAMES[0]


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
        hidden = file.name == LOCK_FILE or file.name.startswith(".")  # the latter are not written to their end yet
        if file.is_file() and not file.is_symlink() and not hidden and (not sealed or is_sealed(sealed)):
            found["/".join((where, *rest))] = file.read_bytes()
    return found


def write_run(contents: dict[str, bytes], folder: Path) -> None:
    """Write what `read_run` returned, the checkpoint whole or not at all, with seals of this user; other files stay."""

    def write(contents: dict[str, bytes], top: Path) -> None:
        for name, content in contents.items():
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            if not _sealed_by(top / name):
                with writing(top / name) as unfinished:
                    unfinished.write_bytes(content)
        for sealed in filter(None, (_sealed_by(top / name) for name in contents)):
            write_seal(sealed)

    start = f"{CHECKPOINT}/"
    inside = {name.removeprefix(start): content for name, content in contents.items() if name.startswith(start)}
    write({name: content for name, content in contents.items() if not name.startswith(start)}, folder)
    if inside:
        checkpoint.replace(folder, lambda empty: write(inside, empty))


def _sealed_by(file: Path) -> Path | None:
    """Return what a file is the seal of; None if it is no seal."""
    return file.parent if file.name == SEAL else file.with_suffix("") if file.suffix == f".{SEAL}" else None


class NodeTraining:
    """A training on a node, in a folder of its own; becomes an actor of Ray's."""

    def begin(self, version: str, task: SeedTask, contents: dict[str, bytes], config: str, where: str) -> None:
        """Begin.

        Args:
            version: of dicegym where the training was asked for.
            task: what to do, with the folder that it has there.
            contents: of that folder, as far as there is one.
            config: text of the configuration; empty: the game's own.
            where: the folder in which paths of settings begin, if the node has it.

        Raises DependencyError if the node cannot do it.
        """
        with on_node(version) as folder:
            top = Path(tempfile.mkdtemp(dir=folder))
        self._run, own, self._sent = top / "run", top / "config.toml", -1
        own.write_text(config, encoding="utf-8")
        write_run(contents, self._run)
        task = task._replace(
            folder=str(self._run), config=str(own) if config else "", resume="settings.json" in contents
        )
        self._process = SeedProcess(task, top / "log", Path(where) if os.path.isdir(where) else top)

    def events(self, signals: list[int]) -> tuple[list[SeedEvent], dict[str, bytes]]:
        """Hand on signals; return what happened since the last call, and the run's folder if it has a new checkpoint.

        A training that has ended returns its folder in any case.
        """
        for number in signals:
            self._process.stop(number)
        events = list(self._process.events())
        ended = any(isinstance(event, TrainingEnd) for event in events)
        written = _checkpoint_of(self._run)
        if written == self._sent and not ended:
            return events, {}
        try:
            contents = read_run(self._run)
        except FileNotFoundError:  # another checkpoint took its place meanwhile
            return events, {}
        if written != _checkpoint_of(self._run):
            return events, {}
        self._sent = written
        return events, contents

    def kill(self) -> None:
        """End the process now."""
        self._process.kill()


def _checkpoint_of(run: Path) -> int:
    """Return when the newest checkpoint was written, in nanoseconds; -1 if there is none."""
    try:
        newest = checkpoint.newest(run)
        return -1 if newest is None else newest.stat().st_mtime_ns
    except FileNotFoundError:  # it gives way to the next one
        return -1


class RayTrainer:
    """A training on a cluster, as seen from here; a `dicegym.learning.seeds.task.SeedTrainer`.

    Args:
        cluster: where.
        task: what to do.
        log: is not used: what libraries print stays on the node, but for the last line of one that fails.
    """

    def __init__(self, cluster: Cluster, task: SeedTask, log: Path) -> None:
        self._cluster, self._task, self._folder = cluster, task, Path(task.folder)
        self._config = read_text(task.config, "name a file of settings", LARGEST_TEXT) if task.config else ""
        self._held = contextlib.ExitStack()
        # What a lock remembers of its thread is undone in the order of its doing: each trainer has a memory of its own.
        self._memory = contextvars.copy_context()
        self._memory.run(self._held.enter_context, alone_in(self._folder))
        self._signals: list[int] = []
        self._stopped = False
        self._losses = 0
        try:
            self._begin()
        except BaseException:
            self._memory.run(self._held.close)
            raise

    def _begin(self) -> None:
        self._heard = False
        contents = read_run(self._folder) if (self._folder / "settings.json").is_file() else {}
        gpus = 1 if self._task.device.startswith("cuda") else 0
        actor = self._cluster.ray.remote(num_cpus=self._task.threads, num_gpus=gpus)(NodeTraining)
        self._actor = actor.remote()
        self._begun = self._actor.begin.remote(own_version(), self._task, contents, self._config, os.getcwd())
        self._asked = self._actor.events.remote([])

    def events(self) -> Iterable[SeedEvent]:
        """Return what happened since the last call; see `dicegym.learning.seeds.task.SeedTrainer`."""
        self._cluster.look()
        if not self._cluster.ray.wait([self._asked], timeout=0)[0]:
            return [TrainingEnd(STOPPED)] if self._stopped and not self._heard else []  # it waits for a node
        try:
            self._cluster.result(self._begun)
            found, contents = self._cluster.result(self._asked)
        except ConnectionError as error:
            return [self._begin_again(error)]
        except DicegymError as error:
            return [TrainingEnd(FAILED, str(error))]
        write_run(contents, self._folder)
        self._heard = True
        self._asked, self._signals = self._actor.events.remote(self._signals), []
        return list(found)

    def _begin_again(self, error: ConnectionError) -> SeedEvent:
        """Begin elsewhere, from the last checkpoint that came, unless it is to end; return what is to be said."""
        self._losses += 1
        if self._stopped:
            return TrainingEnd(STOPPED)
        if self._losses >= MOST_LOSSES:
            return TrainingEnd(FAILED, f"{MOST_LOSSES} nodes were lost with it, the last one so: {error}")
        self._begin()
        return Said("its node was lost; it goes on elsewhere from the last checkpoint that came")

    def stop(self, number: int) -> None:
        """Hand on a signal; see `dicegym.learning.seeds.task.SeedTrainer`."""
        self._stopped = True
        self._signals.append(number)

    def kill(self) -> None:
        """End it now, if need be before a node had room for it."""
        self._stopped = True
        if self._heard:
            self._actor.kill.remote()

    def close(self) -> None:
        """Give back its processor, and let go of its folder here."""
        self._cluster.ray.kill(self._actor)
        self._memory.run(self._held.close)


@contextlib.contextmanager
def ray_workshop(
    address: str | None = None, workers: int | None = None, told: Callable[[str], None] = lambda line: None
) -> Iterator[Callable[[int], Workshop]]:
    """Connect to a cluster, and yield what `dicegym.learning.seeds.training.train_seeds` takes as workshop.

    Args:
        address: as for `dicegym.arena.ray_cluster.connected`, whose errors this raises.
        workers: trainings at once; default: as many as the cluster has room for.
        told: called with a line that says where they are, and with one for each node that is lost.
    """
    with connected(address) as ray:
        cluster = Cluster(ray, told)

        def workshop(seeds: int) -> Workshop:
            at_once, there = min(seeds, workers or seeds), cluster.processors
            share = min(cluster.largest, there // min(at_once, there)) if there else None
            return Workshop(lambda task, log: RayTrainer(cluster, task, log), at_once, share)

        yield workshop
