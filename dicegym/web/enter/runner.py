"""Checks what was handed in, and runs the contests, in processes of low priority.

As many versions are checked at once as there are processors. They go first: a contest that is running is stopped for
them and resumes afterwards, as its store keeps what was played.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import TextIO, cast

from filelock import FileLock, Timeout

from dicegym.engine.threads import cores
from dicegym.sandbox import jail
from dicegym.web.context import Web
from dicegym.web.enter.bots import Bots
from dicegym.web.enter.course_contests import WebContests
from dicegym.web.enter.submission_tables import SubmissionStore, VersionState, WebContest
from dicegym.web.enter.tokens import Tokens
from dicegym.web.web_settings import WebSettings

LOOK = 1.0
"""Seconds between two looks at whether something is to be done: pages and commands put it in the tables."""
TRIAL_SECONDS = 1200.0
"""On the clock, for all that is done with a version."""
PATIENCE = 20.0
"""Seconds in which a process that is stopped stores what it has."""
LEAST = 15.0
"""Seconds that a contest runs before it may be stopped for others."""
FOLDER = "entering"
"""Below that of the server."""
_LOG = logging.getLogger(__name__)


class Runner:
    """Does what waits, in a thread of its own, from `start` to `stop`."""

    def __init__(self, desk: SubmissionStore, settings: WebSettings) -> None:
        self._desk, self._settings = desk, settings
        self._bots, self._contests = Bots(desk), WebContests(desk)
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin, or begin again after `stop`."""
        self._over.clear()
        self._thread = threading.Thread(target=self._work, name="entering", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End, and the processes with it."""
        self._over.set()
        if self._thread is not None:
            self._thread.join(2 * PATIENCE)

    def _work(self) -> None:
        lock = FileLock(self._desk.folder / "runner.lock", timeout=0)
        while not self._over.is_set():
            try:
                with lock:  # of all servers with this folder one does the work
                    self._bots.begin_anew()
                    self._contests.begin_anew()
                    self._work_on()
            except Timeout:
                self._over.wait(LOOK)
            except Exception:  # one bad day of a database must not end it for good
                _LOG.exception("checking and running contests resumes in a moment")
                self._over.wait(10 * LOOK)

    def _work_on(self) -> None:
        lanes: list[threading.Thread] = []
        try:
            while not self._over.is_set():
                try:
                    self._do_next(lanes)
                except Exception:  # the checks that run go on, and are not begun anew
                    _LOG.exception("what is to be done next is looked for again in a moment")
                    self._over.wait(10 * LOOK)
        finally:  # before another server takes over, which begins their checks anew
            for lane in lanes:
                lane.join(2 * PATIENCE)

    def _do_next(self, lanes: list[threading.Thread]) -> None:
        """Do what is to be done next, or wait for it a moment; ``lanes`` are the checks that run."""
        lanes[:] = [lane for lane in lanes if lane.is_alive()]
        waiting = self._bots.next_waiting() if len(lanes) < cores() else None
        if waiting is not None and not jail.probe(self._settings.isolation):
            self._bots.note(waiting, VersionState.CHECKING)
            lanes.append(threading.Thread(target=self._check, args=(waiting,), name="checking", daemon=True))
            lanes[-1].start()
        elif not lanes and (due := self._contests.next_due()) is not None:
            self._run_contest(due)
        else:
            self._over.wait(LOOK / 4 if lanes else LOOK)

    def _check(self, version: int) -> None:
        until = time.monotonic() + TRIAL_SECONDS
        try:
            problem = self._run("check", version, lambda: "it took too long" if time.monotonic() > until else "")
            if problem is not None:
                self._bots.give_up(version, problem or "nothing was found out")  # if its state is not final
        except Exception:  # tried anew, it would keep all others waiting for ever
            _LOG.exception("version %d was not checked", version)
            self._bots.give_up(version, "something went wrong here")

    def _run_contest(self, contest: WebContest) -> None:
        began = asked = time.monotonic()
        interrupted = False

        def interrupts() -> str:
            """Return why the contest is stopped, if it is: something comes first, or others take part by now."""
            nonlocal interrupted, asked
            if time.monotonic() - asked > LOOK:
                asked = time.monotonic()
                others = self._contests.count_wanted(contest.id) != contest.wanted
                interrupted = others or (asked - began > LEAST and self._bots.next_waiting() is not None)
            return "something comes first" if interrupted else ""

        try:
            problem = self._run("contest", contest.id, interrupts)
        except Exception:
            _LOG.exception("contest %d was not run", contest.id)
            problem = "an internal error, which is in the log"
        finally:
            self._contests.note(contest.id, running=False, progress="")
        if problem and not interrupted:
            self._contests.note(contest.id, held=contest.wanted, problem=problem)

    def _run(self, kind: str, number: int, interrupts: Callable[[], str]) -> str | None:
        """Let a process do a job; return why it did not end, in words, or an empty text if it did.

        None: the server ends, and does it again at its next start.
        """
        job = {
            "parent": os.getpid(),
            "kind": kind,
            "number": number,
            "folder": str(self._desk.folder),
            "store": self._settings.store,
            "isolation": str(self._settings.isolation),
        }
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "dicegym.web.enter.bot_child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        try:
            with cast("TextIO", process.stdin) as told:
                told.write(json.dumps(job) + "\n")
            while True:
                try:
                    status = process.wait(LOOK / 4)
                except subprocess.TimeoutExpired:
                    if self._over.is_set():
                        return None
                    if stopped := interrupts():
                        return stopped
                    continue
                return f"its process ended ({status}) before it was done" if status else ""
        finally:
            process.terminate()  # which does nothing to one that has ended
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(PATIENCE)
            process.kill()
            process.wait()


class EnteringRoom:
    """All that is kept of tokens, bots and contests, and what runs them; operations share it."""

    def __init__(self, web: Web) -> None:
        self.isolation = web.settings.isolation
        self.desk = SubmissionStore(web.settings.folder / FOLDER)
        self.tokens = Tokens(self.desk)
        self.bots = Bots(self.desk)
        self.contests = WebContests(self.desk)
        self.runner = Runner(self.desk, web.settings)
        web.open_contests.append(self.contests.is_open)
        web.on_start.append(self.runner.start)
        web.on_stop.append(self.desk.close)
        web.on_stop.append(self.runner.stop)

    @property
    def shut(self) -> str:
        """Why no bots are taken, in words; empty if they are: nothing of strangers runs where nothing holds it."""
        why = jail.probe(self.isolation)
        return f"no bots can be handed in here, as nothing would hold them: {why}" if why else ""
