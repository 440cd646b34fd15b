"""Who has said wrong secrets waits, longer each time, before the next is looked at.

Delays grow for a name at an address, and (later) for an address, never for a name alone: whoever guesses at a name
from one address keeps nobody from logging in from another. From the same address, the right secret waits as long as a
wrong one would, `LONGEST` seconds at most, and then passes: nobody is locked out. As every secret waits before it is
looked at, to hang up and come again saves no time.
"""

from __future__ import annotations

import time
from collections.abc import Callable

FREE = 3
"""Wrong secrets for a name from an address before there are delays."""
FREE_BY_ADDRESS = 12
"""Wrong secrets from an address, whatever the name."""
FIRST = 1.0
"""Seconds of the first delay; each is twice the one before."""
LONGEST = 30.0
FORGOTTEN = 600.0
"""Seconds without a wrong secret after which those before are forgotten."""
REMEMBERED = 8192
"""Names and addresses; beyond, the oldest are forgotten."""

_Key = tuple[str, str | None]


class Guesses:
    """Remembers wrong secrets."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._wrong: dict[_Key, tuple[int, float]] = {}  # how many, and when the last was

    def delay(self, origin: str, name: str | None) -> float:
        """Return the seconds that a secret for ``name`` (None: it alone tells whose) from an address has to wait."""
        by_name = self._count((origin, name or "")) - FREE
        by_address = self._count((origin, None)) - FREE_BY_ADDRESS
        beyond = max(by_name, by_address)
        return float(min(LONGEST, FIRST * 2 ** min(beyond, 16))) if beyond >= 0 else 0.0

    def wrong(self, origin: str, name: str | None) -> None:
        """Take note of a wrong secret."""
        for key in ((origin, name or ""), (origin, None)):
            count = self._count(key) + 1
            self._wrong.pop(key, None)  # what happened last stands last
            self._wrong[key] = count, self._clock()
        while len(self._wrong) > REMEMBERED:
            del self._wrong[next(iter(self._wrong))]

    def right(self, origin: str, name: str | None) -> None:
        """Take note of the right one. What else came from there stays: a guesser may own a name too."""
        self._wrong.pop((origin, name or ""), None)

    def _count(self, key: _Key) -> int:
        count, last = self._wrong.get(key, (0, 0.0))
        return count if count and self._clock() - last < FORGOTTEN else 0
