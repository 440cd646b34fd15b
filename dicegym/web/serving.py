"""A server of pages on a port: from its first word to its clean end."""

from __future__ import annotations

import contextlib
import logging
import socket
from collections.abc import Callable, Iterator

import uvicorn

from dicegym.server.admission import is_loopback
from dicegym.server.client_limits import room_for
from dicegym.signals import on_signals
from dicegym.web.address import BACKLOG
from dicegym.web.application import create_app
from dicegym.web.context import HEADER_BYTES
from dicegym.web.web_settings import WebSettings

GOODBYE = 5
"""Seconds that requests have to end once the server is told to."""
KEEP_ALIVE = 20
"""Seconds that a connection stays open without a request."""
ROOM = 4
"""One more connection for each four is there for visitors who were here before."""


class PageServer(uvicorn.Server):
    """Uvicorn's, with the limits and signals of these pages; ``number`` is the signal that ended it, at first 0."""

    def __init__(self, settings: WebSettings) -> None:
        self.number = 0
        self.app = create_app(settings)
        most = room_for(settings.connections + settings.connections // ROOM)
        strangers = most - most // (ROOM + 1)
        self.app.state.web.crowded = lambda: len(self.server_state.connections) > strangers
        super().__init__(
            uvicorn.Config(
                self.app,
                http="h11",
                ws="none",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=bool(settings.proxies),
                forwarded_allow_ips=list(settings.proxies),
                limit_concurrency=most,
                timeout_keep_alive=KEEP_ALIVE,
                timeout_graceful_shutdown=GOODBYE,
                backlog=BACKLOG,
                h11_max_incomplete_event_size=HEADER_BYTES,
            )
        )

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take signals as uvicorn does, SIGHUP too, and do not send them again: the command says how it ended."""
        with on_signals(self._signalled):
            yield

    def _signalled(self, number: int) -> None:
        self.number = self.number or number
        self.handle_exit(number, None)


def serve(settings: WebSettings, listener: socket.socket, said: Callable[[str], object]) -> int:
    """Serve pages until the process is told to end; return the signal that ended it, or 0.

    Requests wait in ``listener``, of `dicegym.web.address.listen`, until the pages are loaded; ``said`` is called with
    each line that an operator should know.
    """
    server = PageServer(settings)
    logging.getLogger("uvicorn").setLevel(logging.ERROR)  # malformed requests are daily business
    for line in list_notes(settings):
        said(line)
    server.run(sockets=[listener])
    return server.number


def list_notes(settings: WebSettings) -> list[str]:
    """Return what an operator should know of a server that is about to start."""
    if is_loopback(settings.host):
        return ["Ctrl-C ends it"]
    names = f" and as {', '.join(settings.hosts)}" if settings.hosts else ""
    lines = [
        f"everybody on the network of this machine can open these pages, by its address{names}: what is sent is "
        "not encrypted, unless a proxy does that"
    ]
    if not names:
        lines.append("by another name than this machine's own they are refused: allow it by --allow-host NAME")
    return [*lines, "Ctrl-C ends it"]
