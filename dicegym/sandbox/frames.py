"""Messages between a referee and a host, in both directions: a length, then a value as `marshal` data.

Messages may carry open files. Read them only from a trusted sender, since `marshal` trusts its input: hosts run no bots
themselves, and bots answer in JSON (`dicegym.bots.answers`).
"""

from __future__ import annotations

import marshal
import select
import socket
import time
from typing import Any

LONGEST = 1 << 24  # bytes of a message
MOST_FILES = 4  # descriptors accepted with one packet


def pack(value: Any) -> bytes:
    """Return a value of plain types as a message: its length in four bytes, little-endian, and its `marshal` data."""
    data = marshal.dumps(value)
    return len(data).to_bytes(4, "little") + data


class MessageStream:
    """One end of a stream socket.

    Attributes:
        files: received descriptors that nobody has taken yet, in order.
    """

    def __init__(self, end: socket.socket) -> None:
        self.end = end
        self.files: list[int] = []
        self._kept = b""

    def send(self, value: Any, files: tuple[int, ...] = ()) -> None:
        """Send a value of plain types, with descriptors. Raises OSError."""
        data = pack(value)
        sent = socket.send_fds(self.end, [data], list(files)) if files else 0
        self.end.sendall(data[sent:])

    def is_ready(self, seconds: float) -> bool:
        """Return whether data, or the end of the stream, can be read within ``seconds``."""
        return bool(self._kept) or self._poll(seconds)

    def receive(self, seconds: float | None = None) -> Any:
        """Return the next value. Raises EOFError at the end of the stream; TimeoutError, OSError, ValueError."""
        deadline = None if seconds is None else time.monotonic() + seconds
        size = int.from_bytes(self._read(4, deadline), "little")
        if size > LONGEST:
            raise ValueError(f"a message of {size} bytes")
        return marshal.loads(self._read(size, deadline))

    def _poll(self, seconds: float) -> bool:
        poll = select.poll()  # `select.select` fails for descriptors above 1023
        poll.register(self.end, select.POLLIN)
        return bool(poll.poll(1000 * max(0.0, seconds)))

    def _read(self, size: int, deadline: float | None) -> bytes:
        while len(self._kept) < size:
            if deadline is not None and not self._poll(deadline - time.monotonic()):
                raise TimeoutError
            more, files, _, _ = socket.recv_fds(self.end, 1 << 16, MOST_FILES)
            self.files += files
            if not more:
                raise EOFError
            self._kept += more
        found, self._kept = self._kept[:size], self._kept[size:]
        return found

    def close(self) -> None:
        """Close the socket."""
        self.end.close()
