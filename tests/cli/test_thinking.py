"""What a person sees who waits for an answer, and what becomes of keys that are pressed meanwhile."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator

import pytest
from numba import njit

from dicegym.cli import progress
from dicegym.cli.progress import thinking

pty = pytest.importorskip("pty", reason="there are no terminals here")


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Yield the end of a terminal at which keys are pressed."""
    keyboard, terminal = pty.openpty()
    with open(terminal, encoding="utf-8") as standard_input:
        monkeypatch.setattr(sys, "stdin", standard_input)
        yield keyboard
    os.close(keyboard)


def test_keys_that_are_pressed_while_something_thinks_are_dropped(
    typed: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "QUIET", 0.02)
    with thinking("weighing"):
        os.write(typed, b"early\n")
        time.sleep(0.1)
    os.write(typed, b"later\n")
    assert sys.stdin.readline() == "later\n"


def test_a_quick_answer_drops_nothing_and_says_nothing(typed: int, capsys: pytest.CaptureFixture[str]) -> None:
    with thinking("weighing"):
        os.write(typed, b"early\n")
    assert sys.stdin.readline() == "early\n"
    assert capsys.readouterr().err == ""


def test_what_is_compiled_is_counted() -> None:
    told: list[str] = []
    with progress._compilations(told.append):
        njit(lambda x: x + 1)(3)
        njit(lambda x: x + 2)(3)
    njit(lambda x: x + 3)(3)
    assert told == [f"compiling, once for each version: kernel {number}" for number in (1, 2)]
