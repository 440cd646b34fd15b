"""Connections from a client to a server, ours or another: TCP or WebSocket, by the address."""

from __future__ import annotations

import contextlib
import http
import socket
import time
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol
from urllib.parse import urlsplit

from dicegym.errors import DependencyError, ParameterError, one_line
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


LEAVING = 2.0
"""Seconds in which a server may see that we have closed our side, and close its own."""


class Channel(Protocol):
    """A connection to a server."""

    def receive(self, seconds: float | None) -> Message | None:
        """Return the next message; None if ``seconds`` pass before (None: for ever; 0: what has come already).

        Raises EOFError when the server has closed its side, OSError if the connection is lost.
        """

    def send(self, message: Message) -> None:
        """Send a message. Raises OSError if the connection is gone."""

    def leave(self) -> None:
        """Close our side first, and wait for a moment until the server has closed its own."""


class TcpChannel:
    """A `Channel` over TCP: a JSON object a line."""

    def __init__(self, raw: socket.socket) -> None:
        self._raw = raw
        self._reader = ObjectReader(LARGEST, trusts=True)

    def receive(self, seconds: float | None) -> Message | None:
        """See `Channel`."""
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            while (found := self._reader.read()) is not None:
                if not isinstance(found, Malformed):
                    return found
            self._raw.settimeout(None if end is None else max(end - time.monotonic(), 0))
            try:
                data = self._raw.recv(1 << 16)
            except (TimeoutError, BlockingIOError):
                return None
            finally:
                self._raw.settimeout(None)
            if not data:
                raise EOFError("the server has closed the connection")
            self._reader.feed(data)

    def send(self, message: Message) -> None:
        """See `Channel`."""
        self._raw.sendall(line(message))

    def leave(self) -> None:
        """See `Channel`: what the server still sends is read, as an unread rest would end the connection by a reset."""
        with contextlib.suppress(OSError):
            self._raw.shutdown(socket.SHUT_WR)
            self._raw.settimeout(LEAVING)
            end = time.monotonic() + LEAVING
            while self._raw.recv(1 << 16) and time.monotonic() < end:
                pass


class WsChannel:
    """A `Channel` over WebSocket: a JSON object a frame."""

    def __init__(self, connection: Any, closed: type[Exception]) -> None:
        self._connection = connection
        self._closed = closed

    def receive(self, seconds: float | None) -> Message | None:
        """See `Channel`."""
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            try:
                frame = self._connection.recv(None if end is None else max(end - time.monotonic(), 0))
            except TimeoutError:
                return None
            except self._closed as error:
                raise EOFError("the server has closed the connection") from error
            found = parse(frame if isinstance(frame, str) else frame.decode(errors="replace"), LARGEST)
            if not isinstance(found, Malformed):
                return found

    def send(self, message: Message) -> None:
        """See `Channel`."""
        try:
            self._connection.send(line(message).decode().rstrip())
        except self._closed as error:
            raise ConnectionError(str(error)) from error

    def leave(self) -> None:
        """See `Channel`: the library says goodbye and waits for the answer."""
        self._connection.close()


@contextlib.contextmanager
def connected(where: Address, seconds: float = 10.0) -> Iterator[Channel]:
    """Connect to a server.

    Raises:
        OSError: there is none.
        ParameterError: it refuses this client.
        DependencyError: WebSocket is asked for, and its library is not installed.
    """
    if not where.url:
        with socket.create_connection((where.host, where.port), seconds) as raw:
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            yield TcpChannel(raw)
        return
    try:
        from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
        from websockets.sync.client import connect
    except ImportError as error:
        raise DependencyError.for_extra("websockets", "server", "a ws:// address") from error
    try:
        connection = connect(
            where.url, open_timeout=seconds, close_timeout=LEAVING, max_size=LARGEST, compression=None, proxy=None
        )
    except InvalidStatus as error:
        words = one_line(bytes(error.response.body).decode(errors="replace"))
        if error.response.status_code == http.HTTPStatus.FORBIDDEN:
            raise ParameterError(f"{where} refuses this connection: {words}") from error
        raise ConnectionError(f"no WebSocket there: {error}{words and ': '}{words}") from error
    except WebSocketException as error:
        raise ConnectionError(f"no WebSocket there: {error}") from error
    with connection:
        yield WsChannel(connection, ConnectionClosed)
