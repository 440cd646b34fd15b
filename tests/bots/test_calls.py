"""What an author is shown of a bot's calls, and what its answers to a whole game say of it."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path

import pytest
from hog_bots import Write

import dicegym
from dicegym.arena import CheckReport, Limits, check
from dicegym.arena.check import Check
from dicegym.bots.calls import ANSWER, CALL, FIRST, LAST, LONGEST, PRINT, CallLog, report_calls
from dicegym.play.printed import Printed
from dicegym.players.roster import agent_name
from dicegym.sandbox.heartbeat import Heartbeat
from dicegym.sandbox.jobs import entry, here

FOUR = "def final_strategy(score, opponent_score):\n    {}\n    return 4\n"


@pytest.fixture
def log(tmp_path: Path) -> tuple[CallLog, Path]:
    path = tmp_path / "calls.txt"
    path.touch()
    return CallLog(path), path


@pytest.mark.parametrize("number", [1, FIRST, FIRST + 1, FIRST + LAST + 1, FIRST + LAST + 2, 1000])
def test_a_log_keeps_the_first_and_the_last_calls(log: tuple[CallLog, Path], number: int) -> None:
    calls, path = log
    for n in range(1, number + 1):
        calls.note(CALL, f"f({n})" + "x" * (n == number - 1) * 99)
        calls.note(ANSWER, "y")
    lines = path.read_text().splitlines()
    shown = [int(line.split()[0]) for line in lines if "..." not in line]
    kept = [n for n in range(1, number + 1) if n <= FIRST or n >= number - LAST]
    assert shown == kept
    left_out = number - len(kept)
    assert [line.strip() for line in lines if "..." in line] == (
        [f"... {left_out:,} calls left out ..."] * (left_out > 0)
    )


def test_what_is_printed_is_kept_within_bounds_and_read_at_any_moment(log: tuple[CallLog, Path]) -> None:
    calls, path = log
    calls.note(CALL, "f()")
    assert path.read_text() == "     1  f()\n"
    for _ in range(100):
        calls.note(PRINT, "x" * 100 + "\n")
    assert LONGEST < len(path.read_text()) < 2 * LONGEST
    assert path.read_text().endswith("printed: ... (and more)\n")


def test_nobody_pays_for_a_witness_who_is_not_there() -> None:
    assert report_calls(len, "len") is len


def shown(spec: Path | str, game: str = "hog", thorough: bool = False, **parameters: int) -> CheckReport:
    """Return what a check says that shows all calls, without a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "calls.txt")
        log.touch()
        table = dicegym.game(game, **parameters)
        one = entry(table, agent_name(table, spec), spec)
        job = Check(table, (one,), 0, Limits(), thorough=thorough, log=str(log))
        report = job.report(job.run(here(Heartbeat.private(), Printed())))
        return dataclasses.replace(report, calls=log.read_text())


def test_show_tells_calls_answers_and_prints(write: Write) -> None:
    path = write("import sys\nprint('loaded')\n" + FOUR.format("print(score); print('b\\nc'); sys.stderr.write('err')"))
    report = shown(path, goal=20)
    assert report.ok
    lines = report.text().splitlines()
    assert lines[:8] == [
        "        while it was loaded",
        "        printed: loaded",
        "     1  final_strategy(0, 0)",
        "        printed: 0",
        "        printed: b",
        "        printed: c",
        "        printed: err",
        "        -> 4",
    ]
    assert "   400  final_strategy(19, 19)" in lines
    assert "bot: ok" in lines


@pytest.mark.parametrize(
    ("body", "last"),
    [
        (
            "score == 2 and 1 / 0",
            '   201  final_strategy(2, 0) -> raised ZeroDivisionError (says: "division by zero")\n'
            "             bot.py, line 2",
        ),
        ("if score == 2: return 11", "   201  final_strategy(2, 0) -> 11\n"),
    ],
)
def test_show_tells_the_last_call_of_a_bot_that_fails(write: Write, body: str, last: str) -> None:
    report = shown(write(FOUR.format(body)))
    assert not report.ok
    assert last in report.calls
    assert "   196  final_strategy(1, 95) -> 4" in report.calls


@pytest.mark.parametrize("body", ["while score == 2: pass", "if score == 2: import os; os._exit(1)"])
def test_show_tells_the_last_call_of_a_bot_whose_process_ended(write: Write, body: str) -> None:
    report = check(write(FOUR.format(f"print('here')\n    {body}")), "hog", Limits(0.3), show=True)
    assert not report.ok
    assert report.calls.endswith("   201  final_strategy(2, 0)\n        printed: here\n")


@pytest.mark.parametrize(
    ("game", "agent", "call"),
    [
        ("yatzy", "at_once", "1  command({'key': 'STANDING', 'roundNumber': 1,"),
        ("liarsdice", "even", "get_play('A', 'A:"),
        ("liarsdice_spot_on", "even", "1  Even(0)"),
        ("lucky", "idle", "2  get_orders(("),
    ],
)
def test_show_works_for_every_interface(game: str, agent: str, call: str) -> None:
    assert call in shown(agent, game).calls


# --- the report ------------------------------------------------------------------------------------------------


def test_the_exact_win_rate_is_told() -> None:
    report = shown("always_roll(8)", thorough=True)
    assert report.win_rate == pytest.approx(0.630940, abs=1e-6)
    assert "wins 63.0940% of its games against always_roll(5), by one answer" in report.text()
    assert report.to_json()["win_rate"] == report.win_rate
    assert shown("even", "liarsdice", thorough=True).win_rate is None


@pytest.mark.parametrize(
    ("source", "remark"),
    [
        ("PURE = True\n" + FOUR.format("pass"), ""),
        ("import random\n" + FOUR.format("return random.randint(1, 4)"), ""),
        (
            "PURE = True\nlast = [0]\n" + FOUR.format("last[0], was = score, last[0]; return was % 5"),
            "take that line out",
        ),
        ("PURE = True\nimport random\n" + FOUR.format("return random.choice([1, 4])"), "take that line out"),
    ],
)
def test_a_wrong_claim_of_purity_is_noted(write: Write, source: str, remark: str) -> None:
    report = shown(write(source), thorough=True, goal=20)
    assert report.ok
    assert remark in " ".join(report.remarks)
    assert bool(report.remarks) == bool(remark)


# --- the debugger ----------------------------------------------------------------------------------------------


def test_debug_plays_here_and_prints_at_once(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(FOUR.format("print('asked', score, opponent_score) if score == 99 else None"))
    assert check(path, "hog", debug=True).ok
    assert capsys.readouterr().out.startswith("asked 99 0\nasked 99 1\n")
    path = write(FOUR.format("score == 3 and 1 / 0"))
    report = check(path, "hog", debug=True)
    assert "ZeroDivisionError" in report.reason
    assert 'bot.py", line 2, in final_strategy' in capsys.readouterr().err


def test_breakpoint_stops_and_quitting_is_the_authors(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    import bdb
    import sys

    stopped: list[int] = []

    def stop() -> None:
        stopped.append(1)
        if len(stopped) == 3:
            raise bdb.BdbQuit

    monkeypatch.setattr(sys, "breakpointhook", stop)
    with pytest.raises(KeyboardInterrupt):
        check(write(FOUR.format("breakpoint()")), "hog", debug=True)
    assert len(stopped) == 3
