"""Limits of clients: how much they send, how soon they guess again, how many there are, how much is logged of them."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from typing import Any

BYTES = 32 * 1024
"""Bytes a second from a client, beside its moves."""
MESSAGE = 640
"""Bytes that a message costs on top of its own: fifty messages a second."""
AT_ONCE = 8
"""Seconds for which a client may have saved up."""
HANDSHAKES = 256
"""WebSocket connections that have not ended their handshake; the oldest makes room for more."""
LEAVING = 64
"""Connections that may still read their last words; the oldest makes room for more."""
BESIDE = HANDSHAKES + LEAVING + 64
"""Files that a server opens beside its connections: the store, ports, and connections that have not logged in."""
PER_AGENT = 4

Clock = Callable[[], float]


class TokenBucket:
    """An allowance of ``rate`` a second, of which at most ``most`` is saved up.

    It is filled when it is found empty, and not before, as to look at a clock costs more than to pay.

    Attributes:
        left: what is in it; less than 0 for a debt.
    """

    __slots__ = ("_clock", "_filled", "_rate", "left", "most")

    def __init__(self, rate: float, most: float, clock: Clock = time.monotonic) -> None:
        self.left = self.most = most
        self._rate = rate
        self._clock = clock
        self._filled = clock()

    def pay(self, amount: float) -> bool:
        """Take ``amount`` out, even if less is left; return whether it was there."""
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


class LoginBackoff:
    """Delays for an address from which wrong secrets come: a bucket of secrets for each, which fills up again.

    Nobody keeps the owner of a name from logging in from another address. A secret is paid for before it is looked at:
    neither hanging up and coming again nor many connections at once save time.
    """

    FREE, SECONDS, LONGEST = 5, 10.0, 30.0
    """Wrong secrets before there are delays, seconds after which one is forgotten, and seconds of the longest delay."""
    REMEMBERED = 8192
    """Addresses; beyond, the oldest are forgotten."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._buckets: dict[str, TokenBucket] = {}

    def delay(self, address: str) -> float | None:
        """Return the seconds that a secret from an address has to wait; None: too many wait already."""
        bucket = self._buckets.pop(address, None) or TokenBucket(1 / self.SECONDS, self.FREE, self._clock)
        self._buckets[address] = bucket  # what happened last stands last
        if len(self._buckets) > self.REMEMBERED:
            del self._buckets[next(iter(self._buckets))]
        seconds = bucket.wait(1)
        if seconds > self.LONGEST:
            return None
        bucket.pay(1)
        return seconds

    def note_right(self, address: str) -> None:
        """Take note of a right secret, which costs nothing."""
        if address in self._buckets:
            self._buckets[address].give(1)


class ThrottledLog:
    """A log of what strangers do, which does not grow with it: a line that comes too soon is counted in the next one.

    Args:
        log: takes the lines.
        clock: in seconds.
    """

    AT_ONCE, SECONDS = 20, 10.0
    """Lines that are written at once, and seconds after which another one is."""

    def __init__(self, log: Callable[[str], None], clock: Clock = time.monotonic) -> None:
        self._log, self._more = log, 0
        self._bucket = TokenBucket(1 / self.SECONDS, self.AT_ONCE, clock)

    def note(self, text: str) -> None:
        """Write ``text``, unless too much was written just now."""
        if not self._bucket.pay(1):
            self._bucket.give(1)
            self._more += 1
            return
        self._log(f"{text} (and {self._more} other lines were left out before)" if self._more else text)
        self._more = 0


def room_for(connections: int, agents: int = 0) -> int:
    """Return how many connections this process can have at once, up to ``connections``: each is an open file.

    The system's limit (``ulimit -n``) is raised for this process where that is allowed and needed.
    """
    try:
        resource: Any = importlib.import_module("resource")
    except ImportError:  # Windows has no such limit
        return connections
    beside = BESIDE + PER_AGENT * agents
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + beside
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return connections
    wanted = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError):
        wanted = soft
    return int(max(1, min(connections, wanted - beside)))
