"""One seed's training as a job: its task, the status that it writes, and the process that runs it here.

A process of this machine runs this module; a cluster's calls `train_seed`. Both write a `SeedStatus` into a file beside
the run's folder, which the process that started the training reads. The training also saves and stops when that process
has ended.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any, NamedTuple

from dicegym.errors import DicegymError, one_line
from dicegym.files import write_text
from dicegym.sandbox.remote import Ended
from dicegym.signals import as_interrupts

FINISHED, STOPPED, FAILED = "finished", "stopped", "failed"
"""How a training ends: by itself, because it was asked to, or by something that went wrong."""
END_NOW = getattr(signal, "SIGKILL", signal.SIGTERM)  # which ends a process at once on Windows
"""The signal that nothing outlives."""
OFTEN = 0.5
"""Seconds from one note of how far a training is to the next."""
LIBRARY_THREADS = ("MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""What libraries read at their start: how many threads they may use."""
_LAST_WORDS = 2_000
"""Bytes of the end of a log that are looked at."""


class SeedTask(NamedTuple):
    """A training of one seed."""

    game: str
    folder: str
    """The run's, absolute."""
    seed: int
    config: str
    """Name or path of a configuration; empty: the game's own."""
    overrides: tuple[str, ...]
    """Its seed and its threads among them."""
    resume: bool
    trust: bool
    threads: int
    device: str = "cpu"

    @property
    def status_file(self) -> Path:
        """Where its status is written, beside its folder."""
        return Path(f"{self.folder}.status.json")

    @property
    def log_file(self) -> Path:
        """What libraries print in a process of this machine, warnings included."""
        return Path(f"{self.folder}.log")


class SeedStatus(NamedTuple):
    """How a training stands."""

    done: int = 0
    total: int = 0
    text: str = ""
    how: str = ""
    """`FINISHED`, `STOPPED` or `FAILED`; empty: it has not ended."""
    why: str = ""
    """What went wrong, in a line."""

    def write(self, task: SeedTask) -> None:
        """Write the status of a training, whole."""
        with contextlib.suppress(OSError):  # where nothing can be written the training itself says so
            write_text(task.status_file, json.dumps(self))


def read_status(task: SeedTask) -> SeedStatus:
    """Return how a training stands; a fresh status if it has written none."""
    with contextlib.suppress(OSError, ValueError, TypeError):
        found: list[Any] = json.loads(task.status_file.read_text(encoding="utf-8"))
        return SeedStatus(*found) if isinstance(found, list) else SeedStatus()
    return SeedStatus()


def train_seed(task: SeedTask) -> None:
    """Train in this process; write how far it is and how it ended."""
    from dicegym.learning.train import train

    due = 0.0

    def progress(done: int, total: int, text: str) -> None:
        nonlocal due
        if time.monotonic() >= due or done >= total:
            due = time.monotonic() + OFTEN
            SeedStatus(done, total, text).write(task)

    config = Path(task.config) if task.config else None
    how, why = FINISHED, ""
    try:
        with as_interrupts():
            train(task.game, Path(task.folder), config, task.overrides, task.resume, progress, trust=task.trust)
    except KeyboardInterrupt as end:
        how, why = STOPPED, str(end)
    except (DicegymError, OSError) as error:
        how, why = FAILED, one_line(error, 1000)
    except Exception as error:
        traceback.print_exc()
        how, why = FAILED, f"{type(error).__name__}: {one_line(error, 500)}"
    read_status(task)._replace(how=how, why=why).write(task)


class SeedProcess:
    """The process of a training on this machine, started when this is made.

    It is a session of its own, so that Ctrl-C in a terminal reaches only the process that started it, which hands it
    on.

    Args:
        task: what to do.
    """

    waits = "preparing"
    """What the training waits for until it says something itself."""

    def __init__(self, task: SeedTask) -> None:
        self._log = task.log_file
        threads = {name: str(task.threads) for name in LIBRARY_THREADS}
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "dicegym.learning.seeds.job", json.dumps(task)],
                stdin=subprocess.PIPE,  # it closes when the process that holds its other end has ended
                stdout=log,
                stderr=log,
                env={**os.environ, **threads},
                start_new_session=True,
            )

    def poll(self) -> str | None:
        """Return None while the training runs; then what ended it, if it could not write that, else an empty text.

        A log that says nothing is removed.
        """
        status = self._process.poll()
        if status is None:
            return None
        if self._process.stdin is not None:
            self._process.stdin.close()
        words = _last_line(self._log)
        if not words:
            self._log.unlink(missing_ok=True)
        return Ended(status).in_words + (f": {words}" if words else "") if status else ""

    def stop(self, number: int) -> None:
        """Hand on a signal: the first asks it to save and end, the second to end at once; `END_NOW` ends it."""
        self._process.send_signal(number)


def _last_line(log: Path) -> str:
    """Return the last line that a process has printed, harmless; empty if there is none."""
    try:
        lines = log.read_bytes()[-_LAST_WORDS:].decode(errors="replace").split("\n")
    except OSError:
        return ""
    return one_line(next((line for line in reversed(lines) if line.strip()), ""), 300)


def _end_with_caller() -> None:
    """Ask this process to save and end when the pipe from the process that started it closes."""
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    """Do the task in the first argument."""
    task = SeedTask(*json.loads(sys.argv[1]))
    threading.Thread(target=_end_with_caller, daemon=True).start()
    train_seed(task._replace(overrides=tuple(task.overrides)))
    os._exit(0)  # whatever threads libraries have left: all is written


if __name__ == "__main__":
    main()
