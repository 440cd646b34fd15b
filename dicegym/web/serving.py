"""A server of pages on a port: from its first word to its clean end."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import socket
from collections.abc import Callable, Iterator
from typing import Any

import uvicorn

from dicegym.errors import ParameterError
from dicegym.server.access import is_loopback
from dicegym.server.limits import room_for
from dicegym.signals import on_signals
from dicegym.web.app import create_app
from dicegym.web.connections import HEADER_BYTES, KEEP_ALIVE, Guarded
from dicegym.web.rights import is_private, operator_address
from dicegym.web.settings import WebSettings

GOODBYE = 5
"""Seconds that requests have to end once the server is told to."""
BACKLOG = 512


class PageServer(uvicorn.Server):
    """Uvicorn's, which lets go of live pages before it waits for the others.

    Args:
        settings: of the pages.
        protocol: speaks to connections.

    Attributes:
        number: of the signal that ended it; 0 while none has.
    """

    def __init__(self, settings: WebSettings, protocol: Callable[..., Any] = Guarded) -> None:
        self.number = 0
        self.app = create_app(settings)
        config: Any = {"http": protocol}
        super().__init__(
            uvicorn.Config(
                self.app,
                ws="none",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=bool(settings.proxies),
                forwarded_allow_ips=list(settings.proxies),
                limit_concurrency=room_for(settings.connections),
                timeout_keep_alive=KEEP_ALIVE,
                timeout_graceful_shutdown=GOODBYE,
                backlog=BACKLOG,
                h11_max_incomplete_event_size=HEADER_BYTES,
                **config,
            )
        )

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End: live pages first, then what is being answered, then all work."""
        self.app.state.web.channels.end()
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take signals as uvicorn does, SIGHUP too, and do not send them again: the command says how it ended."""
        with on_signals(self._signalled):
            yield

    def _signalled(self, number: int) -> None:
        self.number = self.number or number
        self.handle_exit(number, None)


def serve(settings: WebSettings, said: Callable[[str], object], ready: Callable[[str], object] | None = None) -> int:
    """Serve pages until the process is told to end.

    Args:
        settings: of the pages.
        said: told what an operator should know, a line at a time.
        ready: called with the address once pages can be asked for.

    Returns:
        The signal that ended it; 0 if none did.

    Raises:
        ParameterError: the address cannot be listened on, or not safely.
    """
    with contextlib.closing(listening(settings.host, settings.port)) as listener:
        port = listener.getsockname()[1]
        server = PageServer(settings)
        address = operator_address(server.app.state.web, address_of(settings.host, port))
        logging.getLogger("uvicorn").setLevel(logging.ERROR)  # requests that are none are daily business
        for line in told(settings, address):
            said(line)
        if ready is not None:
            ready(address)
        server.run(sockets=[listener])
    return server.number


def told(settings: WebSettings, address: str) -> list[str]:
    """Return what an operator should know of a server that is about to start."""
    lines = [address]
    if is_private(settings):
        lines.append("whoever opens this address is an operator: starts servers and holds contests; keep its token")
    if not is_loopback(settings.host):
        names = f" and as {', '.join(settings.hosts)}" if settings.hosts else ""
        lines.append(
            f"everybody who reaches this machine can open these pages, by its address{names}: what is sent is "
            "not encrypted, unless a proxy does that"
        )
        if not names:
            lines.append("by another name than this machine's own they are refused: allow it by --allow-host NAME")
    lines.append("Ctrl-C ends it")
    return lines


def address_of(host: str, port: int) -> str:
    """Return where a browser on this machine finds a server that listens on ``host``."""
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(host, host)
    return f"http://{f'[{shown}]' if ':' in shown else shown}:{port}/"


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens. Raises ParameterError, in words, where that is not possible."""
    if not 0 <= port <= 65535:
        raise ParameterError(f"--port {port} is none: give one from 1024 to 65535, or 0 for any free one")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except OSError:
        raise ParameterError(
            f"--host {host!r} is no address of this machine: give 127.0.0.1 for this machine alone, or 0.0.0.0 for all"
        ) from None
    listener = socket.socket(found[0], socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(found[4])
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise ParameterError(f"{_why(error, host, port)}") from None
    return listener


def _why(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"port {port} of {host} is taken, perhaps by another `dicegym web`: give another one by --port, or "
            "--port 0 for any free one"
        )
    if error.errno == errno.EACCES:
        return f"port {port} is for the system's own programs: give one from 1024 on, and put a proxy before it"
    if error.errno == errno.EADDRNOTAVAIL:
        return f"{host} is no address of this machine: give 127.0.0.1 for this machine alone, or 0.0.0.0 for all of its"
    return f"port {port} of {host} cannot be listened on: {error.strerror}"
