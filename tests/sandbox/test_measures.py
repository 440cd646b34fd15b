"""What referees measure and assign: limits, heartbeat, processor time, processors."""

from __future__ import annotations

import functools
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dicegym
from dicegym.arena import Limits
from dicegym.arena.match import Match
from dicegym.contest import check, compare, contest
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.play.player import Player
from dicegym.play.turn import Act, Turn
from dicegym.sandbox import limits as limits_module
from dicegym.sandbox.heartbeat import ASKED, LOADING, Heartbeat, is_late, processor_time, queue_time
from dicegym.sandbox.jobs import Failure, entry
from dicegym.sandbox.sandbox import Sandbox, assign_processors
from dicegym.training import evaluate

LIMITS = Limits(seconds=0.6, memory=64 << 20)


@pytest.fixture(scope="module")
def game() -> Game:
    return dicegym.game("hog")


@pytest.mark.parametrize("workers", [0, -1, 1.5, "2"])
def test_a_wrong_number_of_workers(game: Game, workers: int) -> None:
    with pytest.raises(ParameterError, match="number of processes"):
        Sandbox(game, workers=workers)


@pytest.mark.parametrize(
    "settings",
    [{"seconds": 0}, {"seconds": float("nan")}, {"seconds": "5"}, {"move": "x"}, {"memory": 5}, {"memory": 1.5}],
)
def test_wrong_limits(settings: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        Limits(**settings)


@pytest.mark.parametrize(
    "use",
    [
        lambda limits: check("bacon", "hog", limits),
        lambda limits: evaluate("hog", "bacon", limits=limits),
        lambda limits: contest("hog", ["bacon", "swap"], workers=1, limits=limits),
        lambda limits: compare("hog", "bacon", "swap", workers=1, limits=limits),
    ],
)
def test_invalid_limits_are_refused(use: Callable[[Any], object]) -> None:
    for limits in ("x", 5, {"seconds": 5}, 0):
        with pytest.raises(ParameterError, match=r"give dicegym\.contest\.Limits"):
            use(limits)


def test_limits_and_failures_travel() -> None:
    for thing in (LIMITS, Failure(1, "x")):
        assert pickle.loads(pickle.dumps(thing)) == thing


def test_the_heartbeat_names_the_actor_and_each_move() -> None:
    heartbeat = Heartbeat.private()
    assert heartbeat.read()[:4] == (-1, LOADING, 0, 0)
    moves = [heartbeat.read().move]
    for step in (
        lambda: heartbeat.act(1),
        lambda: heartbeat.note(ASKED, 17),  # another question to the same entry
        lambda: heartbeat.act(1, 2),
        lambda: heartbeat.act(1, 2),
    ):
        step()
        moves.append(heartbeat.read().move)
    assert heartbeat.read()[:4] == (1, ASKED, 17, 2)
    heartbeat.hand_over(0, 3)
    assert heartbeat.read()[:4] == (-1, ASKED, 17, 3)
    assert heartbeat.blamed == 0
    heartbeat.act(0)
    heartbeat.rest()
    assert heartbeat.read().actor == -1
    heartbeat.reset()
    assert heartbeat.read()[:4] == (-1, LOADING, 0, 0)
    moves.append(heartbeat.read().move)  # no move of a later job is taken for one of an earlier job
    assert moves == sorted({*moves})


class Slow(Player):
    """Plays the first legal action; its n-th move takes ``seconds(n)``, at work or asleep."""

    def __init__(self, seconds: Callable[[int], float], asleep: bool) -> None:
        self.name, self._seconds, self._asleep, self._moves = "slow", seconds, asleep, 0

    def join(self, game: Game, seat: int, seed: int) -> Act:
        def act(turn: Turn) -> int:
            self._moves += 1
            (time.sleep if self._asleep else work)(self._seconds(self._moves))
            return int(turn.mask.argmax())

        return act


def slow_often(move: int, limit: float) -> float:
    return 0.3 * limit if move <= 5 else 0.0


def slow_once(move: int, limit: float) -> float:
    return 1e6 if move == 3 else 0.0


@pytest.mark.parametrize("asleep", [False, True])
def test_a_trusted_player_has_its_time_for_each_move(asleep: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a match, in Hog's test, and in the smoke games of a game without a test of its own."""
    hog, lucky = dicegym.game("hog", goal=20), dicegym.game("lucky")
    if asleep:
        monkeypatch.setattr(limits_module, "PATIENCE", 1)
    limit = 0.2 if asleep else 0.1
    limits = Limits(limit)
    often, once = (Slow(functools.partial(how, limit=limit), asleep) for how in (slow_often, slow_once))
    matches = [Match(hog, (entry(hog, "slow", player), entry(hog, "bacon", "bacon")), 1, 5) for player in (often, once)]
    with Sandbox(hog, 1, limits, "none") as sandbox:
        found = dict(sandbox.run(matches))
    assert isinstance(found[matches[0]], dict), found[matches[0]]
    why = f"took more than {limit:g} s" + (" by the clock (0.0 s of them at work)" if asleep else "")
    assert found[matches[1]] == Failure(0, f"{why} in game 2 of 5 against bacon, turn 1", 2, 1)
    for game, moment in ((hog, "final_strategy(0, 2), after 2"), (lucky, "game 1 of 20 of the test, after 0")):
        report = check(often, game, limits)
        assert report.ok, report.reason
        assert "limit" not in report.text()
        assert check(once, game, limits).reason == f"{why} in {moment} others"


def work(seconds: float) -> None:
    """Keep a processor busy."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_the_processor_time_of_another_process_is_known() -> None:
    work(0.05)
    assert abs(processor_time(os.getpid()) - time.thread_time()) < 0.05
    assert processor_time(2**22 + 1) == 0


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="the system does not let programs choose processors")
def test_referees_keep_to_a_processor_each_if_they_use_all() -> None:
    usable = os.sched_getaffinity(0)
    assert assign_processors(len(usable)) == [{one} for one in sorted(usable)]
    assert assign_processors(len(usable) + 1) == [usable] * (len(usable) + 1)
    if len(usable) > 1:
        assert assign_processors(1) == [usable]


@pytest.mark.parametrize(
    ("clock", "queued", "late"),
    [(0.9, 0.0, False), (1.1, 0.0, True), (9.9, 9.0, False), (9.9, 8.8, True), (10.1, 10.1, True)],
    ids=["in time", "slept", "waited for a processor", "slept and waited", "woke up for ever"],
)
def test_a_clock_excludes_the_wait_for_a_processor(clock: float, queued: float, late: bool) -> None:
    assert is_late(clock, 1.0, lambda: queued) is late


@pytest.mark.skipif(queue_time() == 0, reason="the system does not count who waits for a processor")
def test_the_wait_for_a_processor_is_measured() -> None:
    usable = os.sched_getaffinity(0)
    spinning = [sys.executable, "-S", "-c", "print(flush=True)\nwhile True: pass"]
    os.sched_setaffinity(0, {min(usable)})
    try:
        with subprocess.Popen(spinning, stdout=subprocess.PIPE) as other:
            assert other.stdout is not None
            other.stdout.readline()
            before = queue_time(), queue_time(other.pid)
            work(0.2)
            assert queue_time() > before[0] + 0.02
            assert queue_time(other.pid) > before[1] + 0.02
            other.kill()
    finally:
        os.sched_setaffinity(0, usable)
    assert queue_time(2**22 + 1) == 0


@pytest.mark.slow
@pytest.mark.skipif(queue_time() == 0, reason="the system does not count who waits for a processor")
@pytest.mark.parametrize("opponent", ["other.py", "bacon"])
def test_load_costs_only_sleeping_bots_the_match(game: Game, opponent: str, tmp_path: Path) -> None:
    """Twelve programs share a processor with a match; the waiting bots are not at fault."""
    usable = os.sched_getaffinity(0)
    for name, body in (("plain", "pass"), ("other", "pass"), ("sleeper", "time.sleep(0.02)")):
        text = f"import time\ndef final_strategy(a, b):\n    {body}\n    return 6\nPURE = False\n"
        (tmp_path / f"{name}.py").write_text(text)
    against = entry(game, "against", str(tmp_path / opponent) if opponent.endswith(".py") else opponent)
    matches = [
        Match(game, (entry(game, name, str(tmp_path / f"{name}.py")), against), 1, 60) for name in ("plain", "sleeper")
    ]
    os.sched_setaffinity(0, {min(usable)})
    load: list[subprocess.Popen[bytes]] = []
    try:
        with Sandbox(game, 1, Limits(0.3, start=5), "process") as sandbox:
            list(sandbox.run([Match(game, matches[0].entries, 2, 1)]))  # its hosts have started
            load += [subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) for _ in range(12)]
            found = dict(sandbox.run(matches))
    finally:
        for one in load:
            one.kill()
            one.wait()
        os.sched_setaffinity(0, usable)
    assert isinstance(found[matches[0]], dict)
    assert isinstance(found[matches[1]], Failure)
    assert "took more than 3 s by the clock" in found[matches[1]].reason
