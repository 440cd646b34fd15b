"""Trainings of several seeds on a Ray cluster: each is a process as on this machine, on some node, behind an actor.

Its run's folder comes back after each checkpoint, and goes along with each question. When its node is lost, Ray starts
the actor again elsewhere and asks it again: the training goes on from that folder, and no file system need be shared.
"""

from __future__ import annotations

import contextlib
import contextvars
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from dicegym.arena.ray_executor import MOST_LOSSES, Cluster, WorkFailedError, connected, on_node, own_version
from dicegym.errors import DicegymError
from dicegym.files import LARGEST_TEXT, read_text, writing
from dicegym.learning import checkpoint
from dicegym.learning.files import LOCK_FILE
from dicegym.learning.lock import alone_in
from dicegym.learning.seeds.process import SeedProcess
from dicegym.learning.seeds.task import FAILED, STOPPED, Said, SeedEvent, SeedTask, TrainingEnd
from dicegym.learning.seeds.training import Workshop
from dicegym.players.trust import SEAL, is_sealed, write_seal

CHECKPOINT = checkpoint.NAMES[0]
ROOM_SECONDS = 15.0
"""How long a node may take to answer until a training says that it waits for room."""


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
    inside = {name for name in contents if name.startswith(f"{CHECKPOINT}/")}
    _write({name: content for name, content in contents.items() if name not in inside}, folder)
    if inside:
        whole = {name.removeprefix(f"{CHECKPOINT}/"): contents[name] for name in inside}
        checkpoint.replace(folder, lambda empty: _write(whole, empty))


def _write(contents: dict[str, bytes], top: Path) -> None:
    for name, content in contents.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        if not _sealed_by(top / name):
            with writing(top / name) as unfinished:
                unfinished.write_bytes(content)
    for sealed in filter(None, (_sealed_by(top / name) for name in contents)):
        write_seal(sealed)


def _sealed_by(file: Path) -> Path | None:
    """Return what a file is the seal of; None if it is no seal."""
    return file.parent if file.name == SEAL else file.with_suffix("") if file.suffix == f".{SEAL}" else None


class NodeTraining:
    """A training on a node, in a folder of its own; becomes an actor of Ray's."""

    def __init__(self) -> None:
        self._process: SeedProcess | None = None
        self._sent = -1
        self._answered: tuple[int, Any] = 0, None

    def answer(self, number: int, *question: Any) -> Any:
        """Answer a question once: `events`. If Ray asks again, as the answer was lost, it gets the same one."""
        if number != self._answered[0]:
            self._answered = number, self.events(*question)
        return self._answered[1]

    def events(
        self, version: str, task: SeedTask, last: list[Any], config: str, where: str, signals: list[int]
    ) -> tuple[bool, list[SeedEvent], dict[str, bytes]]:
        """Begin the training if it does not run here, and hand on signals.

        Args:
            version: of dicegym where the training was asked for.
            task: what to do, with the folder that it has there.
            last: Ray's reference to what came of that folder last, in a list, so that it is fetched when needed.
            config: text of the configuration; empty: the game's own.
            where: the folder in which paths of settings begin, if the node has it.
            signals: for the training.

        Returns whether it was begun, what happened since the last call, and the run's folder if it has a new
        checkpoint or has ended. Raises DependencyError if the node cannot do it.
        """
        begins = self._process is None
        process = self._process = self._process or self._begin(version, task, last, config, where)
        for number in signals:
            process.stop(number)
        events = list(process.events())
        written = _checkpoint_of(self._run)
        if written != self._sent or any(isinstance(event, TrainingEnd) for event in events):
            with contextlib.suppress(FileNotFoundError):  # another checkpoint took its place meanwhile
                contents = read_run(self._run)
                if written == _checkpoint_of(self._run):
                    self._sent = written
                    return begins, events, contents
        return begins, events, {}

    def _begin(self, version: str, task: SeedTask, last: list[Any], config: str, where: str) -> SeedProcess:
        import ray

        with on_node(version):
            top = Path(tempfile.mkdtemp())
        self._run, own, contents = top / "run", top / "config.toml", ray.get(last[0])
        own.write_text(config, encoding="utf-8")
        write_run(contents, self._run)
        task = task._replace(
            folder=str(self._run), config=str(own) if config else "", resume="settings.json" in contents
        )
        return SeedProcess(task, top / "log", Path(where) if os.path.isdir(where) else top)


def _checkpoint_of(run: Path) -> int:
    """Return when the newest checkpoint was written, in nanoseconds; -1 if there is none."""
    with contextlib.suppress(FileNotFoundError):  # it gives way to the next one
        newest = checkpoint.newest(run)
        return -1 if newest is None else newest.stat().st_mtime_ns
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
        self._stopped = self._heard = False
        self._number = 0
        try:
            contents = read_run(self._folder) if (self._folder / "settings.json").is_file() else {}
            self._last = [cluster.ray.put(contents)]
            room = {"num_cpus": task.threads, "num_gpus": 1 if task.device.startswith("cuda") else 0}
            again = {"max_restarts": MOST_LOSSES - 1, "max_task_retries": -1}
            self._actor = cluster.ray.remote(**room, **again)(NodeTraining).remote()
            self._ask([])
        except BaseException:
            self._memory.run(self._held.close)
            raise

    def _ask(self, signals: list[int]) -> None:
        self._number += 1
        question = own_version(), self._task, self._last, self._config, os.getcwd(), signals
        self._asked, self._since = self._actor.answer.remote(self._number, *question), time.monotonic()
        self._signals: list[int] = []

    def events(self) -> Iterable[SeedEvent]:
        """Return what happened since the last call; see `dicegym.learning.seeds.task.SeedTrainer`."""
        self._cluster.look()
        if not self._cluster.ray.wait([self._asked], timeout=0)[0]:
            if self._stopped and not self._heard:
                return [TrainingEnd(STOPPED)]
            if time.monotonic() - self._since < ROOM_SECONDS:
                return []
            self._since = float("inf")
            return [
                Said(f"waits for a node of the cluster with room: threads {self._task.threads}, {self._task.device}")
            ]
        try:
            begun, found, contents = self._cluster.result(self._asked, f"seed {self._task.seed}")
        except WorkFailedError as error:
            return [TrainingEnd(FAILED, str(error))]
        except DicegymError as error:
            return [TrainingEnd(STOPPED if self._stopped else FAILED, str(error))]
        if begun and self._heard:
            if self._stopped:
                return [TrainingEnd(STOPPED)]
            found.insert(0, Said("its node was lost; it goes on elsewhere from the last checkpoint that came"))
        self._heard = True
        if contents:
            write_run(contents, self._folder)
            self._last = [self._cluster.ray.put(contents)]
        self._ask(self._signals)
        return list(found)

    def stop(self, number: int) -> None:
        """Hand on a signal; see `dicegym.learning.seeds.task.SeedTrainer`."""
        self._stopped = True
        self._signals.append(number)

    def kill(self) -> None:
        """End it now, if need be before a node had room for it."""
        self._stopped = True
        self._cluster.ray.kill(self._actor)

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
        address: as for `dicegym.arena.ray_executor.connected`, whose errors this raises.
        workers: trainings at once; default: as many as the cluster has room for.
        told: called with a line that says where they are, and with one for each node that is lost.
    """
    with connected(address) as ray:
        cluster = Cluster(ray, told)

        def workshop(seeds: int) -> Workshop:
            each = cluster.processors.values()
            at_once = min(seeds, workers or seeds)
            share = min(max(each), sum(each) // min(at_once, sum(each))) if each else None
            return Workshop(lambda task, log: RayTrainer(cluster, task, log), at_once, share)

        yield workshop
