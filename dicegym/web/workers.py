"""Bounded pools of threads for computations that take longer than a request may, with cached answers.

The threads are daemons, so a server that stops does not wait for them.
"""

from __future__ import annotations

import asyncio
import math
import queue
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

from dicegym.engine.threads import cores
from dicegym.errors import DicegymError, one_line

THREADS = max(2, min(8, cores()))
MOST_QUEUED_EACH = 6
MOST_QUEUED = 200
CACHED_ANSWERS = 400
RETRY_SECONDS = 30.0

T = TypeVar("T")


class TooBusyError(DicegymError):
    """The server has too many queued computations."""

    status = 503


class Answer(Generic[T]):
    """The result of a computation, now or later. ``done`` of ``of`` steps are done; both are 0 while unknown."""

    def __init__(self) -> None:
        self.done = self.of = 0
        self.future: Future[T] = Future()
        self.ended = math.inf
        """When it was ready, by the monotonic clock."""

    @property
    def ready(self) -> bool:
        """Whether the computation has ended, also by an error."""
        return self.future.done()

    @property
    def error(self) -> DicegymError | None:
        """Why it failed, or None."""
        failed = self.future.exception() if self.ready else None
        if failed is None or isinstance(failed, DicegymError):
            return failed
        return DicegymError(f"{type(failed).__name__}: {one_line(failed, 400)}")

    @property
    def found(self) -> T | None:
        """The result; None before it is ready, and if it failed."""
        return self.future.result() if self.ready and self.error is None else None

    def progress(self, done: int, of: int, what: str) -> None:
        """Set the progress; a `dicegym.games.worth.Progress`."""
        self.done, self.of = done, of

    def note_end(self, _: object) -> None:
        """Set `ended`: a failed computation may have taken longer than `RETRY_SECONDS`."""
        self.ended = time.monotonic()

    async def settle(self, seconds: float | None = None) -> None:
        """Wait until it is ready, at most ``seconds``, without blocking a thread."""
        waited = asyncio.wrap_future(self.future)
        waited.add_done_callback(lambda one: one.cancelled() or one.exception())  # asyncio would log unread errors
        await asyncio.wait([waited], timeout=seconds)


class WorkerThreads:
    """A pool of threads with a queue of at most `MOST_QUEUED` computations, `MOST_QUEUED_EACH` of one owner."""

    def __init__(self, threads: int = THREADS) -> None:
        self._threads = threads
        self._waiting: queue.SimpleQueue[tuple[str, Future[Any], Callable[[], Any]]] = queue.SimpleQueue()
        self._counts: Counter[str] = Counter()
        self._answers: OrderedDict[Hashable, Answer[Any]] = OrderedDict()
        self._lock = threading.RLock()
        self._ended = False
        self._started = 0

    def answer(
        self,
        owner: str,
        key: Hashable,
        find: Callable[[Answer[T]], T],
        keep: bool = True,
        pay: Callable[[], object] = lambda: None,
    ) -> Answer[T]:
        """Return the cached answer for ``key``, or start ``find`` in a thread to compute it.

        ``find`` receives the answer, to set its progress. Unless ``keep``, an answer that is ready is computed again at
        the next call. If the queue is full, the answer has failed with a TooBusyError and is not cached. ``pay`` is
        called before a computation starts, and may raise.
        """
        with self._lock:
            known = self._answers.get(key)
            if known is not None and not self._is_stale(known, keep):
                self._answers.move_to_end(key)
                return known
            pay()
            answer: Answer[T] = Answer()
            try:
                answer.future = self.begin(owner, find, answer)
            except TooBusyError as error:
                answer.future.set_exception(error)
                return answer
            self._answers[key] = answer
            answer.future.add_done_callback(answer.note_end)
            while len(self._answers) > CACHED_ANSWERS:
                self._answers.popitem(last=False)
            return answer

    @staticmethod
    def _is_stale(answer: Answer[Any], keep: bool) -> bool:
        if not answer.ready:
            return False
        return time.monotonic() > answer.ended + RETRY_SECONDS if answer.error else not keep

    def begin(self, owner: str, function: Callable[..., T], *arguments: Any) -> Future[T]:
        """Start a function in a thread and return its future.

        Raises TooBusyError if the queue is full, for this owner or for all, or the server is about to end.
        """
        future: Future[T] = Future()
        with self._lock:
            if self._ended:
                raise TooBusyError("the server is about to end: try again when it is back")
            if self._counts[owner] >= MOST_QUEUED_EACH:
                raise TooBusyError(
                    f"{MOST_QUEUED_EACH} of your requests are still being computed: wait for one of them"
                )
            if self.waiting >= MOST_QUEUED:
                raise TooBusyError("the server has too much to do: try again in a minute")
            self._counts[owner] += 1
            self._waiting.put((owner, future, lambda: function(*arguments)))
            if self._started < self._threads:
                threading.Thread(target=self._work, name="web-work", daemon=True).start()
                self._started += 1  # only if the system could start it
        return future

    @property
    def waiting(self) -> int:
        """How many computations wait for a thread."""
        return self._counts.total()

    def end(self) -> None:
        """Accept nothing more, and do not wait for running computations."""
        self._ended = True

    def _work(self) -> None:
        while True:
            owner, future, function = self._waiting.get()
            with self._lock:
                self._counts -= Counter((owner,))  # drops owners without queued work
            if self._ended:
                future.cancel()
                continue
            try:
                future.set_result(function())
            except BaseException as error:  # noqa: BLE001, RUF100 - raised again by the future's result
                future.set_exception(error)
            del future, function
