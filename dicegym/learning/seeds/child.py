"""The process of one training among several: it is told by a line what to do, and says by lines how far it is.

It ends as any training does, by itself or by a signal, and besides when nobody listens any more: whoever began it is
gone then, and it saves what it has.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from dicegym.errors import DicegymError, one_line
from dicegym.learning.seeds.task import (
    FAILED,
    FINISHED,
    STOPPED,
    Progressed,
    Said,
    SeedEvent,
    SeedTask,
    TrainingEnd,
    to_line,
)
from dicegym.signals import as_interrupts

OFTEN = 0.2
"""Seconds from one word on how far it is to the next."""


class Voice:
    """Says what happens: a line for each event.

    Args:
        stream: takes the lines.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._lock, self._next = stream, threading.Lock(), 0.0

    def say(self, event: SeedEvent) -> None:
        """Say an event."""
        # Whoever began this may be gone: `_end_with_caller` sees to the rest.
        with self._lock, contextlib.suppress(OSError, ValueError):
            self._stream.write(to_line(event))
            self._stream.flush()

    def progress(self, done: int, total: int, text: str) -> None:
        """Say how far it is, unless that was said just now."""
        now = time.monotonic()
        if now >= self._next or done >= total:
            self._next = now + OFTEN
            self.say(Progressed(done, total, text))

    def warn(self, message: Warning | str, *where: Any, **more: Any) -> None:
        """Say a warning, as `warnings.showwarning`."""
        self.say(Said(one_line(message, 1000)))


def _end_with_caller(lines: Iterator[str]) -> None:
    """Ask this process to save and end when the pipe from whoever began it closes."""
    for _ in lines:
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    """Do the task that the first line of the standard input tells of."""
    voice = Voice(os.fdopen(os.dup(1), "w", encoding="utf-8"))
    os.dup2(2, 1)  # what libraries print goes where errors go
    task = SeedTask.from_line(sys.stdin.readline())
    threading.Thread(target=_end_with_caller, args=(sys.stdin,), daemon=True).start()
    voice.say(carry_out(task, voice))
    os._exit(0)  # whatever threads libraries have left: all is written


def carry_out(task: SeedTask, voice: Voice) -> TrainingEnd:
    """Train in this process; return how that ended.

    Args:
        task: what to do.
        voice: says how far it is.
    """
    from dicegym.learning.train import train

    warnings.showwarning = voice.warn
    config = Path(task.config) if task.config else None
    try:
        with as_interrupts():
            train(task.game, Path(task.folder), config, task.overrides, task.resume, voice.progress, trust=task.trust)
    except KeyboardInterrupt as end:
        return TrainingEnd(STOPPED, str(end))
    except (DicegymError, OSError) as error:
        return TrainingEnd(FAILED, one_line(error, 1000))
    except Exception as error:
        traceback.print_exc()
        return TrainingEnd(FAILED, f"{type(error).__name__}: {one_line(error, 500)}")
    return TrainingEnd(FINISHED)


if __name__ == "__main__":
    main()
