"""What referees measure and assign: limits, heartbeat, processor time, processors."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
import types
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
from dicegym.sandbox import heartbeat as heartbeat_module
from dicegym.sandbox.heartbeat import ASKED, LOADING, SHORT, Heartbeat, is_late, processor_time, queue_time
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


def test_the_heartbeat_names_the_actor_and_its_time() -> None:
    heartbeat = Heartbeat.private()
    assert (heartbeat.read().actor, heartbeat.read().spent) == (-1, 0)
    heartbeat.note(LOADING, 0)
    heartbeat.act(1)
    work(0.03)
    time.sleep(0.04)
    first = heartbeat.read()
    assert (first.actor, first.phase) == (1, LOADING)
    assert 0.03 <= first.spent < 0.06
    assert first.waited >= 0.03
    heartbeat.note(ASKED, 17)
    heartbeat.act(0)
    time.sleep(0.02)
    other = heartbeat.read()
    assert (other.number, other.spent < 0.01, other.waited >= 0.01) == (17, True, True)
    heartbeat.act(1)
    assert first.spent <= heartbeat.read().spent < first.spent + 0.01
    heartbeat.forgive(1)
    forgiven = heartbeat.read()
    assert max(forgiven.spent, forgiven.waited) < 0.01


def test_many_short_moves_count_too() -> None:
    heartbeat = Heartbeat.private()
    begun = time.thread_time()
    for turn in range(100):
        heartbeat.act(turn % 2, turn)
        work(0.0002)
    time.sleep(0.01)
    heartbeat.act(2)
    used = time.thread_time() - begun
    spent = []
    for actor in (0, 1):
        heartbeat.act(actor)
        spent.append(heartbeat.read().spent)
    assert min(spent) > 0.008
    assert sum(spent) < 1.5 * used + 0.01


def test_each_long_move_is_measured_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short moves, long moves of others and forgotten time are all in the thread's processor time."""
    clock = types.SimpleNamespace(wall=100.0, cpu=7.0)
    fake = types.SimpleNamespace(monotonic=lambda: clock.wall, thread_time=lambda: clock.cpu)
    monkeypatch.setattr(heartbeat_module, "time", fake)
    heartbeat = Heartbeat.private()

    def move(actor: int, wall: float, cpu: float) -> None:
        heartbeat.act(actor)
        clock.wall, clock.cpu = clock.wall + wall, clock.cpu + cpu

    def used(actor: int) -> tuple[float, float]:
        heartbeat.act(actor)
        found = heartbeat.read()
        return found.spent, found.waited

    move(0, 0.5, 0.3)
    for _ in range(10):
        move(1, SHORT / 2, SHORT / 2)
    move(0, 0.4, 0.2)
    move(1, 0.7, 0.6)
    assert used(0) == pytest.approx((0.3 + 0.2, 0.2 + 0.2))
    assert used(1) == pytest.approx((0.6 + 5 * SHORT, 0.1))
    heartbeat.forgive(0)
    move(0, 0.3, 0.1)
    assert used(0) == pytest.approx((0.1, 0.2))


def work(seconds: float) -> None:
    """Keep a processor busy."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_the_processor_time_of_another_process_is_known() -> None:
    work(0.05)
    found = processor_time(os.getpid())
    assert found is not None
    assert abs(found - time.thread_time()) < 0.05
    assert processor_time(2**22 + 1) is None


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
