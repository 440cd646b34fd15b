"""Connections to clients, over TCP and WebSocket. Each received message goes to `Connection.hear`.

A client is answered in the call that receives its bytes, without a task: waking a task costs more than a move. The
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

from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import State
from websockets.server import ServerProtocol

from dicegym.errors import ParameterError
from dicegym.games.yatzy.protocol import Message
from dicegym.server.admission import Origins
from dicegym.server.client_limits import AT_ONCE, BESIDE, MESSAGE, ThrottledLog, TokenBucket
from dicegym.server.server_settings import ServerSettings
from dicegym.server.wire import BAD_JSON, Malformed, ObjectReader, parse

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
FRAME_HEADER = 8  # bytes of a client's frame in addition to its data
CLOSING = 2.0  # seconds for a disconnected client to read its last messages
PING = 20.0
"""Seconds between two pings of a WebSocket: proxies close silent ones, and a client that sends nothing is gone."""
ACCEPTED_AT_ONCE = 4
"""Connections accepted at a time: a flood of connections then delays moves by milliseconds."""
QUEUE = 512  # connections that wait in the system to be accepted
BLANKS = b" \t\r\n\xef\xbb\xbf"
"""Bytes allowed before the first object: white space, and the byte order mark that some editors write."""
QUIET = logging.getLogger("dicegym.server.websockets")
"""The log of the library: the operator need not see failed handshakes."""
QUIET.disabled = True


class Connection(asyncio.BufferedProtocol):
    """A connection to a client, which may send what its bucket allows.

    Attributes:
        transport: the underlying transport.
        peer: the client's address and port as text.
        open: whether messages can be sent and received.
        hear: called with each message, or with the error in its place; set by the lobby.
        lost: called when the connection is lost, perhaps more than once; set by the lobby.
    """

    transport: Any

    def __init__(self, ports: Ports) -> None:
        self.peer = "unknown"
        self.open = True
        self.hear: Callable[[Message | Malformed], None] = lambda message: None
        self.lost: Callable[[], None] = lambda: None
        self._ports, self._loop = ports, asyncio.get_running_loop()
        self._bucket = ports.bucket()
        self._cost = 0  # of the last message
        self._buffer = bytearray(PACKET)
        self._paused = False
        self._discarded = 0  # bytes since it was disconnected

    def connection_made(self, transport: Any) -> None:
        """See `asyncio.BaseProtocol`."""
        self.transport = transport
        peer = transport.get_extra_info("peername")
        if isinstance(peer, tuple) and len(peer) > 1:
            address = str(peer[0])
            self.peer = f"[{address}]:{peer[1]}" if ":" in address else f"{address}:{peer[1]}"
        self._ports.alive.add(transport)
        self._ports.enter(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.BaseProtocol`."""
        self._ports.alive.discard(self.transport)
        self._leave()

    @property
    def ready(self) -> bool:
        """Whether the client can send messages: a WebSocket needs a handshake before."""
        return True

    def eof_received(self) -> bool:
        """See `asyncio.BufferedProtocol`: a client that closes its side has left, even if it reads the rest."""
        if self.transport.get_write_buffer_size():
            self._loop.call_later(CLOSING, self.transport.abort)
        self._leave()
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
        self._bucket.left -= nbytes
        self._feed(bytes(self._buffer[:nbytes]))
        self._hear_on()

    def send(self, data: bytes) -> None:
        """Send a message, one line of ASCII, without waiting; drop a client that leaves too much unread."""
        if self.open and not self.transport.is_closing():
            self._write(data)

    def refund(self) -> None:
        """Pay back the cost of the last message, because it was a move."""
        self._bucket.left += self._cost  # the next refill cuts it to the maximum

    def close(self) -> None:
        """Disconnect after sending the remaining output; receive nothing more."""
        if self.open:
            self._say_goodbye()
            self._end()

    def _put(self, data: bytes) -> None:
        """Write bytes; abort the connection if the client leaves too much unread."""
        self.transport.write(data)
        if self.transport.get_write_buffer_size() > MOST_UNREAD:
            self.open = False
            self.transport.abort()

    def _leave(self) -> None:
        self.open = False
        self.lost()

    def _end(self) -> None:
        """Close our side, and the client's after some seconds; at once if open files run short."""
        self.open = False
        with contextlib.suppress(OSError):
            self.transport.write_eof()
        self.transport.resume_reading()
        self._loop.call_later(0 if self._ports.crowded else CLOSING, self.transport.abort)

    def _hear_on(self) -> None:
        """Process received messages, up to `IN_A_ROW`; stop reading for a while if the bucket is empty."""
        for _ in range(IN_A_ROW):
            if self._paused or not self.open or self.transport.is_closing():
                return
            found = self._next()
            if found is not None:
                self.hear(found)
            if self._bucket.left < 0 and not self._bucket.pay(0):
                self._pause(min(self._bucket.wait(REFILL * self._bucket.most), LONGEST_PAUSE))
            if found is None:
                return
        if not self._paused:
            self._pause(0)

    def _pause(self, seconds: float) -> None:
        self._paused = True
        self.transport.pause_reading()
        self._loop.call_later(seconds, self._resume)

    def _resume(self) -> None:
        self._paused = False
        self._hear_on()
        if not self._paused:
            self.transport.resume_reading()

    def _feed(self, data: bytes) -> None:
        """Take received bytes."""
        raise NotImplementedError

    def _next(self) -> Message | Malformed | None:
        """Return the next message, or the error in its place; set its cost, of which its bytes are paid."""
        raise NotImplementedError

    def _write(self, data: bytes) -> None:
        raise NotImplementedError

    def _say_goodbye(self) -> None:
        """Send what ends the connection."""


class TcpConnection(Connection):
    """A TCP connection to a client."""

    def __init__(self, ports: Ports) -> None:
        super().__init__(ports)
        self.objects = ObjectReader()
        self._paid = 0  # number of objects
        self._known = False  # whether its first byte was that of a message

    def _feed(self, data: bytes) -> None:
        if not self._known:  # refuse a client whose first byte does not begin a message, such as a browser
            start = data.lstrip(BLANKS)
            if start and start[:1] != b"{":
                shown = ascii(start[:20].decode("latin-1"))
                self._ports.log.note(f"{shown} reached the TCP port from {self.peer}: refused")
                why = f"this port speaks JSON: a client begins with an object in braces, not with {shown}"
                self.hear(Malformed(BAD_JSON, why))
                self.close()
                return
            self._known = bool(start)
        self.objects.feed(data)

    def _next(self) -> Message | Malformed | None:
        found = self.objects.read()
        self._bucket.left -= MESSAGE * (self.objects.begun - self._paid)  # incomplete objects cost too
        self._paid = self.objects.begun
        self._cost = MESSAGE + self.objects.length
        return found

    def _write(self, data: bytes) -> None:
        self._put(data)


class WebSocketConnection(Connection):
    """A WebSocket connection to a client; the library reads and writes its frames, and answers its pings."""

    def __init__(self, ports: Ports) -> None:
        super().__init__(ports)
        self._protocol = ServerProtocol(max_size=LARGEST_FRAME, logger=QUIET)
        self._messages: deque[tuple[bool, bytes]] = deque()  # whether it is a text, and the data
        self._is_text, self._data = True, b""  # of an incomplete message
        self._is_silent = False  # whether it has sent nothing since the last ping

    @property
    def ready(self) -> bool:
        """See `Connection`."""
        return self._protocol.state is not State.CONNECTING

    def _ping(self) -> None:
        if self._is_silent:
            self.transport.abort()
        elif self.open:
            self._is_silent = True
            self._protocol.send_ping(b"")
            self._flush()
            self._loop.call_later(PING, self._ping)

    def _feed(self, data: bytes) -> None:
        self._is_silent = False
        self._protocol.receive_data(data)
        for event in self._protocol.events_received():
            if isinstance(event, Request):
                self._shake_hands(event)
            elif isinstance(event, Frame):
                self._bucket.left -= MESSAGE
                if event.opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
                    self._collect(event)
        self._flush()
        if self._protocol.close_expected():  # it has left, or broken the protocol
            self._end()
            self.lost()

    def _collect(self, frame: Frame) -> None:
        """Take a part of a message; the library limits the sum of their bytes."""
        if frame.opcode is not Opcode.CONT:
            self._is_text, self._data = frame.opcode is Opcode.TEXT, b""
        self._data += frame.data
        if frame.fin:
            self._messages.append((self._is_text, self._data))

    def _shake_hands(self, request: Request) -> None:
        """Accept a client, unless it is a web page that is not allowed or the host name is unknown."""
        response, fault = self._protocol.accept(request), ""
        if response.status_code == http.HTTPStatus.SWITCHING_PROTOCOLS:
            fault = self._ports.origins.fault(request.headers.get_all("Host"), request.headers.get_all("Origin"))
        if fault:
            self._ports.log.note(f"a WebSocket from {self.peer} was refused: {fault}")
            response = self._protocol.reject(http.HTTPStatus.FORBIDDEN, f"{fault}\n")
        self._protocol.send_response(response)
        if self._protocol.state is State.OPEN:
            self._loop.call_later(PING, self._ping)

    def _next(self) -> Message | Malformed | None:
        if not self._messages:
            return None
        is_text, data = self._messages.popleft()
        self._cost = MESSAGE + FRAME_HEADER + len(data)
        if not is_text:
            return Malformed(BAD_JSON, "messages are sent in text frames")
        return parse(data.decode("utf-8", "surrogateescape"))

    def _write(self, data: bytes) -> None:
        if self._protocol.state is State.OPEN:
            self._protocol.send_text(data)
        elif not self.ready:  # the server is full or stops, or the handshake takes too long
            self._protocol.send_response(self._protocol.reject(http.HTTPStatus.SERVICE_UNAVAILABLE, data.decode()))
        self._flush()

    def _say_goodbye(self) -> None:
        if self._protocol.state is State.OPEN:
            self._protocol.send_close(1000)
            self._flush()

    def _flush(self) -> None:
        self._put(b"".join(self._protocol.data_to_send()))  # an empty part stands for the end


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
    """

    def __init__(self, enter: Callable[[Connection], None], settings: ServerSettings, log: ThrottledLog) -> None:
        self.enter, self.log = enter, log
        self.origins = Origins(settings.host, settings.hosts, settings.origins)
        self.numbers: dict[str, int] = {}
        self.addresses: tuple[str, ...] = ()
        self.alive: set[Any] = set()
        self._settings, self._host = settings, settings.host
        self._listening: list[asyncio.Server] = []

    @property
    def crowded(self) -> bool:
        """Whether disconnected clients take many of the open files that `BESIDE` allows."""
        return len(self.alive) > self._settings.connections + BESIDE // 4

    def bucket(self) -> TokenBucket:
        """Return the bucket of a new client."""
        return TokenBucket(self._settings.rate, AT_ONCE * self._settings.rate)

    async def take(self) -> None:
        """Open the ports of the settings. Raises ParameterError if one is not available."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        for name, port, prefix, kind in (
            ("tcp", self._settings.tcp, "", TcpConnection),
            ("ws", self._settings.ws, "ws://", WebSocketConnection),
        ):
            if port is None:
                continue
            try:
                listening = await asyncio.get_running_loop().create_server(
                    functools.partial(kind, self), self._host, port, backlog=ACCEPTED_AT_ONCE, start_serving=False
                )
            except (OSError, OverflowError) as error:
                reason = getattr(error, "strerror", None) or str(error)
                where = f"--{name} {port}: cannot listen on {self._host}, port {port}"
                raise ParameterError(f"{where} ({reason}): give another port, or 0 for any free one") from None
            self._listening.append(listening)
            self.numbers[name] = int(listening.sockets[0].getsockname()[1])
            self.addresses += (f"{prefix}{host}:{self.numbers[name]}",)

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
        await asyncio.sleep(0)  # the event loop closes sockets in its next round
