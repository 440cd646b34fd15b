"""One seed's training as a job, and the process that runs it here.

A process of this machine runs this module; a cluster's calls `train_seed`. The run's folder says how far it is.
The training also saves and stops when the process that started it has ended.
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

END_NOW = getattr(signal, "SIGKILL", signal.SIGTERM)  # which ends a process at once on Windows
"""The signal that nothing outlives."""
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
    threads: int
    device: str = "cpu"


def train_seed(task: SeedTask) -> None:
    """Train in this process, with the programs that the settings name. Raises as `dicegym.learning.train.train`."""
    from dicegym.learning.train import train

    with as_interrupts():
        train(task.game, task.folder, task.config or None, task.overrides, task.resume, trust=True)


class SeedTrainer(Protocol):
    """A training under way, here or on a cluster."""

    waits: str
    """What it waits for until it says something itself."""

    def poll(self) -> str | None:
        """Return None while the training runs; then why it failed, or an empty text if it is finished."""

    def stop(self, number: int) -> None:
        """Hand on a signal: the first asks it to save and end, the second to end at once; `END_NOW` ends it."""


class SeedProcess:
    """A `SeedTrainer` in a process of this machine, started when this is made.

    It is a session of its own, so that Ctrl-C in a terminal reaches only the process that started it, which hands it
    on. What it and its libraries print is in a log beside the run's folder; one that says nothing is removed.
    """

    waits = "preparing"

    def __init__(self, task: SeedTask) -> None:
        self._log = Path(f"{task.folder}.log")
        threads = {name: str(task.threads) for name in LIBRARY_THREADS}
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "dicegym.learning.seeds.job", json.dumps(task)],  # no file from here
                stdin=subprocess.PIPE,  # it closes when the process that holds its other end has ended
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
    """Do the task in the first argument; save and end when the pipe from the process that started this one closes."""

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
    os._exit(status)  # whatever threads libraries have left: all is written


if __name__ == "__main__":
    main()
