"""Trainings of several seeds on a Ray cluster.

Each is an actor of Ray's on some node, which works in a folder of its own there and sends a parcel of it after each
checkpoint and at the end: no file system need be shared. If its node dies, another actor goes on from the last parcel
that came. Who holds the folder of a seed on this machine meanwhile is this process.
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

from dicegym.arena.cluster.connection import connected
from dicegym.arena.cluster.reaper import reaper_of
from dicegym.arena.cluster.survey import survey
from dicegym.engine.game import Game
from dicegym.errors import one_line
from dicegym.files import LARGEST_TEXT, read_text
from dicegym.learning.lock import alone_in
from dicegym.learning.seeds.parcel import packed, unpack
from dicegym.learning.seeds.process import SeedProcess
from dicegym.learning.seeds.task import (
    FAILED,
    STOPPED,
    Progressed,
    Said,
    Saved,
    SeedEvent,
    SeedTask,
    TrainingEnd,
    from_line,
    to_line,
)
from dicegym.learning.seeds.training import Workshop
from dicegym.sandbox import jail

MOST_LOSSES = 5
"""Nodes that may be lost with one training before it is given up."""
ANSWER_EVERY = 0.5
"""Seconds until an actor answers that there is nothing new."""
WAIT = 10.0
"""Seconds after which it is said that a training waits for a place."""
PATIENCE = 600.0
"""Seconds to wait for the first node of a cluster that has none yet."""


@contextlib.contextmanager
def cluster(
    game: Game, address: str | None = None, workers: int | None = None, told: Callable[[str], None] = lambda line: None
) -> Iterator[Callable[[int], Workshop]]:
    """Hold a connection to a cluster, and yield what `dicegym.learning.seeds.training.train_seeds` takes as workshop.

    Args:
        game: the game, by which nodes are asked whether they fit.
        address: as for `dicegym.arena.cluster.connection.connected`.
        workers: trainings at once; default: as many as the cluster has room for.
        told: is told in a line where they are.

    Raises as `dicegym.arena.cluster.connection.connected` and `dicegym.arena.cluster.survey.survey`.
    """
    with connected(address) as ray:
        told(survey(ray, game, jail.Isolation.NONE, PATIENCE).in_words)
        there = int(ray.cluster_resources().get("CPU", 0))

        def workshop(seeds: int) -> Workshop:
            at_once = min(seeds, workers or seeds)
            share = there // min(at_once, there) if there else None
            return Workshop(lambda task, log: ClusterTrainer(ray, task, log), at_once, share)

        yield workshop


class SeedActor:
    """A training on a node; becomes an actor of Ray's.

    Args:
        task: what to do, with the folder that it has where it was begun.
        parcel: of that folder, as far as there is one.
        config: text of the configuration; empty: the game's own.
        where: folder in which whoever began it works; paths of settings begin there if the node has it.
    """

    def __init__(self, task: SeedTask, parcel: bytes, config: str, where: str) -> None:
        self._scratch = tempfile.mkdtemp(prefix="dicegym-seed-")
        self._reaper = reaper_of(self._scratch)
        top = Path(self._scratch)
        run, outbox, own = top / "run", top / "outbox", top / "config.toml"
        outbox.mkdir()
        if parcel:
            unpack(parcel, run)
        if config:
            own.write_text(config, encoding="utf-8")
        task = task._replace(
            folder=str(run),
            outbox=str(outbox),
            config=str(own) if config else "",
            resume=(run / "settings.json").is_file(),
        )
        here = Path(where) if os.path.isdir(where) else top
        self._process = SeedProcess(task, top / "log", here)

    def events(self) -> list[tuple[str, bytes]]:
        """Return what happened since the last call, each as a line with its parcel, after waiting a little for it."""
        until = time.monotonic() + ANSWER_EVERY
        found = list(self._process.events())
        while not found and time.monotonic() < until:
            time.sleep(ANSWER_EVERY / 10)
            found = list(self._process.events())
        return [(to_line(event), self._parcel(event)) for event in found]

    def _parcel(self, event: SeedEvent) -> bytes:
        if not isinstance(event, Saved):
            return b""
        path = Path(event.parcel)
        data = path.read_bytes()
        path.unlink()
        return data

    def stop(self, number: int) -> None:
        """Hand on a signal to the training."""
        self._process.stop(number)

    def end(self) -> None:
        """Remove all that it has made here; the training has ended."""
        self._process.close()
        if self._reaper.stdin is not None:
            with contextlib.suppress(OSError):
                self._reaper.stdin.close()


class ClusterTrainer:
    """A training on a cluster, as seen from here; a `dicegym.learning.seeds.task.SeedTrainer`.

    Args:
        ray: the module, connected.
        task: what to do.
        log: is not used: what libraries print there stays there, but for the last line of one that fails.
    """

    def __init__(self, ray: Any, task: SeedTask, log: Path) -> None:
        self._ray, self._task = ray, task
        self._folder = Path(task.folder)
        self._config = read_text(task.config, "name a file of settings", LARGEST_TEXT) if task.config else ""
        self._held = contextlib.ExitStack()
        # What a lock remembers of its thread is undone in the order of its doing: each trainer has a memory of its own.
        self._memory = contextvars.copy_context()
        self._memory.run(self._held.enter_context, alone_in(self._folder))
        self._losses = 0
        self._stops: list[int] = []
        self._over = False
        self._begin()

    def _begin(self) -> None:
        gpus = 1 if self._task.device.startswith("cuda") else 0
        kind = self._ray.remote(num_cpus=self._task.threads, num_gpus=gpus, max_restarts=0)(SeedActor)
        there = packed(self._folder) if (self._folder / "settings.json").is_file() else b""
        self._actor = kind.remote(self._task, there, self._config, os.getcwd())
        self._asked = self._actor.events.remote()
        self._began: float | None = time.monotonic()
        """When this actor was asked for; None: it has answered, or it was said that it waits for a place."""
        self._answered = False

    def events(self) -> Iterable[SeedEvent]:
        """Return what happened since the last call; see `dicegym.learning.seeds.task.SeedTrainer`."""
        if self._over:
            return []
        found = self._heard()
        self._over = any(isinstance(event, TrainingEnd) for event in found)
        return found

    def _heard(self) -> list[SeedEvent]:
        ready, _ = self._ray.wait([self._asked], timeout=0)
        if not ready:
            if self._stops and not self._answered:  # nothing has begun, so there is nothing to save
                return [TrainingEnd(STOPPED)]
            if self._began is not None and time.monotonic() - self._began > WAIT:
                self._began = None
                return [Progressed(0, 0, "waiting for a place on the cluster")]
            return []
        try:
            answer = self._ray.get(self._asked)
        except self._ray.exceptions.RayTaskError as error:
            return [TrainingEnd(FAILED, f"{type(error.cause).__name__}: {one_line(error.cause, 500)}")]
        except self._ray.exceptions.RayError as error:
            return self._lost(error)
        self._answered, self._began = True, None
        self._asked = self._actor.events.remote()
        found: list[SeedEvent] = []
        for line, parcel in answer:
            event = from_line(line)
            if isinstance(event, Saved) and parcel:
                unpack(parcel, self._folder)
            found.append(event)
        return found

    def _lost(self, error: Exception) -> list[SeedEvent]:
        """Begin again elsewhere from the last checkpoint that came, unless that has happened too often."""
        self._losses += 1
        if self._stops:
            return [TrainingEnd(STOPPED)]
        if self._losses > MOST_LOSSES:
            return [
                TrainingEnd(FAILED, f"{self._losses} nodes were lost with it, the last one so: {one_line(error, 200)}")
            ]
        self._begin()
        return [Said("its node was lost; it goes on elsewhere from the last checkpoint that came")]

    def stop(self, number: int) -> None:
        """Hand on a signal; see `dicegym.learning.seeds.task.SeedTrainer`."""
        self._stops.append(number)
        if self._answered:
            self._actor.stop.remote(number)

    def kill(self) -> None:
        """End it now; what it does is ended with it."""
        self._ray.kill(self._actor)

    def close(self) -> None:
        """Let the node remove what it holds of it, and let go of its folder here."""
        try:
            if self._answered:
                with contextlib.suppress(self._ray.exceptions.RayError):
                    self._ray.wait([self._actor.end.remote()], timeout=WAIT)
            self._ray.kill(self._actor)
        finally:
            self._memory.run(self._held.close)
