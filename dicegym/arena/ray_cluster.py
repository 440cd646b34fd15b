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
    wanted = check_address(address or os.environ.get("RAY_ADDRESS")) or RUNNING
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
            ray.init(wanted, **options)
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
        self._task = ray.remote(_on_node())
        self.look()
        told(f"a Ray cluster of {len(self._there)} nodes with {self.processors} processors")

    def start(self, function: Callable[..., Any], *arguments: Any, objects: Any = None, **options: Any) -> Any:
        """Have work done on some node; return the reference to its result, for `result`.

        Args:
            function: of a module of dicegym's; it may raise DependencyError on a node that cannot do it.
            arguments: are sent as a pickle.
            objects: references to objects of Ray's, in a collection, which is the function's last argument.
            options: of Ray's tasks.
        """
        if self._refused:
            options["label_selector"] = {"ray.io/node-id": f"!in({','.join(self._refused)})"}
        name = function.__module__, function.__qualname__
        return self._task.options(**options).remote(_version(), *name, pickle.dumps(arguments), objects)

    def result(self, reference: Any) -> tuple[bool, Any]:
        """Return whether work was done, and its result; if its node does not fit, it has to be started again.

        Raises:
            DicegymError: it cannot be done.
            ConnectionError: nodes or processes were lost with it, as often as Ray was to try.
        """
        try:
            node, found = self.ray.get(reference)
        except self.ray.exceptions.RayTaskError as error:
            raise DicegymError(f"work on a node failed: {one_line(error.cause, 500)}") from error
        except self.ray.exceptions.RayError as error:
            raise ConnectionError(one_line(str(error).strip().partition("\n")[0], 300)) from error
        if node is not None and node not in self._refused:
            self._refused[node] = found
            warnings.warn(f"a node is left out: {found}", RuntimeWarning, stacklevel=2)
        return node is None, found

    def look(self) -> None:
        """Tell of lost nodes, at most once in `LOOK_EVERY` seconds. Raises DicegymError if no node can be used."""
        now = time.monotonic()
        if now - self._looked < LOOK_EVERY:
            return
        there = {one["NodeID"]: one for one in self.ray.nodes() if one["Alive"] and one["Resources"].get("CPU", 0) >= 1}
        for lost in self._there.keys() - there.keys():
            host = self._there[lost]["NodeManagerHostname"]
            self._told(f"node {host} ({lost[:8]}) was lost: what it was doing is done again elsewhere")
        usable = there.keys() - self._refused.keys()
        self._looked, self._there, self._usable = now, there, now if usable else self._usable
        self.processors = sum(int(there[node]["Resources"]["CPU"]) for node in usable)
        if (there and not usable) or now - self._usable > PATIENCE:
            why = "; ".join(dict.fromkeys(self._refused.values())) or "there is none with a processor"
            raise DicegymError(f"no node of the cluster can be used: {why}")


def _version() -> str:
    return str(vars(sys.modules["dicegym"])["__version__"])  # the package itself, which stands above its parts


def _on_node() -> Callable[..., tuple[str | None, Any]]:
    """Return what runs on a node: None and a result, or the node and why it does not fit."""

    # Ray sends a function that is made here by value, so that a node without dicegym can say so.
    def on_node(version: str, module: str, name: str, arguments: bytes, objects: Any) -> tuple[str | None, Any]:
        import importlib
        import pickle
        import socket
        import sys

        import ray

        try:
            found = importlib.import_module(module)
            here = sys.modules["dicegym"].__version__
            if here != version:
                raise ImportError(f"dicegym is {here} there and {version} here: install the same everywhere")
            return None, getattr(found, name)(*pickle.loads(arguments), objects)
        except ImportError as error:  # dicegym's DependencyError too
            return ray.get_runtime_context().get_node_id(), f"{socket.gethostname()}: {error}"

    return on_node


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
