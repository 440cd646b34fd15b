"""Trainings of several seeds on a Ray cluster whose nodes share the folder of the run, as for Ray Train.

A training is a Ray task. Ray repeats it when its node is lost, and it continues from its checkpoint.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from dicegym.arena.provenance import package_version
from dicegym.arena.ray_executor import Cluster, ClusterLog, check_version, connect
from dicegym.errors import DependencyError, DicegymError
from dicegym.learning.run_folder import SETTINGS_FILE, LockHolder, alone_in, holder_of
from dicegym.learning.seeds.job import END_NOW, LIBRARY_THREADS, SeedTask, train_seed
from dicegym.learning.seeds.seeded_training import Backend

LOCK_SECONDS = 120.0
"""Waiting time for the folder of a lost node: a file server releases its lock after a while."""


def train_on_node(version: str, task: SeedTask, holder: LockHolder | None, where: str) -> None:
    """Train in this Ray process.

    The command has this ``version`` of dicegym, runs in the folder ``where``, and is the ``holder`` of the folder of
    all seeds. Raises DependencyError if the node does not fit, and ParameterError if the run's folder cannot be used.
    """
    check_version(version)
    folder = Path(task.folder)
    if holder_of(folder.parent) != holder:
        raise DependencyError(
            f"it does not see {folder.parent} of {holder.machine if holder else 'the command'}: mount the storage of "
            "that folder on every node at the same path, or give a --run-dir on storage that all nodes share"
        )
    if os.path.isdir(where):
        os.chdir(where)
    with alone_in(folder, LOCK_SECONDS):
        train_seed(task._replace(resume=(folder / SETTINGS_FILE).is_file()))


class RayTrainer:
    """A `dicegym.learning.seeds.job.SeedTrainer` on a cluster."""

    def __init__(self, cluster: Cluster, task: SeedTask) -> None:
        self._cluster, self._called = cluster, f"seed {task.seed}"
        self.waits = f"waits for a node with room: threads {task.threads}, {task.device}"
        room = {"num_cpus": task.threads, "num_gpus": 1 if task.device.startswith("cuda") else 0}
        threads = {"env_vars": {name: str(task.threads) for name in LIBRARY_THREADS}}
        train = cluster.remote(train_on_node, **room, max_calls=1, runtime_env=threads)
        self._work = train.remote(package_version(), task, holder_of(Path(task.folder).parent), os.getcwd())

    def poll(self) -> str | None:
        """See `dicegym.learning.seeds.job.SeedTrainer.poll`."""
        self._cluster.look()
        if not self._cluster.ray.wait([self._work], timeout=0)[0]:
            return None
        try:
            self._cluster.result(self._work, self._called)
        except DicegymError as error:
            return str(error)
        return ""

    def stop(self, number: int) -> None:
        """Interrupt the task, even before a node has room for it; `END_NOW` kills it."""
        self._cluster.ray.cancel(self._work, force=number == END_NOW)


@contextlib.contextmanager
def ray_backend(address: str | None = None, told: ClusterLog = lambda line: None) -> Iterator[Backend]:
    """Connect to a cluster, and yield a backend for `dicegym.learning.seeds.seeded_training.train_seeds`.

    Arguments and errors are those of `dicegym.arena.ray_executor.connect`.
    """
    with connect(address, told) as cluster:
        yield Backend(lambda task: RayTrainer(cluster, task), cluster.processors, queues=True)
