"""The connection to Ray: to a cluster that runs, or to one that is started on this machine and ended afterwards."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import threading
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from dicegym.arena.cluster import watchdog
from dicegym.errors import DependencyError, DicegymError, ParameterError, one_line

HERE = "local"
"""The address that stands for a Ray of this process's own."""
RUNNING = "auto"
"""The address that stands for the Ray that runs on this machine already."""
STORE = 100 << 20
"""Bytes of shared memory that a Ray of our own takes for parcels: 80 MB is the least that it accepts."""
KNOCK_SECONDS = 10.0
"""How long the first machine of a cluster may take to answer at all."""
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
"""Ray neither reports home nor speaks of graphics cards that nobody asked for."""
_LOOPBACK = "127.0.0.1"
_TOKEN = "RAY_AUTH_MODE=token and RAY_AUTH_TOKEN"
"""What Ray reads in the environment to join a cluster that asks for a token."""


class _Use:
    """What this process does with Ray, which has one connection for all of it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = 0
        self.ours = False
        """Whether we have connected, and not whoever calls us."""


_use = _Use()


def ray_module() -> ModuleType:
    """Return Ray. Raises DependencyError if it is not installed."""
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError as error:
        raise DependencyError.for_extra("ray", "ray", "playing on a cluster") from error
    return ray


def looks_like_address(text: str) -> bool:
    """Return whether ``text`` can only be meant as the address of a cluster, right or wrong, and is no file."""
    if os.path.exists(text) and text not in (HERE, RUNNING):
        return False
    return text in (HERE, RUNNING) or "://" in text or re.fullmatch(r"[\w.\-\[\]:]+:\d+", text) is not None


def check_address(address: str | None) -> str | None:
    """Return an address of a cluster as Ray takes it. Raises ParameterError for what is none."""
    if address is None or address in (HERE, RUNNING):
        return address
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not (host and colon and port.isdecimal() and 0 < int(port) < 1 << 16) or "/" in host:
        raise ParameterError(
            f"{address!r} is no address of a Ray cluster: write host:6379, ray://host:10001, auto for the one that "
            "runs on this machine, or local for one of its own"
        )
    return address


@contextlib.contextmanager
def connected(address: str | None = None, workers: int | None = None) -> Iterator[ModuleType]:
    """Hold a connection to Ray, and yield Ray; the last who needs it ends it, and a Ray that was started for it.

    If this process is connected already, that is the connection, whatever the address.

    Args:
        address: ``host:6379``, ``ray://host:10001``, "auto" for the one that runs on this machine, "local" for one of
            our own; None: the one that ``RAY_ADDRESS`` names or that runs here, else one of our own.
        workers: processors of one of our own (default: of usable processors).

    Raises:
        ParameterError: the address is none.
        DependencyError: Ray is not installed.
        DicegymError: there is no cluster, or it does not fit.
    """
    open_connection(address, workers)
    try:
        yield ray_module()
    finally:
        close_connection()


def open_connection(address: str | None, workers: int | None = None) -> None:
    """Begin to use Ray, as `connected` does; `close_connection` ends that."""
    ray = ray_module()
    address = check_address(address)
    with _use.lock:
        if not ray.is_initialized():
            _let_speak(False)
            with _same_handlers():
                _connect(ray, address, workers)
            _use.ours = True
        _use.users += 1


def close_connection() -> None:
    """End one use of Ray, and the connection with the last one, if it was ours."""
    with _use.lock:
        _use.users -= 1
        if _use.users == 0 and _use.ours:
            _use.ours = False
            ray_module().shutdown()
            watchdog.let_go()
            _let_speak(True)


def _connect(ray: ModuleType, address: str | None, workers: int | None) -> None:
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
    wanted = address or os.environ.get("RAY_ADDRESS") or RUNNING
    if wanted != HERE:
        heard = False
        try:
            _knock(wanted)
            heard = True
            ray.init(wanted, **quiet)
            return
        except OSError as error:  # Ray's ConnectionError too
            if heard and wanted != RUNNING:
                raise DicegymError(
                    f"what answers at {wanted!r} does not let Ray in ({one_line(error)}): if it is a cluster that asks "
                    f"for a token, set {_TOKEN} on this machine too; if it runs, see that the port is that of its "
                    "first node (6379 as a rule) and Ray the same version"
                ) from error
            if address is not None or wanted != RUNNING:
                raise DicegymError(
                    f"no Ray cluster answers at {wanted!r} ({one_line(error)}): start one there (`ray start --head`), "
                    "or give no address for one of this machine alone"
                ) from error
        except Exception as error:  # whatever Ray raises when it does not like what it finds there
            raise DicegymError(
                f"the Ray cluster at {wanted!r} cannot be used from here: {type(error).__name__}: {one_line(error)}"
            ) from error
    from dicegym.engine.threads import cores

    before = watchdog.children()
    try:
        ray.init(
            HERE,
            num_cpus=workers or cores(),
            object_store_memory=STORE,
            include_dashboard=False,
            _node_ip_address=_LOOPBACK,  # nobody else is to reach it
            **quiet,
        )
    except Exception as error:
        raise DicegymError(
            f"Ray cannot be started on this machine: {type(error).__name__}: {one_line(error)}"
        ) from error
    watchdog.watch(watchdog.children() - before)


def _knock(address: str) -> None:
    """Raise OSError if nobody listens at an address, for which Ray would wait for minutes."""
    if address == RUNNING:
        # A Ray that was killed leaves its address behind.
        from ray._private.services import canonicalize_bootstrap_address_or_die

        address = canonicalize_bootstrap_address_or_die(RUNNING)
    host, _, port = str(check_address(address)).removeprefix("ray://").rpartition(":")
    socket.create_connection((host.strip("[]"), int(port)), KNOCK_SECONDS).close()


def _let_speak(allowed: bool) -> None:
    """Let Ray write of trouble with nodes to standard output or not: that is for results, and Ray has no switch."""
    with contextlib.suppress(ImportError, AttributeError):
        from ray._private import worker

        vars(worker)["_worker_logs_enabled"] = allowed  # Ray has no other switch


@contextlib.contextmanager
def _same_handlers() -> Iterator[None]:
    """Put back what is done at SIGTERM, which Ray takes for itself."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread() and before is not None:
            signal.signal(signal.SIGTERM, before)
