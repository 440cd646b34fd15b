"""How many processors there are for a process, told in one place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import dicegym
from dicegym.engine.threads import cores

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
