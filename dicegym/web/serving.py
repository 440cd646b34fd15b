"""Serve the pages on a port until a signal ends the server."""

from __future__ import annotations

import asyncio
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

SHUTDOWN_SECONDS = 5
KEEP_ALIVE_SECONDS = 20


class PageServer(uvicorn.Server):
    """Uvicorn with our limits and signals. ``number`` is the signal that ended it, or 0."""

    def __init__(self, settings: WebSettings) -> None:
        self.number = 0
        self.app = create_app(settings)
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
                limit_concurrency=room_for(settings.connections),
                timeout_keep_alive=KEEP_ALIVE_SECONDS,
                timeout_graceful_shutdown=SHUTDOWN_SECONDS,
                backlog=BACKLOG,
                h11_max_incomplete_event_size=HEADER_BYTES,
            )
        )

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals as uvicorn does, SIGHUP too, but do not raise them again: the command reports them."""
        with on_signals(self._signalled):
            yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Shut down. After a second signal too, the application ends its lifespan, which would log its cancellation."""
        await super().shutdown(sockets)
        if self.force_exit:
            await self.lifespan.shutdown()

    def _signalled(self, number: int) -> None:
        self.number = self.number or number
        self.handle_exit(number, None)


def serve(settings: WebSettings, listener: socket.socket, say: Callable[[str], object]) -> int:
    """Serve the pages until a signal ends the server; return its number, or 0.

    ``listener``, of `dicegym.web.address.listen`, queues requests until the pages are loaded. ``say`` is called with
    each line for the operator.
    """
    server = PageServer(settings)
    logging.getLogger("uvicorn").setLevel(logging.ERROR)  # no warnings of malformed requests
    logging.getLogger("uvicorn.error").addFilter(_is_no_cancellation)
    for line in list_notes(settings):
        say(line)
    server.run(sockets=[listener])
    return server.number


def _is_no_cancellation(record: logging.LogRecord) -> bool:
    """Return False for the traceback of a request that the end of the server cancels."""
    return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))


def list_notes(settings: WebSettings) -> list[str]:
    """Return the notes for the operator of a server that is about to start."""
    if is_loopback(settings.host):
        return ["Ctrl-C ends the server"]
    names = f" and as {', '.join(settings.hosts)}" if settings.hosts else ""
    lines = [
        f"everybody on this machine's network can open these pages, by its address{names}; without a proxy for https, "
        "traffic is not encrypted"
    ]
    if not names:
        lines.append("requests for other host names are refused: allow one by --allow-host NAME")
    return [*lines, "Ctrl-C ends the server"]
