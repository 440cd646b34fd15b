"""Commands that are told to end, in processes of their own: by a word, a status that shells know, and nothing left."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dicegym.signals import SignalInterrupt, as_interrupts, going_on, number_of, on_signals, status_of, word_of

ONLY_LINUX = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for processes in /proc")
PATIENCE = 120.0
"""Seconds after which a test gives up on a process; the machine may be busy."""


@contextlib.contextmanager
def begun(folder: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """Yield a process of its own group, which is gone afterwards."""
    process = subprocess.Popen(
        [sys.executable, *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        for one in (*started_by(process.pid), process.pid):
            with contextlib.suppress(OSError):
                os.kill(one, signal.SIGKILL)
        process.communicate()


def started_by(process: int) -> list[int]:
    """Return all processes that one has started, and those that they have."""
    found: list[int] = []
    for threads in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, threads.read_text().split()):
                found += [child, *started_by(child)]
    return found


def runs(process: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


@ONLY_LINUX
@pytest.mark.parametrize(
    ("number", "group", "keeps"),
    [
        (signal.SIGTERM, False, ()),
        pytest.param(signal.SIGTERM, True, ("--store", "none"), marks=pytest.mark.slow),
        pytest.param(signal.SIGHUP, True, (), marks=pytest.mark.slow),
        pytest.param(signal.SIGINT, True, (), marks=pytest.mark.slow),
    ],
)
def test_a_contest_ends_with_all_that_it_started(
    number: int, group: bool, keeps: tuple[str, ...], tmp_path: Path
) -> None:
    """While a bot spins, which would go on for hours."""
    (tmp_path / "spin.py").write_text(
        "def final_strategy(score, opponent_score):\n    print('spins')\n    while True:\n        pass\n"
    )
    words = ["tournament", "hog", "spin.py", "bacon", "--limit", "seconds=10000", "--workers", "1", "--seed", "5"]
    with begun(tmp_path, "-m", "dicegym", *words, *keeps) as process:
        deadline = time.monotonic() + PATIENCE
        while not any(_busy(one, process.pid) for one in started_by(process.pid)):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        started = started_by(process.pid)
        (os.killpg if group else os.kill)(process.pid, number)
        told = process.communicate(timeout=PATIENCE)[1]
        deadline = time.monotonic() + 10
        while any(map(runs, started)) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert [one for one in started if runs(one)] == []
    assert process.returncode == 128 + number
    word = "interrupted" if number == signal.SIGINT else f"ended by {signal.Signals(number).name}"
    way = "and nothing of the contest is stored; --seed 5" if keeps else "the same command continues"
    assert told.splitlines()[-1].startswith(f"dicegym: {word}, {way}")
    assert "Traceback" not in told


def _busy(process: int, command: int) -> bool:
    """Return whether a process is a bot, which no command starts itself, and has worked for half a second."""
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        is_bot = not started_by(process) and int(fields[1]) != command
        return is_bot and int(fields[11]) + int(fields[12]) > os.sysconf("SC_CLK_TCK") // 2
    return False


@pytest.mark.slow
@pytest.mark.parametrize("signals", [1, 2])
def test_pages_end_without_a_traceback_while_a_request_is_slow(signals: int, tmp_path: Path) -> None:
    with begun(tmp_path, "-m", "dicegym", "web", "--folder", "web", "--port", str(port := free_port())) as process:
        assert process.stderr is not None
        assert "Ctrl-C" in process.stderr.readline()
        with socket.create_connection(("127.0.0.1", port)) as slow:
            slow.sendall(b"GET /robots.txt HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert slow.recv(1000).startswith(b"HTTP/1.1 200")
            slow.sendall(b"POST /nothing HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\nabc")
            time.sleep(0.3)
            for _ in range(signals):
                process.send_signal(signal.SIGINT)
                time.sleep(0.5)
            told = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 130
    assert told.splitlines()[-1] == "dicegym: interrupted"
    assert "Traceback" not in told
    assert "Error" not in told


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


IGNORES_HANGUPS = """
import pathlib, signal, time
from dicegym.cli.ending import run_to_the_end
from dicegym.signals import going_on

def work():
    with going_on("say so"):
        pathlib.Path("there").touch()
        time.sleep(60)

signal.signal(signal.SIGHUP, signal.SIG_IGN)
run_to_the_end(work, "it")
"""


def test_a_signal_that_is_ignored_stays_so_and_another_ends_it_at_once(tmp_path: Path) -> None:
    with begun(tmp_path, "-c", IGNORES_HANGUPS) as process:
        deadline = time.monotonic() + PATIENCE
        while not (tmp_path / "there").exists():
            assert process.poll() is None, process.communicate()[1]
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(signal.SIGHUP)  # as under nohup, when the terminal goes
        time.sleep(0.3)
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        told = process.communicate(timeout=30)[1]
    assert (process.returncode, told) == (143, "it: ended by SIGTERM, say so\n")


def test_what_was_done_before_comes_back() -> None:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    with pytest.raises(SignalInterrupt) as caught, as_interrupts(), going_on("so"):
        signal.raise_signal(signal.SIGTERM)
    assert (number_of(caught.value), status_of(caught.value), word_of(caught.value)) == (15, 143, "ended by SIGTERM")
    assert caught.value.args == ("so",)
    heard: list[int] = []
    with on_signals(heard.append, once=True):
        signal.raise_signal(signal.SIGHUP)
        with pytest.raises(KeyboardInterrupt) as second:
            signal.raise_signal(signal.SIGINT)  # the second one is as it was
    assert heard == [signal.SIGHUP]
    assert (status_of(second.value), word_of(second.value)) == (130, "interrupted")
    assert {number: signal.getsignal(number) for number in before} == before
