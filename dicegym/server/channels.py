"""Connections from a client to a server, ours or another: TCP or WebSocket, by the address."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol
from urllib.parse import urlsplit

from dicegym.errors import DependencyError, ParameterError
from dicegym.server.framing import Malformed, ObjectReader, parse
from dicegym.server.wire import Message, line

LARGEST = 1 << 20
"""Bytes that a message of a server may have."""


class Address(NamedTuple):
    """Where a server is."""

    host: str
    port: int
    url: str = ""
    """Of a WebSocket server; empty for plain TCP."""

    def __str__(self) -> str:
        """Return it as it is written."""
        return self.url or f"{self.host}:{self.port}"


def address(text: str) -> Address:
    """Return what HOST:PORT, tcp://HOST:PORT, ws://HOST:PORT/PATH or wss://... names. Raises ParameterError."""
    wrong = ParameterError(f"{text!r} is no address: give HOST:PORT for TCP, or ws://HOST:PORT for WebSocket")
    try:
        parts = urlsplit(text if "://" in text else f"tcp://{text}")
        port = parts.port
    except ValueError:
        raise wrong from None
    web = {"ws": 80, "wss": 443}.get(parts.scheme)
    port = port or web
    if not parts.hostname or not port or (web is None and (parts.scheme != "tcp" or parts.path.strip("/"))):
        raise wrong
    return Address(parts.hostname, port, text if web else "")


Patience = Callable[[], float | None]
"""Says for how many seconds to wait for the next message; None: for ever."""


class Channel(Protocol):
    """A connection to a server."""

    def messages(self, patience: Patience) -> Iterator[Message | None]:
        """Yield what comes until the connection is gone, None where patience is at its end; may raise OSError."""

    def send(self, message: Message) -> None:
        """Send a message. Raises OSError if the connection is gone."""


class TcpChannel:
    """A `Channel` over TCP: a JSON object a line."""

    def __init__(self, raw: socket.socket) -> None:
        self._raw = raw

    def messages(self, patience: Patience) -> Iterator[Message | None]:
        """See `Channel`."""
        reader = ObjectReader(LARGEST)
        while True:
            self._raw.settimeout(patience())
            try:
                data = self._raw.recv(1 << 16)
            except TimeoutError:
                yield None
                continue
            if not data:
                return
            self._raw.settimeout(None)
            reader.feed(data)
            while (found := reader.read()) is not None:
                if not isinstance(found, Malformed):
                    yield found

    def send(self, message: Message) -> None:
        """See `Channel`."""
        self._raw.sendall(line(message))


class WsChannel:
    """A `Channel` over WebSocket: a JSON object a frame."""

    def __init__(self, connection: Any, closed: type[Exception]) -> None:
        self._connection = connection
        self._closed = closed

    def messages(self, patience: Patience) -> Iterator[Message | None]:
        """See `Channel`."""
        with contextlib.suppress(self._closed):
            while True:
                try:
                    frame = self._connection.recv(patience())
                except TimeoutError:
                    yield None
                    continue
                found = parse(frame if isinstance(frame, str) else frame.decode(errors="replace"), LARGEST)
                if not isinstance(found, Malformed):
                    yield found

    def send(self, message: Message) -> None:
        """See `Channel`."""
        try:
            self._connection.send(line(message).decode().rstrip())
        except self._closed as error:
            raise ConnectionError(str(error)) from error


@contextlib.contextmanager
def connected(where: Address, seconds: float = 10.0) -> Iterator[Channel]:
    """Connect to a server. Raises OSError, or DependencyError for WebSocket without its library."""
    if not where.url:
        with socket.create_connection((where.host, where.port), seconds) as raw:
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            yield TcpChannel(raw)
        return
    try:
        from websockets.exceptions import ConnectionClosed, WebSocketException
        from websockets.sync.client import connect
    except ImportError as error:
        raise DependencyError.for_extra("websockets", "server", "a ws:// address") from error
    try:
        connection = connect(where.url, open_timeout=seconds, max_size=LARGEST, compression=None, proxy=None)
    except WebSocketException as error:
        raise ConnectionError(f"no WebSocket there: {error}") from error
    with connection:
        yield WsChannel(connection, ConnectionClosed)
