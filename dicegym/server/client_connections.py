"""Connections to clients, over TCP and WebSocket. Each received message goes to `Connection.hear`.

A TCP client is answered in the call that receives its bytes, without a task: waking a task costs more than a move. The
server reads a little of each client at a time, and only what its `TokenBucket` allows: moves are free, everything else
costs tokens. Further data waits in the system's small buffers, and then at the client. Output that a client does not
read is kept up to `MOST_UNREAD`. So no client can slow down the others much.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import http
import logging
import socket
from collections import deque
from collections.abc import Callable
from typing import Any

from websockets.asyncio.server import ServerConnection, broadcast, serve
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame
from websockets.http11 import Request, Response

from dicegym.errors import ParameterError
from dicegym.server.admission import Origins
from dicegym.server.client_limits import AT_ONCE, HANDSHAKES, LEAVING, MESSAGE, ThrottledLog, TokenBucket
from dicegym.server.server_settings import ServerSettings
from dicegym.server.wire import BAD_JSON, Malformed, Message, ObjectReader, parse

MOST_UNREAD = 1 << 16  # bytes of output kept for a client that does not read
IN_A_ROW = 8  # messages of a packet to process before other clients take their turn
PACKET = 512  # bytes read from one client at a time
KERNEL_BUFFER = 1 << 12  # requested size of the system's receive buffer in bytes; Linux doubles it
REFILL = 0.25  # part of an emptied bucket that must refill before the client is read again
LONGEST_PAUSE = 5.0
"""Seconds after which a client with an empty bucket is read a little, to notice if it disconnects."""
MOST_DISCARDED = 1 << 16  # bytes read and discarded from a disconnected client; then reading stops
LARGEST_FRAME = 1 << 14
"""Bytes of a WebSocket message that gets an error; a client that sends a larger one is disconnected."""
FRAMES_WAITING = 4
CLOSING = 2.0  # seconds for a disconnected client to read its last messages
ACCEPTED_AT_ONCE = 4
"""Connections accepted at a time: a flood of connections then delays moves by milliseconds."""
QUEUE = 512  # connections that wait in the system to be accepted
BLANKS = b" \t\r\n\xef\xbb\xbf"
"""Bytes allowed before the first object: white space, and the byte order mark that some editors write."""


class Connection:
    """A connection to a client, which may send what its bucket allows.

    Attributes:
        transport: the underlying transport, from `attach` on.
        peer: the client's address and port as text.
        address: the client's address.
        open: whether messages can be sent.
        hear: called with each message, or with the error in its place; set by the lobby.
        lost: called when the connection is lost, perhaps more than once; set by the lobby.
    """

    def __init__(self, ports: Ports, bucket: TokenBucket) -> None:
        self.address = self.peer = "unknown"
        self.open = True
        self.transport: Any = None
        self.hear: Callable[[Message | Malformed], None] = lambda message: None
        self.lost: Callable[[], None] = lambda: None
        self._ports, self._bucket = ports, bucket
        self._cost = 0  # of the last message

    def attach(self, transport: Any) -> None:
        """Use ``transport`` from now on."""
        self.transport = transport
        self.address, self.peer = _peer_of(transport)

    def send(self, data: bytes) -> None:
        """Send a message, one line of ASCII, without waiting; drop a client that leaves too much unread."""
        if self.open and not self.transport.is_closing():
            self._write(data)
            if self.transport.get_write_buffer_size() > MOST_UNREAD:
                self.open = False
                self.transport.abort()

    def refund(self) -> None:
        """Pay back the cost of the last message, because it was a move."""
        self._bucket.left += self._cost  # the next refill cuts it to the maximum

    def close(self) -> None:
        """Disconnect after sending the remaining output; receive nothing more."""
        if self.open:
            self.open = False
            self._end()
            self._ports.leaving.append(self.transport)
            if len(self._ports.leaving) > LEAVING:
                self._ports.leaving.popleft().abort()

    def _write(self, data: bytes) -> None:
        raise NotImplementedError

    def _end(self) -> None:
        raise NotImplementedError


class TcpConnection(Connection, asyncio.BufferedProtocol):
    """A TCP connection to a client."""

    def __init__(self, ports: Ports) -> None:
        super().__init__(ports, ports.bucket())
        self.objects = ObjectReader()
        self._buffer = bytearray(PACKET)
        self._paid = 0  # number of objects
        self._known = False  # whether its first byte was that of a message
        self._paused = False
        self._discarded = 0  # bytes since it was disconnected

    def connection_made(self, transport: Any) -> None:
        """See `asyncio.BaseProtocol`."""
        self.attach(transport)
        self._ports.alive.add(transport)
        self._ports.enter(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.BaseProtocol`."""
        self._ports.alive.discard(self.transport)
        self.open = False
        self.lost()

    def eof_received(self) -> bool:
        """See `asyncio.BufferedProtocol`: a client that closes its side has left, even if it reads the rest."""
        if self.transport.get_write_buffer_size():
            asyncio.get_running_loop().call_later(CLOSING, self.transport.abort)
        self.open = False
        self.lost()
        return False

    def get_buffer(self, sizehint: int) -> bytearray:
        """See `asyncio.BufferedProtocol`."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """See `asyncio.BufferedProtocol`."""
        if not self.open:  # closing with unread bytes would reset the connection and lose the last messages
            self._discarded += nbytes
            if self._discarded > MOST_DISCARDED:
                self.transport.pause_reading()
            return
        data = bytes(self._buffer[:nbytes])
        if not self._known and self._is_stranger(data):
            return
        self._bucket.left -= nbytes
        self.objects.feed(data)
        self._hear_on()

    def _pause(self, seconds: float) -> None:
        """Stop reading for a while."""
        self._paused = True
        self.transport.pause_reading()
        asyncio.get_running_loop().call_later(seconds, self._resume)

    def _resume(self) -> None:
        self._paused = False
        self._hear_on()
        if not self._paused:
            self.transport.resume_reading()

    def _hear_on(self) -> None:
        """Process received messages, up to `IN_A_ROW`; pause if the bucket is empty."""
        objects = self.objects
        for _ in range(IN_A_ROW):
            if self._paused or not self.open or self.transport.is_closing():
                return
            found = objects.read()
            self._bucket.left -= MESSAGE * (objects.begun - self._paid)  # incomplete objects cost too
            self._paid = objects.begun
            if found is not None:
                self._cost = MESSAGE + objects.length
                self.hear(found)
            if (pause := _pause_of(self._bucket)) and not self._paused:
                self._pause(pause)
            if found is None:
                return
        if not self._paused:
            self._pause(0)

    def _is_stranger(self, data: bytes) -> bool:
        """Refuse a client whose first byte does not begin a message, such as a browser; return whether it was."""
        start = data.lstrip(BLANKS)
        self._known = start[:1] == b"{"
        if self._known or not start:
            return False
        shown = ascii(start[:20].decode("latin-1"))
        self._ports.log.note(f"{shown} reached the TCP port from {self.peer}: refused")
        why = f"this port speaks JSON: a client begins with an object in braces, not with {shown}"
        self.hear(Malformed(BAD_JSON, why))
        self.close()
        return True

    def _write(self, data: bytes) -> None:
        self.transport.write(data)

    def _end(self) -> None:
        with contextlib.suppress(OSError):
            self.transport.write_eof()
        self.transport.resume_reading()
        asyncio.get_running_loop().call_later(CLOSING, self.transport.abort)  # if the client does not close its side


class WebSocketConnection(Connection):
    """A WebSocket connection to a client, after the handshake."""

    def __init__(self, websocket: MeteredWebSocket) -> None:
        super().__init__(websocket.ports, websocket.bucket)
        self.attach(websocket.transport)
        self._websocket = websocket
        self._closing: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Process messages until the connection is lost. `MeteredWebSocket` has charged for each frame."""
        try:
            while self.open:
                frame = await self._websocket.recv()
                await asyncio.sleep(_pause_of(self._bucket))  # other clients take their turn
                self._cost = MESSAGE + len(frame)
                if isinstance(frame, str):
                    message = parse(frame)
                else:
                    message = Malformed(BAD_JSON, "messages are sent in text frames")
                if self.open:
                    self.hear(message)
        except ConnectionClosed:
            pass
        finally:
            self.open = False
            self.lost()

    def _write(self, data: bytes) -> None:
        broadcast((self._websocket,), data, text=True)

    def _end(self) -> None:
        self._closing = asyncio.get_running_loop().create_task(self._websocket.close())


class MeteredWebSocket(ServerConnection):
    """A connection of the library that is charged for each frame, including pings, which the library answers."""

    def __init__(self, ports: Ports, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.ports = ports
        self.bucket = ports.bucket()
        self._paused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.BaseProtocol`."""
        super().connection_made(transport)
        self.ports.alive.add(transport)
        handshakes = self.ports.handshakes
        handshakes[self] = None
        if len(handshakes) > HANDSHAKES:
            next(iter(handshakes)).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.BaseProtocol`."""
        self.ports.alive.discard(self.transport)
        self.ports.handshakes.pop(self, None)
        super().connection_lost(exc)

    def process_event(self, event: Any) -> None:
        """See `ServerConnection`; stop reading for a while if the bucket is empty."""
        self.ports.handshakes.pop(self, None)
        if isinstance(event, Frame):
            self.bucket.left -= MESSAGE + len(event.data)
            if (pause := _pause_of(self.bucket)) and not self._paused:
                self._paused = True
                self.transport.pause_reading()
                self.loop.call_later(pause, self._resume)
        super().process_event(event)

    def _resume(self) -> None:
        self._paused = False
        if not self.transport.is_closing():
            self.transport.resume_reading()


class Ports:
    """The ports of a server, and all their connections.

    Args:
        enter: called with each new connection; it sets the connection's ``hear`` and ``lost``.
        settings: addresses and limits.
        log: receives lines about refused clients.

    Attributes:
        numbers: port numbers by "tcp" and "ws".
        addresses: the addresses that the server listens on, as clients write them.
        alive: the transports of all connections.
        handshakes: WebSockets in their handshake, the oldest first.
        leaving: the transports of disconnected clients that may still read, the oldest first.
    """

    def __init__(self, enter: Callable[[Connection], None], settings: ServerSettings, log: ThrottledLog) -> None:
        self.enter, self.log = enter, log
        self.origins = Origins(settings.host, settings.hosts, settings.origins)
        self.numbers: dict[str, int] = {}
        self.addresses: tuple[str, ...] = ()
        self.alive: set[Any] = set()
        self.handshakes: dict[ServerConnection, None] = {}
        self.leaving: deque[Any] = deque()
        self._settings, self._host = settings, settings.host
        self._listening: list[Any] = []

    def bucket(self) -> TokenBucket:
        """Return the bucket of a new client."""
        return TokenBucket(self._settings.rate, AT_ONCE * self._settings.rate)

    async def take(self) -> None:
        """Open the ports of the settings. Raises ParameterError if one is not available."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        for kind, port, prefix, listen in (
            ("tcp", self._settings.tcp, "", self._listen_tcp),
            ("ws", self._settings.ws, "ws://", self._listen_ws),
        ):
            if port is None:
                continue
            try:
                listening = await listen(port)
            except (OSError, OverflowError) as error:
                reason = getattr(error, "strerror", None) or str(error)
                where = f"--{kind} {port}: cannot listen on {self._host}, port {port}"
                raise ParameterError(f"{where} ({reason}): give another port, or 0 for any free one") from None
            self._listening.append(listening)
            self.numbers[kind] = int(listening.sockets[0].getsockname()[1])
            self.addresses += (f"{prefix}{host}:{self.numbers[kind]}",)

    async def _listen_tcp(self, port: int) -> Any:
        return await asyncio.get_running_loop().create_server(
            lambda: TcpConnection(self), self._host, port, backlog=ACCEPTED_AT_ONCE, start_serving=False
        )

    async def _listen_ws(self, port: int) -> Any:
        async def handle(websocket: Any) -> None:
            connection = WebSocketConnection(websocket)
            self.enter(connection)
            await connection.run()

        quiet = logging.getLogger("dicegym.server.websockets")  # the operator need not see failed handshakes
        quiet.addHandler(logging.NullHandler())
        quiet.propagate = False
        return await serve(
            handle,
            self._host,
            port,
            process_request=_check_origin,
            compression=None,
            max_size=LARGEST_FRAME,
            max_queue=FRAMES_WAITING,
            open_timeout=self._settings.login,
            close_timeout=CLOSING,
            logger=quiet,
            create_connection=functools.partial(MeteredWebSocket, self),  # type: ignore[arg-type]  # any factory will do
            backlog=ACCEPTED_AT_ONCE,
            start_serving=False,
        )

    async def accept(self) -> None:
        """Accept connections. Raises ParameterError if another program has taken a port."""
        for listening in self._listening:
            for each in listening.sockets:
                with contextlib.suppress(OSError):  # connections inherit these options
                    each.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
                    each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, KERNEL_BUFFER)
            try:
                await listening.start_serving()
            except OSError as error:  # another program has taken the port meanwhile
                raise ParameterError(f"cannot listen ({error.strerror or error}): give other ports") from None
            for each in listening.sockets:  # asyncio's ``backlog`` sets both the accepted at once and the queue
                with contextlib.suppress(OSError), each.dup() as again:
                    again.listen(QUEUE)

    def stop_accepting(self) -> None:
        """Accept no more connections."""
        for listening in self._listening:
            listening.close()

    async def close(self) -> None:
        """Close the ports and all connections."""
        self.stop_accepting()
        for transport in list(self.alive):
            transport.abort()
        for listening in self._listening:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(listening.wait_closed(), 2 * CLOSING)
        await asyncio.sleep(0)  # the event loop closes sockets in its next round


def _peer_of(transport: Any) -> tuple[str, str]:
    """Return a client's address, and its address and port as text."""
    peer = transport.get_extra_info("peername")
    if not isinstance(peer, tuple) or len(peer) < 2:
        return "unknown", "unknown"
    address = str(peer[0])
    return address, f"[{address}]:{peer[1]}" if ":" in address else f"{address}:{peer[1]}"


def _check_origin(connection: ServerConnection, request: Request) -> Response | None:
    """Refuse web pages that are not allowed, and requests with an unknown host name."""
    if not isinstance(connection, MeteredWebSocket) or "Upgrade" not in request.headers:
        return None  # the library answers other requests itself
    ports, headers = connection.ports, request.headers
    fault = ports.origins.fault(headers.get_all("Host"), headers.get_all("Origin"))
    if not fault:
        return None
    _, peer = _peer_of(connection.transport)
    ports.log.note(f"a WebSocket from {peer} was refused: {fault}")
    return connection.respond(http.HTTPStatus.FORBIDDEN, f"{fault}\n")


def _pause_of(bucket: TokenBucket) -> float:
    """Return the seconds for which to stop reading: 0 unless the bucket is empty."""
    if bucket.left >= 0 or bucket.pay(0):
        return 0.0
    return min(bucket.wait(REFILL * bucket.most), LONGEST_PAUSE)
