"""A training in a process of its own on this machine."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path

from dicegym.errors import one_line
from dicegym.learning.seeds.task import FAILED, SeedEvent, SeedTask, TrainingEnd, from_line
from dicegym.sandbox.remote import Ended

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
                [sys.executable, "-m", "dicegym.learning.seeds.child"],
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
