"""A contest that is killed, again and again: the same command goes on, and the table is that of an undisturbed run."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are found by what /proc says of them"),
]
MARK = "DICEGYM_TEST_CONTEST"
BOTS = 6
THINKS = "def final_strategy(score, opponent_score):\n    for _ in range({}): pass\n    return {} + score % 2\n"


class Held(NamedTuple):
    """What the command left."""

    status: int
    table: str
    told: str
    result: str


def left(mark: str) -> list[int]:
    """Return the processes that a contest has started, and what they have started."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:  # it has just ended, or is somebody else's
            continue
    return found


def children(process: int) -> set[int]:
    """Return the processes below one, in jails too."""
    found: set[int] = set()
    for folder in Path("/proc").glob("[0-9]*/task/*/children"):
        try:
            if int(folder.parts[2]) in found | {process}:
                found |= set(map(int, folder.read_text().split()))
        except OSError:
            continue
    return found


def tree(process: int) -> set[int]:
    """Return all processes below one."""
    found = children(process)
    while more := {below for one in found for below in children(one)} - found:
        found |= more
    return found


def alive(processes: set[int]) -> set[int]:
    return {
        one for one in processes if Path(f"/proc/{one}/cmdline").exists() and Path(f"/proc/{one}/cmdline").read_bytes()
    }


def hold(folder: Path, after: float | None = None) -> Held:
    """Hold the contest; kill it ``after`` seconds, and see that nothing of it is left."""
    mark = str(random.getrandbits(63))
    argv = [sys.executable, "-m", "dicegym", "tournament", "hog", "submissions/", "--seed", "7", "--games", "15"]
    environment = os.environ | {MARK: mark, "SOURCE_DATE_EPOCH": "0", "DICEGYM_STORE": str(folder / "arena.sqlite")}
    process = subprocess.Popen(
        [*argv, "--workers", "2", "-o", "result.json"],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    if after is not None:
        try:
            process.wait(after)
        except subprocess.TimeoutExpired:
            below = tree(process.pid)
            process.send_signal(signal.SIGKILL)
            process.wait()
            deadline = time.monotonic() + 10
            while (rest := alive(below) | set(left(mark))) and time.monotonic() < deadline:
                time.sleep(0.05)
            assert not rest, f"still running after the contest was killed: {rest}"
    table, told = process.communicate()
    result = folder / "result.json"
    return Held(process.returncode, table, told, result.read_text() if result.exists() else "")


def matches(folder: Path) -> list[tuple[int, str]]:
    """Return the matches that are stored, as numbers and keys."""
    connection = sqlite3.connect(folder / "arena.sqlite")
    try:
        return connection.execute("SELECT id, key FROM matches ORDER BY id").fetchall()
    except sqlite3.OperationalError:  # killed before there was a table
        return []
    finally:
        connection.close()


def field(folder: Path) -> Path:
    """Write the submissions into a folder."""
    (folder / "submissions").mkdir(parents=True)
    for number in range(BOTS):
        (folder / "submissions" / f"bot{number}.py").write_text(THINKS.format(300 + 100 * number, 2 + number % 5))
    return folder


def disturbed(folder: Path, kills: int, seed: int) -> None:
    """Kill a contest so many times, let it end, and compare."""
    whole = hold(field(folder / "whole"))
    assert whole.status == 0, whole.told
    cut, moments = field(folder / "cut"), random.Random(seed)
    before: list[tuple[int, str]] = []
    for _ in range(kills):
        hold(cut, moments.uniform(0.3, 6.0))
        stored = matches(cut)
        assert stored[: len(before)] == before, "what was stored is gone, or was stored anew"
        before = stored
    last = hold(cut)
    assert (last.status, last.table, last.result.replace(str(cut), str(cut.with_name("whole")))) == whole[:2] + whole[
        3:
    ]
    assert json.loads(last.result)["standings"]
    pairs = BOTS * (BOTS - 1) // 2
    assert len(matches(cut)) == len({key for _, key in matches(cut)}) == pairs
    assert matches(cut)[: len(before)] == before
    played = int(last.told.split(" played and ")[0].rsplit(" ", 1)[1])
    assert pairs - len(before) <= played <= pairs - len(before) + BOTS, last.told


def test_a_contest_that_is_killed_three_times_comes_out_the_same(tmp_path: Path) -> None:
    disturbed(tmp_path, 3, 1)


def test_a_contest_that_is_killed_fifty_times_comes_out_the_same(tmp_path: Path) -> None:
    for seed in range(10):  # each of them is over after a few seconds of matches
        disturbed(tmp_path / str(seed), 5, seed)
