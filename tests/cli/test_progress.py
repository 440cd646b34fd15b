"""What long commands say while they work."""

from __future__ import annotations

import io
import re
import signal
import sys
import time

import pytest
from numba import njit

from dicegym.cli import progress as progress_module
from dicegym.cli.progress import _Lines, progress_bar, progress_bars
from dicegym.columns import clock


def lines_of(capsys: pytest.CaptureFixture[str]) -> list[str]:
    out, err = capsys.readouterr()
    assert out == ""  # results alone stand there
    return err.splitlines()


def wait_for_lines(capsys: pytest.CaptureFixture[str], n: int) -> list[str]:
    found: list[str] = []
    deadline = time.monotonic() + 20
    while len(found) < n:
        assert time.monotonic() < deadline
        time.sleep(0.01)
        found += lines_of(capsys)
    return found


def test_a_pipe_gets_a_line_at_intervals_also_while_nothing_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar("steps", 0.02) as progress:
        assert wait_for_lines(capsys, 2)[0].startswith("0:00, preparing")
        progress(1_000, 5_000, "[7] games")
        progress(2_000, 5_000, "[8] games")
        told = wait_for_lines(capsys, 3)[-1]
        assert re.fullmatch(r"\d:\d\d, 2,000 of 5,000 steps, \[8\] games", told)
        progress(2_000, 0, "")
        assert wait_for_lines(capsys, 2)[-1].endswith(", 2,000 steps")
    lines_of(capsys)
    time.sleep(0.1)
    assert lines_of(capsys) == []  # nothing speaks on when the work is done


def test_of_several_things_those_that_go_on_have_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bars("steps", 0.02) as (show, _):
        show("seed 1", 900, 1_000, "")
        assert wait_for_lines(capsys, 1)[-1].endswith("seed 1, 900 of 1,000 steps")
        time.sleep(0.1)
        assert lines_of(capsys) == []  # nothing is new


def test_mistakes_are_told_alone(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="wrong"), progress_bar("steps"):
        raise ValueError("wrong")
    assert lines_of(capsys) == []


def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Return what takes the place of standard error, a terminal."""
    found = io.StringIO()
    monkeypatch.setattr(found, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "stderr", found)
    return found


def test_a_terminal_gets_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = terminal(monkeypatch)
    with progress_bar("steps", 0.001) as progress:
        time.sleep(0.05)
        assert shown.getvalue() == ""
        progress(1, 4, "[one]")
        progress(2, 4, "[two]")
    assert re.search(r"2/4\S* *\S*steps", shown.getvalue())
    assert "[two]" in shown.getvalue()


def test_each_of_several_things_has_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    written = terminal(monkeypatch)
    with progress_bars("steps") as (show, say):
        show("seed 1", 1, 4, "x" * 200)
        show("seed 2", 0, 0, "[waiting]")
        say("[a line]")
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written.getvalue()).split("\n")
    assert any("[a line]" in line for line in shown)
    bars = [line for line in shown if "seed" in line]
    assert any("1/4" in line for line in bars)
    assert any("0/?" in line and "[waiting]" in line for line in bars)


@pytest.mark.parametrize(("seconds", "text"), [(0, "0:00"), (59.6, "1:00"), (754, "12:34"), (7_384, "2:03:04")])
def test_times_are_written_as_clocks_do(seconds: float, text: str) -> None:
    assert clock(seconds) == text


def test_what_is_compiled_is_counted() -> None:
    told: list[str] = []
    with progress_module._compilations(told.append):
        njit(lambda x: x + 1)(3)
        njit(lambda x: x + 2)(3)
    njit(lambda x: x + 3)(3)
    assert told == [f"compiling, once for each version: kernel {number}" for number in (1, 2)]


def test_a_signal_s_handler_may_tell_something_while_something_is_told() -> None:
    """A lock that its holder could not take again would make the command wait for itself."""
    with progress_bars("steps", 60.0) as (show, _):
        lines = show.__self__  # type: ignore[attr-defined]  # a bound method
        if not isinstance(lines, _Lines):
            pytest.skip("a terminal has bars")

        class Interrupted(dict[str, tuple[int, int, str]]):
            def __setitem__(self, which: str, now: tuple[int, int, str]) -> None:
                super().__setitem__(which, now)
                if now[2] == "playing":
                    signal.raise_signal(signal.SIGUSR1)

        lines._now = Interrupted()

        def expire(number: int, frame: object) -> None:
            raise TimeoutError

        handlers = {signal.SIGUSR1: lambda number, frame: show("a", 1, 2, "saving"), signal.SIGALRM: expire}
        before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        signal.alarm(20)
        try:
            show("a", 1, 2, "playing")
        finally:
            signal.alarm(0)
            for number, handler in before.items():
                signal.signal(number, handler)
        assert lines._now == {"a": (1, 2, "saving")}
