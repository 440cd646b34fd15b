"""Threads for what takes longer than a request may: bounded, with answers that are kept.

Threads end with the process: nobody waits for them when a server stops.
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
OF_ONE = 6
"""Pieces of work that one owner may have waiting."""
OF_ALL = 200
KEPT = 400
"""Answers that are kept."""
RETRIED = 30.0
"""Seconds after which a failed answer is computed again for the next visitor who asks."""

T = TypeVar("T")


class TooBusyError(DicegymError):
    """There is more to do than a server takes on."""

    status = 503


class Answer(Generic[T]):
    """What was asked for, now or later: ``done`` of ``of`` steps are done, both 0 while nothing is known of them."""

    def __init__(self) -> None:
        self.done = self.of = 0
        self.future: Future[T] = Future()
        self.ended = math.inf
        """When it was there or failed, by the monotonic clock."""

    @property
    def ready(self) -> bool:
        """Whether it is there, or has failed."""
        return self.future.done()

    @property
    def error(self) -> DicegymError | None:
        """Why it failed; None if it did not."""
        failed = self.future.exception() if self.ready else None
        if failed is None or isinstance(failed, DicegymError):
            return failed
        return DicegymError(f"{type(failed).__name__}: {one_line(failed, 400)}")

    @property
    def failure(self) -> str:
        """Why it failed, in words; empty if it did not."""
        return str(self.error or "")

    @property
    def found(self) -> T | None:
        """The answer; None while it is not there, and if it failed."""
        return self.future.result() if self.ready and self.error is None else None

    def progress(self, done: int, of: int, what: str) -> None:
        """Note how far it is; as of `dicegym.games.worth.Progress`."""
        self.done, self.of = done, of

    def note_end(self, _: object) -> None:
        """Note when it was there or failed: it may have taken longer than `RETRIED`."""
        self.ended = time.monotonic()

    async def settle(self, seconds: float | None = None) -> None:
        """Wait until it is ready, at most ``seconds``, without a thread."""
        waited = asyncio.wrap_future(self.future)
        waited.add_done_callback(lambda one: one.cancelled() or one.exception())  # else asyncio logs it per visitor
        await asyncio.wait([waited], timeout=seconds)


class WorkerThreads:
    """Threads that do pieces of work in turn; ``of_one`` may wait for one owner, and ``of_all`` in all."""

    def __init__(self, threads: int = THREADS, of_one: int = OF_ONE, of_all: int = OF_ALL) -> None:
        self._threads, self._of_one, self._of_all = threads, of_one, of_all
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
        """Return what a function finds in a thread: it is called once for each key, and its answer is kept.

        The function gets the answer, whose progress it may note. Unless ``keep``, an answer that is there is computed
        again when it is asked for next. Where too much waits already, for this owner or in all, the answer has failed
        by a TooBusyError, and is not kept. ``pay`` is called before anything is begun, and may raise.
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
            while len(self._answers) > KEPT:
                self._answers.popitem(last=False)
            return answer

    @staticmethod
    def _is_stale(answer: Answer[Any], keep: bool) -> bool:
        if not answer.ready:
            return False
        return time.monotonic() > answer.ended + RETRIED if answer.failure else not keep

    def begin(self, owner: str, function: Callable[..., T], *arguments: Any) -> Future[T]:
        """Let a thread call a function, and return where its result will be.

        Raises TooBusyError: too much waits already, for this owner or in all, or the server is about to end.
        """
        future: Future[T] = Future()
        with self._lock:
            if self._ended:
                raise TooBusyError("the server is about to end: ask again when it is back")
            if self._counts[owner] >= self._of_one:
                raise TooBusyError(f"{self._of_one} things that you asked for are not done yet: wait for one of them")
            if self.waiting >= self._of_all:
                raise TooBusyError("the server has too much to do: try again in a minute")
            self._counts[owner] += 1
            self._waiting.put((owner, future, lambda: function(*arguments)))
            if self._started < self._threads:
                threading.Thread(target=self._work, name="web-work", daemon=True).start()
                self._started += 1  # not where the system has no room for another one
        return future

    @property
    def waiting(self) -> int:
        """How many pieces of work wait for a thread."""
        return self._counts.total()

    def end(self) -> None:
        """Take nothing more; what is being done is not waited for."""
        self._ended = True

    def _work(self) -> None:
        while True:
            owner, future, function = self._waiting.get()
            with self._lock:
                self._counts -= Counter((owner,))  # which forgets owners of whom nothing waits
            if self._ended:
                future.cancel()
                continue
            try:
                future.set_result(function())
            except BaseException as error:  # noqa: BLE001, RUF100 - it is raised again where the result is asked for
                future.set_exception(error)
            del future, function
