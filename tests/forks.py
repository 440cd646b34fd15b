"""Running tests in several processes that import and collect nothing: `pytest --forks 5`.

One process imports all files of tests and what they import, and collects the tests. Then it forks: each fork runs the
tests of one file after the other, and sends what pytest reports of them. A fork that dies is replaced; its test failed.
"""

from __future__ import annotations

import atexit
import importlib
import os
import sys
import traceback
import types
import warnings
from collections.abc import Iterator
from itertools import pairwise, starmap
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any, NamedTuple

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption("--forks", type=int, default=0, help="run files of tests in so many forks of this process")


def pytest_configure(config: pytest.Config) -> None:
    """Leave one thread to each fork, before any library starts them: forks share the cores already."""
    if config.option.forks:
        for library in ("OMP", "OPENBLAS", "MKL"):
            os.environ.setdefault(f"{library}_NUM_THREADS", "1")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the tests in forks if the command line asks for some."""
    options = session.config.option
    if not options.forks or options.collectonly or session.testsfailed:
        return None  # pytest's own loop says what is wrong with the collection
    Forks(session, options.forks).run()
    return True


# --- the process that collected ----------------------------------------------------------------------------


class Fork(NamedTuple):
    """A fork, as the process that started it sees it."""

    pid: int
    pipe: Connection
    left: list[int]
    """The tests that it was given and has not ended, by their places among all; the first of them runs."""


def load_what_is_loaded_late() -> None:
    """Import what PyTorch imports with its first optimizer, where a test has imported PyTorch."""
    if "torch" in sys.modules:
        importlib.import_module("torch._dynamo")


def received(pipe: Connection) -> tuple[str, Any] | None:
    """Return what a fork has sent; None if it has ended."""
    try:
        return pipe.recv()
    except (EOFError, OSError):
        return None


class Forks:
    """Gives units of tests to forks, and takes their reports."""

    def __init__(self, session: pytest.Session, number: int) -> None:
        self.session, self.number = session, number
        begins = [0, *(i for i, (one, two) in enumerate(pairwise(session.items), 1) if one.path != two.path)]
        self.units = list(starmap(range, pairwise([*begins, len(session.items)])))
        self.forks: list[Fork] = []
        self.started = 0
        session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]  # one for all forks

    def run(self) -> None:
        """Run all tests. Raises what pytest's own loop raises when a run is to stop early."""
        load_what_is_loaded_late()
        try:
            for _ in range(min(self.number, len(self.units))):
                self.start()
            while self.forks:
                for pipe in wait([fork.pipe for fork in self.forks]):
                    fork = next(one for one in self.forks if one.pipe is pipe)
                    if message := received(pipe):
                        TAKE[message[0]](self, fork, message[1])
                    else:
                        self.end(fork)
                if self.session.shouldfail:
                    raise self.session.Failed(self.session.shouldfail)
                if self.session.shouldstop:
                    raise self.session.Interrupted(self.session.shouldstop)
        finally:
            for fork in self.forks:
                fork.pipe.close()  # it ends after its test, finding nobody who wants reports
            for fork in self.forks:
                os.waitpid(fork.pid, 0)

    def start(self) -> None:
        """Start a fork, which asks for tests."""
        ours, theirs = Pipe()
        self.started += 1
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            ours.close()
            for fork in self.forks:
                fork.pipe.close()  # or its end would not be seen while this one lives
            work(self.session, theirs, self.started)
        theirs.close()
        self.forks.append(Fork(pid, ours, []))

    def on_wanted(self, fork: Fork, what: None) -> None:
        """Give the next tests to a fork, or none if there are none left."""
        unit = self.units.pop(0) if self.units else range(0)
        fork.left.extend(unit)
        fork.pipe.send(unit)

    def on_report(self, fork: Fork, what: dict[str, Any]) -> None:
        """Pass a report on to whatever prints and counts them."""
        hook = self.session.config.hook
        hook.pytest_runtest_logreport(
            report=hook.pytest_report_from_serializable(config=self.session.config, data=what)
        )

    def on_warning(self, fork: Fork, what: dict[str, Any]) -> None:
        """Pass a warning on to the summary."""
        text, filename, line = what.pop("warning")
        message = warnings.WarningMessage(text, Warning, filename, line)
        self.session.config.hook.pytest_warning_recorded.call_historic(kwargs={"warning_message": message, **what})

    def on_ended(self, fork: Fork, what: None) -> None:
        """Take the end of a test."""
        item = self.session.items[fork.left.pop(0)]
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)

    def end(self, fork: Fork) -> None:
        """Take the end of a fork. If it has tests left, the one that ran has failed, and another fork runs the rest."""
        self.forks.remove(fork)
        fork.pipe.close()
        status = os.waitstatus_to_exitcode(os.waitpid(fork.pid, 0)[1])
        if fork.left:
            crashed = self.session.items[fork.left.pop(0)]
            report = pytest.TestReport(
                nodeid=crashed.nodeid,
                location=crashed.location,
                keywords={},
                outcome="failed",
                longrepr=f"the process that ran {crashed.nodeid} ended with {status}",
                when="call",
            )
            crashed.ihook.pytest_runtest_logreport(report=report)
            if fork.left:
                self.units.insert(0, range(fork.left[0], fork.left[-1] + 1))
            self.start()
        elif status:
            raise RuntimeError(f"a process that ran tests ended with {status}, after its last test")


TAKE = {"wanted": Forks.on_wanted, "report": Forks.on_report, "warning": Forks.on_warning, "ended": Forks.on_ended}
"""What is done with what a fork sends, which begins with one of these words."""


# --- a fork ------------------------------------------------------------------------------------------------


class Reporter:
    """Sends what pytest reports in a fork."""

    def __init__(self, config: pytest.Config, pipe: Connection) -> None:
        self.config, self.pipe = config, pipe

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Send a report."""
        data = self.config.hook.pytest_report_to_serializable(config=self.config, report=report)
        self.pipe.send(("report", data))

    def pytest_warning_recorded(
        self, warning_message: warnings.WarningMessage, when: str, nodeid: str, location: Any
    ) -> None:
        """Send a warning, as text: its class may be known here alone."""
        text = f"{warning_message.category.__name__}: {warning_message.message}"
        shown = text, warning_message.filename, warning_message.lineno
        self.pipe.send(("warning", {"warning": shown, "when": when, "nodeid": nodeid, "location": location}))


def work(session: pytest.Session, pipe: Connection, number: int) -> None:
    """Run what the other end of ``pipe`` gives, and end this process."""
    status = 1
    try:
        settle(session.config, number)
        session.config.pluginmanager.register(Reporter(session.config, pipe))
        tests = given(session, pipe)
        item = next(tests, None)
        while item:
            following = next(tests, None)  # known before a test ends: what both use stays
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            pipe.send(("ended", None))
            item = following
        status = 0
        atexit._run_exitfuncs()
    except (BrokenPipeError, ConnectionResetError, EOFError):
        pass  # nobody wants reports any more
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def settle(config: pytest.Config, number: int) -> None:
    """Give this fork what it must not share: folders for files, and files for what tests print."""
    sys.modules["__main__"] = types.ModuleType("__main__")  # what tests start would import pytest again
    manager: Any = config.pluginmanager
    capture, terminal = manager.getplugin("capturemanager"), manager.getplugin("terminalreporter")
    capture.stop_global_capturing()
    capture.start_global_capturing()
    capture.suspend_global_capture()
    terminal._tw._file = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # as long as this process
    factory = config._tmp_path_factory  # type: ignore[attr-defined]
    factory._basetemp = factory.getbasetemp() / f"fork-{number}"
    factory._basetemp.mkdir(mode=0o700)


def given(session: pytest.Session, pipe: Connection) -> Iterator[pytest.Item]:
    """Yield the tests that this fork is to run, unit by unit."""
    while True:
        pipe.send(("wanted", None))
        if not (unit := pipe.recv()):
            return
        for place in unit:
            yield session.items[place]
