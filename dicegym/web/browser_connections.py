"""Connections of browsers, over uvicorn's HTTP: those that dawdle are ended.

What a request has to say comes within `HEADERS` seconds, what is answered is read within `WRITING` seconds, and nobody
holds a connection by doing neither. Bodies are waited for by `dicegym.web.security`.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADERS = 10.0
"""Seconds for a request's headers."""
WRITING = 30.0
"""Seconds in which a slow client has to read 48 kB."""
KEEP_ALIVE = 20
"""Seconds that a connection stays open without a request."""
HEADER_BYTES = 16 * 1024


class Guarded(H11Protocol):
    """HTTP with a client that may be slow on purpose.

    Args:
        headers: seconds for a request's headers.
        writing: seconds in which somebody reads what waits.
        more: as uvicorn has it.
    """

    def __init__(self, *, headers: float = HEADERS, writing: float = WRITING, **more: Any) -> None:
        super().__init__(**more)
        self._headers, self._writing = headers, writing
        self._asking: asyncio.TimerHandle | None = None
        self._reading: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Wait for its first request."""
        super().connection_made(transport)
        self._await_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        for timer in (self._asking, self._reading):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on; what has begun a request has to end its headers soon."""
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._await_headers()
        elif self._asking is not None:
            self._asking.cancel()
            self._asking = None

    def _await_headers(self) -> None:
        if self._asking is None:
            self._asking = self.loop.call_later(self._headers, self.transport.abort)

    def timeout_keep_alive_handler(self) -> None:
        """End a connection that is not used; what was not read by then is not kept for long."""
        super().timeout_keep_alive_handler()
        self.loop.call_later(self._writing, self.transport.abort)

    def pause_writing(self) -> None:
        """Wait for a client to read what was sent, but not for ever."""
        super().pause_writing()
        self._reading = self.loop.call_later(self._writing, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on."""
        super().resume_writing()
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None
