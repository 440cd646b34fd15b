"""Threads for what takes longer than a request may: bounded, and fair between those who ask.

Each owner has a line of its own, and the lines are served in turn, so that whoever asks for ten reviews does not keep
everybody else waiting. Threads end with the process: nobody waits for them when a server stops.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar

from dicegym.engine.threads import cores
from dicegym.errors import DicegymError

THREADS = max(2, min(8, cores()))
OF_ONE = 6
"""Pieces of work that one owner may have in line."""
OF_ALL = 200

Returned = TypeVar("Returned")


class TooBusyError(DicegymError):
    """There is more to do than a server takes on."""


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
        self._changed = threading.Condition()
        self._started = self._idle = 0
        self._ended = False

    def begin(self, owner: str, function: Callable[..., Returned], *arguments: Any) -> Future[Returned]:
        """Let a thread call a function, and return where its result will be.

        Raises:
            TooBusyError: too much waits already, for this owner or in all, or the server is about to end.
        """
        future: Future[Returned] = Future()
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

    async def run(self, owner: str, function: Callable[..., Returned], *arguments: Any) -> Returned:
        """Return what a function returns that a thread calls. Raises what it raises, and as `begin` does."""
        return await asyncio.wrap_future(self.begin(owner, function, *arguments))

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
