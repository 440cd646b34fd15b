"""How many versions are checked at once; whether each is checked once, also one whose check fails unexpectedly."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from dicegym.web.enter import runner
from dicegym.web.enter.runner import Runner
from dicegym.web.enter.submission_tables import SubmissionStore, VersionState
from dicegym.web.web_settings import WebSettings

LANES, MANY, SECONDS = 3, 7, 30.0


class Waiting:
    """Versions that wait, in place of those of a database."""

    def __init__(self) -> None:
        self.states = {one: [VersionState.WAITING] for one in range(MANY)}

    def begin_anew(self) -> None:
        pass

    def next_waiting(self) -> Any:
        return next((one for one, states in self.states.items() if states[-1] is VersionState.WAITING), None)

    def give_up(self, version: int, why: str) -> None:
        if self.states[version][-1] is VersionState.CHECKING:
            self.note(version, VersionState.FAILED)

    def note(self, version: int, state: VersionState, *_: Any, **__: Any) -> None:
        self.states[version] = [*self.states[version], state]


def test_as_many_are_checked_at_once_as_there_are_processors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "cores", lambda: LANES)
    monkeypatch.setattr(runner.jail, "probe", lambda isolation: "")
    waiting, together, go = Waiting(), threading.Semaphore(0), threading.Event()

    def check(self: Runner, kind: str, version: int, interrupts: Any) -> str:
        together.release()
        assert go.wait(SECONDS)
        if version == 1:
            raise RuntimeError("unexpected")
        waiting.note(version, VersionState.PASSED)
        return ""

    monkeypatch.setattr(Runner, "_run", check)
    found = Runner(SubmissionStore(tmp_path), WebSettings(tmp_path / "web"))
    found._bots = waiting  # type: ignore[assignment]  # stands for them
    found.start()
    for _ in range(LANES):
        assert together.acquire(timeout=SECONDS)
    assert not together.acquire(timeout=0.3), "no more than there are processors"
    go.set()
    until = time.monotonic() + SECONDS
    while time.monotonic() < until and not all(len(one) == 3 for one in waiting.states.values()):
        time.sleep(0.01)
    found.stop()
    ended = {one: [VersionState.WAITING, VersionState.CHECKING, VersionState.PASSED] for one in range(MANY)}
    ended[1][-1] = VersionState.FAILED
    assert waiting.states == ended
