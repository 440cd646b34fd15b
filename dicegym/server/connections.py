"""TCP and WebSocket behind one interface: messages come in by calls, and go out without waiting.

Nothing here waits for a client. What it does not read is kept for it up to `MOST_UNREAD`, then it is dropped; what it
sends is read a few messages at a time, so that a flood of one costs the others little.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from dicegym.errors import DependencyError, ParameterError
from dicegym.server.framing import Malformed, ObjectReader, parse

if TYPE_CHECKING:
    from websockets.asyncio.server import ServerConnection

MOST_UNREAD = 1 << 18
"""Bytes kept for a client that does not read."""
AT_ONCE = 16
"""Messages read from one client before others have their turn."""
CLOSING = 2.0
"""Seconds in which a client can still read what is left for it."""
LARGEST_FRAME = 1 << 20
"""Bytes of a WebSocket message that is still answered by an error; who sends more is disconnected."""


class Link(Protocol):
    """A connection to a client."""

    peer: str
    """The other end's address, for people."""
    open: bool

    def send(self, data: bytes) -> None:
        """Send a message: one line of ASCII."""

    def close(self) -> None:
        """Send what is left to send, then hang up."""


class Receiver(Protocol):
    """What takes in what comes over connections. All calls come from the event loop and return at once."""

    def opened(self, link: Link) -> None:
        """Take note of a new connection."""

    def received(self, link: Link, message: dict[str, Any] | Malformed) -> None:
        """Take a message, or what came in place of one."""

    def closed(self, link: Link) -> None:
        """Take note that a connection is gone."""


class TcpLink(asyncio.Protocol):
    """A TCP connection: objects on the stream, each of ours followed by a newline."""

    def __init__(self, receiver: Receiver) -> None:
        self.peer = ""
        self.open = False
        self._receiver = receiver
        self._reader = ObjectReader()
        self._loop = asyncio.get_running_loop()
        self._transport: Any = None
        self._paused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.Protocol`."""
        self._transport = transport
        self.peer = _address(transport.get_extra_info("peername"))
        self.open = True
        raw = transport.get_extra_info("socket")
        if raw is not None:
            with contextlib.suppress(OSError):
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._receiver.opened(self)

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        self._reader.feed(data)
        self._read()

    def _read(self) -> None:
        for _ in range(AT_ONCE):
            found = self._reader.read() if self.open else None
            if found is None:
                if self._paused and self.open:
                    self._transport.resume_reading()
                    self._paused = False
                return
            self._receiver.received(self, found)
        if not self._paused and self.open:
            self._transport.pause_reading()
            self._paused = True
        self._loop.call_soon(self._read)

    def connection_lost(self, error: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        self.open = False
        self._receiver.closed(self)

    def send(self, data: bytes) -> None:
        """See `Link`."""
        if not self.open or self._transport.is_closing():
            return
        self._transport.write(data)
        if self._transport.get_write_buffer_size() > MOST_UNREAD:
            self.open = False
            self._transport.abort()

    def close(self) -> None:
        """See `Link`."""
        if self.open:
            self.open = False
            self._transport.close()
            self._loop.call_later(CLOSING, self._transport.abort)  # for one that does not read what is left


class WsLink:
    """A WebSocket connection: one object in each text frame."""

    def __init__(self, receiver: Receiver, connection: ServerConnection) -> None:
        from websockets.asyncio.server import broadcast

        self.peer = _address(connection.remote_address)
        self.open = True
        self._receiver = receiver
        self._connection = connection
        self._broadcast = broadcast
        self._closing: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Pass on what comes in until the connection is gone."""
        from websockets.exceptions import ConnectionClosed

        self._receiver.opened(self)
        read = 0
        try:
            while self.open:
                frame = await self._connection.recv()
                text = isinstance(frame, str)
                self._receiver.received(
                    self, parse(str(frame)) if text else Malformed("bad-json", "messages are sent in text frames")
                )
                read += 1
                if read % AT_ONCE == 0:
                    await asyncio.sleep(0)
        except ConnectionClosed:
            pass
        finally:
            self.open = False
            self._receiver.closed(self)
        if self._closing is not None:
            await self._closing

    def send(self, data: bytes) -> None:
        """See `Link`."""
        if not self.open:
            return
        self._broadcast((self._connection,), data, text=True)
        if self._connection.transport.get_write_buffer_size() > MOST_UNREAD:
            self.open = False
            self._connection.transport.abort()

    def close(self) -> None:
        """See `Link`."""
        if self.open:
            self.open = False
            self._closing = asyncio.get_running_loop().create_task(self._connection.close())


def _address(peer: Any) -> str:
    return f"{peer[0]}:{peer[1]}" if isinstance(peer, tuple) and len(peer) >= 2 else "unknown"


FindReceiver = Callable[[], Receiver]
"""Returns who takes in what comes: ports are taken before there is anybody, and connections are accepted later."""


async def listen_tcp(receiver: FindReceiver, host: str, port: int) -> asyncio.Server:
    """Take a port for TCP; ``start_serving`` of what is returned accepts. Raises ParameterError if it cannot be had."""
    loop = asyncio.get_running_loop()
    try:
        return await loop.create_server(lambda: TcpLink(receiver()), host, port, backlog=512, start_serving=False)
    except (OSError, OverflowError) as error:
        raise _refused("--tcp", host, port, error) from None


async def listen_ws(receiver: FindReceiver, host: str, port: int) -> Any:
    """Take a port for WebSocket, as `listen_tcp` does. Raises ParameterError if it cannot be had, DependencyError."""
    try:
        from websockets.asyncio.server import serve
    except ImportError as error:
        raise DependencyError.for_extra("websockets", "server", "WebSocket (--ws)") from error

    async def handle(connection: ServerConnection) -> None:
        await WsLink(receiver(), connection).run()

    quiet = logging.getLogger("dicegym.server.websockets")  # whoever cannot shake hands is not our user's concern
    quiet.addHandler(logging.NullHandler())
    quiet.propagate = False
    try:
        return await serve(
            handle,
            host,
            port,
            compression=None,
            max_size=LARGEST_FRAME,
            close_timeout=CLOSING,
            logger=quiet,
            backlog=512,
            start_serving=False,
        )
    except (OSError, OverflowError) as error:
        raise _refused("--ws", host, port, error) from None


def _refused(option: str, host: str, port: int, error: Exception) -> ParameterError:
    reason = getattr(error, "strerror", None) or str(error)
    return ParameterError(
        f"{option} {port}: cannot listen on {host}, port {port} ({reason}): give another, or 0 for any"
    )


def port_of(server: Any) -> int:
    """Return the port that a server listens on, which it may have chosen itself."""
    return int(server.sockets[0].getsockname()[1])
