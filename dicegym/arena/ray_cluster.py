"""Work on the nodes of a Ray cluster: Ray places it, and does it again elsewhere when a node or a process is lost."""

from __future__ import annotations

import contextlib
import functools
import os
import pickle
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from dicegym.engine.threads import cores
from dicegym.errors import DependencyError, DicegymError, ParameterError, one_line
from dicegym.sandbox import linux

HERE, RUNNING = "local", "auto"
"""Addresses of a Ray of this process's own, and of the Ray that runs on this machine already."""
STORE = 100 << 20
"""Bytes of shared memory that a Ray of our own takes: 80 MB is the least that it accepts."""
KNOCK_SECONDS, PATIENCE = 10.0, 600.0
"""How long a cluster may take to answer, and to have a node with a processor."""
LOOK_EVERY = 1.0
"""Seconds between two looks at the nodes."""
MOST_LOSSES = 5
"""Nodes or processes that may be lost with the same work."""
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
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
        DicegymError: there is no such cluster, or it turns this machine away.
    """
    os.environ |= _QUIET | {name: os.environ[name] for name in _QUIET if name in os.environ}
    try:
        import ray
    except ImportError as error:
        raise DependencyError.for_extra("ray", "ray", "playing on a cluster") from error
    wanted = check_address(address or os.environ.get("RAY_ADDRESS") or RUNNING)
    if ray.is_initialized():
        yield ray
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        _connect(ray, str(wanted), address is None and wanted == RUNNING, workers or cores())
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


def _connect(ray: Any, address: str, else_own: bool, workers: int) -> None:
    quiet = {"log_to_driver": False, "logging_level": "error"}
    with contextlib.suppress(AttributeError):  # Ray has no other switch for what it writes to standard output
        vars(sys.modules["ray._private.worker"])["_worker_logs_enabled"] = False
    if address != HERE:
        try:
            found = address.removeprefix("ray://")
            if address == RUNNING:  # a Ray that was killed leaves its address behind
                from ray._private.services import canonicalize_bootstrap_address_or_die

                found = canonicalize_bootstrap_address_or_die(RUNNING)
            host, _, port = found.rpartition(":")  # where nobody listens Ray would wait for minutes
            socket.create_connection((host.strip("[]"), int(port)), KNOCK_SECONDS).close()
            ray.init(address, **quiet)
            return
        except OSError:  # Ray's ConnectionError too
            if not else_own:
                raise
    own = {"num_cpus": workers, "object_store_memory": STORE, "include_dashboard": False}
    ray.init(HERE, _node_ip_address="127.0.0.1", **own, **quiet)  # nobody else is to reach it


class Work(NamedTuple):
    """What is done on some node."""

    function: Callable[..., Any]
    """Of a module of dicegym's; it may raise DependencyError where the node cannot do it."""
    arguments: tuple[Any, ...]
    references: Any = None
    """The last argument: references to objects of Ray's, in lists."""
    cpus: int = 1
    gpus: int = 0


class Cluster:
    """The nodes of a cluster. Those that lack what work needs are left out, each with a warning.

    Args:
        ray: the module, connected.
        told: called with a line that says where work is done, and with one for each node that is lost.

    Attributes:
        processors: how many all nodes have that are not left out.
    """

    def __init__(self, ray: Any, told: Callable[[str], None]) -> None:
        self.ray, self._told = ray, told
        self.processors = 0
        self._there: dict[str, Any] = {}
        self._refused: dict[str, str] = {}
        self._looked, self._usable = 0.0, time.monotonic()
        self._task = ray.remote(max_retries=MOST_LOSSES - 1)(_on_node())
        self.look()
        told(f"a Ray cluster of {len(self._there)} nodes with {self.processors} processors")

    def start(self, work: Work) -> Any:
        """Give work to Ray; return the reference to its result, for `result`."""
        name = work.function.__module__, work.function.__qualname__
        others = f"!in({','.join(self._refused)})"
        selector = {"label_selector": {"ray.io/node-id": others}} if self._refused else {}
        task = self._task.options(num_cpus=work.cpus, num_gpus=work.gpus, **selector)
        return task.remote(_version(), *name, pickle.dumps(work.arguments), work.references)

    def result(self, reference: Any) -> tuple[bool, Any]:
        """Return whether work was done, and its result; if its node does not fit, it has to be started again.

        Raises DicegymError if it cannot be done: `MOST_LOSSES` nodes or processes were lost with it, or it raised.
        """
        try:
            node, found = self.ray.get(reference)
        except self.ray.exceptions.RayTaskError as error:
            raise DicegymError(f"work on a node failed: {one_line(error.cause, 500)}") from error
        except self.ray.exceptions.RayError as error:
            why = one_line(str(error).strip().partition("\n")[0], 300)
            raise DicegymError(f"{MOST_LOSSES} nodes or processes were lost with the same work: {why}") from error
        if node is not None and node not in self._refused:
            self._refused[node] = found
            warnings.warn(f"a node is left out: {found}", RuntimeWarning, stacklevel=2)
        return node is None, found

    def look(self) -> None:
        """Tell of nodes that are lost, once in a while. Raises DicegymError if there are none that can be used."""
        now = time.monotonic()
        if now - self._looked < LOOK_EVERY:
            return
        self._looked = now
        there = {one["NodeID"]: one for one in self.ray.nodes() if one["Alive"] and one["Resources"].get("CPU", 0) >= 1}
        for lost in self._there.keys() - there.keys():
            host = self._there[lost]["NodeManagerHostname"]
            self._told(f"node {host} ({lost[:8]}) was lost: what it was doing is done again elsewhere")
        self._there, usable = there, there.keys() - self._refused.keys()
        self.processors = sum(int(there[node]["Resources"]["CPU"]) for node in usable)
        self._usable = now if usable else self._usable
        if self._refused and there and not usable:
            raise DicegymError(
                f"no node of the cluster can be used: {'; '.join(dict.fromkeys(self._refused.values()))}"
            )
        if now - self._usable > PATIENCE:
            raise DicegymError(f"the cluster has had no node with a processor for {PATIENCE:g} s: see `ray status`")


def _version() -> str:
    return str(vars(sys.modules["dicegym"])["__version__"])  # the package itself, which stands above its parts


def _on_node() -> Callable[..., tuple[str | None, Any]]:
    """Return what runs on a node: None and a result, or the node and why it does not fit."""

    # Ray sends a function that is made here by value, so that a node without dicegym can say so.
    def on_node(version: str, module: str, name: str, data: bytes, references: Any) -> tuple[str | None, Any]:
        import importlib
        import pickle
        import socket

        import ray

        try:
            found = importlib.import_module("dicegym").__version__
            if found != version:
                raise ImportError(f"dicegym is {found} there and {version} here: install the same everywhere")
            function = getattr(importlib.import_module(module), name)
            return None, function(*pickle.loads(data), references)
        except ImportError as error:  # dicegym's DependencyError too
            return ray.get_runtime_context().get_node_id(), f"{socket.gethostname()}: {error}"

    return on_node


@functools.cache
def node_folder() -> Path:
    """Return a folder of this process of Ray's for all temporary files, which is removed however that ends.

    The process is ended with its node, and with it all that it has started.
    """
    with contextlib.suppress(OSError):  # not Linux: Ray looks for its parent itself, from time to time
        linux.prctl(linux.PDEATHSIG, signal.SIGKILL)
    folder = tempfile.mkdtemp(prefix="dicegym-ray-")
    # Ray kills a process with its children: what waits for the end of its input here is nobody's child.
    waits = 'exec 3<&0; { cat <&3; rm -rf -- "$1"; } >/dev/null 2>&1 &'
    reading, _ = os.pipe()  # whose other end closes with this process
    subprocess.run(["sh", "-c", waits, "sh", folder], stdin=reading, start_new_session=True, check=True)
    os.close(reading)
    tempfile.tempdir = folder
    return Path(folder)
