"""Helpers do their parts, sleep and wake, take new arguments, and hand on what goes wrong."""

from __future__ import annotations

import copy
import gc
import os
import threading
import time
from typing import Any

import numpy as np
import pytest

from dicegym.engine import crew as crew_module
from dicegym.engine.crew import ASLEEP, END, JOB, RESULT, START, TIME, Crew, finish, next_job
from dicegym.engine.jit import COMPILED, loop_kernel

pytestmark = pytest.mark.skipif(not COMPILED, reason="the caller does all parts itself where nothing is compiled")
EDGES = [0, 4, 9, 12]


@loop_kernel
def add(board: Any, version: Any, out: Any) -> None:
    while next_job(board, version):
        for row in range(board[START], board[END]):
            out[row] += 10 * board[JOB] + board[TIME]
        board[RESULT] = board[END] - board[START]
        finish(board)


def doing(out: np.ndarray, job: int, now: int) -> Any:
    def mine(start: int, end: int) -> int:
        out[start:end] += 10 * job + now
        return end - start

    return mine


def test_every_part_is_done_once_and_gives_its_result() -> None:
    crew, out = Crew(3), np.zeros(12, np.int64)
    arguments = (out,)
    for now in range(200):
        assert crew.call(add, arguments, EDGES, doing(out, 2, now), 2, now) == [4, 5, 3]
    assert (out == 20 * 200 + sum(range(200))).all()


def test_a_helper_that_fell_asleep_is_woken() -> None:
    crew, out = Crew(2), np.zeros(8, np.int64)
    arguments = (out,)
    for _ in range(3):
        crew.call(add, arguments, [0, 4, 8], doing(out, 0, 1), 0, 1)
        board = crew._helpers[0].board
        deadline = time.monotonic() + 10
        while not board[ASLEEP] and time.monotonic() < deadline:
            time.sleep(0.001)
        assert board[ASLEEP]
    assert (out == 3).all()


def test_other_arguments_are_noticed_awake_or_not() -> None:
    crew = Crew(2)
    for _ in range(50):
        out = np.zeros(8, np.int64)
        crew.call(add, (out,), [0, 4, 8], doing(out, 0, 1), 0, 1)
        assert (out == 1).all()


def test_what_a_part_raises_is_raised_where_it_was_asked_for() -> None:
    crew, out = Crew(2), np.zeros(8, np.int64)

    def fails(*told: Any) -> None:
        raise RuntimeError("the helper's part")

    with pytest.raises(RuntimeError, match="the helper's part"):
        crew.call(fails, (out,), [0, 4, 8], doing(out, 0, 1))

    def mine(start: int, end: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        crew.call(add, (out,), [0, 4, 8], mine, 0, 1)
    assert (out[4:] == 1).all()  # the other part was waited for
    crew.call(add, (out,), [0, 4, 8], doing(out, 0, 1), 0, 1)
    assert (out == 2).all()


def test_copies_and_children_have_helpers_of_their_own() -> None:
    crew, out = Crew(2), np.zeros(8, np.int64)
    crew.call(add, (out,), [0, 4, 8], doing(out, 0, 1), 0, 1)
    other = copy.deepcopy(crew)
    other.call(add, (out,), [0, 4, 8], doing(out, 0, 1), 0, 1)
    assert (out == 2).all()
    child = os.fork()
    if not child:
        crew.call(add, (out,), [0, 4, 8], doing(out, 0, 1), 0, 1)
        os._exit(0 if (out == 3).all() else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_helpers_end_with_their_crew() -> None:
    crew, out = Crew(2), np.zeros(8, np.int64)
    crew.call(add, (out,), [0, 4, 8], doing(out, 0, 1), 0, 1)
    (thread,) = [one for one in threading.enumerate() if one is crew._helpers[0].thread]
    del crew
    gc.collect()
    thread.join(10)
    assert not thread.is_alive()


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="threads cannot be sent to a core here")
def test_who_is_woken_beside_its_caller_goes_to_another_core(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[set[int]] = []
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3, 5, 8})
    monkeypatch.setattr(os, "sched_setaffinity", lambda process, cores: asked.append(cores))
    crew_module._leave(5)
    assert asked == [{3, 8}, {3, 5, 8}]  # and may then be moved as before
    asked.clear()
    crew_module._leave(-1)  # where systems do not tell
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {5})
    crew_module._leave(5)  # the only one it may use
    assert not asked


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="threads cannot be sent to a core here")
@pytest.mark.parametrize("forbidden", ["sched_getaffinity", "sched_setaffinity"])
def test_who_may_not_ask_for_another_core_works_where_it_is(forbidden: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A helper that ended of it would be waited for for good."""

    def refuse(*_: Any) -> None:
        raise PermissionError("forbidden")

    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3, 5})
    monkeypatch.setattr(os, forbidden, refuse)
    crew_module._leave(5)
