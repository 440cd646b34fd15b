"""State that all sections of the web server share, and the request limits of client addresses."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import Request

from dicegym.arena.store.reading import StoreReader
from dicegym.arena.store.stored_rows import StoredContest
from dicegym.errors import ParameterError
from dicegym.server.admission import is_loopback, origin_of
from dicegym.server.client_limits import TokenBucket
from dicegym.web.readiness import Readiness
from dicegym.web.web_settings import WebSettings
from dicegym.web.workers import WorkerThreads

MOST_ADDRESSES = 8192
"""Addresses whose recent requests are counted; the oldest are forgotten."""
A_SECOND, AT_ONCE = 1000.0, 12_000.0
"""Requests of one address: the rate and the burst. A whole class may share an address, pages poll once a second, and a
page loads half a dozen files. An expensive request counts as several."""
SMALL_BODY = 64 * 1024
"""Default limit of a request's body in bytes."""
HEADER_BYTES = 16 * 1024
"""Limit of a request's headers in bytes."""
Made = TypeVar("Made")


class AddressLimits:
    """Request limits of addresses. Requests from this machine are not counted: a proxy on it limits its own clients.

    Attributes:
        bodies: the largest body in bytes by path; for all other paths it is `SMALL_BODY`.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.bodies: dict[str, int] = {}
        self._clock = clock
        self._buckets: dict[str, TokenBucket] = {}
        self._lock = threading.Lock()  # requests are served by several threads

    def pay(self, request: Request, cost: float = 1.0) -> None:
        """Count a request as ``cost`` requests of its address. Raises HTTPException (429) above the limit."""
        address = origin_of(request.client.host) if request.client else ""
        if not address or is_loopback(address):
            return
        with self._lock:
            bucket = self._buckets.pop(address, None) or TokenBucket(A_SECOND, AT_ONCE, self._clock)
            self._buckets[address] = bucket  # the most recent is last
            if len(self._buckets) > MOST_ADDRESSES:
                del self._buckets[next(iter(self._buckets))]
            if bucket.pay(cost):
                return
            bucket.give(cost)  # so that retries do not lengthen the wait
            seconds = max(1, math.ceil(bucket.wait(cost)))
        words = f"too many requests from your address: try again in {seconds} second{'s' * (seconds != 1)}"
        raise HTTPException(429, words, {"Retry-After": str(seconds)})


class Web:
    """The shared state of one web server.

    Attributes:
        settings: as given.
        limits: the request limits of addresses, and the limits of bodies.
        readiness: compiles games at the start if the settings ask for it.
        work: threads for computations that a visitor waits for.
        slow: threads for computations that take as long as a game.
        open_contests: functions that return whether a stored contest still accepts entries, whose dice nobody may
            foresee. A section with such contests adds one; `is_secret` calls all.
        on_start: called at the start, in an event loop.
        on_stop: called at the end, the last one first. If one raises, the others are called all the same.
    """

    def __init__(self, settings: WebSettings) -> None:
        self.settings = settings
        settings.folder.mkdir(parents=True, exist_ok=True)
        self.readiness = Readiness()
        self.limits = AddressLimits()
        self.work = WorkerThreads()
        self.slow = WorkerThreads()
        self.open_contests: list[Callable[[StoredContest], bool]] = []
        self._shared: dict[Callable[[Web], Any], Any] = {}
        self._sharing = threading.RLock()
        self.on_start: list[Callable[[], object]] = [self.readiness.start] if settings.compile else []
        self.on_stop: list[Callable[[], object]] = [self.readiness.stop, self.work.end, self.slow.end]

    def is_secret(self, contest: StoredContest) -> bool:
        """Return whether seeds and hidden dice of a contest are secret, because it runs or may run again.

        A contest that accepts bots runs again with the same seed for each new one. May read a file.
        """
        return contest.ended is None or any(is_open(contest) for is_open in self.open_contests)

    def get(self, made: Callable[[Web], Made]) -> Made:
        """Return ``made(self)``, which is made once and shared by all requests."""
        with self._sharing:
            if made not in self._shared:
                self._shared[made] = made(self)
            found: Made = self._shared[made]
            return found

    def store(self) -> contextlib.AbstractContextManager[StoreReader | None]:
        """Yield a reader of the store of contests; None if there is no store yet."""
        return read_store(self.settings.store)


@contextlib.contextmanager
def read_store(store: str) -> Iterator[StoreReader | None]:
    """Yield a reader of a store of contests; None if there is no store yet. Raises what `StoreReader` raises."""
    try:
        reader = StoreReader(store)
    except ParameterError:
        if "://" in store or Path(store).is_file():
            raise
        yield None
        return
    with reader:
        yield reader
