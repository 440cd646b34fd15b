"""How commands end at Ctrl-C, SIGTERM and SIGHUP.

`as_interrupts` raises a KeyboardInterrupt for each, so that code which saves a run or ends its processes at Ctrl-C does
so at all three. The exit status is 128 plus the signal's number: 130, 143 or 129.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""What asks a process to end and lets it say goodbye."""
AGAIN = 0.02
"""Seconds after which a signal is sent again that came where Python can raise nothing."""


class SignalInterrupt(KeyboardInterrupt):
    """A signal has asked the process to end.

    Attributes:
        number: of the signal.
    """

    def __init__(self, number: int = signal.SIGINT, *said: str) -> None:
        super().__init__(*said)
        self.number = number


def number_of(error: BaseException) -> int:
    """Return the signal behind an interruption; Ctrl-C is a plain KeyboardInterrupt to Python."""
    return error.number if isinstance(error, SignalInterrupt) else signal.SIGINT


def status_of(error: BaseException) -> int:
    """Return the status of a process that an interruption ends."""
    return 128 + number_of(error)


def word_of(error: BaseException) -> str:
    """Return in a word what has ended a process."""
    number = number_of(error)
    return "interrupted" if number == signal.SIGINT else f"ended by {signal.Signals(number).name}"


@contextlib.contextmanager
def on_signals(act: Callable[[int], None], once: bool = False) -> Iterator[None]:
    """Call ``act`` with the number of each signal of `ENDING` that comes, and put back at the end what was done before.

    Args:
        act: is called between two lines of the main thread's program, and may raise.
        once: put back at the first signal what was done before, so that a second one does that.

    Signals that are ignored stay so, as ``nohup`` has it, and those that a library handles by means of its own.
    Outside the main thread, where Python delivers none, nothing is done.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    before: dict[int, Any] = {}

    def restore() -> None:
        for number, present in before.items():
            signal.signal(number, present)

    def handle(number: int, frame: FrameType | None) -> None:
        if once:
            restore()
        act(number)

    try:
        for number in ENDING:
            present = signal.getsignal(number)
            if present is not None and present is not signal.SIG_IGN:
                before[number] = present
                signal.signal(number, handle)
        yield
    finally:
        restore()


@contextlib.contextmanager
def as_interrupts() -> Iterator[None]:
    """Let SIGTERM and SIGHUP raise `SignalInterrupt` as Ctrl-C raises KeyboardInterrupt, for a program's main thread.

    What is raised while Python clears away objects is lost: it comes again, then.
    """
    is_sending = False

    def end(number: int) -> None:
        if is_sending:  # a slow machine takes so long for it that the signal is back: it would be lost here for good
            send_again(number)
            return
        raise SignalInterrupt(number)

    def send_again(number: int) -> None:
        again = threading.Timer(AGAIN, os.kill, (os.getpid(), number))
        again.daemon = True
        again.start()

    def raise_again(about: sys.UnraisableHookArgs) -> None:
        nonlocal is_sending
        if not isinstance(about.exc_value, SignalInterrupt):
            before(about)
            return
        is_sending = True
        send_again(about.exc_value.number)
        is_sending = False

    before = sys.unraisablehook
    sys.unraisablehook = raise_again
    try:
        with on_signals(end):
            yield
    finally:
        sys.unraisablehook = before


@contextlib.contextmanager
def going_on(how: str) -> Iterator[None]:
    """Let an interruption of what is done here say how to resume, unless it says something already."""
    try:
        yield
    except KeyboardInterrupt as end:
        end.args = end.args or (how,)
        raise
