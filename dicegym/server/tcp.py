"""Plain TCP: objects on the stream, each of ours followed by a newline; and what is no client is told so."""

from __future__ import annotations

import asyncio
import re

from dicegym.server.connections import (
    ACCEPTED_AT_ONCE,
    AT_ONCE,
    CLOSING,
    MOST_UNREAD,
    FindReceiver,
    Metered,
    Receiver,
    Terms,
    refused,
)
from dicegym.server.framing import ObjectReader

AT_A_TIME = 1 << 10
"""Bytes taken from one client before others have their turn."""
MOST_DISCARDED = 1 << 16
"""Bytes that are thrown away of a client that was told to leave; then nothing is taken any more."""
BLANKS = b" \t\r\n\xef\xbb\xbf"
"""What may stand before the first object: white space, and the bytes of a mark that some editors write."""
TLS = b"\x16\x03"
HTTP = re.compile(rb"[A-Z]{1,20}(?: |$)")
NO_HTTP = (
    "This port speaks JSON over plain TCP and no HTTP: nothing of this request was read.\n"
    "Programs for a browser can use the server's WebSocket port, where it has one.\n"
)


class TcpLink(Metered, asyncio.BufferedProtocol):
    """A TCP connection to a client.

    Args:
        buffer: what comes is read into it; all connections of a port share it, as none is read while another is.
    """

    def __init__(self, receiver: Receiver, terms: Terms, buffer: memoryview) -> None:
        super().__init__(receiver, terms)
        self._buffer = buffer
        self._reader = ObjectReader()
        self._known = False  # as a client: by the first byte that it has sent
        self._discarded = 0
        self._waits = False  # for its turn to be read
        self._loop = asyncio.get_running_loop()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.BaseProtocol`."""
        self.connect(transport)

    def connection_lost(self, error: Exception | None) -> None:
        """See `asyncio.BaseProtocol`."""
        self.gone()

    def get_buffer(self, sizehint: int) -> memoryview:
        """See `asyncio.BufferedProtocol`."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """See `asyncio.BufferedProtocol`."""
        if not self.open:
            self._discard(nbytes)
            return
        data = bytes(self._buffer[:nbytes])
        self.budget.came(nbytes)
        if not self._known:
            start = data.lstrip(BLANKS)
            if start and start[:1] != b"{":
                self._stranger(start)
                return
            self._known = bool(start)
        self._reader.feed(data)
        self._read()

    def _read(self) -> None:
        """Take in messages, some at a time, while the client can afford it."""
        self._waits = False
        budget, valve = self.budget, self.valve
        for _ in range(AT_ONCE):
            if not self.open or (valve.reasons and valve.shut_but("behind")):
                return
            found = self._reader.read()
            if found is None:
                if valve.reasons:
                    valve.open("behind")
                if budget.empty:
                    self.afford()
                return
            if self._receiver.received(self, found):
                budget.moved(self._reader.length)
            else:
                budget.worked()
            if budget.empty and self.open:
                self.afford()
        valve.close("behind")
        self._later()

    def reopen(self, reason: str) -> None:
        """See `Metered`."""
        super().reopen(reason)
        if self.open:
            self._later()

    def _later(self) -> None:
        """Go on when others have had their turn."""
        if not self._waits:
            self._waits = True
            self._loop.call_soon(self._read)

    def _stranger(self, start: bytes) -> None:
        """Tell what is no client of ours that it is wrong here."""
        if HTTP.match(start):
            what, text = "an HTTP request", NO_HTTP.encode()
            self.transport.write(
                b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n"
                b"Content-Length: %d\r\n\r\n%s" % (len(text), text)
            )
        else:
            what = "a TLS handshake" if start[:2] == TLS else "something that is no JSON"
            shown = ascii(start[:20].decode("latin-1"))
            why = f"this port speaks JSON: a client begins with an object, in braces, and not with {shown}"
            self._receiver.error(self, "bad-json", why)
        self._terms.murmur.note("stranger", self.address, f"{what} came to the TCP port from {self.peer}: refused")
        self.dismiss()

    def send(self, data: bytes) -> None:
        """See `Link`."""
        transport = self.transport
        if self.open and not transport.is_closing():
            transport.write(data)
            if transport.get_write_buffer_size() > MOST_UNREAD:  # before the call: this is done for every message
                self.unread()

    def close(self) -> None:
        """See `Link`."""
        if self.open:
            self.open = False
            self.transport.close()
            self._loop.call_later(CLOSING, self.transport.abort)  # for one that does not read what is left
        else:  # it was dismissed, and is still here
            self.transport.abort()

    def dismiss(self) -> None:
        """See `Metered`: to close a connection with unread bytes resets it, and the last words are lost with it."""
        if self.open:
            self.open = False
            self.transport.write_eof()
            self._loop.call_later(CLOSING, self.transport.abort)

    def _discard(self, size: int) -> None:
        """Throw away what comes from a client that was told to leave, up to a point."""
        self._discarded += size
        if self._discarded > MOST_DISCARDED:
            self.valve.close("discarded")


async def listen_tcp(receiver: FindReceiver, host: str, port: int, terms: Terms | None = None) -> asyncio.Server:
    """Take a port for TCP; `start_serving` of what is returned accepts. Raises ParameterError if it cannot be had."""
    loop, terms, buffer = asyncio.get_running_loop(), terms or Terms(), memoryview(bytearray(AT_A_TIME))
    try:
        return await loop.create_server(
            lambda: TcpLink(receiver(), terms, buffer),
            host,
            port,
            backlog=ACCEPTED_AT_ONCE,
            start_serving=False,
        )
    except (OSError, OverflowError) as error:
        raise refused("--tcp", host, port, error) from None
