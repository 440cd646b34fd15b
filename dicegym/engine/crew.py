"""A second thread for loops of a tenth of a millisecond: it stays in compiled code and waits there for its next part.

Waking a thread, and handing it Python's lock and back, took 45 µs, as long as a part of a batch's step. A helper of a
`Crew` looks at a board in memory instead, without the lock, for as long as it takes to choose the next actions; only
after that does it go to sleep. The board is an int64 array; what one side writes and the other reads goes through
sequentially consistent loads and stores.

A loop that helps is a kernel ``serve(board, version, *arguments)`` of this form::

    while next_job(board, version):
        play(... board[START] to board[END] ...)
        finish(board)
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
import weakref
from collections.abc import Callable
from itertools import pairwise
from queue import SimpleQueue
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from dicegym.engine.jit import COMPILED, loop_kernel

POSTED, JOB, START, END, TIME, VERSION, CALLERS_CORE = 0, 1, 2, 3, 4, 5, 6
"""Cells that the caller writes: jobs posted so far, what the last of them is, and the core on which it was posted."""
DONE, RESULT, HELPERS_CORE = 16, 17, 18
"""Cells that the helper writes, in a cache line of their own: jobs done, what the last one gave, and its core."""
ASLEEP = 32
"""Whether the helper has to be woken; it alone writes this. Waking it once too often does no harm."""
CELLS = 48
HELPERS_PATIENCE, CALLERS_PATIENCE = 10_000, 3000
"""How often either looks at the board before it sleeps, with a pause after each look: for 0.3 and 0.1 ms. Giving way to
other processes in between was tried, and cost milliseconds on a busy machine."""
LOOKS = 256
"""How often either looks, for 10 µs, before it asks whether the other one has been put on the same core, where nobody
comes to anything while somebody waits like that."""
NAP = 2e-5
"""Seconds for which the caller then sleeps: the helper may wait for the core on which it looks."""
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
    """Tell the processor that this is a loop that waits."""

    def codegen(context, builder, signature, args):
        if _PAUSE:
            nothing = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, nothing, _PAUSE), [])
        return context.get_dummy_value()

    return types.void(), codegen


@intrinsic
def _core(typingctx):
    """Return the number of the core that this runs on, -1 where systems do not tell."""

    def codegen(context, builder, signature, args):
        number = ir.IntType(32)
        if not _CORE:
            return ir.Constant(ir.IntType(64), -1)
        ask = cgutils.get_or_insert_function(builder.module, ir.FunctionType(number, []), _CORE)
        return builder.sext(builder.call(ask, []), ir.IntType(64))

    return types.int64(), codegen


@loop_kernel
def _waited(board, done, patience, others_core):
    """Wait until all jobs that were posted are done, or one is not, as ``done`` says; False if that takes too long."""
    for number in range(patience):
        if (_load(board, POSTED) == _load(board, DONE)) == done:
            return True
        _pause()
        if number % LOOKS == LOOKS - 1 and board[others_core] >= 0 and board[others_core] == _core():
            return False
    return False


@loop_kernel
def next_job(board, version):
    """Wait for a job; return False if none came for a while, or if it is for another ``version`` of the arguments."""
    if _load(board, ASLEEP) == 1:
        _store(board, ASLEEP, 0)
    board[HELPERS_CORE] = _core()
    if _waited(board, False, HELPERS_PATIENCE, CALLERS_CORE):
        return board[VERSION] == version
    _store(board, ASLEEP, 1)
    if _load(board, POSTED) == _load(board, DONE):  # else a job was posted by somebody who saw nobody asleep
        return False
    _store(board, ASLEEP, 0)
    return board[VERSION] == version


@loop_kernel
def finish(board):
    """Say that the job is done."""
    _store(board, DONE, _load(board, DONE) + 1)


@loop_kernel
def _post(board, version, job, start, end, now):
    """Post a job; return whether the helper is asleep."""
    board[VERSION], board[JOB], board[START], board[END], board[TIME] = version, job, start, end, now
    board[CALLERS_CORE] = _core()
    _store(board, POSTED, _load(board, POSTED) + 1)
    return _load(board, ASLEEP) == 1


class _Helper:
    """One thread and its board."""

    def __init__(self) -> None:
        self.board = np.zeros(CELLS, np.int64)
        self.board[ASLEEP] = 1
        self.version = 0
        self.arguments: tuple[Any, ...] = ()
        self.wakes: SimpleQueue[bool] = SimpleQueue()
        self.serves: list[Any] = [None]  # (serve, version, arguments), changed as a whole
        self.errors: list[BaseException] = []
        told = (self.board, self.wakes, self.serves, self.errors)
        self.thread = threading.Thread(target=_work, args=told, name="dicegym helper", daemon=True)
        self.thread.start()
        weakref.finalize(self, self.wakes.put, False).atexit = False

    def post(
        self, serve: Callable[..., Any], arguments: tuple[Any, ...], job: int, start: int, end: int, now: int
    ) -> None:
        """Let the helper do ``job`` for a part of the rows."""
        self.wait()  # whoever was interrupted did not
        if self.serves[0] is None or self.arguments is not arguments:
            self.version += 1
            self.arguments = arguments
            self.serves[0] = (serve, self.version, arguments)
        if _post(self.board, self.version, job, start, end, now):
            self.wakes.put(True)

    def wait(self) -> int:
        """Return the result of the last job, once it is done. Raises what it raised."""
        while not _waited(self.board, True, CALLERS_PATIENCE, HELPERS_CORE):
            time.sleep(NAP)
        if self.errors:
            raise self.errors.pop()
        return int(self.board[RESULT])


def _work(board: np.ndarray, wakes: SimpleQueue[bool], serves: list[Any], errors: list[BaseException]) -> None:
    """Be a helper: serve whenever there is something to do, else sleep."""
    while wakes.get():
        _leave(int(board[CALLERS_CORE]))
        while board[POSTED] != board[DONE]:
            serve, version, arguments = serves[0]
            try:
                serve(board, version, *arguments)
            except BaseException as error:  # raised again where it is waited for
                errors.append(error)
                finish(board)
                board[ASLEEP] = 1


def _leave(core: int) -> None:
    """Go to another core if there is one that this thread may use, and let the system move it later as it likes.

    Where others use the machine too, who is woken is put beside who wakes it, and stays there as long as nobody is much
    busier: two threads then gained nothing.
    """
    if core < 0 or not hasattr(os, "sched_setaffinity"):
        return
    with contextlib.suppress(OSError):  # systems may forbid it, and somebody may just change where it may run
        allowed = os.sched_getaffinity(0)
        if others := allowed - {core}:
            os.sched_setaffinity(0, others)
            os.sched_setaffinity(0, allowed)


class Crew:
    """Helpers for the loops of one batch, each with its part of the rows; the caller does the first part itself.

    Args:
        count: how many threads there are, the caller's included.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._helpers: list[_Helper] = []
        self._process = 0

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle by the number: threads are started when they are needed."""
        return Crew, (self.count,)

    def call(
        self,
        serve: Callable[..., Any],
        arguments: tuple[Any, ...],
        edges: list[int],
        mine: Callable[[int, int], Any],
        job: int = 0,
        now: int = 0,
    ) -> list[int]:
        """Do a job for the rows between ``edges``, one part a thread; return what each part gave, in order.

        Args:
            serve: the loop of helpers.
            arguments: of ``serve``, after board and version. Helpers notice another tuple, not what changes in one.
            edges: where parts begin, and the end of the last.
            mine: does the first part, from one row to another.
            job: what to do, which ``serve`` finds on the board.
            now: one more number for it.
        """
        parts = list(pairwise(edges))
        if not COMPILED:
            return [mine(*part) for part in parts]
        if self._process != os.getpid():  # a forked process has the helpers without their threads
            self._process = os.getpid()
            self._helpers = [_Helper() for _ in range(self.count - 1)]
        busy = self._helpers[: len(parts) - 1]
        for helper, part in zip(busy, parts[1:], strict=True):
            helper.post(serve, arguments, job, *part, now)
        try:
            own = mine(*parts[0])
        finally:
            given = [helper.wait() for helper in busy]
        return [own, *given]
