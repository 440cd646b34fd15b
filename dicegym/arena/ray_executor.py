"""Run jobs on a Ray cluster, which repeats them when a node or a process is lost."""

from __future__ import annotations

import contextlib
import functools
import itertools
import logging
import os
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from dicegym.arena.executors import Executors
from dicegym.arena.provenance import package_version
from dicegym.engine.game import Game
from dicegym.engine.validate import whole_number
from dicegym.errors import DependencyError, DicegymError, one_line
from dicegym.sandbox import jail
from dicegym.sandbox.bundles import bundle, unbundle, with_home_paths
from dicegym.sandbox.jobs import Entry, Job
from dicegym.sandbox.limits import Limits
from dicegym.sandbox.sandbox import JobOutcome, Sandbox, Watch

RUNNING = "auto"
"""The address of the Ray on this machine."""
KNOCK_SECONDS, LOOK_EVERY = 10.0, 1.0
"""Seconds for a cluster to answer, and between two looks at its nodes."""
MOST_LOSSES = 5
"""Most losses of a node or process with the same job."""
ClusterLog = Callable[[str], None]
"""Called with a line on the cluster when it is connected."""


class Cluster:
    """The nodes of a cluster, through the connected module ``ray``, and the results of work on them."""

    def __init__(self, ray: Any, told: ClusterLog = lambda line: None) -> None:
        self.ray, self._looked = ray, -LOOK_EVERY
        self.processors = list[int]()
        """Processors of each node."""
        self.look()
        told(f"a Ray cluster of {len(self.processors)} nodes with {sum(self.processors)} processors")

    def look(self) -> None:
        """Count the nodes, at most every `LOOK_EVERY` seconds. Raises DicegymError if the cluster does not answer."""
        if time.monotonic() < self._looked + LOOK_EVERY:
            return
        try:
            nodes = [int(one["Resources"].get("CPU", 0)) for one in self.ray.nodes() if one["Alive"]]
        except (self.ray.exceptions.RayError, ConnectionError) as error:
            raise DicegymError(f"the cluster does not answer ({one_line(error, 200)}): start it again") from error
        self._looked, self.processors = time.monotonic(), [one for one in nodes if one]

    def remote(self, function: Callable[..., Any], **options: Any) -> Any:
        """Return Ray's form of a function, whose calls are repeated if their node or process is lost."""
        return self.ray.remote(max_retries=MOST_LOSSES - 1, **options)(function)

    def result(self, reference: Any, called: str) -> Any:
        """Return the result of work that messages call ``called``.

        Raises DicegymError if it failed, was lost repeatedly, or was stopped.
        """
        errors = self.ray.exceptions
        try:
            return self.ray.get(reference)
        except errors.RayError as error:
            if isinstance(error, errors.RayTaskError) and not isinstance(error.cause, errors.TaskCancelledError):
                raise DicegymError(f"work on node {error.ip} failed: {one_line(error.cause, 500)}") from error
            why = one_line(str(error).strip().partition("\n")[0], 300)
            lost = f"it is lost at most {MOST_LOSSES} times with its process or node"
            raise DicegymError(f"gave up {called}: {lost} ({why}); see that nodes have memory and stay") from error


@contextlib.contextmanager
def connect(address: str | None = None, told: ClusterLog = lambda line: None) -> Iterator[Cluster]:
    """Connect to a cluster within the context; an existing connection is used and stays.

    Args:
        address: ``host:6379`` or ``ray://host:10001``; None or "auto": ``RAY_ADDRESS``, or the Ray on this machine.
        told: see `ClusterLog`.

    Raises DependencyError if Ray is not installed, and DicegymError if there is no cluster or it refuses this machine.
    """
    wanted = reach(address)
    import ray
    from ray._private import worker

    if ray.is_initialized():
        yield Cluster(ray, told)
        return
    before = signal.getsignal(signal.SIGTERM)
    vars(worker)["_worker_logs_enabled"] = False  # otherwise Ray prints lost nodes on standard output
    try:
        with _words_of(wanted):
            ray.init(wanted, log_to_driver=False, logging_level=logging.ERROR)
    finally:
        with contextlib.suppress(ValueError, TypeError):  # not the main thread, or a handler that is not Python's
            signal.signal(signal.SIGTERM, before)  # Ray has replaced it
    try:
        yield Cluster(ray, told)
    finally:
        ray.shutdown()


def reach(address: str | None) -> str:
    """Return the address of a cluster that answers; arguments and errors are as for `connect`."""
    try:
        import ray
        from ray._private import services
    except ImportError as error:
        raise DependencyError.for_extra("ray", "ray", "playing on a cluster") from error
    wanted = os.environ.get("RAY_ADDRESS") or RUNNING if address in (None, RUNNING) else address
    if not ray.is_initialized():
        with _words_of(wanted):
            place = services.canonicalize_bootstrap_address_or_die(RUNNING) if wanted == RUNNING else wanted
            host, _, port = place.removeprefix("ray://").rpartition(":")
            socket.create_connection((host.strip("[]"), int(port)), KNOCK_SECONDS).close()  # Ray would wait for minutes
    return wanted


@contextlib.contextmanager
def _words_of(wanted: str) -> Iterator[None]:
    """Raise a DicegymError for any error of connecting."""
    try:
        yield
    except Exception as error:  # whatever Ray raises
        raise DicegymError(
            f"no connection to a Ray cluster at {wanted!r} ({one_line(error)}): use host:6379, ray://host:10001 (which "
            "needs `pip install 'ray[client]'`), or auto after `ray start --head` here; Ray has to be the same version "
            "there; if the cluster asks for a token, set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN here too"
        ) from error


def check_version(version: str) -> None:
    """Raise DependencyError if this process of Ray has another version of dicegym than ``version``."""
    if version != (there := package_version()):
        raise DependencyError(f"dicegym is {there} there and {version} here: install the same everywhere")


_open = contextlib.ExitStack()
"""The sandbox and folder of jobs in this process."""


@functools.lru_cache(maxsize=1)
def referee(game: Game, how: tuple[Any, ...]) -> tuple[Sandbox, Path, dict[str, Entry]]:
    """Return the sandbox of a game in this process, the folder of its entries, and the entries there.

    An earlier sandbox is closed. ``how`` is limits and isolation, as for `Sandbox`, whose errors this raises.
    """
    referee.cache_clear()  # the closed one must not be found again if the new one cannot be made
    _open.close()
    folder = Path(_open.enter_context(tempfile.TemporaryDirectory()))
    return _open.enter_context(Sandbox(game, 1, *how)), folder, {}


def play(version: str, fingerprint: str, how: tuple[Any, ...], job: Any, bundles: list[Any]) -> tuple[Any, JobOutcome]:
    """Do a job on a node; return its final form without its entries, and its outcome.

    ``version`` and ``fingerprint`` are those of dicegym and the game where the job comes from; ``how`` is as for
    `referee`. The job has no entries: ``bundles`` are Ray's references to them, in a list, as Ray would fetch plain
    arguments for each job. Raises DependencyError if the node has another dicegym or other rules.
    """
    check_version(version)
    if job.game.fingerprint != fingerprint:
        raise DependencyError(f"{job.game.name} has other rules there: install the same dicegym everywhere")
    sandbox, folder, entries = referee(job.game, how)
    for one in bundles:
        if one.hex() not in entries:  # `ray.get` would give up the processor while it waits
            entries[one.hex()] = unbundle(one.future().result(), folder / one.hex())
    ((done, outcome),) = sandbox.run([replace(job, entries=tuple(entries[one.hex()] for one in bundles))])
    return replace(done, entries=()), with_home_paths(outcome, folder)  # type: ignore[type-var]  # jobs are dataclasses


class RayExecutor:
    """Does jobs, which are dataclasses, on a Ray cluster; see `dicegym.arena.executors.Executor`.

    ``connect`` yields the cluster; ``workers`` is as for `ray_cluster`, the others as for
    `dicegym.arena.executors.Executors`. Raises ParameterError or UnknownNameError for invalid workers or isolation.
    """

    def __init__(
        self, game: Game, limits: Limits | None, isolation: str, connect: Callable[[], Any], workers: int | None
    ) -> None:
        self.limits = Limits.of(limits)
        try:
            self.isolation = jail.choose(isolation)
        except DependencyError:  # nodes may have it
            self.isolation = jail.Choice(jail.Isolation.JAIL, "jails of the cluster's nodes")
        self._workers = None if workers is None else whole_number("workers", workers, 1, 1 << 16, "the processors")
        self._how = game.fingerprint, (self.limits, self.isolation.level)
        self._connect, self._open = connect, contextlib.ExitStack()
        self._begun: dict[Any, Job] = {}  # of the last pass

    def __enter__(self) -> RayExecutor:
        """Connect. Raises as `connect` does."""
        self._cluster = self._open.enter_context(self._connect())
        self._play = self._cluster.remote(play)
        self._bundles: dict[Entry, Any] = {}
        return self

    def __exit__(self, *_: object) -> None:
        """Disconnect, unless the caller was connected before; Ray then stops the referees."""
        try:
            self._cancel(self._begun)
        finally:
            self._open.close()

    def run(self, jobs: Iterable[Job], watch: Watch | None = None) -> Iterator[tuple[Job, JobOutcome]]:
        """Do ``jobs``, see `dicegym.arena.executors.Executor.run`; ``watch`` is not called.

        Raises DicegymError if a node cannot do a job or it was lost `MOST_LOSSES` times, and ParameterError if an entry
        has too many files to send.
        """
        waiting, cluster = iter(jobs), self._cluster
        self._cancel(self._begun)
        begun: dict[Any, Job] = {}
        self._begun = begun
        try:
            while True:
                room = (self._workers or 2 * sum(cluster.processors) or 1) - len(begun)
                for one in itertools.islice(waiting, max(0, room)):
                    begun[self._submit(one)] = one
                if not begun:
                    return
                for reference in cluster.ray.wait(list(begun), num_returns=1, timeout=LOOK_EVERY)[0]:
                    job: Any = begun.pop(reference)
                    names = " - ".join(entry.name for entry in job.entries)
                    done, outcome = cluster.result(reference, f"{type(job).__name__} of {names}")
                    yield replace(done, entries=job.entries), outcome
                cluster.look()
        finally:
            self._cancel(begun)

    def _cancel(self, begun: dict[Any, Job]) -> None:
        while begun:
            self._cluster.ray.cancel(begun.popitem()[0], force=True)

    def _submit(self, job: Any) -> Any:
        for entry in job.entries:
            if entry not in self._bundles:
                self._bundles[entry] = self._cluster.ray.put(bundle(job.game, entry))
        bundles = [self._bundles[entry] for entry in job.entries]
        return self._play.remote(package_version(), *self._how, replace(job, entries=()), bundles)


def ray_cluster(
    address: str | None = None, workers: int | None = None, told: ClusterLog = lambda line: None
) -> Executors:
    """Return a maker of executors of a Ray cluster, which connect when they are entered.

    ``workers`` jobs run at a time (default: one per processor); the others are as for `connect`.
    """
    once = functools.partial(connect, address, functools.cache(told))  # logged once for all executors of a contest

    def make(game: Game, limits: Limits | None, isolation: str) -> RayExecutor:
        reach(address)  # before a contest begins in a store
        return RayExecutor(game, limits, isolation, once, workers)

    return make
