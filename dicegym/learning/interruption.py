"""Ending a training early: Ctrl-C, which lets it save first, and the way out of Stable-Baselines3's loop."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

from stable_baselines3.common.callbacks import BaseCallback


class StopTraining(Exception):  # noqa: N818 - nothing is wrong
    """Leaves Stable-Baselines3's loop: the run is interrupted, or its target is reached."""


class Interruption:
    """Whether somebody wants a training to stop."""

    def __init__(self) -> None:
        self.wanted = False

    def stop_if_wanted(self) -> None:
        """Raise StopTraining if somebody does."""
        if self.wanted:
            raise StopTraining


class Interruptible(BaseCallback):
    """Lets a training be interrupted after any step."""

    def __init__(self, interruption: Interruption) -> None:
        super().__init__()
        self.interruption = interruption

    def _on_step(self) -> bool:
        self.interruption.stop_if_wanted()
        return True


@contextlib.contextmanager
def on_interrupt(act: Callable[[], None]) -> Iterator[None]:
    """Call ``act`` at the first Ctrl-C; the second one is as it was before, also outside the main thread."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return

    def handle(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, before)
        act()

    signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
