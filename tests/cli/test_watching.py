"""A game that is watched in a terminal, with keys."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from dicegym.cli.keys import keys
from dicegym.cli.watching import WatchPace

MODEL = ("watch", "ppo", "--game", "hog", "--seed", "3")


def pressing(*pressed: str) -> Callable[[float], str]:
    """Return what reads these keys, one after the other, and then none, without waiting for them."""
    left = iter(pressed)

    def key(seconds: float) -> str:
        found = next(left, "")
        if not found:
            time.sleep(max(0.0, min(seconds, 0.01)))
        return found

    return key


@pytest.mark.parametrize(
    ("pressed", "goes_on", "delay"),
    [
        ((), True, 0.1),
        (("q",), False, 0.1),
        (("Q",), False, 0.1),
        (("n",), True, 0.1),
        (("\x1b[C",), True, 0.1),
        ((" ", "q"), False, 0.1),
        ((" ", "n"), True, 0.1),
        ((" ", " "), True, 0.1),
        (("+",), True, 0.05),
        (("-", "n"), True, 0.2),
        (("+",) * 30, True, 0.03),
        (("-",) * 30 + ("n",), True, 30.0),
        (("x", "\x1b[A", "n"), True, 0.1),
    ],
)
def test_keys(pressed: tuple[str, ...], goes_on: bool, delay: float) -> None:
    clock, changes = WatchPace(0.1, pressing(*pressed)), []
    assert clock.wait(lambda: changes.append(clock.paused)) is goes_on
    assert clock.delay == pytest.approx(delay)


def test_a_paused_game_waits() -> None:
    waited = []

    def key(seconds: float) -> str:
        waited.append(seconds)
        return " " if len(waited) == 1 else "q" if len(waited) == 50 else ""

    assert WatchPace(0.001, key).wait(lambda: None) is False
    assert len(waited) == 50


def test_without_a_keyboard_there_are_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    with open(os.devnull, encoding="utf-8") as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        with keys() as key:
            assert key is None


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    yield ours, theirs
    os.close(ours)


def test_it_is_watched_in_a_terminal_and_left(terminal: tuple[int, int]) -> None:
    ours, theirs = terminal
    process = subprocess.Popen(
        [sys.executable, "-m", "dicegym", *MODEL, "--delay", "20"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "120", "LINES": "40"},
    )
    os.close(theirs)
    seen, until = "", time.monotonic() + 120
    sent = {"space: pause": b"n", "move 1, 20 s": b"  ", "move 1, paused": b"q"}
    while time.monotonic() < until:
        try:
            seen += os.read(ours, 4096).decode("utf-8", "replace")
        except OSError:  # the other end is closed
            break
        for words in [words for words in sent if words in seen]:
            os.write(ours, sent.pop(words))
    assert process.wait(30) == 0, seen
    assert not sent, seen
    assert "left before the end" in seen
    assert "This game again: dicegym watch ppo" in seen
