"""Threads for loops of a tenth of a millisecond: they stay in compiled code and wait there for their next part.

Waking a thread and passing Python's lock took 45 µs, as long as a part of a batch's step. So a helper of a `ThreadTeam`
watches a board in memory, without the lock, while the next actions are chosen, and sleeps only after that. The board is
an int64 array with sequentially consistent loads and stores between the two sides.

Helpers run kernels of a `dicegym.engine.kernel_entries.Task`, which they call by address. So the same helper, still
awake, does parts for one team after the other: for a batch's step and for the networks that choose its actions. Two
helpers that wait for different work would take each other's core.

Two simpler ways were measured on two cores, steps of batches of 1,024 to 16,384 games, medians of five rounds. A
`ThreadPoolExecutor` reached 0.27 to 0.97 of this speed in bare batches, and 0.44 to 1.00 against opponents. Numba's
``prange`` reached 0.92 to 1.11 on an idle machine, but 0.05 to 0.84 where other programs used the cores, and its OpenMP
ends every process that is forked after the first step.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls, no-warn-return-any
# mypy: disable-error-code="call-arg"
# Kernels: Numba infers the types of their arguments, and hands intrinsics one more.

from __future__ import annotations

import contextlib
import os
import platform
import sys
import threading
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from queue import SimpleQueue
from typing import Any

import numpy as np

from dicegym.engine.jit import COMPILED, loop_kernel
from dicegym.engine.kernel_entries import LOST, Task, enter
from dicegym.engine.numba_names import cgutils, intrinsic, ir, types
from dicegym.engine.validate import whole_number

LEAST_ROWS = 512
"""Least rows of a thread: two threads were slower than one with 256 games (Hog, two cores)."""
FEW_ROWS = 64
"""Least rows of a helper that is awake, as after a network's part."""

POSTED, ENTRY, PLACE, JOB, START, END, TIME, CALLERS_CORE = 0, 1, 2, 3, 4, 5, 6, 7
"""Cells that the caller writes: number of jobs posted, the last of them, and the caller's core."""
DONE, RESULT, FAILED, HELPERS_CORE = 16, 17, 18, 19
"""Cells that the helper writes, in their own cache line: number of jobs done, the last one's result, whether it raised
an error, and the helper's core."""
ASLEEP = 32
"""Whether the helper must be woken; only the helper writes it. Waking it once too often is harmless."""
CELLS = 48
HELPERS_PATIENCE, CALLERS_PATIENCE = 10_000, 3000
"""Reads of the board before a sleep, with a pause after each: 0.3 and 0.1 ms. Yielding to other processes in between
cost milliseconds on a busy machine."""
LOOKS = 256
"""Reads, for 10 µs, between tests whether both are on the same core, where waiting blocks the other one's work."""
NAP = 2e-5
"""Seconds for which the caller then sleeps: the helper may be waiting for its core."""
_CORE = "sched_getcpu" if sys.platform == "linux" else ""
_PAUSE = "llvm.x86.sse2.pause" if platform.machine().lower() in ("x86_64", "amd64", "i686") else ""


@intrinsic
def _load(typingctx, board, cell):
    def codegen(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.load_atomic(builder.gep(data, [args[1]]), "seq_cst", 8)

    return types.int64(board, types.int64), codegen


@intrinsic
def _store(typingctx, board, cell, value):
    def codegen(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        builder.store_atomic(args[2], builder.gep(data, [args[1]]), "seq_cst", 8)
        return context.get_dummy_value()

    return types.void(board, types.int64, types.int64), codegen


@intrinsic
def _pause(typingctx):
    """Tell the processor that this is a waiting loop."""

    def codegen(context, builder, signature, args):
        if _PAUSE:
            nothing = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, nothing, _PAUSE), [])
        return context.get_dummy_value()

    return types.void(), codegen


@intrinsic
def _core(typingctx):
    """Return the number of the present core, -1 if the system does not tell."""

    def codegen(context, builder, signature, args):
        number = ir.IntType(32)
        if not _CORE:
            return ir.Constant(ir.IntType(64), -1)
        ask = cgutils.get_or_insert_function(builder.module, ir.FunctionType(number, []), _CORE)
        return builder.sext(builder.call(ask, []), ir.IntType(64))

    return types.int64(), codegen


@loop_kernel
def _waited(board, done, patience, others_core):
    """Wait until all posted jobs are done (``done``) or one is not; return False after ``patience`` reads."""
    for number in range(patience):
        if (_load(board, POSTED) == _load(board, DONE)) == done:
            return True
        _pause()
        if number % LOOKS == LOOKS - 1 and board[others_core] >= 0 and board[others_core] == _core():
            return False
    return False


@loop_kernel
def _next_job(board):
    """Wait for a job; return False if none came for a while."""
    if _load(board, ASLEEP) == 1:
        _store(board, ASLEEP, 0)
    board[HELPERS_CORE] = _core()
    if _waited(board, False, HELPERS_PATIENCE, CALLERS_CORE):
        return True
    _store(board, ASLEEP, 1)
    if _load(board, POSTED) == _load(board, DONE):  # otherwise a job was posted just before
        return False
    _store(board, ASLEEP, 0)
    return True


@loop_kernel
def _serve(board):
    """Do posted jobs until none came for a while."""
    while _next_job(board):
        entry, place, job = board[ENTRY], board[PLACE], board[JOB]
        board[FAILED] = enter(entry, place, job, board[START], board[END], board[TIME], board, RESULT)
        _store(board, DONE, _load(board, DONE) + 1)


@loop_kernel
def _post(board, entry, place, job, start, end, now):
    """Post a job; return whether the helper is asleep."""
    board[ENTRY], board[PLACE], board[JOB], board[START], board[END], board[TIME] = entry, place, job, start, end, now
    board[CALLERS_CORE] = _core()
    _store(board, POSTED, _load(board, POSTED) + 1)
    return _load(board, ASLEEP) == 1


class _Helper:
    """One thread and its board."""

    def __init__(self) -> None:
        self.board = np.zeros(CELLS, np.int64)
        self.board[ASLEEP] = 1
        self.process = os.getpid()
        self.task: Task | None = None  # kept alive while it works
        self._wakes: SimpleQueue[None] = SimpleQueue()
        threading.Thread(target=self._work, name="dicegym helper", daemon=True).start()

    def _work(self) -> None:
        """Serve whenever there is a job, and sleep otherwise."""
        while True:
            self._wakes.get()
            _leave(int(self.board[CALLERS_CORE]))
            while self.board[POSTED] != self.board[DONE]:
                _serve(self.board)

    def post(self, task: Task, job: int, start: int, end: int, now: int) -> None:
        """Post ``job`` for a part of the rows."""
        self.settle()  # a caller interrupted twice did not wait
        self.task = task
        if _post(self.board, task.entry, task.place, job, start, end, now):
            self._wakes.put(None)

    def settle(self) -> None:
        """Wait until the last job is done.

        An interruption is raised after that: otherwise the helper would write into what is begun next. A second one is
        raised at once.
        """
        try:
            self._wait()
        except BaseException:
            self._wait()
            raise
        finally:
            if self.board[POSTED] == self.board[DONE]:
                self.task = None

    def _wait(self) -> None:
        while not _waited(self.board, True, CALLERS_PATIENCE, HELPERS_CORE):
            if self.board[ASLEEP]:  # the caller may have been interrupted before it woke the helper
                self._wakes.put(None)
            time.sleep(NAP)

    def result(self) -> int:
        """Return the result of the last job, which is done. Raises RuntimeError if it raised an error."""
        if self.board[FAILED]:
            raise RuntimeError(LOST)
        return int(self.board[RESULT])


def _leave(core: int) -> None:
    """Move this thread away from ``core`` if it may use another; the system may move it again later.

    On a shared machine, the system puts a woken thread on the waking thread's core and leaves it there until another
    core is much less busy: two threads then gained nothing.
    """
    if core < 0 or not hasattr(os, "sched_setaffinity"):
        return
    with contextlib.suppress(OSError):  # the system may forbid it, or the allowed cores just changed
        allowed = os.sched_getaffinity(0)
        if others := allowed - {core}:
            os.sched_setaffinity(0, others)
            os.sched_setaffinity(0, allowed)


_free: list[_Helper] = []
"""Free helpers, the one that worked last at the end. They sleep until the process ends."""


def _take() -> _Helper:
    """Return a free helper."""
    while True:
        try:
            helper = _free.pop()
        except IndexError:  # another thread may have taken the last one
            return _Helper()
        if helper.process == os.getpid():  # a fork does not have the threads
            return helper


class ThreadTeam:
    """Divides the rows of a batch among threads; the caller does the first part itself.

    Results do not depend on the number of threads. Teams share helpers unless they work at the same time.

    Args:
        count: number of threads, the caller's included.

    Raises:
        ParameterError: ``count`` is not a whole number from 1 to 1024.
    """

    def __init__(self, count: Any = 1) -> None:
        self.count = whole_number("threads", count, 1, 1024, "a number of threads")

    def awake(self) -> bool:
        """Return whether the helpers are still awake, so that even parts of some microseconds are worth it."""
        if self.count < 2 or not COMPILED or len(_free) < self.count - 1:
            return False
        return not any(helper.board[ASLEEP] for helper in _free[1 - self.count :])

    def edges(self, n: int) -> list[int]:
        """Return the boundaries of the parts of ``n`` rows, at most one part a thread."""
        parts = min(self.count, max(1, n // (FEW_ROWS if self.awake() else LEAST_ROWS)))
        return [n * part // parts for part in range(parts + 1)]

    def call(
        self, task: Task, edges: Sequence[int], job: int = 0, now: int = 0, meanwhile: Callable[[], None] | None = None
    ) -> list[int]:
        """Do a job for the rows between ``edges``, one part a thread; return each part's result, in order.

        Args:
            task: the kernel, which should release Python's lock, and its arguments.
            edges: boundaries of the parts, at most as many parts as threads.
            job: the kernel's first number; the next two are the boundaries of a part.
            now: its fourth number.
            meanwhile: called by the caller before its own part.

        Raises RuntimeError if compiled code raised an error, once all parts are done.
        """
        if len(edges) == 2 and meanwhile is None:
            return [task.ask(job, edges[0], edges[1], now)]
        parts = list(pairwise(edges))
        own = 1 if COMPILED else len(parts)
        busy: list[_Helper] = []
        try:
            with contextlib.ExitStack() as settling:  # waits for all, whatever interrupts it
                for part in parts[own:]:
                    busy.append(_take())
                    settling.callback(busy[-1].settle)
                    busy[-1].post(task, job, *part, now)
                if meanwhile is not None:
                    meanwhile()
                found = [task.ask(job, *part, now) for part in parts[:own]]
            return found + [helper.result() for helper in busy]
        finally:
            _free.extend(reversed(busy))
