"""How commands end at Ctrl-C, SIGTERM and SIGHUP.

`as_interrupts` raises a KeyboardInterrupt for each of them, so that code which saves its work at Ctrl-C does so at all
three. The exit status is 128 plus the signal's number: 130, 143 or 129.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, NoReturn

ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals that ask a process to end and let it clean up."""


class SignalInterrupt(KeyboardInterrupt):
    """A signal has asked the process to end; ``number`` is the signal's."""

    def __init__(self, number: int = signal.SIGINT, *said: str) -> None:
        super().__init__(*said)
        self.number = number


def number_of(error: BaseException) -> int:
    """Return the signal behind an interruption; a plain KeyboardInterrupt is Ctrl-C."""
    return error.number if isinstance(error, SignalInterrupt) else signal.SIGINT


def status_of(error: BaseException) -> int:
    """Return the exit status of a process that an interruption ends."""
    return 128 + number_of(error)


def word_of(error: BaseException) -> str:
    """Return what has ended a process, in words."""
    number = number_of(error)
    return "interrupted" if number == signal.SIGINT else f"ended by {signal.Signals(number).name}"


@contextlib.contextmanager
def on_signals(act: Callable[[int], None], once: bool = False) -> Iterator[None]:
    """Call ``act`` with the number of each signal of `ENDING` that arrives; restore the handlers at the end.

    Args:
        act: called between two instructions of the main thread, and may raise.
        once: restore the handlers at the first signal, so that they handle a second one.

    Ignored signals stay ignored (``nohup``), and those with a handler outside Python keep it. Outside the main thread
    nothing is done, as Python delivers no signals there.
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


def as_interrupts() -> contextlib.AbstractContextManager[None]:
    """Raise `SignalInterrupt` in the main thread at each signal of `ENDING`.

    Python drops what is raised in a destructor: a signal that arrives there must be sent again.
    """
    return on_signals(_interrupt)


def _interrupt(number: int) -> NoReturn:
    raise SignalInterrupt(number)


@contextlib.contextmanager
def going_on(how: str) -> Iterator[None]:
    """Add ``how`` to resume to an interruption inside, unless it has a message."""
    try:
        yield
    except KeyboardInterrupt as end:
        end.args = end.args or (how,)
        raise
