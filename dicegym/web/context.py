"""What all sections of a server of pages share, and how much one address may ask of it."""

from __future__ import annotations

import contextlib
import math
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from filelock import FileLock
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

SECRET_BYTES = 32
REMEMBERED = 8192
"""Addresses of which it is known what they spent lately."""
A_SECOND, AT_ONCE = 1000.0, 12_000.0
"""Requests of one address, behind which a class may sit. Pages that poll ask once a second, and a page loads half a
dozen files. An expensive request counts as several."""
SMALL_BODY = 64 * 1024
"""Bytes that a request's body may have where nothing else is said."""
HEADER_BYTES = 16 * 1024
"""Bytes that a request's headers may have."""
Made = TypeVar("Made")


class AddressLimits:
    """What addresses have spent. This machine's own are not counted: a proxy before the server limits its clients.

    Attributes:
        bodies: the largest body in bytes by the path that it is sent to, where it is not `SMALL_BODY`.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.bodies: dict[str, int] = {}
        self._clock = clock
        self._buckets: dict[str, TokenBucket] = {}
        self._lock = threading.Lock()  # pages are made in threads

    def pay(self, request: Request, cost: float = 1.0) -> None:
        """Count a request as ``cost`` requests of its address. Raises HTTPException (429) if that is too much."""
        address = origin_of(request.client.host) if request.client else ""
        if not address or is_loopback(address):
            return
        with self._lock:
            bucket = self._buckets.pop(address, None) or TokenBucket(A_SECOND, AT_ONCE, self._clock)
            self._buckets[address] = bucket  # the latest is last
            if len(self._buckets) > REMEMBERED:
                del self._buckets[next(iter(self._buckets))]
            if bucket.pay(cost):
                return
            bucket.give(cost)  # further tries do not lengthen the wait
            seconds = max(1, math.ceil(bucket.wait(cost)))
        words = f"too much is asked for from your address: try again in {seconds} second{'s' * (seconds != 1)}"
        raise HTTPException(429, words, {"Retry-After": str(seconds)})


class Web:
    """One server of pages.

    Attributes:
        settings: as given.
        secret: what it signs with; kept, so that forms and visitors outlive a restart.
        limits: what visitors and addresses have spent, and how large bodies may be.
        readiness: says which games can be played at once; it compiles the others if the settings ask for it.
        work: threads for what takes longer than a request may, and is waited for.
        slow: threads for what takes as long as a game.
        open_contests: say whether a stored contest still takes entries, whose dice nobody may foresee; a section that
            takes them adds to these. Ask `is_secret`.
        crowded: says whether nearly all connections are in use: the rest is for visitors who were here before.
        on_start: called when it starts, in an event loop.
        on_stop: called when it ends, the last one first; each is called whatever becomes of the others.
    """

    def __init__(self, settings: WebSettings) -> None:
        self.settings = settings
        settings.folder.mkdir(parents=True, exist_ok=True)
        self.secret = _kept_secret(settings.folder / "secret")
        self.readiness = Readiness()
        self.limits = AddressLimits()
        self.work = WorkerThreads()
        self.slow = WorkerThreads()
        self.open_contests: list[Callable[[StoredContest], bool]] = []
        self.crowded: Callable[[], bool] = lambda: False
        self._shared: dict[Callable[[Web], Any], Any] = {}
        self._sharing = threading.RLock()
        self.on_start: list[Callable[[], object]] = [self.readiness.start] if settings.compile else []
        self.on_stop: list[Callable[[], object]] = [self.readiness.stop, self.work.end, self.slow.end]

    def is_secret(self, contest: StoredContest) -> bool:
        """Return whether seeds and hidden parts of a contest are shown to nobody: it runs, or may run again.

        A contest that takes bots runs again, with the same seed, whenever one comes; it may ask a file.
        """
        return contest.ended is None or any(is_open(contest) for is_open in self.open_contests)

    def get(self, made: Callable[[Web], Made]) -> Made:
        """Return what a class makes of this server, made once: pages and programs ask the same."""
        with self._sharing:
            if made not in self._shared:
                self._shared[made] = made(self)
            found: Made = self._shared[made]
            return found

    def store(self) -> contextlib.AbstractContextManager[StoreReader | None]:
        """Yield the arena's store, to be read; None before it exists."""
        return read_store(self.settings.store)


@contextlib.contextmanager
def read_store(store: str) -> Iterator[StoreReader | None]:
    """Yield a store of contests, to be read; None before it exists. Raises what `StoreReader` raises."""
    try:
        reader = StoreReader(store)
    except ParameterError:
        if "://" in store or Path(store).is_file():
            raise
        yield None
        return
    with reader:
        yield reader


def _kept_secret(path: Path) -> bytes:
    """Return the secret in a file. It is made whole or not at all: an empty one could be guessed by anybody."""
    with FileLock(path.with_name("secret.lock")):  # servers that start together keep the same one
        if not path.is_file() or path.stat().st_size < SECRET_BYTES:
            unfinished = path.with_name(f".secret-{secrets.token_hex(8)}")
            unfinished.touch(mode=0o600, exist_ok=False)
            unfinished.write_bytes(secrets.token_bytes(SECRET_BYTES))
            unfinished.replace(path)
        return path.read_bytes()
