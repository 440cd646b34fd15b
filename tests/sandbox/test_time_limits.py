"""Each time limit of a bot alone, with the others lifted."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator

import pytest

from dicegym.sandbox import remote as remotes
from dicegym.sandbox.limits import Limits
from dicegym.sandbox.remote import MATCH, START, GoneError, Remote

EVER = 1e6
CLOCK = "by the clock (0.5 s of them at work"


@contextlib.contextmanager
def asked(
    limits: Limits, phase: str, passed: float, before: float, used: float, clock: float = 0.0
) -> Iterator[Remote]:
    """Yield a bot that was asked ``passed`` seconds ago with ``before`` and now ``used`` processor time.

    Its earlier moves took ``clock`` seconds of wall-clock time.
    """
    remote = Remote.__new__(Remote)
    remote._name, remote._phase, remote._limits, remote._moment = "bot", phase, limits, lambda: ""
    remote.spent, remote._before, remote._began, remote._clock, remote._child = before, before, 0.0, clock, -1
    remote.gone, remote._asked = None, time.monotonic() - passed
    remote._used = lambda: used  # type: ignore[method-assign]
    remote._queued = lambda: 0.0  # type: ignore[method-assign]
    remote._socket, end = socket.socketpair()
    remote._control = remotes.MessageStream(end)
    with remote._socket, end:
        yield remote


MOVE, ALL, LOAD = Limits(EVER, move=1.0), Limits(2.0, start=EVER), Limits(EVER, start=3.0)


@pytest.mark.parametrize(
    ("limits", "phase", "asked_as", "why"),
    [
        (MOVE, MATCH, {"passed": 0.9, "before": 50.0, "used": 50.9}, ""),
        (MOVE, MATCH, {"passed": 1.1, "before": 50.0, "used": 51.1}, "took more than 1 s"),
        (MOVE, MATCH, {"passed": 9.9, "before": 50.0, "used": 50.0, "clock": 149.0}, ""),
        (MOVE, MATCH, {"passed": 10.1, "before": 50.0, "used": 50.0}, "took more than 10 s by the clock"),
        (MOVE, START, {"passed": 10.1, "before": 0.0, "used": 10.1}, ""),
        (ALL, MATCH, {"passed": 0.1, "before": 1.8, "used": 1.9}, ""),
        (ALL, MATCH, {"passed": 0.1, "before": 2.0, "used": 2.1}, "took more than 2 s (all answers together)"),
        (ALL, MATCH, {"passed": 1.0, "before": 0.5, "used": 0.5, "clock": 18.5}, ""),
        (
            ALL,
            MATCH,
            {"passed": 1.0, "before": 0.5, "used": 0.5, "clock": 19.5},
            f"took more than 20 s {CLOCK}; all answers together)",
        ),
        (ALL, START, {"passed": 10.0, "before": 0.0, "used": 10.0}, ""),
        (LOAD, START, {"passed": 3.1, "before": 0.0, "used": 3.1}, "took more than 3 s"),
        (
            LOAD,
            START,
            {"passed": 30.5, "before": 0.0, "used": 0.5},
            f"took more than 30 s {CLOCK})",
        ),
        (LOAD, MATCH, {"passed": 31.0, "before": 0.0, "used": 31.0}, ""),
    ],
)
def test_each_limit_of_time(limits: Limits, phase: str, asked_as: dict[str, float], why: str) -> None:
    with asked(limits, phase, **asked_as) as remote, pytest.raises(GoneError) if why else contextlib.nullcontext():
        remote._judge()
    assert (remote.gone.reason if remote.gone else "") == why


def test_a_bot_that_reads_no_question_is_ended_too() -> None:
    with asked(Limits(0.01), MATCH, 0.0, 0.0, 0.0) as remote:
        remotes.look_often(remote._socket)
        with pytest.raises(GoneError, match=r"0\.1 s by the clock"):
            remote._send(bytes(1 << 24))
