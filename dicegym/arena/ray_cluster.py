"""Work on the nodes of a Ray cluster, which Ray places, and does again elsewhere when a node or a process is lost."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from dicegym.engine.threads import cores
from dicegym.errors import DependencyError, DicegymError, ParameterError, one_line
from dicegym.sandbox import linux

HERE, RUNNING = "local", "auto"
"""Addresses of a Ray of this process's own, and of the Ray that runs on this machine already."""
STORE = 100 << 20
"""Bytes of shared memory that a Ray of our own takes: 80 MB is the least that it accepts."""
KNOCK_SECONDS, LOOK_EVERY, PATIENCE = 10.0, 1.0, 600.0
"""How long a cluster may take to answer, from one look at its nodes to the next, and until it has one to use."""
CLIENT_TRIES = 3
"""How often a client from outside of a cluster asks for a server of its own."""
MOST_LOSSES = 5
"""Nodes or processes that may be lost with the same work."""
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
"""Ray neither reports home nor warns of graphics cards that nobody asked for."""


def check_address(address: str | None) -> str | None:
    """Return an address of a cluster as Ray takes it. Raises ParameterError for any other text."""
    if address is None or address in (HERE, RUNNING):
        return address
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not (host and colon and port.isdecimal() and 0 < int(port) < 1 << 16) or "/" in host:
        raise ParameterError(
            f"invalid address of a Ray cluster {address!r}: use host:6379, ray://host:10001, auto for the one that "
            "runs on this machine, or local for one of its own"
        )
    return address


@contextlib.contextmanager
def connected(address: str | None = None, workers: int | None = None) -> Iterator[Any]:
    """Connect to Ray, yield the module, and disconnect; a connection that is there already is used, and stays.

    Args:
        address: ``host:6379``, ``ray://host:10001``, "auto" or "local"; None: what ``RAY_ADDRESS`` names or runs here,
            else "local".
        workers: processors of a Ray of our own (default: all usable ones).

    Raises:
        ParameterError: the address is invalid.
        DependencyError: Ray is not installed.
        DicegymError: the cluster cannot be reached, or refuses this machine.
    """
    os.environ.update({name: os.environ.get(name, value) for name, value in QUIET.items()})
    try:
        import ray
    except ImportError as error:
        raise DependencyError.for_extra("ray", "ray", "playing on a cluster") from error
    wanted = check_address(address or os.environ.get("RAY_ADDRESS") or None) or RUNNING
    if ray.is_initialized():
        yield ray
        return
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
    before = signal.getsignal(signal.SIGTERM)
    vars(sys.modules["ray._private.worker"])["_worker_logs_enabled"] = False  # on lost nodes, to standard output
    try:
        if wanted == HERE or (address is None and wanted == RUNNING and not _answers(wanted)):
            options |= {"num_cpus": workers or cores(), "object_store_memory": STORE, "include_dashboard": False}
            ray.init(HERE, _node_ip_address="127.0.0.1", **options)  # nobody else is to reach it
        elif _answers(wanted):
            _join(ray, wanted, options)
        else:
            raise ConnectionError("nobody answers")
    except Exception as error:  # whatever Ray raises
        raise DicegymError(
            f"no connection to a Ray cluster at {wanted!r} ({one_line(error)}): start one there (`ray start --head`), "
            "and see that the port is right and Ray the same version; if the cluster asks for a token, set "
            "RAY_AUTH_MODE=token and RAY_AUTH_TOKEN here too; ray:// needs `pip install 'ray[client]'`"
        ) from error
    finally:
        if threading.current_thread() is threading.main_thread() and before is not None:
            signal.signal(signal.SIGTERM, before)  # which Ray takes for itself
    try:
        yield ray
    finally:
        ray.shutdown()


def _join(ray: Any, address: str, options: dict[str, Any]) -> None:
    """Connect to a cluster that answers.

    For each client from outside Ray forks a process of a server with threads, which now and then hangs for half a
    minute and fails: then another one is asked for.
    """
    for left in reversed(range(CLIENT_TRIES)):
        try:
            ray.init(address, **options)
            return
        except ConnectionAbortedError:
            ray.shutdown()
            if not left:
                raise


def _answers(address: str) -> bool:
    """Return whether somebody listens at an address, where Ray would wait for minutes."""
    try:
        if address == RUNNING:  # a Ray that was killed leaves its address behind
            from ray._private.services import canonicalize_bootstrap_address_or_die

            address = canonicalize_bootstrap_address_or_die(RUNNING)
        host, _, port = address.removeprefix("ray://").rpartition(":")
        socket.create_connection((host.strip("[]"), int(port)), KNOCK_SECONDS).close()
    except OSError:  # Ray's ConnectionError too
        return False
    return True


class Cluster:
    """The nodes of a cluster.

    Args:
        ray: the module, connected.
        told: called with a line that says where work is done, and with one for each node that is lost.

    Attributes:
        processors: how many all nodes have.
        largest: how many the largest of them has.
    """

    def __init__(self, ray: Any, told: Callable[[str], None]) -> None:
        self.ray, self._told = ray, told
        self.processors = self.largest = 0
        self._there: dict[str, Any] = {}
        self._looked, self._usable = 0.0, time.monotonic()
        self.look()
        told(f"a Ray cluster of {len(self._there)} nodes with {self.processors} processors")

    def result(self, reference: Any) -> Any:
        """Return the result of work.

        Raises:
            DicegymError: it failed.
            ConnectionError: nodes or processes were lost with it, as often as Ray was to try.
        """
        try:
            return self.ray.get(reference)
        except self.ray.exceptions.RayTaskError as error:
            raise DicegymError(f"work on a node failed: {one_line(error.cause, 500)}") from error
        except self.ray.exceptions.RayError as error:
            raise ConnectionError(one_line(str(error).strip().partition("\n")[0], 300)) from error

    def look(self) -> None:
        """Tell of lost nodes, now and then. Raises DicegymError after `PATIENCE` seconds without one, or an answer."""
        now = time.monotonic()
        if now - self._looked < LOOK_EVERY:
            return
        try:
            nodes = self.ray.nodes()
        except self.ray.exceptions.RayError as error:
            raise DicegymError(
                f"the cluster does not answer any more ({one_line(error, 200)}): start it again"
            ) from error
        there = {one["NodeID"]: one for one in nodes if one["Alive"] and one["Resources"].get("CPU", 0) >= 1}
        for lost in self._there.keys() - there.keys():
            host = self._there[lost]["NodeManagerHostname"]
            self._told(f"node {host} ({lost[:8]}) was lost: other nodes do its work again")
        self._looked, self._there, self._usable = now, there, now if there else self._usable
        each = [int(one["Resources"]["CPU"]) for one in there.values()]
        self.processors, self.largest = sum(each), max(each, default=0)
        if now - self._usable > PATIENCE:
            raise DicegymError(f"the cluster has had no node with a processor for {PATIENCE:.0f} s: start one")


@contextlib.contextmanager
def on_node(version: str) -> Iterator[Path]:
    """Yield the folder of this process of Ray's, where work that was sent by a ``version`` of dicegym is done.

    Raises DependencyError, which names the node, if the version here is another one, or what the work needs is missing.
    """
    try:
        if version != own_version():
            raise DependencyError(f"dicegym is {own_version()} there and {version} here: install the same everywhere")
        yield node_folder()
    except DependencyError as error:
        raise DependencyError(f"node {socket.gethostname()}: {error}") from None


def own_version() -> str:
    """Return the version of dicegym in this process."""
    return str(vars(sys.modules["dicegym"])["__version__"])  # the package itself, which stands above its parts


@functools.cache
def node_folder() -> Path:
    """Return a folder for all temporary files of this process of Ray's, which is removed however that ends.

    The process ends with its node, and with it all that it has started.
    """
    with contextlib.suppress(OSError):  # not Linux: Ray looks for its parent itself, from time to time
        linux.prctl(linux.PDEATHSIG, signal.SIGKILL)
    tempfile.tempdir = tempfile.mkdtemp(prefix="dicegym-ray-")
    reading, _ = os.pipe()  # whose other end closes with this process
    # Ray kills a process with its children: what waits for that end is nobody's child.
    waits = 'exec 3<&0; { cat <&3; rm -rf -- "$1"; } >/dev/null 2>&1 &'
    subprocess.run(["sh", "-c", waits, "sh", tempfile.tempdir], stdin=reading, start_new_session=True, check=True)
    os.close(reading)
    return Path(tempfile.tempdir)
