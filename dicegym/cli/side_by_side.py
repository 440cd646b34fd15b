"""How far several things are that are done side by side: a bar each, or lines for a log."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator

from rich.progress import TaskID, TextColumn
from rich.table import Column

from dicegym.cli.common import SILENCE, bars, err
from dicegym.columns import clock
from dicegym.escape import one_line

SeveralProgress = Callable[[str, int, int, str], None]
"""Is told (of which, how much is done, of how much, text)."""


@contextlib.contextmanager
def progress_bars(unit: str, every: float = SILENCE) -> Iterator[tuple[SeveralProgress, Callable[[str], None]]]:
    """Yield a function that shows how far each is, on standard error, and one that says a line between.

    On a terminal each has a bar. Elsewhere a plain line for each says the same every ``every`` seconds, if there is
    anything new of it, and the last when all is over.
    """
    shown = _Bars(unit) if sys.stderr.isatty() else _Log(unit, every)
    with contextlib.closing(shown):
        yield shown.show, shown.say


class _Bars:
    """The progress bars of a terminal."""

    def __init__(self, unit: str) -> None:
        self._bars = bars(unit, TextColumn("{task.fields[which]}", markup=False, table_column=Column(no_wrap=True)))
        self._tasks: dict[str, TaskID] = {}

    def show(self, which: str, done: int, total: int, text: str) -> None:
        self._bars.start()  # does nothing if it has started
        if which not in self._tasks:
            self._tasks[which] = self._bars.add_task("", total=None, which=which)
        task = self._tasks[which]
        if done and not self._bars.tasks[task].completed:
            self._bars.reset(task)  # its time begins when it does
        self._bars.update(task, completed=done, total=total or None, description=one_line(text))

    def say(self, text: str) -> None:
        if self._bars.live.is_started:
            self._bars.console.print(one_line(text, 2000), markup=False, highlight=False, soft_wrap=True)
        else:
            err.print(text)

    def close(self) -> None:
        if self._bars.live.is_started:
            self._bars.stop()


class _Log:
    """What a log or a pipe gets."""

    def __init__(self, unit: str, every: float) -> None:
        self._unit, self._every = unit, every
        self._began = time.monotonic()
        self._latest: dict[str, tuple[int, int, str]] = {}
        self._told: dict[str, tuple[int, int, str]] = {}
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._speak, name="progress", daemon=True)
        self._thread.start()

    def show(self, which: str, done: int, total: int, text: str) -> None:
        self._latest[which] = done, total, text

    def say(self, text: str) -> None:
        with self._lock:
            err.print(text)

    def close(self) -> None:
        self._over.set()
        self._thread.join()
        self._tell()

    def _speak(self) -> None:
        while not self._over.wait(self._every):
            self._tell()

    def _tell(self) -> None:
        now = clock(time.monotonic() - self._began)
        with self._lock:
            for which, latest in list(self._latest.items()):
                if self._told.get(which) != latest:
                    self._told[which] = latest
                    done, total, text = latest
                    so_far = f"{done:,}{f' of {total:,}' if total else ''} {self._unit}"
                    err.print(f"{now}, {which}: {so_far}{f', {one_line(text)}' if text else ''}")
