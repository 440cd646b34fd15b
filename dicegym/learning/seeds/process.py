"""A training in a process of its own on this machine.

The process runs this module: it is told by a line what to do, and says by lines how far it is. It ends as any training
does, by itself or by a signal. It also saves and stops when the process that began it has ended.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Iterable, Iterator
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
    from_line,
    to_line,
)
from dicegym.sandbox.remote import Ended
from dicegym.signals import as_interrupts

OFTEN = 0.2
"""Seconds from one word of a training on how far it is to the next."""
LIBRARY_THREADS = ("MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""What libraries read at their start: how many threads they may use."""
_LAST_WORDS = 2_000
"""Bytes of the end of a log that are looked at."""


class SeedProcess:
    """The process of a `SeedTask`, begun when this is made; a `SeedTrainer`.

    It is a session of its own, so that Ctrl-C in a terminal reaches whoever began it alone, who hands it on.

    Args:
        task: what to do.
        log: the file that takes what libraries print.
        folder: where the process works; default: here. Paths that its settings name begin there.
    """

    def __init__(self, task: SeedTask, log: Path, folder: Path | None = None) -> None:
        self._log = log
        threads = {name: str(task.threads) for name in LIBRARY_THREADS}
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "dicegym.learning.seeds.process"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, **threads},
                cwd=folder,
                start_new_session=True,
            )
        self._heard: queue.SimpleQueue[SeedEvent] = queue.SimpleQueue()
        self._over = False
        self._listener = threading.Thread(target=self._listen, name=f"seed {task.seed}", daemon=True)
        self._listener.start()
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):  # it has ended: what it heard last says why
                self._process.stdin.write(task.to_line().encode())
                self._process.stdin.flush()

    def _listen(self) -> None:
        """Hear what the process says until it ends; then say how it ended, unless it did."""
        last: SeedEvent | None = None
        for line in self._process.stdout or ():
            with contextlib.suppress(ValueError, TypeError, LookupError):  # no word of ours
                last = from_line(line)
                self._heard.put(last)
        status = self._process.wait()
        if not isinstance(last, TrainingEnd):
            words = _last_line(self._log)
            self._heard.put(TrainingEnd(FAILED, Ended(status).in_words + (f": {words}" if words else "")))

    def events(self) -> Iterable[SeedEvent]:
        """Return what happened since the last call; see `SeedTrainer`."""
        found: list[SeedEvent] = []
        with contextlib.suppress(queue.Empty):
            while True:
                found.append(self._heard.get_nowait())
        return found

    def stop(self, number: int = signal.SIGTERM) -> None:
        """Hand on a signal; see `SeedTrainer`."""
        if self._process.poll() is None:
            self._process.send_signal(number)

    def kill(self) -> None:
        """End the process now."""
        if self._process.poll() is None:
            self._process.kill()

    def close(self) -> None:
        """Wait for the end of the process, which has ended or was killed, and remove a log that says nothing."""
        self._process.wait()
        self._listener.join()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        with contextlib.suppress(OSError):
            if not self._log.stat().st_size:
                self._log.unlink()


def _last_line(log: Path) -> str:
    """Return the last line that a process has printed, harmless; empty if there is none."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _LAST_WORDS))
            lines = file.read().decode(errors="replace").split("\n")
    except OSError:
        return ""
    return one_line(next((line for line in reversed(lines) if line.strip()), ""), 300)


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
