"""What referees measure and divide: limits, the heartbeat of bots, processor time, processors."""

from __future__ import annotations

import os
import pickle
import sys
import time

import pytest

import dicegym
from dicegym.arena import Limits
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.sandbox.heartbeat import ASKED, LOADING, Heartbeat, processor_time
from dicegym.sandbox.jobs import Failure
from dicegym.sandbox.sandbox import Sandbox, pinned

LIMITS = Limits(seconds=0.6, memory=64 << 20)


@pytest.fixture(scope="module")
def game() -> Game:
    return dicegym.game("hog")


@pytest.mark.parametrize("workers", [0, -1, 1.5, "2"])
def test_a_wrong_number_of_workers(game: Game, workers: int) -> None:
    with pytest.raises(ParameterError, match="number of processes"):
        Sandbox(game, workers=workers)


@pytest.mark.parametrize("settings", [{"seconds": 0}, {"seconds": float("nan")}, {"memory": 5}, {"memory": 1.5}])
def test_wrong_limits(settings: dict[str, float]) -> None:
    with pytest.raises(ParameterError):
        Limits(**settings)


def test_limits_and_failures_travel() -> None:
    for thing in (LIMITS, Failure(1, "x")):
        assert pickle.loads(pickle.dumps(thing)) == thing


def test_the_heartbeat_says_who_acts_and_for_how_long() -> None:
    heartbeat = Heartbeat.private()
    assert heartbeat.read().actor == -1
    assert heartbeat.read().spent == 0
    heartbeat.note(LOADING, 0)
    heartbeat.act(1)
    work(0.03)
    time.sleep(0.04)
    first = heartbeat.read()
    assert first.actor == 1
    assert first.phase == LOADING
    assert 0.03 <= first.spent < 0.06
    assert first.waited >= 0.03
    heartbeat.note(ASKED, 17)
    heartbeat.act(0)
    time.sleep(0.02)
    assert heartbeat.read().number == 17
    assert heartbeat.read().spent < 0.01
    assert heartbeat.read().waited >= 0.01
    heartbeat.act(1)
    assert first.spent <= heartbeat.read().spent < first.spent + 0.01
    heartbeat.forgive(1)
    assert heartbeat.read().spent < 0.01
    assert heartbeat.read().waited < 0.01


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
    assert pinned(len(usable)) == [{one} for one in sorted(usable)]
    assert pinned(len(usable) + 1) == [usable] * (len(usable) + 1)
    if len(usable) > 1:
        assert pinned(1) == [usable]
