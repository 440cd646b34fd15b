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
    from dicegym.cli.bars import Bars
    from dicegym.games.parts import Progress

QUIET = 0.5
"""Seconds that a person waits for an answer without a word."""
SILENCE = 10.0
"""Seconds after which a command in a log says how far it is."""

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
    from dicegym.cli.keys import drop_typed

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


def estimate_left(seconds: float, before: int, done: int, total: int) -> float | None:
    """Estimate the remaining seconds from the ``seconds`` that the work from ``before`` to ``done`` took.

    Interruptions, such as the evaluations of a training, are assumed to take the same share of the time as so far.
    Returns None before any work is done, and after the last of it.
    """
    return seconds * (total - done) / (done - before) if before < done < total else None


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


def _shown(unit: str, every: float) -> Bars | _Lines:
    if sys.stderr.isatty():
        from dicegym.cli.bars import Bars  # Rich's bars take 0.1 s to load

        return Bars(unit)
    return _Lines(unit, every)


class _Latest:
    """What a line says of one thing that is being done."""

    def __init__(self, done: int = 0, total: int = 0, text: str = "preparing") -> None:
        self.now = done, total, text
        self.first: tuple[float, int] | None = None
        """When the first progress came, and how much was done by then: a resumed training has a start."""
        self.told: tuple[int, int, str] | None = None

    def line(self, unit: str) -> str:
        """Return it in words, with an estimate of the time left."""
        done, total, text = self.now
        words = []
        if self.first is not None:
            words.append(f"{done:,}{f' of {total:,}' if total else ''} {unit}")
            since, before = self.first
            # The last rollout may go beyond what was asked for.
            seconds = estimate_left(time.monotonic() - since, before, done, total)
            words += [] if seconds is None else [f"{clock(seconds)} left"]
        return ", ".join([*words, *([one_line(text)] if text else [])])


class _Lines:
    """The lines of a log or pipe: a thread prints the latest at intervals, as one computation may take long."""

    def __init__(self, unit: str, every: float) -> None:
        self._unit, self._every = unit, every
        self._began = time.monotonic()
        self._things: dict[str, _Latest] = {"": _Latest()}
        self._several = False
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._speak, name="progress", daemon=True)
        self._thread.start()

    def show(self, which: str, done: int, total: int, text: str) -> None:
        self._several = self._several or bool(which)
        thing = self._things.setdefault(which, _Latest())
        if thing.first is None or done < thing.first[1]:
            thing.first = time.monotonic(), done
        thing.now = done, total, text

    def compiling(self, text: str) -> None:
        if self._things[""].first is None:
            self._things[""].now = 0, 0, text

    def say(self, text: str) -> None:
        with self._lock:
            err.print(text)

    def close(self) -> None:
        self._over.set()
        self._thread.join()
        if self._several:
            self._print()

    def _speak(self) -> None:
        while not self._over.wait(self._every):
            self._print()

    def _print(self) -> None:
        passed = clock(time.monotonic() - self._began)
        with self._lock:
            for which, thing in list(self._things.items()):
                if bool(which) == self._several and not (which and thing.told == thing.now):
                    thing.told = thing.now
                    err.print(f"{passed}, {f'{which}: ' if which else ''}{thing.line(self._unit)}")
