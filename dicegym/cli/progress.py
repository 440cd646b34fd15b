"""The progress of a command: bars on a terminal, plain lines in a log."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from dicegym.cli.console import err
from dicegym.columns import clock
from dicegym.escape import one_line

if TYPE_CHECKING:
    from dicegym.games.parts import Progress

SILENCE = 10.0
"""Seconds between two lines of progress in a log."""

SeveralProgress = Callable[[str, int, int, str], None]
"""Takes (which of several, done, total, text)."""


@contextlib.contextmanager
def progress_bar(unit: str, every: float = SILENCE) -> Iterator[Progress]:
    """Yield a function that shows the progress of a command in a ``unit`` on standard error.

    On a terminal it moves a bar, which appears with the first call, so that earlier errors are shown alone. Elsewhere
    it prints a line every ``every`` seconds, also without news.
    """
    with progress_bars(unit, every) as (show, _), _compilations(lambda text: show("", 0, 0, text)):
        yield lambda done, total, text: show("", done, total, text)


@contextlib.contextmanager
def progress_bars(unit: str, every: float = SILENCE) -> Iterator[tuple[SeveralProgress, Callable[[str], None]]]:
    """Yield a function that shows the progress of several things, and one that prints a line between.

    On a terminal each has a bar; elsewhere each with progress has a line every ``every`` seconds.
    """
    with contextlib.closing(_Bars(unit) if sys.stderr.isatty() else _Lines(unit, every)) as shown:
        yield shown.show, shown.say


@contextlib.contextmanager
def _compilations(tell: Callable[[str], None]) -> Iterator[None]:
    """Call ``tell`` whenever a kernel is compiled, which takes seconds."""
    from numba.core import event

    class Counting(event.Listener):
        number = 0

        def on_start(self, _: event.Event) -> None:
            self.number += 1
            tell(f"compiling, once for each version: kernel {self.number}")

        def on_end(self, _: event.Event) -> None: ...

    with event.install_listener("numba:compile", Counting()):
        yield


class _Lines:
    """Lines for a log or pipe. A thread prints them at intervals, also during a long computation."""

    def __init__(self, unit: str, every: float) -> None:
        self._unit, self._every = unit, every
        self._began = time.monotonic()
        self._now: dict[str, tuple[int, int, str]] = {"": (0, 0, "preparing")}  # done, of how much (0: unknown), text
        self._told: dict[str, tuple[int, int, str]] = {}
        self._over = threading.Event()
        self._lock = threading.RLock()  # reentrant: a signal's handler may report, too
        self._thread = threading.Thread(target=self._speak, name="progress", daemon=True)
        self._thread.start()

    def show(self, which: str, done: int, total: int, text: str) -> None:
        """Show progress; ``total`` is 0 if unknown."""
        with self._lock:
            if which:
                self._now.pop("", None)
            self._now[which] = done, total, text

    def say(self, text: str) -> None:
        """Print a line."""
        err.print(text)

    def close(self) -> None:
        """Stop printing."""
        self._over.set()
        self._thread.join()

    def _speak(self) -> None:
        while not self._over.wait(self._every):
            with self._lock:
                rows = [(which, now) for which, now in self._now.items() if not which or self._told.get(which) != now]
                self._told = dict(self._now)
            for which, (done, total, text) in rows:
                counted = f"{done:,}{f' of {total:,}' if total else ''} {self._unit}" if done or total else ""
                passed = clock(time.monotonic() - self._began)
                err.print(", ".join(filter(None, (passed, which, counted, one_line(text)))))


class _Bars:
    """Bars on a terminal."""

    def __init__(self, unit: str) -> None:
        from rich import progress
        from rich.console import Console
        from rich.table import Column

        times = progress.TimeElapsedColumn(), progress.TimeRemainingColumn()
        said = progress.TextColumn("{task.fields[text]}", markup=False, table_column=Column(no_wrap=True, ratio=1))
        names, counted = (progress.TextColumn(text, markup=False) for text in ("{task.description}", unit))
        columns = names, progress.BarColumn(20), progress.MofNCompleteColumn(), counted, *times, said
        self._bars = progress.Progress(*columns, console=Console(stderr=True), expand=True)
        self._tasks: dict[str, Any] = {}

    def show(self, which: str, done: int, total: int, text: str) -> None:
        """Show progress; ``total`` is 0 if unknown."""
        self._bars.start()  # no effect after the first time
        if which not in self._tasks:
            self._tasks[which] = self._bars.add_task(which, total=None, text="")
        self._bars.update(self._tasks[which], completed=done, total=total or None, text=one_line(text))

    def say(self, text: str) -> None:
        """Print a line."""
        self._bars.console.print(one_line(text, 2000), markup=False, highlight=False, soft_wrap=True)

    def close(self) -> None:
        """Stop the bars."""
        if self._tasks:
            self._bars.stop()
