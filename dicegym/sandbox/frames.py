"""Messages between a referee and a host, both ways, with open files: a length and what `marshal` makes of a value.

Only whom the reader trusts may be read so, since `marshal` trusts its input: hosts run no bots themselves, and bots
answer in JSON (`dicegym.bots.answers`).
"""

from __future__ import annotations

import marshal
import select
import socket
import time
from typing import Any

LONGEST = 1 << 24
"""Bytes of a message."""
MOST_FILES = 4


def pack(value: Any) -> bytes:
    """Return a value of plain types as a message: four bytes of length, the lowest first, and its `marshal`."""
    data = marshal.dumps(value)
    return len(data).to_bytes(4, "little") + data


class MessageStream:
    """One end of a stream socket.

    Attributes:
        files: descriptors that came with messages and were not taken yet, in order.
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
        """Return whether something can be read, or the end, within some seconds."""
        return bool(self._kept) or self._poll(seconds)

    def receive(self, seconds: float | None = None) -> Any:
        """Return the next value. Raises EOFError at the end, TimeoutError, OSError and ValueError."""
        deadline = None if seconds is None else time.monotonic() + seconds
        size = int.from_bytes(self._read(4, deadline), "little")
        if size > LONGEST:
            raise ValueError(f"a message of {size} bytes")
        return marshal.loads(self._read(size, deadline))

    def _poll(self, seconds: float) -> bool:
        poll = select.poll()  # a descriptor may be too large for `select.select`
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
        """Close it."""
        self.end.close()
