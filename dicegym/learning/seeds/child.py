"""The process of one training among several: it is told by a line what to do, and says by lines how far it is.

It ends as any training does, by itself or by a signal, and besides when nobody listens any more: whoever began it is
gone then, and it saves what it has.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from dicegym.errors import DicegymError, one_line
from dicegym.learning.seeds.task import (
    FAILED,
    FINISHED,
    STOPPED,
    Progressed,
    Said,
    Saved,
    SeedEvent,
    SeedTask,
    TrainingEnd,
    to_line,
)
from dicegym.signals import as_interrupts

OFTEN = 0.2
"""Seconds from one word on how far it is to the next."""


class _Voice:
    """Says what happens; nobody need hear it."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream, self._lock, self._next = stream, threading.Lock(), 0.0

    def say(self, event: SeedEvent) -> None:
        with self._lock:
            try:
                self._stream.write(to_line(event))
                self._stream.flush()
            except (OSError, ValueError):  # whoever began it is gone: `_end_with_caller` sees to the rest
                self._next = float("inf")

    def progress(self, done: int, total: int, text: str) -> None:
        now = time.monotonic()
        if now >= self._next or done >= total:
            self._next = now + OFTEN
            self.say(Progressed(done, total, text))

    def warn(self, message: Warning | str, *where: Any, **more: Any) -> None:
        self.say(Said(one_line(message, 1000)))


def _end_with_caller(lines: Iterator[str]) -> None:
    """Ask this process to save and end when the pipe from whoever began it closes."""
    for _ in lines:
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    """Do the task that the first line of the standard input tells of."""
    voice = _Voice(os.fdopen(os.dup(1), "w", encoding="utf-8"))
    os.dup2(2, 1)  # what libraries print goes where errors go
    task = SeedTask.from_line(sys.stdin.readline())
    warnings.showwarning = voice.warn
    threading.Thread(target=_end_with_caller, args=(sys.stdin,), daemon=True).start()
    over = _carry_out(task, voice)
    _send(task, voice)
    voice.say(over)
    os._exit(0)  # whatever threads libraries have left: all is written


def _send(task: SeedTask, voice: _Voice) -> None:
    """Say that there is something new in the run's folder; put a copy of it where somebody wants one."""
    if not task.outbox:
        voice.say(Saved())
    elif Path(task.folder).is_dir():
        voice.say(Saved(shutil.copytree(task.folder, Path(task.outbox, secrets.token_hex(8)))))


def _carry_out(task: SeedTask, voice: _Voice) -> TrainingEnd:
    """Train; return how that ended."""
    from dicegym.learning.script import train

    config = Path(task.config) if task.config else None
    try:
        with as_interrupts():
            train(
                task.game,
                Path(task.folder),
                config,
                task.overrides,
                task.resume,
                voice.progress,
                trust=task.trust,
                saved=lambda: _send(task, voice),
            )
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
