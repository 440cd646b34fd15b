"""Limits of clients: amounts of data, connections, and log lines."""

from __future__ import annotations

import time
from collections.abc import Callable

BYTES = 32 * 1024  # bytes per second from a client, in addition to its moves
MESSAGE = 640  # extra cost of a message in bytes: it allows fifty messages per second
AT_ONCE = 8  # size of a client's bucket, in seconds of its rate
BESIDE = 256  # open files in addition to clients' connections: the store, ports, and disconnected clients
PER_AGENT = 4  # open files per local agent

Clock = Callable[[], float]


class TokenBucket:
    """A token bucket that gains ``rate`` tokens per second, up to ``most``.

    It refills only when it is empty, because reading the clock costs more than paying.

    Attributes:
        left: number of tokens; negative for a debt.
    """

    __slots__ = ("_clock", "_filled", "_rate", "left", "most")

    def __init__(self, rate: float, most: float, clock: Clock = time.monotonic) -> None:
        self.left = self.most = most
        self._rate = rate
        self._clock = clock
        self._filled = clock()

    def pay(self, amount: float) -> bool:
        """Remove ``amount``, even if less is left; return whether that much was left."""
        self.left -= amount
        return self.left >= 0 or self._fill() >= 0

    def give(self, amount: float) -> None:
        """Pay back ``amount``."""
        self.left = min(self.left + amount, self.most)

    def wait(self, amount: float) -> float:
        """Return the seconds until it holds ``amount``."""
        return max(0.0, (amount - self._fill()) / self._rate)

    def _fill(self) -> float:
        now = self._clock()
        self.left = min(self.left + (now - self._filled) * self._rate, self.most)
        self._filled = now
        return self.left


class ThrottledLog:
    """A log of limited size about unknown clients; lines above its rate are only counted.

    Args:
        log: receives the lines.
        clock: returns seconds.
    """

    AT_ONCE, SECONDS = 20, 10.0  # lines in a burst, and seconds until one more is allowed

    def __init__(self, log: Callable[[str], None], clock: Clock = time.monotonic) -> None:
        self._log, self._more = log, 0
        self._bucket = TokenBucket(1 / self.SECONDS, self.AT_ONCE, clock)

    def note(self, text: str) -> None:
        """Log ``text``, or count it if there were too many lines."""
        if not self._bucket.pay(1):
            self._bucket.give(1)
            self._more += 1
            return
        self._log(f"{text} (and {self._more} other lines were left out before)" if self._more else text)
        self._more = 0


def room_for(connections: int, agents: int = 0) -> int:
    """Return the number of connections that this process can have, at most ``connections``: each is an open file.

    If necessary and allowed, raise this process's limit of open files (``ulimit -n``).
    """
    try:
        import resource
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
