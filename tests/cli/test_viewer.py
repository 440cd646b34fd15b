"""A game that is watched or seen again in a terminal, with keys."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest

import dicegym
from dicegym.cli import viewer
from dicegym.cli.console import Terminal
from dicegym.cli.single_keys import keys
from dicegym.cli.viewer import ALL, ViewerPace
from dicegym.pictures.watched import WatchedMove, moments
from dicegym.play.player import FunctionPlayer

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
    ("pressed", "moves", "delay"),
    [
        ((), 1, 0.1),
        (("q",), None, 0.1),
        (("Q",), None, 0.1),
        (("\x1b",), None, 0.1),
        (("n",), 1, 0.1),
        (("\x1b[C",), 1, 0.1),
        ((" ", "q"), None, 0.1),
        ((" ", "n"), 1, 0.1),
        ((" ", " "), 1, 0.1),
        (("+",), 1, 0.05),
        (("-", "n"), 1, 0.2),
        (("+",) * 30, 1, 0.03),
        (("-",) * 30 + ("n",), 1, 30.0),
        (("x", "\x1b[5~", "n"), 1, 0.1),
        (("p",), -1, 0.1),
        (("\x1b[D",), -1, 0.1),
        (("\x1b[H",), -ALL, 0.1),
        (("\x1b[F",), ALL, 0.1),
    ],
)
def test_keys(pressed: tuple[str, ...], moves: int | None, delay: float) -> None:
    pace, changes = ViewerPace(0.1, pressing(*pressed)), []
    assert pace.wait(lambda: changes.append(pace.paused)) == moves
    assert pace.delay == pytest.approx(delay)


def test_going_back_pauses() -> None:
    pace = ViewerPace(0.1, pressing("p"))
    pace.wait(lambda: None)
    assert pace.paused


def test_a_paused_game_waits() -> None:
    waited = []

    def key(seconds: float) -> str:
        waited.append(seconds)
        return " " if len(waited) == 1 else "q" if len(waited) == 50 else ""

    assert ViewerPace(0.001, key).wait(lambda: None) is None
    assert len(waited) == 50


@pytest.fixture
def every() -> list[WatchedMove]:
    """All moves of a short game of Hog."""
    players = [FunctionPlayer(lambda turn: 4, "three"), FunctionPlayer(lambda turn: 6, "five")]
    return list(moments(dicegym.game("hog", goal=20), players, 3))


def press_in_turn(monkeypatch: pytest.MonkeyPatch, *pressed: str) -> list[int]:
    """Show games on a terminal at which these keys are pressed; return a list that fills with what they met."""
    screen, seen = io.StringIO(), []
    monkeypatch.setattr(viewer, "out", Terminal(file=screen, force_terminal=True, width=120, height=40))
    left = iter(pressed)

    def key(seconds: float) -> str:
        seen.append(int(screen.getvalue().rpartition("move ")[2].partition(",")[0]))
        return next(left)

    monkeypatch.setattr(viewer, "keys", lambda: contextlib.nullcontext(key))
    return seen


def test_keys_go_on_and_back_and_to_both_ends(every: list[WatchedMove], monkeypatch: pytest.MonkeyPatch) -> None:
    last = len(every) - 1
    pressed = ["n", "\x1b[C", "l", "\x1b[D", "x", "\x1b[F", "p", "h", "\x1b[H", "p", "G", "\x1b[1~", "q"]
    seen = press_in_turn(monkeypatch, *pressed)
    assert viewer.show(iter(every), 1.0, paused=True)  # it was seen to its end
    assert seen == [0, 1, 2, 3, 2, 2, last, last - 1, last - 2, 0, 0, last, 0]


def test_a_game_that_is_left_early_was_not_seen_to_its_end(
    every: list[WatchedMove], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = press_in_turn(monkeypatch, "n", "q")
    assert not viewer.show(iter(every), 1.0, paused=True)
    assert seen == [0, 1]


def test_after_its_end_a_paused_game_waits_for_one_more_key(
    every: list[WatchedMove], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = press_in_turn(monkeypatch, "G", "n")
    assert viewer.show(iter(every), 1.0, paused=True)
    assert seen == [0, len(every) - 1]


def test_keys_that_come_together_are_told_apart(terminal: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = terminal
    with open(theirs, encoding="utf-8") as keyboard:
        monkeypatch.setattr(sys, "stdin", keyboard)
        with keys() as key:
            assert key is not None
            os.write(ours, b"n\x1b[C\x1b[1~\x1bOHq\x1b")
            assert [key(5.0) for _ in range(6)] == ["n", "\x1b[C", "\x1b[1~", "\x1bOH", "q", "\x1b"]


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
