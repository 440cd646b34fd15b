"""Connections to clients, over TCP and WebSocket: messages come in by `Connection.receive` and go out by `send`.

Each client is read by a coroutine of its own, a little at a time, and no faster than its `TokenBucket` allows: moves
are free, all else is paid for. What it sends beyond that waits in the system's small buffers, and in the end with the
client. What a client does not read is kept for it up to `MOST_UNREAD`. So whatever it does costs the others little.
"""

from __future__ import annotations

import asyncio
import contextlib
import http
import logging
import re
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from websockets.asyncio.server import Server as WebSocketServer
from websockets.asyncio.server import ServerConnection, broadcast, serve
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame
from websockets.http11 import Request, Response

from dicegym.errors import ParameterError
from dicegym.server.access import Origins
from dicegym.server.limits import AT_ONCE, BYTES, HANDSHAKES, MESSAGE, ThrottledLog, TokenBucket
from dicegym.server.wire import BAD_JSON, Malformed, Message, ObjectReader, parse

MOST_UNREAD = 1 << 16
"""Bytes kept for a client that does not read."""
IN_A_ROW = 8
"""Messages of a packet read from one client before others have their turn."""
PACKET = 512
"""Bytes taken from one client at a time."""
KERNEL_BUFFER = 1 << 12
"""Bytes that the system is asked to keep of what a client has sent; Linux takes twice as many."""
REFILL = 0.25
"""How full a bucket that was emptied has to be again before its owner is read."""
LONGEST_PAUSE = 5.0
"""Seconds after which a client in debt is read a little, so that its end is noticed."""
MOST_DISCARDED = 1 << 16
"""Bytes that are thrown away of a client that was disconnected; then nothing is taken any more."""
LARGEST_FRAME = 1 << 14
"""Bytes of a WebSocket message that is still answered by an error; who sends more is disconnected."""
FRAMES_WAITING = 4
CLOSING = 2.0
"""Seconds in which a client can still read what is left for it."""
ACCEPTED_AT_ONCE = 4
"""New connections that are taken before others have their turn; more wait in the system's queue of `QUEUE`."""
QUEUE = 512
BLANKS = b" \t\r\n\xef\xbb\xbf"
"""What may stand before the first object: white space, and the bytes of a mark that some editors write."""
TLS = b"\x16\x03"
HTTP = re.compile(rb"[A-Z]{1,20}(?: |$)")
NO_HTTP = b"""\
This port speaks JSON over plain TCP and no HTTP: nothing of this request was read.
Programs for a browser can use the server's WebSocket port, where it has one.
"""


@dataclass(frozen=True)
class Terms:
    """What a client may do before it is slowed, and who is refused.

    Attributes:
        rate: bytes a second, beyond its moves.
        origins: who may speak WebSocket.
        log: takes lines about who is refused.
        seconds: to end the handshake of a WebSocket.
    """

    rate: float = BYTES
    origins: Origins = field(default_factory=lambda: Origins("127.0.0.1"))
    log: ThrottledLog = field(default_factory=lambda: ThrottledLog(lambda text: None))
    seconds: float = CLOSING

    def bucket(self) -> TokenBucket:
        """Return the bucket of a new client."""
        return TokenBucket(self.rate, AT_ONCE * self.rate)


class Connection:
    """A connection to a client.

    Args:
        transport: the transport below.
        bucket: what the client may send.

    Attributes:
        peer: the other end's address and port, for people.
        address: the other end's address.
        open: whether anything can be sent.
    """

    def __init__(self, transport: Any, bucket: TokenBucket) -> None:
        self.peer = self.address = "unknown"
        self.open = True
        self.transport = transport
        self._bucket = bucket
        self._cost = 0.0  # of the last message
        self._work = 0  # messages since others had their turn
        peer = transport.get_extra_info("peername")
        if isinstance(peer, tuple) and len(peer) >= 2:
            self.address = str(peer[0])
            self.peer = f"[{peer[0]}]:{peer[1]}" if ":" in self.address else f"{peer[0]}:{peer[1]}"
        raw = transport.get_extra_info("socket")
        if raw is not None:
            with contextlib.suppress(OSError):
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)

    async def receive(self) -> Message | Malformed | None:
        """Return the next message, or what is wrong with what came in its place; None when the connection is gone.

        A client that has spent what it may is not read for a while.
        """
        raise NotImplementedError

    def send(self, data: bytes) -> None:
        """Send a message, one line of ASCII, without waiting; drop a client that leaves too much unread."""
        if self.open and not self.transport.is_closing():
            self._write(data)
            if self.transport.get_write_buffer_size() > MOST_UNREAD:
                self.open = False
                self.transport.abort()

    def refund(self) -> None:
        """Give back what the last message has cost, as it was a move."""
        self._bucket.left += self._cost  # what is too much is taken back when it is filled next

    def close(self) -> None:
        """Hang up when what is left to send is sent."""
        if self.open:
            self.open = False
            self._end()

    async def _take_turns(self) -> None:
        """Let others have their turn, and wait while the client is in debt."""
        self._work = 0
        in_debt = self._bucket.left < 0 and not self._bucket.pay(0)
        await asyncio.sleep(_pause_of(self._bucket) if in_debt else 0)

    def _write(self, data: bytes) -> None:
        raise NotImplementedError

    def _end(self) -> None:
        raise NotImplementedError


class TcpConnection(Connection):
    """A TCP connection to a client."""

    def __init__(self, stream: asyncio.StreamReader, transport: Any, terms: Terms) -> None:
        super().__init__(transport, terms.bucket())
        self.objects = ObjectReader()
        self._stream = stream
        self._log = terms.log
        self._paid = 0  # objects
        self._known = self._stranger = False  # by the first byte that it has sent

    async def receive(self) -> Message | Malformed | None:
        """See `Connection`."""
        if self._stranger:
            self.close()
        while self.open and not self.transport.is_closing():  # what is left of a lost connection is not looked at
            found = self.objects.read()
            self._bucket.left -= MESSAGE * (self.objects.begun - self._paid)  # those that broke off are paid for too
            self._paid = self.objects.begun
            self._work += found is not None
            if self._bucket.left < 0 or self._work >= IN_A_ROW:
                await self._take_turns()
            if found is not None:
                self._cost = MESSAGE + self.objects.length
                return found
            data = await self._read()
            if not data:
                self.open = False
                return None
            if not self._known and (stranger := self._meet(data)) is not None:
                return stranger
            self._bucket.left -= len(data)
            self._work = 0
            self.objects.feed(data)
        if self.open:
            self.open = False
            return None
        for _ in range(MOST_DISCARDED // PACKET):  # to close with unread bytes would reset it, and lose the last words
            if not await self._read():
                break
        return None

    async def _read(self) -> bytes:
        try:
            return await self._stream.read(PACKET)
        except OSError:
            return b""

    def _meet(self, data: bytes) -> Malformed | None:
        """Find out whether a client begins so; return what is wrong if it is somebody else, who is not heard again."""
        start = data.lstrip(BLANKS)
        self._known = start[:1] == b"{"
        if self._known or not start:
            return None
        self._stranger = True
        shown = ascii(start[:20].decode("latin-1"))
        what = "a TLS handshake" if start[:2] == TLS else "something that is not JSON"
        if HTTP.match(start):
            what = "an HTTP request"
            head = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n"
            self._write(f"{head}Content-Length: {len(NO_HTTP)}\r\n\r\n".encode() + NO_HTTP)
            self.close()
        self._log.note("stranger", self.address, f"{what} came to the TCP port from {self.peer}: refused")
        why = f"this port speaks JSON: a client begins with an object, in braces, and not with {shown}"
        return Malformed(BAD_JSON, why)

    def _write(self, data: bytes) -> None:
        self.transport.write(data)

    def _end(self) -> None:
        with contextlib.suppress(OSError):
            self.transport.write_eof()
        asyncio.get_running_loop().call_later(CLOSING, self.transport.abort)  # for one that does not close its side


class WebSocketConnection(Connection):
    """A WebSocket connection to a client, from the end of its handshake on."""

    def __init__(self, websocket: MeteredWebSocket) -> None:
        super().__init__(websocket.transport, websocket.bucket)
        self._websocket = websocket
        self._closing: asyncio.Task[None] | None = None

    async def receive(self) -> Message | Malformed | None:
        """See `Connection`; each frame was paid for when it came."""
        self._work += 1
        if self._bucket.left < 0 or self._work >= IN_A_ROW:
            await self._take_turns()
        try:
            frame = await self._websocket.recv()
        except ConnectionClosed:
            self.open = False
            return None
        self._cost = MESSAGE + len(frame)
        return parse(frame) if isinstance(frame, str) else Malformed(BAD_JSON, "messages are sent in text frames")

    def _write(self, data: bytes) -> None:
        broadcast((self._websocket,), data, text=True)

    def _end(self) -> None:
        self._closing = asyncio.get_running_loop().create_task(self._websocket.close())


class MeteredWebSocket(ServerConnection):
    """A connection of the library's of which each frame is paid for, also pings, which the library answers itself."""

    def __init__(self, terms: Terms, handshakes: dict[ServerConnection, None], *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.terms = terms
        self.bucket = terms.bucket()
        self._handshakes = handshakes
        self._paused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.BaseProtocol`."""
        super().connection_made(transport)
        self._handshakes[self] = None
        if len(self._handshakes) > HANDSHAKES:
            next(iter(self._handshakes)).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.BaseProtocol`."""
        self._handshakes.pop(self, None)
        super().connection_lost(exc)

    def process_event(self, event: Any) -> None:
        """See `ServerConnection`: read nothing for a while when the bucket is empty."""
        self._handshakes.pop(self, None)
        if isinstance(event, Frame) and not self.bucket.pay(MESSAGE + len(event.data)) and not self._paused:
            self._paused = True
            self.transport.pause_reading()
            self.loop.call_later(_pause_of(self.bucket), self._resume)
        super().process_event(event)

    def _resume(self) -> None:
        self._paused = False
        if not self.transport.is_closing():
            self.transport.resume_reading()


Serve = Callable[[Connection], Awaitable[None]]
"""Serves a client until its connection is gone."""


async def listen_tcp(serve_client: Serve, host: str, port: int, terms: Terms | None = None) -> asyncio.Server:
    """Take a port for TCP; `start_serving` of what is returned accepts. Raises ParameterError if it cannot be had."""
    given = terms or Terms()

    async def handle(stream: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve_client(TcpConnection(stream, writer.transport, given))
        except asyncio.CancelledError:  # the event loop ends; Python 3.11 would print what a stream's task raises
            pass
        finally:
            writer.close()

    try:
        return await asyncio.start_server(
            handle, host, port, limit=PACKET, backlog=ACCEPTED_AT_ONCE, start_serving=False
        )
    except (OSError, OverflowError) as error:
        raise _refused("--tcp", host, port, error) from None


async def listen_ws(serve_client: Serve, host: str, port: int, terms: Terms | None = None) -> WebSocketServer:
    """Take a port for WebSocket; `start_serving` of what is returned accepts.

    Raises ParameterError if it cannot be had.
    """
    given = terms or Terms()
    handshakes: dict[ServerConnection, None] = {}

    async def handle(connection: ServerConnection) -> None:
        if isinstance(connection, MeteredWebSocket):
            await serve_client(WebSocketConnection(connection))

    quiet = logging.getLogger("dicegym.server.websockets")  # failed handshakes do not concern the operator
    quiet.addHandler(logging.NullHandler())
    quiet.propagate = False
    try:
        return await serve(
            handle,
            host,
            port,
            process_request=_check_origin,
            compression=None,
            max_size=LARGEST_FRAME,
            max_queue=FRAMES_WAITING,
            open_timeout=given.seconds,
            close_timeout=CLOSING,
            logger=quiet,
            create_connection=lambda *args, **options: MeteredWebSocket(given, handshakes, *args, **options),  # type: ignore[arg-type]  # a function that makes one will do, as it says
            backlog=ACCEPTED_AT_ONCE,
            start_serving=False,
        )
    except (OSError, OverflowError) as error:
        raise _refused("--ws", host, port, error) from None


def _check_origin(connection: ServerConnection, request: Request) -> Response | None:
    """Refuse pages that are not allowed, and who takes the server for another."""
    if not isinstance(connection, MeteredWebSocket) or "Upgrade" not in request.headers:
        return None  # what is no WebSocket at all the library answers itself
    terms, headers = connection.terms, request.headers
    fault = terms.origins.fault(headers.get_all("Host"), headers.get_all("Origin"))
    if not fault:
        return None
    who = Connection(connection.transport, connection.bucket)
    terms.log.note("origin", who.address, f"a WebSocket from {who.peer} was refused: {fault}")
    return connection.respond(http.HTTPStatus.FORBIDDEN, f"{fault}\n")


async def start_serving(listening: Any) -> None:
    """Accept connections on ports that were taken, a few at a time. Raises OSError."""
    for each in listening.sockets:
        with contextlib.suppress(OSError):
            each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, KERNEL_BUFFER)  # connections inherit it
    await listening.start_serving()  # takes as many at a time as may wait in the queue
    for each in listening.sockets:
        with contextlib.suppress(OSError), each.dup() as again:
            again.listen(QUEUE)  # so the queue is made longer afterwards


def _pause_of(bucket: TokenBucket) -> float:
    """Return the seconds for which a client that has emptied its bucket is not read."""
    return min(bucket.wait(REFILL * bucket.most), LONGEST_PAUSE)


def port_of(server: Any) -> int:
    """Return the port that a server listens on, which it may have chosen itself."""
    return int(server.sockets[0].getsockname()[1])


def _refused(option: str, host: str, port: int, error: Exception) -> ParameterError:
    reason = getattr(error, "strerror", None) or str(error)
    return ParameterError(
        f"{option} {port}: cannot listen on {host}, port {port} ({reason}): give another, or 0 for any"
    )
