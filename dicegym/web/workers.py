"""Threads for what takes longer than a request may: bounded, fair between those who ask, with answers that are kept.

Each owner has a line of its own, and the lines are served in turn, so that ten reviews of one visitor do not keep
everybody else waiting. Threads end with the process: nobody waits for them when a server stops.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from concurrent.futures import CancelledError, Future
from typing import Any, Generic, TypeVar

from dicegym.engine.threads import cores
from dicegym.errors import DicegymError, one_line

THREADS = max(2, min(8, cores()))
OF_ONE = 6
"""Pieces of work that one owner may have in line."""
OF_ALL = 200
KEPT = 400
"""Answers that are kept."""
RETRIED = 30.0
"""Seconds after which a failed answer is computed again for the next one who asks."""

T = TypeVar("T")


class TooBusyError(DicegymError):
    """There is more to do than a server takes on."""

    status = 503


class Answer(Generic[T]):
    """What was asked for, now or later.

    Attributes:
        done: steps that are done, of ``of``; both 0 while nothing is known of them.
        of: see ``done``.
        what: what the steps are, in words.
    """

    def __init__(self) -> None:
        self.done = self.of = 0
        self.what = ""
        self.future: Future[T] = Future()
        self.asked = time.monotonic()

    @property
    def ready(self) -> bool:
        """Whether it is there, or has failed."""
        return self.future.done()

    @property
    def error(self) -> DicegymError | None:
        """Why it failed; None if it did not."""
        failed = self.future.exception() if self.ready else None
        return failed if failed is None or isinstance(failed, DicegymError) else DicegymError(self.failure)

    @property
    def failure(self) -> str:
        """Why it failed, in words; empty if it did not."""
        if not self.ready or (error := self.future.exception()) is None:
            return ""
        return str(error) if isinstance(error, DicegymError) else f"{type(error).__name__}: {one_line(error, 400)}"

    @property
    def found(self) -> T | None:
        """The answer; None while it is not there, and if it failed."""
        return self.future.result() if self.ready and not self.failure else None

    def progress(self, done: int, of: int, what: str) -> None:
        """Note how far it is; as of `dicegym.games.worth.Progress`."""
        self.done, self.of, self.what = done, of, what

    def wait(self, seconds: float | None = None) -> None:
        """Wait until it is ready, at most so many seconds."""
        concurrent.futures.wait([self.future], seconds)

    async def settle(self, seconds: float | None = None) -> None:
        """Wait as `wait` does, without a thread."""
        await asyncio.wait([asyncio.wrap_future(self.future)], timeout=seconds)


class WorkerThreads:
    """Threads that do what they are given.

    Args:
        threads: at once.
        of_one: pieces of work that may wait for one owner.
        of_all: pieces of work that may wait in all.
    """

    def __init__(self, threads: int = THREADS, of_one: int = OF_ONE, of_all: int = OF_ALL) -> None:
        self._threads, self._of_one, self._of_all = threads, of_one, of_all
        self._lines: dict[str, deque[tuple[Future[Any], Callable[[], Any]]]] = {}
        self._answers: OrderedDict[Hashable, Answer[Any]] = OrderedDict()
        self._changed = threading.Condition()
        self._started = self._idle = 0
        self._ended = False

    def answer(self, owner: str, key: Hashable, find: Callable[[Answer[T]], T], keep: bool = True) -> Answer[T]:
        """Return what a function finds in a thread: it is called once for each key, and its answer is kept.

        Args:
            owner: who asks.
            key: what is asked.
            find: called with the answer, whose progress it may note.
            keep: whether to keep the answer when it is there; if not, the next one who asks has it computed again.

        Raises:
            TooBusyError: see `begin`.
        """
        with self._changed:
            known = self._answers.get(key)
            if known is not None and not self._is_stale(known, keep):
                self._answers.move_to_end(key)
                return known
            answer: Answer[T] = Answer()
            answer.future = self.begin(owner, find, answer)
            self._answers[key] = answer
            while len(self._answers) > KEPT:
                self._answers.popitem(last=False)
            return answer

    def known(self, key: Hashable) -> Answer[Any] | None:
        """Return the answer of a key that was asked for lately; None if it was not."""
        with self._changed:
            return self._answers.get(key)

    @staticmethod
    def _is_stale(answer: Answer[Any], keep: bool) -> bool:
        if not answer.ready:
            return False
        return time.monotonic() > answer.asked + RETRIED if answer.failure else not keep

    def begin(self, owner: str, function: Callable[..., T], *arguments: Any) -> Future[T]:
        """Let a thread call a function, and return where its result will be.

        Raises:
            TooBusyError: too much waits already, for this owner or in all, or the server is about to end.
        """
        future: Future[T] = Future()
        with self._changed:
            if self._ended:
                raise TooBusyError("the server is about to end: ask again when it is back")
            line = self._lines.get(owner, ())
            if len(line) >= self._of_one:
                raise TooBusyError(f"{len(line)} things that you asked for are not done yet: wait for one of them")
            if sum(map(len, self._lines.values())) >= self._of_all:
                raise TooBusyError("the server has too much to do: try again in a minute")
            self._lines.setdefault(owner, deque()).append((future, lambda: function(*arguments)))
            if not self._idle and self._started < self._threads:
                self._started += 1
                threading.Thread(target=self._work, name=f"web-work-{self._started}", daemon=True).start()
            self._changed.notify()
        return future

    @property
    def waiting(self) -> int:
        """How many pieces of work wait for a thread."""
        with self._changed:
            return sum(map(len, self._lines.values()))

    def end(self) -> None:
        """Take nothing more, and forget what waits; what is being done is not waited for."""
        with self._changed:
            self._ended = True
            for line in self._lines.values():
                for future, _ in line:
                    future.cancel()
            self._lines.clear()
            self._changed.notify_all()

    def _work(self) -> None:
        while (one := self._next()) is not None:
            future, function = one
            if not future.set_running_or_notify_cancel():
                continue
            try:
                found = function()
            except BaseException as error:  # noqa: BLE001, RUF100 - it is raised again where the result is asked for
                with contextlib.suppress(CancelledError):
                    future.set_exception(error)
            else:
                future.set_result(found)
            del one, future, function

    def _next(self) -> tuple[Future[Any], Callable[[], Any]] | None:
        with self._changed:
            while not self._lines:
                if self._ended:
                    return None
                self._idle += 1
                self._changed.wait()
                self._idle -= 1
            owner = next(iter(self._lines))
            line = self._lines.pop(owner)
            found = line.popleft()
            if line:
                self._lines[owner] = line  # behind all others
            return found
