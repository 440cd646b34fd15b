"""The training of one seed as a task, and the process that runs it on this machine.

A process on this machine runs this module; one on a cluster calls `train_seed`. The run's folder holds its progress.
The training also saves and stops when the process that started it ends.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import traceback
from pathlib import Path
from typing import NamedTuple, Protocol

from dicegym.errors import DicegymError, one_line
from dicegym.sandbox.remote import describe_end
from dicegym.signals import as_interrupts, status_of

END_NOW = getattr(signal, "SIGKILL", signal.SIGTERM)  # ends a process at once on Windows
"""The signal that no process survives."""
LIBRARY_THREADS = ("MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""Environment variables with the number of threads, which libraries read at their start."""
_LAST_WORDS = 2_000
"""Bytes at the end of a log that are read."""


class SeedTask(NamedTuple):
    """A training of one seed."""

    game: str
    folder: str
    """The run's folder, absolute."""
    seed: int
    config: str
    """Name or path of a configuration; empty: the game's own."""
    overrides: tuple[str, ...]
    """Including the seed and the number of threads."""
    resume: bool
    threads: int
    device: str = "cpu"


def train_seed(task: SeedTask) -> None:
    """Train in this process, and trust programs in the settings. Raises as `dicegym.learning.train.train` does."""
    from dicegym.learning.train import train

    with as_interrupts():
        train(task.game, task.folder, task.config or None, task.overrides, task.resume, trust=True)


class SeedTrainer(Protocol):
    """A running training, here or on a cluster."""

    waits: str
    """Its state until it reports progress."""

    def poll(self) -> str | None:
        """Return None while the training runs; then the reason of a failure, or an empty text."""

    def stop(self, number: int) -> None:
        """Forward a signal: the first makes it save and end, the second end at once; `END_NOW` kills it."""


class SeedProcess:
    """A `SeedTrainer` in a new process of this machine.

    The process has its own session, so that Ctrl-C in a terminal reaches only its parent, which forwards it. Its output
    is written to a log beside the run's folder; an empty log is removed.
    """

    waits = "preparing"

    def __init__(self, task: SeedTask) -> None:
        self._log = Path(f"{task.folder}.log")
        threads = {name: str(task.threads) for name in LIBRARY_THREADS}
        with self._log.open("wb") as log:
            # -P: it imports nothing from the current folder
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "dicegym.learning.seeds.job", json.dumps(task)],
                stdin=subprocess.PIPE,  # closes when the parent ends
                stdout=log,
                stderr=log,
                env={**os.environ, **threads},
                start_new_session=True,
            )

    def poll(self) -> str | None:
        """See `SeedTrainer.poll`."""
        status = self._process.poll()
        if status is None:
            return None
        if self._process.stdin is not None:
            self._process.stdin.close()
        lines = [line for line in self._log.read_bytes()[-_LAST_WORDS:].decode(errors="replace").split("\n") if line]
        if not lines:
            self._log.unlink(missing_ok=True)
        words = one_line(lines[-1], 300) if lines else ""
        return words if status == 1 and words else describe_end(status) if status else ""

    def stop(self, number: int) -> None:
        """See `SeedTrainer.stop`."""
        self._process.send_signal(number)


def main() -> None:
    """Run the task in the first argument; save and end when the pipe from the parent process closes."""

    def end_with_caller() -> None:
        sys.stdin.read()
        os.kill(os.getpid(), signal.SIGTERM)

    task = SeedTask(*json.loads(sys.argv[1]))
    threading.Thread(target=end_with_caller, daemon=True).start()
    status = 0
    try:
        train_seed(task)
    except KeyboardInterrupt as end:
        status = status_of(end)
    except (DicegymError, OSError) as error:
        status = 1
        print(one_line(error, 1000), file=sys.stderr)
    except Exception:
        status = 1
        traceback.print_exc()
    sys.stderr.flush()
    os._exit(status)  # without waiting for threads of libraries: everything is written


if __name__ == "__main__":
    main()
