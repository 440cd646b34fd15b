"""What a client may send that is no move: so many bytes and so many messages a second, and some more at once.

What the rules carry out costs nothing, as a game asks for no more than it needs. All else (junk, errors, commands of
those whose turn it is not) is paid for from two purses, which fill up again with time. Who has emptied one is not
read for a while; who goes on is told, and disconnected.
"""

from __future__ import annotations

import time
from collections.abc import Callable

BYTES = 32 * 1024
"""A second; `BYTES_AT_ONCE` times as many are in a full purse."""
BYTES_AT_ONCE = 4
MESSAGES = 50
"""A second; `MESSAGES_AT_ONCE` times as many are in a full purse."""
MESSAGES_AT_ONCE = 12
REFILL = 0.25
"""How full a purse that was emptied has to be again before its owner is read."""
PAUSES = 3
"""So often within `FORGIVEN` seconds a client is made to wait. The next time it is disconnected."""
FORGIVEN = 60.0

Clock = Callable[[], float]


class Purse:
    """So much a second, and at most ``most`` at once.

    It is filled when it is found empty, and not before, as to look at a clock costs more than to pay.
    """

    __slots__ = ("_clock", "_filled", "_rate", "left", "most")

    def __init__(self, rate: float, most: float, clock: Clock = time.monotonic) -> None:
        self.left = self.most = most
        self._rate = rate
        self._clock = clock
        self._filled = clock()

    def pay(self, amount: float) -> bool:
        """Take ``amount`` out, even where there is not so much; return whether there was."""
        self.left -= amount
        return self.left >= 0 or self._fill() >= 0

    def give(self, amount: float) -> None:
        """Put back what was paid."""
        self.left = min(self.left + amount, self.most)

    def wait(self) -> float:
        """Return the seconds until it is a quarter full."""
        return max(0.0, (REFILL * self.most - self._fill()) / self._rate)

    def _fill(self) -> float:
        now = self._clock()
        self.left = min(self.left + (now - self._filled) * self._rate, self.most)
        self._filled = now
        return self.left


class Budget:
    """The purses of a client.

    Args:
        bytes_: a second.
        messages: a second.
    """

    __slots__ = ("_bytes", "_clock", "_last", "_messages", "_pauses", "empty")

    def __init__(self, bytes_: float = BYTES, messages: float = MESSAGES, clock: Clock = time.monotonic) -> None:
        self.empty = False
        self._bytes = Purse(bytes_, BYTES_AT_ONCE * bytes_, clock)
        self._messages = Purse(messages, MESSAGES_AT_ONCE * messages, clock)
        self._clock = clock
        self._pauses = 0
        self._last = clock()

    def came(self, size: int) -> None:
        """Pay for bytes."""
        purse = self._bytes
        purse.left -= size  # as `Purse.pay` does, without a call: this is done for every packet of every client
        if purse.left < 0 and not purse.pay(0):
            self.empty = True

    def worked(self) -> None:
        """Pay for a message."""
        if not self._messages.pay(1):
            self.empty = True

    def moved(self, size: int, messages: int = 0) -> None:
        """Take back what so many bytes, and messages, have cost, as they were a move."""
        self._bytes.left += size  # what is too much is taken back when it is filled next
        if messages:
            self._messages.give(messages)

    def pause(self) -> float | None:
        """Return for how many seconds the client, which has nothing left, is not read; None: it is disconnected."""
        now = self._clock()
        if now - self._last > FORGIVEN:
            self._pauses = 0
        self._last = now
        self._pauses += 1
        self.empty = False
        return max(self._bytes.wait(), self._messages.wait()) if self._pauses <= PAUSES else None
