"""What a client may send that is no move: so much a second, and some more at once.

What the rules carry out costs nothing, as a game asks for no more than it needs. All else (junk, errors, commands of
those whose turn it is not) is paid for from a bucket, which fills up again with time. Who has emptied it is not read
for a while. A client that goes on gets the error ``flood`` and is disconnected.
"""

from __future__ import annotations

import time
from collections.abc import Callable

BYTES = 32 * 1024
"""A second; `AT_ONCE` times as many are in a full bucket."""
MESSAGE = 640
"""Bytes that a message costs besides its own: fifty a second."""
AT_ONCE = 8
REFILL = 0.25
"""How full a bucket that was emptied has to be again before its owner is read."""
PAUSES = 3
"""So often within `FORGIVEN` seconds a client is made to wait. The next time it is disconnected."""
FORGIVEN = 60.0

Clock = Callable[[], float]


class TokenBucket:
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

    def wait(self, amount: float) -> float:
        """Return the seconds until ``amount`` is in it."""
        return max(0.0, (amount - self._fill()) / self._rate)

    def _fill(self) -> float:
        now = self._clock()
        self.left = min(self.left + (now - self._filled) * self._rate, self.most)
        self._filled = now
        return self.left


class Budget:
    """The bucket of a client, and how often it was emptied.

    Args:
        rate: bytes a second.
    """

    __slots__ = ("_bucket", "_clock", "_last", "_pauses", "empty")

    def __init__(self, rate: float = BYTES, clock: Clock = time.monotonic) -> None:
        self.empty = False
        self._bucket = TokenBucket(rate, AT_ONCE * rate, clock)
        self._clock = clock
        self._pauses = 0
        self._last = clock()

    def came(self, size: int) -> None:
        """Pay for bytes."""
        bucket = self._bucket
        bucket.left -= size  # as `TokenBucket.pay` does, without a call: this is done for every packet of every client
        if bucket.left < 0 and not bucket.pay(0):
            self.empty = True

    def worked(self) -> None:
        """Pay for a message."""
        self.came(MESSAGE)

    def moved(self, size: int, messages: int = 0) -> None:
        """Take back what so many bytes, and messages, have cost, as they were a move."""
        self._bucket.left += size + messages * MESSAGE  # what is too much is taken back when it is filled next

    def pause(self) -> float | None:
        """Return for how many seconds the client, which has nothing left, is not read; None: it is disconnected."""
        now = self._clock()
        if now - self._last > FORGIVEN:
            self._pauses = 0
        self._last = now
        self._pauses += 1
        self.empty = False
        return self._bucket.wait(REFILL * self._bucket.most) if self._pauses <= PAUSES else None
