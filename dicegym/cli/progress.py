"""How far a command is: moving bars on a terminal, plain lines in a log."""

from __future__ import annotations

import contextlib
import importlib
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

QUIET = 0.5
"""Seconds that a person waits for an answer without a word."""
SILENCE = 10.0
"""Seconds after which a command in a log says how far it is."""

SeveralProgress = Callable[[str, int, int, str], None]
"""Takes (which of several, how much is done, of how much, text)."""


@contextlib.contextmanager
def progress_bar(unit: str, every: float = SILENCE) -> Iterator[Progress]:
    """Yield a function that shows how far a command is, in some ``unit``, on standard error.

    On a terminal it moves a bar, which appears with the first call, so that mistakes found before it are shown alone.
    Elsewhere a plain line says the same every ``every`` seconds, also while nothing new is known.
    """
    with progress_bars(unit, every) as (show, _), _compilations(lambda text: show("", 0, 0, text)):
        yield lambda done, total, text: show("", done, total, text)


@contextlib.contextmanager
def progress_bars(unit: str, every: float = SILENCE) -> Iterator[tuple[SeveralProgress, Callable[[str], None]]]:
    """Yield a function that shows how far each of several things is, and one that prints a line between.

    On a terminal each has a bar; elsewhere each that has gone on has a line every ``every`` seconds.
    """
    with contextlib.closing(_Bars(unit) if sys.stderr.isatty() else _Lines(unit, every)) as shown:
        yield shown.show, shown.say


@contextlib.contextmanager
def thinking(words: str) -> Iterator[None]:
    """Show ``words`` on a terminal while a person waits for a computation.

    What is typed meanwhile is dropped if it takes more than `QUIET` seconds: it would answer the next question.
    """
    began = time.monotonic()
    with err.status(words):
        yield
    if time.monotonic() - began > QUIET and sys.stdin is not None and sys.stdin.isatty():
        with contextlib.suppress(ImportError):  # not on Windows
            termios = importlib.import_module("termios")
            termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


@contextlib.contextmanager
def _compilations(tell: Callable[[str], None]) -> Iterator[None]:
    """Call ``tell`` whenever a kernel is compiled, which takes seconds; loading a compiled one takes none."""
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
    """The lines of a log or pipe: a thread prints the latest at intervals, as one computation may take long."""

    def __init__(self, unit: str, every: float) -> None:
        self._unit, self._every = unit, every
        self._began = time.monotonic()
        self._now: dict[str, tuple[int, int, str]] = {"": (0, 0, "preparing")}  # done, of how much (0: unknown), text
        self._told: dict[str, tuple[int, int, str]] = {}
        self._over = threading.Event()
        self._lock = threading.RLock()  # a signal's handler may tell something while this is being told
        self._thread = threading.Thread(target=self._speak, name="progress", daemon=True)
        self._thread.start()

    def show(self, which: str, done: int, total: int, text: str) -> None:
        """Take progress; ``total`` is 0 where nobody knows it."""
        with self._lock:
            if which:
                self._now.pop("", None)
            self._now[which] = done, total, text

    def say(self, text: str) -> None:
        """Print a line between."""
        err.print(text)

    def close(self) -> None:
        """Print no more."""
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
    """The bars of a terminal."""

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
        """Take progress; ``total`` is 0 where nobody knows it."""
        self._bars.start()  # does nothing if it has started
        if which not in self._tasks:
            self._tasks[which] = self._bars.add_task(which, total=None, text="")
        self._bars.update(self._tasks[which], completed=done, total=total or None, text=one_line(text))

    def say(self, text: str) -> None:
        """Print a line between."""
        self._bars.console.print(one_line(text, 2000), markup=False, highlight=False, soft_wrap=True)

    def close(self) -> None:
        """Show no more."""
        if self._tasks:
            self._bars.stop()
