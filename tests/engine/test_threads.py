"""How many processors there are for a process, told in one place, and threads that wait for each other."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest

import dicegym
from dicegym.engine import threads as threads_module
from dicegym.engine.threads import LEAST_ROWS, Threads, cores

PACKAGE = Path(dicegym.__file__).parent
OF_THE_MACHINE = {"bench.py", "doctor.py", "engine/threads.py", "learning/card.py"}
"""Who tells of the machine, and what counts for want of anything better."""


def test_cores_are_those_that_may_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3, 5, 8}, raising=False)
    assert cores() == 3
    monkeypatch.delattr(os, "sched_getaffinity")  # macOS and Windows do not say
    assert cores() == 64
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert cores() == 1


def test_nobody_starts_as_many_threads_as_the_machine_has_processors() -> None:
    files = {path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    assert {file for file, text in files.items() if "cpu_count" in text} == OF_THE_MACHINE


def test_who_is_interrupted_while_waiting_leaves_no_part_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    may_end, ended = threading.Event(), []
    waits = iter([KeyboardInterrupt])

    def interrupted(tasks: Any) -> Any:
        for error in waits:
            raise error
        may_end.set()
        return wait(tasks)

    def work(start: int, end: int) -> None:
        if start > 0:
            assert may_end.wait(10)
            ended.append(start)

    wait = threads_module.wait
    monkeypatch.setattr(threads_module, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Threads(2).share(2 * LEAST_ROWS, work)
    assert ended == [LEAST_ROWS]
