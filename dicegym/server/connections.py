"""What TCP and WebSocket have in common: messages come in by calls, and go out without waiting.

Nothing here waits for a client. What it does not read is kept for it up to `MOST_UNREAD`, then it is dropped. What it
sends is taken from the network a little at a time and no faster than its budget allows; the rest stays where it is,
and in the end with the sender. So whatever it does costs the others little.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from dicegym.errors import ParameterError
from dicegym.server.budget import BYTES, MESSAGE, Budget
from dicegym.server.framing import Malformed
from dicegym.server.murmur import Murmur
from dicegym.server.origins import Origins
from dicegym.server.wire import FLOOD

MOST_UNREAD = 1 << 16
"""Bytes kept for a client that does not read."""
AT_ONCE = 16
"""Messages read from one client before others have their turn."""
CLOSING = 2.0
"""Seconds in which a client can still read what is left for it."""
ACCEPTED_AT_ONCE = 4
"""New connections that are taken before others have their turn; more wait in the system's queue of `QUEUE`."""
QUEUE = 512


class Link(Protocol):
    """A connection to a client."""

    peer: str
    """The other end's address and port, for people."""
    address: str
    """The other end's address."""
    open: bool
    ready: bool
    """Whether messages can be sent: not before the handshake of a WebSocket."""

    def send(self, data: bytes) -> None:
        """Send a message: one line of ASCII."""

    def close(self) -> None:
        """Send what is left to send, then hang up."""

    def hold(self) -> None:
        """Read nothing more until `release`."""

    def release(self) -> None:
        """Read again."""


class Receiver(Protocol):
    """What takes in what comes over connections. All calls come from the event loop and return at once."""

    def opened(self, link: Link) -> None:
        """Take note of a new connection."""

    def received(self, link: Link, message: dict[str, Any] | Malformed) -> bool:
        """Take a message, or what came in place of one; return whether it was a move, for which nobody pays."""

    def closed(self, link: Link) -> None:
        """Take note that a connection is gone."""

    def error(self, link: Link, code: str, text: str) -> None:
        """Tell a client of an error in the words of the game's protocol, if it is told of errors."""


FindReceiver = Callable[[], Receiver]
"""Returns who takes in what comes: ports are taken before there is anybody, and connections are accepted later."""


@dataclass(frozen=True)
class Terms:
    """What a client may do before it is slowed, and who is refused.

    Attributes:
        rate: bytes a second, beyond its moves.
        origins: who may speak WebSocket.
        murmur: told of whom is refused.
    """

    rate: float = BYTES
    origins: Origins = field(default_factory=lambda: Origins("127.0.0.1"))
    murmur: Murmur = field(default_factory=lambda: Murmur(lambda text: None))

    def flood(self) -> str:
        """Return what a client is told that sends too much."""
        return (
            f"you keep sending more than {self.rate:,.0f} bytes or {self.rate / MESSAGE:,.0f} messages a second that "
            "are no moves: send what you are asked for"
        )


class Valve:
    """Lets a connection be read while nobody has a reason against it.

    Attributes:
        reasons: those that there are.
    """

    __slots__ = ("_transport", "reasons")

    def __init__(self, transport: Any) -> None:
        self.reasons: set[str] = set()
        self._transport = transport

    def close(self, reason: str) -> None:
        """Read nothing until `open` is called with the same reason."""
        if not self.reasons:
            self._transport.pause_reading()
        self.reasons.add(reason)

    def open(self, reason: str) -> None:
        """Read again, unless there is another reason against it."""
        if reason in self.reasons:
            self.reasons.discard(reason)
            if not self.reasons and not self._transport.is_closing():
                self._transport.resume_reading()

    def shut_but(self, reason: str) -> bool:
        """Return whether there is another reason than this one."""
        return bool(self.reasons) and self.reasons != {reason}


class Metered:
    """A connection with a budget: what TCP and WebSocket have in common. It begins with `connect`."""

    valve: Valve
    transport: Any

    def __init__(self, receiver: Receiver, terms: Terms) -> None:
        self.peer = self.address = "unknown"
        self.open = False
        self.ready = True
        self.budget = Budget(terms.rate)
        self._receiver = receiver
        self._terms = terms

    def connect(self, transport: Any) -> None:
        """Begin: the client is there."""
        self.transport, self.valve = transport, Valve(transport)
        peer = transport.get_extra_info("peername")
        if isinstance(peer, tuple) and len(peer) >= 2:
            self.address = str(peer[0])
            self.peer = f"[{peer[0]}]:{peer[1]}" if ":" in self.address else f"{peer[0]}:{peer[1]}"
        self.open = True
        raw = transport.get_extra_info("socket")
        if raw is not None:
            with contextlib.suppress(OSError):
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._receiver.opened(self)

    def gone(self) -> None:
        """End: the connection is no more."""
        self.open = False
        self._receiver.closed(self)

    def send(self, data: bytes) -> None:
        """See `Link`."""
        raise NotImplementedError

    def close(self) -> None:
        """See `Link`."""
        raise NotImplementedError

    def hold(self) -> None:
        """See `Link`."""
        self.valve.close("held")

    def release(self) -> None:
        """See `Link`."""
        self.reopen("held")

    def reopen(self, reason: str) -> None:
        """Read again, if this was the only reason against it."""
        self.valve.open(reason)

    def afford(self) -> bool:
        """Return whether the client may go on; if its budget is spent, it waits, or is told to leave."""
        if not self.budget.empty:
            return True
        seconds = self.budget.pause()
        if seconds is None:
            self._terms.murmur.note(FLOOD, self.address, f"{self.peer} was disconnected: it kept sending too much")
            self.valve.close("flood")
            self._receiver.error(self, FLOOD, self._terms.flood())
            self.dismiss()
        else:
            self.valve.close("budget")
            asyncio.get_running_loop().call_later(seconds, self.reopen, "budget")
        return False

    def dismiss(self) -> None:
        """Hang up on a client that may have sent more, so that it can still read why."""
        self.close()

    def unread(self) -> bool:
        """Return whether the client has left too much unread; it is then gone."""
        if self.transport.get_write_buffer_size() <= MOST_UNREAD:
            return False
        self.open = False
        self.transport.abort()
        return True


async def start_serving(listening: Any) -> None:
    """Accept connections on ports that were taken, a few at a time. Raises OSError."""
    await listening.start_serving()  # takes as many at a time as may wait in the queue
    for each in listening.sockets:
        with contextlib.suppress(OSError), each.dup() as again:
            again.listen(QUEUE)  # so the queue is made longer afterwards


def refused(option: str, host: str, port: int, error: Exception) -> ParameterError:
    """Return the error for a port that cannot be listened on."""
    reason = getattr(error, "strerror", None) or str(error)
    return ParameterError(
        f"{option} {port}: cannot listen on {host}, port {port} ({reason}): give another, or 0 for any"
    )


def port_of(server: Any) -> int:
    """Return the port that a server listens on, which it may have chosen itself."""
    return int(server.sockets[0].getsockname()[1])
