"""WebSocket: one object in each text frame, from programs and from pages that the operator allows."""

from __future__ import annotations

import asyncio
import http
import logging
from typing import Any

from websockets.asyncio.server import Server, ServerConnection, broadcast, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.protocol import Event

from dicegym.server.connections import (
    ACCEPTED_AT_ONCE,
    AT_ONCE,
    CLOSING,
    FindReceiver,
    Metered,
    Receiver,
    Terms,
    refused,
)
from dicegym.server.framing import Malformed, parse

LARGEST_FRAME = 1 << 14
"""Bytes of a message that is still answered by an error; who sends more is disconnected."""
AT_A_TIME = 1 << 9
"""Bytes taken from one client before others have their turn: frames may have two, and cost as much as messages."""
FRAMES_WAITING = 4


class WsLink(Metered):
    """A WebSocket connection to a client, from before its handshake on."""

    def __init__(self, receiver: Receiver, terms: Terms, connection: Paced) -> None:
        super().__init__(receiver, terms)
        self.ready = False
        self._connection = connection
        self._go = asyncio.Event()
        self._said = b""
        self._closing: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Pass on what comes in until the connection is gone."""
        self.ready = True
        read = 0
        try:
            while self.open:
                if self.valve.shut_but("queue"):
                    self._go.clear()
                    await self._go.wait()
                    continue
                frame = await self._connection.recv()
                text = isinstance(frame, str)
                found = parse(str(frame)) if text else Malformed("bad-json", "messages are sent in text frames")
                if self._receiver.received(self, found):  # it was paid for when the frame came
                    self.budget.moved(len(frame), 1)
                read += 1
                if read % AT_ONCE == 0:
                    await asyncio.sleep(0)
        except ConnectionClosed:
            pass
        if self._closing is not None:
            await self._closing

    def reopen(self, reason: str) -> None:
        """See `Metered`."""
        super().reopen(reason)
        self._go.set()

    def gone(self) -> None:
        """See `Metered`."""
        super().gone()
        self._go.set()

    def send(self, data: bytes) -> None:
        """See `Link`."""
        if not self.open or self.transport.is_closing():
            return
        if self.ready:
            broadcast((self._connection,), data, text=True)
            self.unread()
        else:
            self._said = data

    def close(self) -> None:
        """See `Link`."""
        if not self.open:
            return
        self.open = False
        self._go.set()
        if self.ready:
            self._closing = asyncio.get_running_loop().create_task(self._connection.close())
        else:
            self.transport.write(
                b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nConnection: close\r\n"
                b"Content-Length: %d\r\n\r\n%s" % (len(self._said), self._said)
            )
            self.transport.close()


class _Transport:
    """A transport that the library may stop reading from without undoing that somebody else has stopped it too."""

    def __init__(self, link: WsLink, transport: asyncio.Transport) -> None:
        self._link = link
        self._transport = transport

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def pause_reading(self) -> None:
        self._link.valve.close("queue")

    def resume_reading(self) -> None:
        self._link.valve.open("queue")


class Paced(ServerConnection, asyncio.BufferedProtocol):
    """A connection of the library's that takes a few bytes at a time, and counts frames: pings and parts cost too."""

    def __init__(self, receiver: Receiver, terms: Terms, buffer: memoryview, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.link = WsLink(receiver, terms, self)
        self.terms = terms
        self._buffer = buffer

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.BaseProtocol`."""
        self.link.connect(transport)
        super().connection_made(_Transport(self.link, transport))  # type: ignore[arg-type]  # it does all of one's work

    def get_buffer(self, sizehint: int) -> memoryview:
        """See `asyncio.BufferedProtocol`."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """See `asyncio.BufferedProtocol`."""
        link = self.link
        if not link.open and not link.ready:
            return  # it was refused before its handshake
        link.budget.came(nbytes)
        self.data_received(bytes(self._buffer[:nbytes]))
        if link.open and not link.unread():
            link.afford()

    def process_event(self, event: Event) -> None:
        """See `ServerConnection`."""
        if self.request is not None:
            self.link.budget.worked()
        super().process_event(event)

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.BaseProtocol`."""
        super().connection_lost(exc)
        self.link.gone()


def _judged(connection: ServerConnection, request: Request) -> Response | None:
    """Refuse who may not connect: other pages than allowed, and who takes the server for another."""
    if not isinstance(connection, Paced) or "Upgrade" not in request.headers:
        return None  # what is no WebSocket at all the library answers itself
    headers, link = request.headers, connection.link
    fault = connection.terms.origins.fault(headers.get_all("Host"), headers.get_all("Origin"))
    if not fault:
        return None
    connection.terms.murmur.note("origin", link.address, f"a WebSocket from {link.peer} was refused: {fault}")
    return connection.respond(http.HTTPStatus.FORBIDDEN, f"{fault}\n")


async def listen_ws(receiver: FindReceiver, host: str, port: int, terms: Terms | None = None) -> Server:
    """Take a port for WebSocket; `dicegym.server.connections.start_serving` of what is returned accepts.

    Raises ParameterError if it cannot be had.
    """
    terms, buffer = terms or Terms(), memoryview(bytearray(AT_A_TIME))

    async def handle(connection: ServerConnection) -> None:
        if isinstance(connection, Paced):
            await connection.link.run()

    def made(*args: Any, **options: Any) -> Paced:
        return Paced(receiver(), terms, buffer, *args, **options)

    quiet = logging.getLogger("dicegym.server.websockets")  # whoever cannot shake hands is not our user's concern
    quiet.addHandler(logging.NullHandler())
    quiet.propagate = False
    try:
        return await serve(
            handle,
            host,
            port,
            process_request=_judged,
            compression=None,
            max_size=LARGEST_FRAME,
            max_queue=FRAMES_WAITING,
            close_timeout=CLOSING,
            logger=quiet,
            create_connection=made,  # type: ignore[arg-type]  # a function that makes one will do, as it says
            backlog=ACCEPTED_AT_ONCE,
            start_serving=False,
        )
    except (OSError, OverflowError) as error:
        raise refused("--ws", host, port, error) from None
