"""A contest that is killed repeatedly: the same command continues it, with the table of an undisturbed run."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

pytestmark = pytest.mark.slow
BOTS = 6
THINKS = "def final_strategy(score, opponent_score):\n    for _ in range({}): pass\n    return {} + score % 2\n"


class Held(NamedTuple):
    """What the command left."""

    status: int
    table: str
    told: str
    result: str


def hold(folder: Path, after: float | None = None) -> Held:
    """Run the contest; kill it ``after`` seconds."""
    argv = [sys.executable, "-m", "dicegym", "tournament", "hog", "submissions/", "--seed", "7", "--games", "15"]
    process = subprocess.Popen(
        [*argv, "--workers", "2", "-o", "result.json"],
        cwd=folder,
        env=os.environ | {"SOURCE_DATE_EPOCH": "0", "DICEGYM_STORE": str(folder / "arena.sqlite")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        table, told = process.communicate(timeout=after)
    except subprocess.TimeoutExpired:
        process.kill()
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


@pytest.mark.parametrize("seed", range(4))  # each of them is over after a few seconds of matches
def test_a_contest_that_is_killed_again_and_again_comes_out_the_same(seed: int, tmp_path: Path) -> None:
    """The end of the test session finds processes that it leaves."""
    whole = hold(field(tmp_path / "whole"))
    assert whole.status == 0, whole.told
    cut, moments = field(tmp_path / "cut"), random.Random(seed)
    before: list[tuple[int, str]] = []
    for _ in range(5):
        hold(cut, moments.uniform(0.3, 6.0))
        stored = matches(cut)
        assert stored[: len(before)] == before, "what was stored is gone, or was stored anew"
        before = stored
    last = hold(cut)
    result = last.result.replace(str(cut), str(cut.with_name("whole")))
    assert (last.status, last.table, result) == (0, whole.table, whole.result)
    assert json.loads(last.result)["standings"]
    pairs = BOTS * (BOTS - 1) // 2
    assert len(matches(cut)) == len({key for _, key in matches(cut)}) == pairs
    assert matches(cut)[: len(before)] == before
    played = int(last.told.split(" checks and matches done now")[0].rsplit(" ", 1)[1])
    assert pairs - len(before) <= played <= pairs - len(before) + BOTS, last.told
