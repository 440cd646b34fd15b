"""What long commands say while they work: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import io
import re
import sys
import time

import pytest
from rich.progress import Progress

from dicegym.cli.bars import Bars, _Left
from dicegym.cli.progress import _Lines, progress_bar
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
        assert re.fullmatch(r"\d:\d\d, 2,000 of 5,000 steps, \d:\d\d left, \[8\] games", told)
        progress(2_000, 0, "")
        assert wait_for_lines(capsys, 2)[-1].endswith(", 2,000 steps")
    lines_of(capsys)
    time.sleep(0.1)
    assert lines_of(capsys) == []  # nothing speaks on when the work is done


def test_what_is_left_is_told_of_what_was_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """A resumed run begins at 900 of 1,000 steps: those took no time."""
    now = [0.0]
    monkeypatch.setattr("dicegym.cli.progress.time.monotonic", lambda: now[0])
    with contextlib.closing(_Lines("steps", 60)) as lines:
        lines.show("", 900, 1_000, "")
        now[0] = 30.0
        lines.show("", 910, 1_000, "")
        line = lines._things[""].line("steps")  # what its thread would say
        lines.show("", 1_024, 1_000, "")  # the last rollout may go beyond what was asked for
        beyond = lines._things[""].line("steps")
    assert line == "910 of 1,000 steps, 9:00 left"
    assert beyond == "1,024 of 1,000 steps"


def test_mistakes_are_told_alone(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="wrong"), progress_bar("steps"):
        raise ValueError("wrong")
    assert lines_of(capsys) == []


def test_a_terminal_gets_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress_bar("steps", 0.001) as progress:
        time.sleep(0.05)
        assert terminal.getvalue() == ""
        progress(1, 4, "[one]")
        progress(2, 4, "[two]")
    assert "2/4" in terminal.getvalue()
    assert "[two]" in terminal.getvalue()


def test_a_bar_counts_what_interrupts_the_work_by_its_share_so_far() -> None:
    """An evaluation of five minutes among others is not forgotten a minute after it."""
    now = [0.0]
    (column,) = [one for one in Bars("steps")._bars.columns if isinstance(one, _Left)]
    shown = Progress(column, get_time=lambda: now[0])
    shown.add_task("", total=None)
    (task,) = shown.tasks

    def at(seconds: float, done: int, total: int | None = 1_000) -> str:
        now[0] = seconds
        shown.update(task.id, completed=done, total=total)
        return str(column.render(task))

    assert at(0, 0, None) == "-:--:--"
    assert at(10, 200) == "-:--:--"  # resumed: these took no time
    assert at(70, 300) == "7:00"
    assert at(370, 300) == "42:00"  # the evaluation
    assert [at(370 + seconds, 300 + seconds) for seconds in (60, 100)][-1] == "23:00"
    assert at(3_000, 1_000) == "-:--:--"
    shown.reset(task.id)
    assert at(3_010, 500) == "-:--:--"
    assert at(3_020, 600) == "0:40"


@pytest.mark.parametrize(("seconds", "text"), [(0, "0:00"), (59.6, "1:00"), (754, "12:34"), (7_384, "2:03:04")])
def test_times_are_written_as_clocks_do(seconds: float, text: str) -> None:
    assert clock(seconds) == text
