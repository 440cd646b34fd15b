"""Connections to clients, over TCP and WebSocket: each message that comes is handed to `Connection.hear`.

A TCP client is answered straight from the call that brings its bytes, without a task: to wake one costs more than a
move. A little is read of each client at a time, and no more than its `TokenBucket` allows: moves are free, all else is
paid for. What a client sends beyond that waits in the system's small buffers, and in the end with the client. What a
client does not read is kept for it up to `MOST_UNREAD`. So whatever it does costs the others little.
"""

from __future__ import annotations

import asyncio
import contextlib
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
from dicegym.server.client_limits import AT_ONCE, BYTES, HANDSHAKES, LEAVING, MESSAGE, ThrottledLog, TokenBucket
from dicegym.server.wire import BAD_JSON, Malformed, Message, ObjectReader, parse

MOST_UNREAD = 1 << 16
"""Bytes kept for a client that does not read."""
IN_A_ROW = 8
"""Messages of a packet that are heard of one client before others have their turn."""
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
"""Bytes of a WebSocket message that is still answered by an error; a client that sends more is disconnected."""
FRAMES_WAITING = 4
CLOSING = 2.0
"""Seconds in which a client can still read what is left for it."""
ACCEPTED_AT_ONCE = 4
"""New connections that are taken before others have their turn: a flood of them then delays moves by milliseconds."""
QUEUE = 512
"""New connections that the system keeps waiting meanwhile."""
BLANKS = b" \t\r\n\xef\xbb\xbf"
"""What may stand before the first object: white space, and the bytes of a mark that some editors write."""


class Connection:
    """A connection to a client, which may send what its bucket allows.

    Attributes:
        transport: the transport below, from `attach` on.
        peer: the other end's address and port, for people.
        address: the other end's address.
        open: whether anything can be sent.
        hear: takes the next message, or what is wrong with what came in its place; the lobby sets it.
        lost: called when the connection is gone; likewise, and more than once perhaps.
    """

    def __init__(self, ports: Ports, bucket: TokenBucket) -> None:
        self.address = self.peer = "unknown"
        self.open = True
        self.transport: Any = None
        self.hear: Callable[[Message | Malformed], None] = lambda message: None
        self.lost: Callable[[], None] = lambda: None
        self._ports, self._bucket = ports, bucket
        self._cost = 0.0  # of the last message

    def attach(self, transport: Any) -> None:
        """Take the transport that was made for it."""
        self.transport = transport
        self.address, self.peer = _peer_of(transport)
        raw = transport.get_extra_info("socket")
        if raw is not None:
            with contextlib.suppress(OSError):
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)

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
        """Hang up when what is left to send is sent; nothing is heard any more."""
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
    """A TCP connection to a client, which is read as the event loop says."""

    def __init__(self, ports: Ports) -> None:
        super().__init__(ports, ports.bucket())
        self.objects = ObjectReader()
        self._buffer = bytearray(PACKET)
        self._paid = 0  # objects
        self._known = False  # by the first byte that it has sent
        self._paused = False
        self._discarded = 0  # bytes, since it was disconnected

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
        """See `asyncio.BufferedProtocol`: a client that has closed its side is gone, even if it reads the rest."""
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
        if not self.open:  # to close with unread bytes would reset the connection, and lose the last words
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
        """Hear nothing more of the client for a while."""
        self._paused = True
        self.transport.pause_reading()
        asyncio.get_running_loop().call_later(seconds, self._resume)

    def _resume(self) -> None:
        self._paused = False
        self._hear_on()
        if not self._paused:
            self.transport.resume_reading()

    def _hear_on(self) -> None:
        """Hear what has come, up to `IN_A_ROW` messages; for a while no more of a client in debt."""
        objects = self.objects
        for _ in range(IN_A_ROW):
            if self._paused or not self.open or self.transport.is_closing():  # of a lost one nothing more is looked at
                return
            found = objects.read()
            self._bucket.left -= MESSAGE * (objects.begun - self._paid)  # those that broke off are paid for too
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
        """Refuse a client whose first byte begins no message, such as a browser; return whether it is one."""
        start = data.lstrip(BLANKS)
        self._known = start[:1] == b"{"
        if self._known or not start:
            return False
        shown = ascii(start[:20].decode("latin-1"))
        self._ports.log.note(f"{shown} reached the TCP port from {self.peer}: refused")
        why = f"this port speaks JSON: a client begins with an object, in braces, and not with {shown}"
        self.hear(Malformed(BAD_JSON, why))
        self.close()
        return True

    def _write(self, data: bytes) -> None:
        self.transport.write(data)

    def _end(self) -> None:
        with contextlib.suppress(OSError):
            self.transport.write_eof()
        self.transport.resume_reading()
        asyncio.get_running_loop().call_later(CLOSING, self.transport.abort)  # for one that does not close its side


class WebSocketConnection(Connection):
    """A WebSocket connection to a client, from the end of its handshake on."""

    def __init__(self, websocket: MeteredWebSocket) -> None:
        super().__init__(websocket.ports, websocket.bucket)
        self.attach(websocket.transport)
        self._websocket = websocket
        self._closing: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Hear the client until its connection is gone; each frame was paid for when it came."""
        try:
            while self.open:
                frame = await self._websocket.recv()
                await asyncio.sleep(_pause_of(self._bucket))  # others have their turn
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
    """A connection of the library that pays for each frame, also for pings, which the library answers itself."""

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
        """See `ServerConnection`: read nothing for a while when the bucket is empty."""
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
    """The ports of a server, and every connection by them.

    ``enter`` is called with each new connection, whose ``hear`` and ``lost`` it sets. A client may send ``rate`` bytes
    a second beyond its moves, and has ``seconds`` to end the handshake of a WebSocket.

    Attributes:
        numbers: of the ports, by "tcp" and "ws".
        addresses: those that are listened on, as clients write them.
        alive: the transports of all connections.
        handshakes: WebSockets whose handshake has not ended, the oldest first.
        leaving: the transports of clients that were hung up last.
    """

    def __init__(
        self,
        enter: Callable[[Connection], None],
        host: str = "127.0.0.1",
        rate: float = BYTES,
        origins: Origins | None = None,
        log: ThrottledLog | None = None,
        seconds: float = CLOSING,
    ) -> None:
        self.enter, self.log = enter, log or ThrottledLog(lambda text: None)
        self.origins = origins or Origins(host)
        self.numbers: dict[str, int] = {}
        self.addresses: tuple[str, ...] = ()
        self.alive: set[Any] = set()
        self.handshakes: dict[ServerConnection, None] = {}
        self.leaving: deque[Any] = deque()
        self._host, self._rate, self._seconds = host, rate, seconds
        self._listening: list[Any] = []

    def bucket(self) -> TokenBucket:
        """Return the bucket of a new client."""
        return TokenBucket(self._rate, AT_ONCE * self._rate)

    async def take(self, tcp: int | None = None, ws: int | None = None) -> None:
        """Take ports, each 0 for any that is free or None for none. Raises ParameterError if one cannot be had."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        for kind, port, prefix, listen in (("tcp", tcp, "", self._listen_tcp), ("ws", ws, "ws://", self._listen_ws)):
            if port is None:
                continue
            try:
                listening = await listen(port)
            except (OSError, OverflowError) as error:
                reason = getattr(error, "strerror", None) or str(error)
                where = f"--{kind} {port}: cannot listen on {self._host}, port {port}"
                raise ParameterError(f"{where} ({reason}): give another, or 0 for any") from None
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

        quiet = logging.getLogger("dicegym.server.websockets")  # failed handshakes do not concern the operator
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
            open_timeout=self._seconds,
            close_timeout=CLOSING,
            logger=quiet,
            create_connection=lambda *args, **options: MeteredWebSocket(self, *args, **options),  # type: ignore[arg-type]  # a function that makes one will do, as it says
            backlog=ACCEPTED_AT_ONCE,
            start_serving=False,
        )

    async def accept(self) -> None:
        """Accept connections. Raises ParameterError if a port has been lost."""
        for listening in self._listening:
            for each in listening.sockets:
                with contextlib.suppress(OSError):
                    each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, KERNEL_BUFFER)  # connections inherit it
            try:
                await listening.start_serving()
            except OSError as error:  # another server has taken the port in the meantime
                raise ParameterError(f"cannot listen ({error.strerror or error}): give other ports") from None
            for each in listening.sockets:  # asyncio has one number for what it takes at once and for the queue
                with contextlib.suppress(OSError), each.dup() as again:
                    again.listen(QUEUE)

    def stop_accepting(self) -> None:
        """Accept no more connections."""
        for listening in self._listening:
            listening.close()

    async def close(self) -> None:
        """Let go of the ports, and end what connections are left."""
        self.stop_accepting()
        for transport in list(self.alive):
            transport.abort()
        for listening in self._listening:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(listening.wait_closed(), 2 * CLOSING)
        await asyncio.sleep(0)  # sockets are closed in the next round of the event loop


def _peer_of(transport: Any) -> tuple[str, str]:
    """Return the other end's address, and its address and port for people."""
    peer = transport.get_extra_info("peername")
    if not isinstance(peer, tuple) or len(peer) < 2:
        return "unknown", "unknown"
    address = str(peer[0])
    return address, f"[{address}]:{peer[1]}" if ":" in address else f"{address}:{peer[1]}"


def _check_origin(connection: ServerConnection, request: Request) -> Response | None:
    """Refuse pages that are not allowed, and requests that call the server by a wrong name."""
    if not isinstance(connection, MeteredWebSocket) or "Upgrade" not in request.headers:
        return None  # the library itself answers all but WebSockets
    ports, headers = connection.ports, request.headers
    fault = ports.origins.fault(headers.get_all("Host"), headers.get_all("Origin"))
    if not fault:
        return None
    _, peer = _peer_of(connection.transport)
    ports.log.note(f"a WebSocket from {peer} was refused: {fault}")
    return connection.respond(http.HTTPStatus.FORBIDDEN, f"{fault}\n")


def _pause_of(bucket: TokenBucket) -> float:
    """Return the seconds for which a client is not read: 0, unless it has emptied its bucket."""
    if bucket.left >= 0 or bucket.pay(0):
        return 0.0
    return min(bucket.wait(REFILL * bucket.most), LONGEST_PAUSE)
