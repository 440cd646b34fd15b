"""How far a command is: moving bars on a terminal, plain lines in a log."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from dicegym.cli.console import err
from dicegym.columns import clock
from dicegym.escape import one_line

if TYPE_CHECKING:
    from rich.constrain import Constrain

    from dicegym.games.parts import Progress

QUIET = 0.5
"""Seconds that a person waits for an answer without a word."""
SILENCE = 10.0
"""Seconds after which a command in a log says how far it is."""
BAR = 20
"""Characters of a bar."""
CTRL_C = 3
"""Characters that bars leave free: a terminal writes ``^C`` behind them, and a bar that wraps is seen twice."""

SeveralProgress = Callable[[str, int, int, str], None]
"""Takes (which of several, how much is done, of how much, text)."""


@contextlib.contextmanager
def progress_bar(unit: str, every: float = SILENCE) -> Iterator[Progress]:
    """Yield a function that shows how far a command is, on standard error.

    On a terminal it moves a bar, which appears with the first call, so that mistakes found before it are shown alone.
    Elsewhere a plain line says the same every ``every`` seconds, also while nothing new is known.

    Args:
        unit: what is counted, such as "steps".
        every: seconds from one plain line to the next.
    """
    with contextlib.closing(_shown(unit, every)) as shown, _compilations(shown.compiling):
        yield lambda done, total, text: shown.show("", done, total, text)


@contextlib.contextmanager
def progress_bars(unit: str, every: float = SILENCE) -> Iterator[tuple[SeveralProgress, Callable[[str], None]]]:
    """Yield a function that shows how far each of several things is, and one that prints a line between.

    On a terminal each has a bar; elsewhere a line every ``every`` seconds, if anything is new, and one at the end.
    """
    with contextlib.closing(_shown(unit, every)) as shown:
        yield shown.show, shown.say


@contextlib.contextmanager
def thinking(words: str) -> Iterator[None]:
    """Show ``words`` while a person waits for a computation, if it takes more than `QUIET` seconds.

    What is typed meanwhile is dropped: it would answer the next question.
    """
    from dicegym.cli.single_keys import drop_typed

    began = time.monotonic()
    with progress_bar("steps") as progress:
        late = threading.Timer(QUIET, progress, (0, 0, words))
        late.daemon = True
        late.start()
        try:
            yield
        finally:
            late.cancel()
            late.join()
    if time.monotonic() - began > QUIET:
        drop_typed()


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


class _Task:
    """How far one thing is."""

    def __init__(self) -> None:
        self.now: tuple[int, int, str] = 0, 0, "preparing"
        """How much is done, of how much (0: unknown), and a text."""
        self.began = time.monotonic()
        self.first: tuple[float, int] | None = None
        """When the first progress came, and how much was done by then: a resumed training has a start."""
        self.told: tuple[int, int, str] | None = None

    def show(self, done: int, total: int, text: str) -> None:
        """Take progress; where less is done than before, something else has begun."""
        if self.first is None or not self.now[1] or done < self.now[0]:
            self.first = time.monotonic(), done
        self.now = done, total, text

    def time_left(self) -> str:
        """Return the time left, "" before any work is done and after the last of it.

        Interruptions, such as the evaluations of a training, are assumed to take the same share of the time as so far.
        """
        since, before = self.first or (0.0, 0)
        done, total, _ = self.now
        return clock((time.monotonic() - since) * (total - done) / (done - before)) if before < done < total else ""

    def line(self, unit: str) -> str:
        """Return all of it as a plain line."""
        done, total, text = self.now
        counted = "" if self.first is None else f"{done:,}{f' of {total:,}' if total else ''} {unit}"
        left = self.time_left()
        return ", ".join(filter(None, (counted, left and f"{left} left", one_line(text))))


class _Shown:
    """What a command is doing: one thing, or several.

    Args:
        unit: what is counted, such as "steps".
    """

    def __init__(self, unit: str) -> None:
        self.unit = unit
        self.waiting = _Task()
        """What is shown until there is progress."""
        self.tasks: dict[str, _Task] = {}

    def show(self, which: str, done: int, total: int, text: str) -> None:
        """Take the progress of ``which``, "" if there is only one."""
        if which not in self.tasks:
            self.tasks[which] = _Task() if which else self.waiting
        task = self.tasks[which]
        if which and not task.now[0]:
            task.began = time.monotonic()  # its time begins when it does
        task.show(done, total, text)

    def compiling(self, text: str) -> None:
        """Show ``text`` until there is progress."""
        if not self.tasks:
            self.waiting.now = 0, 0, text

    def rows(self) -> list[tuple[str, _Task]]:
        """Return what is shown: which of several, and how far it is."""
        return list(self.tasks.items()) or [("", self.waiting)]

    def say(self, text: str) -> None:
        """Print a line between."""
        err.print(text)

    def close(self) -> None:
        """Show no more."""


class _Lines(_Shown):
    """The lines of a log or pipe: a thread prints the latest at intervals, as one computation may take long."""

    def __init__(self, unit: str, every: float) -> None:
        super().__init__(unit)
        self._every = every
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._speak, name="progress", daemon=True)
        self._thread.start()

    def say(self, text: str) -> None:
        with self._lock:
            super().say(text)

    def close(self) -> None:
        self._over.set()
        self._thread.join()
        if any(self.tasks):
            self._print()

    def _speak(self) -> None:
        while not self._over.wait(self._every):
            self._print()

    def _print(self) -> None:
        passed = clock(time.monotonic() - self.waiting.began)
        with self._lock:
            for which, task in self.rows():
                if not (which and task.told == task.now):
                    task.told = task.now
                    err.print(f"{passed}, {f'{which}: ' if which else ''}{task.line(self.unit)}")


class _Bars(_Shown):
    """The bars of a terminal."""

    def __init__(self, unit: str) -> None:
        from rich.console import Console
        from rich.live import Live

        super().__init__(unit)
        self._console = Console(stderr=True)
        self._live = Live(console=self._console, get_renderable=self._table, refresh_per_second=10)

    def show(self, which: str, done: int, total: int, text: str) -> None:
        super().show(which, done, total, text)
        self._live.start()  # does nothing if it has started

    def compiling(self, text: str) -> None:
        super().compiling(text)
        self._live.start()

    def say(self, text: str) -> None:
        if self._live.is_started:
            self._console.print(one_line(text, 2000), markup=False, highlight=False, soft_wrap=True)
        else:
            super().say(text)

    def close(self) -> None:
        if self._live.is_started:
            self._live.stop()

    def _table(self) -> Constrain:
        """Return a row for each thing; a narrow terminal costs the end of its text, and no figures."""
        from rich.constrain import Constrain
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 1), expand=True)
        for _ in range(6):
            table.add_column(no_wrap=True)
        table.add_column(no_wrap=True, ratio=1)
        for which, task in self.rows():
            done, total, text = task.now
            bar = ProgressBar(total=total or None, completed=min(done, total), width=BAR)
            count = Text(f"{done}/{total or '?'}", style="progress.download")
            passed = Text(clock(time.monotonic() - task.began), style="progress.elapsed")
            left = Text(task.time_left() or "-:--:--", style="progress.remaining")
            table.add_row(Text(which), bar, count, Text(self.unit), passed, left, Text(one_line(text)))
        return Constrain(table, self._console.width - CTRL_C)


def _shown(unit: str, every: float) -> _Shown:
    return _Bars(unit) if sys.stderr.isatty() else _Lines(unit, every)
