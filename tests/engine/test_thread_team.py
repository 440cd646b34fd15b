"""Helpers do their parts, sleep and wake, take new arguments, and hand on what goes wrong."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from numba.core.errors import TypingError

import dicegym
from dicegym.engine import thread_team
from dicegym.engine.jit import COMPILED, kernel, loop_kernel
from dicegym.engine.kernel_entries import Task
from dicegym.engine.thread_team import ASLEEP, ThreadTeam

pytestmark = pytest.mark.skipif(not COMPILED, reason="the caller does all parts itself where nothing is compiled")
EDGES = [0, 4, 9, 12]
LONG = 15_000_000
"""Turns that take some hundredths of a second at least."""


@loop_kernel
def add(job: Any, start: Any, end: Any, now: Any, out: Any) -> Any:
    for row in range(start, end):
        out[row] += 10 * job + now
    return end - start


@kernel
def work(job: Any, start: Any, end: Any, now: Any, out: Any) -> Any:
    """Fail in the part that ``job`` names; the others take ``now`` turns each, but for the caller's."""
    if start == job:
        raise ValueError("this part")
    x = 0.0
    for turn in range(now if start else 0):
        x += np.sqrt(float(turn))
    out[start:end] += 1 + 0 * x
    return end - start


def adding(out: np.ndarray) -> Task:
    return Task(add, (out,))


class Two:
    """A team of two with numbers to add to."""

    def __init__(self) -> None:
        self.team, self.out = ThreadTeam(2), np.zeros(8, np.int64)
        self.task = adding(self.out)

    def call(self, **options: Any) -> list[int]:
        return self.team.call(self.task, [0, 4, 8], 0, 1, **options)


@pytest.mark.parametrize("unlocks", [False, True])
def test_a_kernel_is_asked_as_a_function_of_python_is(unlocks: bool) -> None:
    out = np.zeros(12)
    ask = Task(add, (out,), unlocks).ask
    gc.collect()  # the function alone keeps what it needs
    assert ask(1, 0, 4, 5) == ask(np.int8(1), np.uint64(0), 4, -5) == 4
    assert out.tolist() == [20] * 4 + [0] * 8
    with pytest.raises(TypeError, match="float"):
        ask(1, 0, 4.0, 5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="4 whole numbers"):
        ask(1, 0)  # type: ignore[call-arg]
    with pytest.raises(OverflowError):
        ask(1, 0, 4, 1 << 64)
    with pytest.raises(RuntimeError, match="NUMBA_DISABLE_JIT=1"):
        Task(work, (out,), unlocks).ask(0, 0, 4, 1)


def test_what_a_kernel_wrote_is_listed() -> None:
    numbers = np.array([-3, 1 << 40, 7])
    listing = adding(np.zeros(12)).listing(numbers)
    assert listing(0, 0, 3, 0) == [-3, 1 << 40, 7]
    numbers[0] = 5
    assert listing(0, 0, 1, 0) == [5]
    assert listing(0, 0, 0, 0) == []


def test_every_part_is_done_once_and_gives_its_result() -> None:
    """Also when tasks change, and what is written into arguments between calls is read."""
    team, out = ThreadTeam(3), np.zeros(12, np.int64)
    task = adding(out)
    for now in range(200):
        assert team.call(task, EDGES, 2, now) == [4, 5, 3]
    assert (out == 20 * 200 + sum(range(200))).all()
    assert team.call(task, EDGES[:2], 2) == [4]  # a part that is all is the caller's
    out[:] = 40
    team.call(task, EDGES, 0, 2)
    assert (out == 42).all()
    for _ in range(50):
        other = np.zeros(12, np.int64)
        team.call(adding(other), EDGES, 0, 1)
        assert (other == 1).all()


def fall_asleep(team: ThreadTeam) -> None:
    deadline = time.monotonic() + 10
    while team.awake() and time.monotonic() < deadline:
        time.sleep(0.001)
    assert not team.awake()


def test_a_helper_that_fell_asleep_is_woken() -> None:
    two = Two()
    for _ in range(3):
        two.call()
        fall_asleep(two.team)
        assert helpers()[-1].board[ASLEEP]
    assert (two.out == 3).all()


def helpers() -> list[Any]:
    """Return the helpers that nobody has, the one that worked last at the end."""
    return thread_team._free


def test_teams_have_helpers_in_common_unless_both_are_at_work() -> None:
    first, second = Two(), Two()
    first.call()
    last = helpers()[-1]
    second.call()
    assert helpers()[-1] is last
    second.call(meanwhile=lambda: first.call() and None)
    assert len(helpers()) >= 2
    assert (first.out == 2).all()
    assert (second.out == 2).all()


def test_parts_at_once_from_many_threads_do_not_get_into_each_others_way() -> None:
    teams = [Two() for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda two: [two.call() for _ in range(300)], teams))
    assert found == [[[4, 4]] * 300] * 4
    assert all((two.out == 300).all() for two in teams)


@pytest.mark.parametrize("part", [0, 4])
def test_what_compiled_code_of_a_part_raises_is_said_when_all_are_done(part: int) -> None:
    team, out = ThreadTeam(3), np.zeros(12)
    task = Task(work, (out,))
    with pytest.raises(RuntimeError, match="NUMBA_DISABLE_JIT=1"):
        team.call(task, EDGES, part, LONG)  # it fails at once, the last one takes long
    assert out.tolist() == [0 if part == 0 else 1] * 4 + [0 if part == 4 else 1] * 5 + [1] * 3
    assert team.call(task, EDGES, -1) == [4, 5, 3]  # and the next one goes well


def test_what_the_caller_does_meanwhile_may_fail() -> None:
    two = Two()

    def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        two.call(meanwhile=interrupted)
    assert two.out.tolist() == [0] * 4 + [1] * 4  # the other part was waited for
    two.call()
    assert two.out.tolist() == [1] * 4 + [2] * 4


def test_who_is_interrupted_while_waiting_leaves_no_part_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    team, out = ThreadTeam(3), np.zeros(12)
    task = Task(work, (out,))
    team.call(task, EDGES, -1, 1)
    sleeps = iter([KeyboardInterrupt])

    def interrupted(seconds: float) -> None:
        for error in sleeps:
            raise error
        slept(seconds)

    slept = time.sleep
    monkeypatch.setattr(thread_team, "CALLERS_PATIENCE", 1)
    monkeypatch.setattr(thread_team.time, "sleep", interrupted)
    with pytest.raises(KeyboardInterrupt):
        team.call(task, EDGES, -1, LONG)
    assert out.tolist() == [2] * 12


def test_who_is_interrupted_before_the_helper_is_woken_need_not_wait_for_good(monkeypatch: pytest.MonkeyPatch) -> None:
    two = Two()
    two.call()
    fall_asleep(two.team)
    post = thread_team._post

    def interrupted(*told: Any) -> None:
        assert post(*told)  # asleep
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(thread_team, "_post", interrupted)
        with pytest.raises(KeyboardInterrupt):
            two.call()
    assert two.out.tolist() == [1] * 4 + [2] * 4
    two.call()
    assert two.out.tolist() == [2] * 4 + [3] * 4


def test_what_is_worked_on_lives_as_long_though_nobody_has_the_helper(monkeypatch: pytest.MonkeyPatch) -> None:
    team, out = ThreadTeam(2), np.zeros(8)
    task, lives = Task(work, (out,)), weakref.ref(out)
    with monkeypatch.context() as patched:
        patched.setattr(thread_team._Helper, "settle", lambda helper: None)  # who was interrupted twice
        team.call(task, [0, 4, 8], -1, 10 * LONG)
    helper = helpers()[-1]
    board = helper.board
    del team, task, out
    gc.collect()
    assert board[thread_team.POSTED] != board[thread_team.DONE]
    assert lives() is not None
    helper.settle()
    gc.collect()
    assert board[thread_team.POSTED] == board[thread_team.DONE]
    assert lives() is None


def test_nothing_is_kept_that_is_done() -> None:
    two = Two()
    two.call()
    Two().call()
    lives = weakref.ref(two.out)
    two.task = adding(two.out)
    two.call()
    del two
    gc.collect()
    assert lives() is None


@pytest.mark.slow
def test_a_task_may_be_told_too_much_or_nothing_that_counts() -> None:
    many = tuple(np.zeros(1, np.int64) for _ in range(200))
    with pytest.raises(TypingError, match="more than 8192"):
        Task(add_all, (many,))
    with pytest.raises(TypingError, match="not a whole number"):
        Task(half, (1.0,))


@loop_kernel
def add_all(job: Any, start: Any, end: Any, now: Any, many: Any) -> Any:
    many[0][0] += job
    return 0


@loop_kernel
def half(job: Any, start: Any, end: Any, now: Any, x: Any) -> Any:
    return x / 2


def test_copies_and_children_have_helpers_of_their_own() -> None:
    two = Two()
    two.call()
    copied = copy.deepcopy(two)
    copied.call()
    assert (two.out == 1).all()
    assert (copied.out == 2).all()
    child = os.fork()
    if not child:
        two.call()
        os._exit(0 if (two.out == 2).all() else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="threads cannot be sent to a core here")
def test_who_is_woken_beside_its_caller_goes_to_another_core(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[set[int]] = []
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3, 5, 8})
    monkeypatch.setattr(os, "sched_setaffinity", lambda process, cores: asked.append(cores))
    thread_team._leave(5)
    assert asked == [{3, 8}, {3, 5, 8}]  # and may then be moved as before
    asked.clear()
    thread_team._leave(-1)  # where systems do not tell
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {5})
    thread_team._leave(5)  # the only one it may use
    assert not asked


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="threads cannot be sent to a core here")
@pytest.mark.parametrize("forbidden", ["sched_getaffinity", "sched_setaffinity"])
def test_who_may_not_ask_for_another_core_works_where_it_is(forbidden: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A helper that ended of it would be waited for for good."""

    def refuse(*_: Any) -> None:
        raise PermissionError("forbidden")

    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3, 5})
    monkeypatch.setattr(os, forbidden, refuse)
    thread_team._leave(5)


def test_a_batch_that_was_shared_out_is_copied_and_kept_without_compiled_code() -> None:
    batch = dicegym.game("hog").batch(1100, seed=3, threads=2)
    alone = dicegym.game("hog").batch(1100, seed=3)
    before = len(pickle.dumps(batch))
    for now in range(5):
        batch.step(batch.random_actions(now))
        alone.step(alone.random_actions(now))
    kept = pickle.dumps(batch)
    assert len(kept) == before
    batches = [alone, batch, copy.deepcopy(batch), pickle.loads(kept)]
    for now in range(5, 10):
        for one in batches:
            one.step(one.random_actions(now))
    assert all((one.states == alone.states).all() for one in batches)
