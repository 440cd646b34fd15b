"""Check submitted bots and run contests, in processes of low priority.

One version is checked on each processor. Checks go first: a running contest is stopped for them, and resumes
afterwards from its store.
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

POLL_SECONDS = 1.0
"""Seconds between two looks into the tables for new jobs."""
TRIAL_SECONDS = 1200.0
"""Time limit of a version's check and trial games, in seconds of real time."""
STOP_SECONDS = 20.0
"""Seconds that a stopped process has to store its results."""
LEAST_CONTEST_SECONDS = 15.0
"""Seconds that a contest runs before checks may interrupt it."""
FOLDER = "entering"
"""The folder of submissions below the server's."""
_LOG = logging.getLogger(__name__)


class Runner:
    """Run waiting checks and contests in a thread, from `start` to `stop`."""

    def __init__(self, store: SubmissionStore, settings: WebSettings) -> None:
        self._store, self._settings = store, settings
        self._bots, self._contests = Bots(store), WebContests(store)
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start, also again after `stop`."""
        self._over.clear()
        self._thread = threading.Thread(target=self._work, name="entering", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop, and end the child processes."""
        self._over.set()
        if self._thread is not None:
            self._thread.join(2 * STOP_SECONDS)

    def _work(self) -> None:
        lock = FileLock(self._store.folder / "runner.lock", timeout=0)
        while not self._over.is_set():
            try:
                with lock:  # one of several servers with this folder runs the jobs
                    self._bots.requeue_interrupted()
                    self._contests.reset_running()
                    self._work_on()
            except Timeout:
                self._over.wait(POLL_SECONDS)
            except Exception:  # such as a locked database: go on later
                _LOG.exception("the runner of checks and contests failed, and starts again in a moment")
                self._over.wait(10 * POLL_SECONDS)

    def _work_on(self) -> None:
        lanes: list[threading.Thread] = []
        try:
            while not self._over.is_set():
                try:
                    self._do_next(lanes)
                except Exception:  # running checks continue
                    _LOG.exception("the next job could not be started: trying again in a moment")
                    self._over.wait(10 * POLL_SECONDS)
        finally:  # another server that takes over repeats unfinished checks
            for lane in lanes:
                lane.join(2 * STOP_SECONDS)

    def _do_next(self, lanes: list[threading.Thread]) -> None:
        """Start the next job, or wait a moment; ``lanes`` are the threads of running checks."""
        lanes[:] = [lane for lane in lanes if lane.is_alive()]
        waiting = self._bots.next_waiting() if len(lanes) < cores() else None
        if waiting is not None and not jail.probe(self._settings.isolation):
            self._bots.note(waiting, VersionState.CHECKING)
            lanes.append(threading.Thread(target=self._check, args=(waiting,), name="checking", daemon=True))
            lanes[-1].start()
        elif not lanes and (due := self._contests.next_due()) is not None:
            self._run_contest(due)
        else:
            self._over.wait(POLL_SECONDS / 4 if lanes else POLL_SECONDS)

    def _check(self, version: int) -> None:
        until = time.monotonic() + TRIAL_SECONDS
        try:
            problem = self._run("check", version, lambda: "it took too long" if time.monotonic() > until else "")
            if problem is not None:
                self._bots.give_up(version, problem or "the check gave no result")  # if its state is not final
        except Exception:  # another try would block all others
            _LOG.exception("version %d was not checked", version)
            self._bots.give_up(version, "an internal error occurred")

    def _run_contest(self, contest: WebContest) -> None:
        began = asked = time.monotonic()
        interrupted = False

        def interrupts() -> str:
            """Return why to stop the contest, or an empty text: a check waits, or its entries have changed."""
            nonlocal interrupted, asked
            if time.monotonic() - asked > POLL_SECONDS:
                asked = time.monotonic()
                others = self._contests.count_wanted(contest.id) != contest.wanted
                check_waits = asked - began > LEAST_CONTEST_SECONDS and self._bots.next_waiting() is not None
                interrupted = others or check_waits
            return "a check comes first" if interrupted else ""

        try:
            problem = self._run("contest", contest.id, interrupts)
        except Exception:
            _LOG.exception("contest %d was not run", contest.id)
            problem = "an internal error (see the server's log)"
        finally:
            self._contests.note(contest.id, running=False, progress="")
        if problem and not interrupted:
            self._contests.note(contest.id, held=contest.wanted, problem=problem)

    def _run(self, kind: str, number: int, interrupts: Callable[[], str]) -> str | None:
        """Run a job in a process; return an empty text if it was done, otherwise the reason why not.

        None: the server is stopping, and its next start repeats the job.
        """
        job = {
            "parent": os.getpid(),
            "kind": kind,
            "number": number,
            "folder": str(self._store.folder),
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
            with cast("TextIO", process.stdin) as stdin:
                stdin.write(json.dumps(job) + "\n")
            while True:
                try:
                    status = process.wait(POLL_SECONDS / 4)
                except subprocess.TimeoutExpired:
                    if self._over.is_set():
                        return None
                    if stopped := interrupts():
                        return stopped
                    continue
                return f"its process ended ({status}) before it was done" if status else ""
        finally:
            process.terminate()  # no effect if it has ended
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(STOP_SECONDS)
            process.kill()
            process.wait()


class SubmissionService:
    """The tokens, bots and contests of a server, and their runner."""

    def __init__(self, web: Web) -> None:
        self.isolation = web.settings.isolation
        self.store = SubmissionStore(web.settings.folder / FOLDER)
        self.tokens = Tokens(self.store)
        self.bots = Bots(self.store)
        self.contests = WebContests(self.store)
        self.runner = Runner(self.store, web.settings)
        web.open_contests.append(self.contests.is_open)
        web.on_start.append(self.runner.start)
        web.on_stop.append(self.store.close)
        web.on_stop.append(self.runner.stop)

    @property
    def shut(self) -> str:
        """Why no bots are accepted, or an empty text. Without isolation, no stranger's bot runs."""
        why = jail.probe(self.isolation)
        return f"no bots can be submitted, because nothing would isolate them: {why}" if why else ""
