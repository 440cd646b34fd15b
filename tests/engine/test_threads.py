"""`Threads` wait for each other, whoever is interrupted."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from dicegym.engine import threads as threads_module
from dicegym.engine.threads import LEAST_ROWS, Threads


def test_who_is_interrupted_while_waiting_leaves_no_part_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    go_on, ended = threading.Event(), []
    waits = iter([KeyboardInterrupt])

    def interrupted(tasks: Any) -> Any:
        for error in waits:
            raise error
        go_on.set()
        return wait(tasks)

    def work(start: int, end: int) -> None:
        if start > 0:
            assert go_on.wait(10)
            ended.append(start)

    wait = threads_module.wait
    monkeypatch.setattr(threads_module, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Threads(2).share(2 * LEAST_ROWS, work)
    assert ended == [LEAST_ROWS]
