"""Trainings of several seeds on a Ray cluster: each is a task of Ray's, in a folder of its own on some node.

A mailbox on this machine takes what a training says, and its run's folder after each checkpoint. From that it goes on
elsewhere when its node is lost: no file system need be shared.
"""

from __future__ import annotations

import contextlib
import contextvars
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from dicegym.arena.ray_cluster import MOST_LOSSES, Cluster, connected, node_folder
from dicegym.errors import DicegymError
from dicegym.files import LARGEST_TEXT, read_text, writing
from dicegym.learning import checkpoint
from dicegym.learning.files import LOCK_FILE
from dicegym.learning.lock import alone_in
from dicegym.learning.seeds.child import Voice, carry_out
from dicegym.learning.seeds.process import LIBRARY_THREADS
from dicegym.learning.seeds.task import FAILED, STOPPED, Said, SeedEvent, SeedTask, TrainingEnd
from dicegym.learning.seeds.training import Workshop
from dicegym.players.seal import SEAL, is_sealed, write_seal

CHECKPOINT = checkpoint.NAMES[0]
SAID, SIGNALS = "said", "signals"
"""Boxes of a mailbox."""
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


class Mailbox:
    """What a training and whoever began it have for each other; becomes an actor of Ray's."""

    def __init__(self) -> None:
        self._boxes: dict[str, list[Any]] = {SAID: [], SIGNALS: []}

    def swap(self, put: str, news: list[Any], take: str) -> list[Any]:
        """Put news into one box, and return what has come into the other one."""
        self._boxes[put] += news
        found, self._boxes[take] = self._boxes[take], []
        return found


def train_on_node(task: SeedTask, contents: dict[str, bytes], config: str, where: str, objects: list[Any]) -> None:
    """Train in a process of Ray's, in a folder of its own.

    Args:
        task: what to do, with the folder that it has where it was begun.
        contents: of that folder, as far as there is one.
        config: text of the configuration; empty: the game's own.
        where: folder in which whoever began it works; paths of settings begin there if the node has it.
        objects: the mailbox.
    """
    import ray

    top = Path(tempfile.mkdtemp(dir=node_folder()))
    run, own = top / "run", top / "config.toml"
    own.write_text(config, encoding="utf-8")
    write_run(contents, run)
    begun = "settings.json" in contents
    task = task._replace(folder=str(run), config=str(own) if config else "", resume=begun)
    os.chdir(where if os.path.isdir(where) else top)

    def swap(*said: tuple[SeedEvent | None, dict[str, bytes]]) -> None:
        for number in ray.get(objects[0].swap.remote(SAID, list(said), SIGNALS)):
            os.kill(os.getpid(), number)

    def listen() -> None:
        while True:
            time.sleep(WORD_EVERY)
            swap()

    threading.Thread(target=listen, daemon=True).start()
    over = carry_out(task, Voice(lambda event: swap((event, {}))), lambda: swap((None, read_run(run))))
    swap((None, read_run(run)), (over, {}))


class RayTrainer:
    """A training on a cluster, as seen from here; a `dicegym.learning.seeds.task.SeedTrainer`.

    Args:
        cluster: where.
        task: what to do.
        log: is not used: what libraries print stays on the node, but for the last line of one that fails.
    """

    def __init__(self, cluster: Cluster, task: SeedTask, log: Path) -> None:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        self._cluster, self._task, self._folder = cluster, task, Path(task.folder)
        self._config = read_text(task.config, "name a file of settings", LARGEST_TEXT) if task.config else ""
        self._held = contextlib.ExitStack()
        # What a lock remembers of its thread is undone in the order of its doing: each trainer has a memory of its own.
        self._memory = contextvars.copy_context()
        self._memory.run(self._held.enter_context, alone_in(self._folder))
        here = NodeAffinitySchedulingStrategy(cluster.ray.get_runtime_context().get_node_id(), soft=False)
        self._mailbox = cluster.ray.remote(num_cpus=0, scheduling_strategy=here)(Mailbox).remote()
        self._signals: list[int] = []
        self._stopped = self._heard = self._over = False
        self._losses = 0
        self._begin()

    def _begin(self) -> None:
        contents = read_run(self._folder) if (self._folder / "settings.json").is_file() else {}
        arguments = self._task, contents, self._config, os.getcwd()
        gpus = 1 if self._task.device.startswith("cuda") else 0
        # No other training has the same variables, so Ray has a process of its own for this one.
        variables = dict.fromkeys(LIBRARY_THREADS, str(self._task.threads)) | {"DICEGYM_SEED": str(self._task.seed)}
        options: dict[str, Any] = {"num_cpus": self._task.threads, "num_gpus": gpus, "max_retries": 0}
        options |= {"objects": [self._mailbox], "runtime_env": {"env_vars": variables}}
        self._running = self._cluster.start(train_on_node, *arguments, **options)

    def events(self) -> Iterable[SeedEvent]:
        """Return what happened since the last call; see `dicegym.learning.seeds.task.SeedTrainer`."""
        if self._over:
            return []
        ray, signals = self._cluster.ray, self._signals
        ended = bool(ray.wait([self._running], timeout=0)[0])  # before it is asked what was said
        self._signals = []
        said = ray.get(self._mailbox.swap.remote(SIGNALS, signals, SAID))
        for _, contents in said:
            write_run(contents, self._folder)
        found: list[SeedEvent] = [event for event, _ in said if event is not None]
        self._heard = self._heard or bool(found)
        self._cluster.look()
        if self._stopped and not self._heard:  # there is nothing to save
            found.append(TrainingEnd(STOPPED))
        elif ended and not any(isinstance(event, TrainingEnd) for event in found):
            found.append(self._begin_again())
        self._over = any(isinstance(event, TrainingEnd) for event in found)
        return found

    def _begin_again(self) -> SeedEvent:
        """Begin elsewhere, from the last checkpoint that came, unless it is to end; return what is to be said."""
        try:
            self._cluster.result(self._running)
            why = "its node does not fit; it begins on another"
        except ConnectionError as error:
            why = "its node was lost; it goes on elsewhere from the last checkpoint that came"
            self._losses += 1
            if self._stopped:
                return TrainingEnd(STOPPED)
            if self._losses >= MOST_LOSSES:
                return TrainingEnd(FAILED, f"{MOST_LOSSES} nodes were lost with it, the last one so: {error}")
        except DicegymError as error:
            return TrainingEnd(FAILED, str(error))
        self._begin()
        return Said(why)

    def stop(self, number: int) -> None:
        """Hand on a signal; see `dicegym.learning.seeds.task.SeedTrainer`."""
        self._stopped = True
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
        address: as for `dicegym.arena.ray_cluster.connected`, whose errors this raises.
        workers: trainings at once; default: as many as the cluster has room for.
        told: called with a line that says where they are, and with one for each node that is lost.
    """
    with connected(address) as ray:
        cluster = Cluster(ray, told)

        def workshop(seeds: int) -> Workshop:
            at_once, there = min(seeds, workers or seeds), cluster.processors
            share = there // min(at_once, there) if there else None
            return Workshop(lambda task, log: RayTrainer(cluster, task, log), at_once, share)

        yield workshop
