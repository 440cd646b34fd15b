"""How much one address may ask for: requests, what costs the machine something, and large bodies."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from starlette.exceptions import HTTPException
from starlette.requests import Request

from dicegym.server.admission import is_loopback, origin_of
from dicegym.server.client_limits import TokenBucket

REMEMBERED = 8192
"""Addresses of which it is known what they spent lately."""
A_SECOND, AT_ONCE = 1000.0, 12_000.0
"""Requests of one address, behind which a class may sit. Pages that poll ask once a second, and a page loads half a
dozen files. An expensive request counts as several."""
SMALL_BODY = 64 * 1024
"""Bytes that a request's body may have where nothing else is said."""


class AddressLimits:
    """What addresses have spent. This machine's own are not counted: a proxy before the server limits its clients.

    Args:
        clock: in seconds.

    Attributes:
        bodies: the largest body in bytes by the path that it is sent to.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.bodies: dict[str, int] = {}
        self._clock = clock
        self._buckets: dict[str, TokenBucket] = {}

    def pay(self, request: Request, cost: float = 1.0) -> None:
        """Count a request as ``cost`` requests of its address. Raises HTTPException (429) if that is too much."""
        address = origin_of(request.client.host) if request.client else ""
        if is_loopback(address):
            return
        bucket = self._buckets.pop(address, None) or TokenBucket(A_SECOND, AT_ONCE, self._clock)
        self._buckets[address] = bucket  # the latest is last
        if len(self._buckets) > REMEMBERED:
            del self._buckets[next(iter(self._buckets))]
        if not bucket.pay(cost):
            bucket.give(cost)  # further tries do not lengthen the wait
            seconds = max(1, math.ceil(bucket.wait(cost)))
            words = f"too much is asked for from your address: try again in {seconds} second{'s' * (seconds != 1)}"
            raise HTTPException(429, words, {"Retry-After": str(seconds)})

    def largest(self, path: str) -> int:
        """Return how many bytes a body may have that is sent to a path."""
        return self.bodies.get(path, SMALL_BODY)
