"""Checks what was handed in, and runs the contests, in processes of low priority.

As many versions are checked at once as there are processors. They go first: a contest that is running is stopped for
them and resumes afterwards, as its store keeps what was played.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from filelock import FileLock, Timeout

from dicegym.engine.threads import cores
from dicegym.errors import one_line
from dicegym.sandbox import jail
from dicegym.web.enter.bots import Bots, BotVersion, HandedIn, VersionState
from dicegym.web.enter.course_contests import OpenContest, WebContests
from dicegym.web.enter.submission_tables import SubmissionStore, now
from dicegym.web.enter.uploads import bot_in
from dicegym.web.web_settings import WebSettings

LOOK = 1.0
"""Seconds between two looks at whether something is to be done: commands put it there too."""
TRIAL_SECONDS = 1200.0
"""On the clock, for all that is done with a version."""
PATIENCE = 20.0
"""Seconds in which a process that is stopped stores what it has."""
LEAST = 15.0
"""Seconds that a contest runs before it may be stopped for others."""
LONGEST_LINE = 1 << 20
FEWEST = 2
"""Least entries of a contest."""
_LOG = logging.getLogger(__name__)


class Runner:
    """Does what waits, in a thread of its own, from `start` to `stop`."""

    def __init__(self, desk: SubmissionStore, settings: WebSettings) -> None:
        self._desk, self._settings = desk, settings
        self._bots, self._contests = Bots(desk), WebContests(desk)
        self._over, self._woken = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin, or begin again after `stop`."""
        self._over.clear()
        self._thread = threading.Thread(target=self._work, name="entering", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End, and the process with it; what was being done is done again at the next start."""
        self._over.set()
        self._woken.set()
        if self._thread is not None:
            self._thread.join(2 * PATIENCE)

    def wake(self) -> None:
        """Say that there is something to do."""
        self._woken.set()

    def _work(self) -> None:
        lock = FileLock(self._desk.folder / "runner.lock", timeout=0)
        while not self._over.is_set():
            try:
                with lock:  # of all servers with this folder one does the work
                    self._work_alone()
            except Timeout:
                self._over.wait(LOOK)
            except Exception:  # one bad day of a database must not end it for good
                _LOG.exception("checking and running contests resumes in a moment")
                self._over.wait(10 * LOOK)

    def _work_alone(self) -> None:
        self._bots.begin_anew()
        self._contests.begin_anew()
        lanes: list[threading.Thread] = []
        try:
            self._work_in(lanes)
        finally:
            for lane in lanes:
                lane.join(2 * PATIENCE)

    def _work_in(self, lanes: list[threading.Thread]) -> None:
        while not self._over.is_set():
            lanes[:] = [lane for lane in lanes if lane.is_alive()]
            waiting = self._bots.next_waiting() if len(lanes) < cores() else None
            if waiting is not None and not jail.probe(self._settings.isolation):
                self._bots.note(waiting[1].id, VersionState.CHECKING)
                lanes.append(threading.Thread(target=self._try_or_note, args=waiting, name="checking", daemon=True))
                lanes[-1].start()
                continue
            if lanes:
                self._woken.wait(LOOK / 4)
                self._woken.clear()
                continue
            due = self._contests.next_due()
            if due is not None:
                try:
                    self._hold(due)
                except Exception:
                    _LOG.exception("contest %d was not run", due.id)
                    words = "an internal error, which is in the log"
                    self._contests.note(due.id, running=False, held=due.wanted, problem=words)
                continue
            self._woken.wait(LOOK)
            self._woken.clear()

    def _try_or_note(self, bot: HandedIn, version: BotVersion) -> None:
        try:
            self._try_out(bot, version)
        except Exception:  # tried anew, it would keep all others waiting for ever
            _LOG.exception("version %d was not checked", version.id)
            words = "it was not checked, as something went wrong here: hand it in again"
            self._bots.note(version.id, VersionState.FAILED, words)
        finally:
            self._woken.set()

    def _try_out(self, bot: HandedIn, version: BotVersion) -> None:
        states = [VersionState.CHECKING]
        passed = False

        def heard(found: dict[str, Any]) -> None:
            nonlocal passed
            if "report" in found:
                passed = bool(found["report"]["ok"])
                states.append(VersionState.PLAYING if passed else VersionState.REFUSED)
                self._bots.note(version.id, states[-1], report=found["report"])
            elif "results" in found:
                self._bots.note(version.id, states[-1], results=found["results"])
            elif "progress" in found:
                self._bots.note(version.id, states[-1], found["progress"])

        job = {"kind": "try", "game": bot.game, "folder": str(self._bots.folder(version.id)), "name": bot.name}
        until = time.monotonic() + TRIAL_SECONDS
        problem = self._run(job, heard, lambda: "it took too long" if time.monotonic() > until else "")
        if problem is None:
            return
        if passed:  # whatever became of its games
            self._bots.note(version.id, VersionState.PASSED, f"games were not played: {problem}" if problem else "")
        elif states[-1] is not VersionState.REFUSED:
            words = problem or "nothing was found out"
            self._bots.note(version.id, VersionState.FAILED, f"it was not checked, as {words}: hand it in again")

    def _hold(self, contest: OpenContest) -> None:
        entries = []
        for one in self._contests.taking_part(contest):
            if one.version is not None:
                path, _ = bot_in(contest.plan.table, self._bots.folder(one.version.id))  # it has passed its check
                entries.append((one.bot.called, str(path)))
        if len(entries) + len(contest.plan.agents) < FEWEST:
            self._contests.note(
                contest.id, held=contest.wanted, problem=f"it takes {FEWEST} bots at least, our agents included"
            )
            return
        self._contests.note(contest.id, running=True, progress="", problem="", last=now())
        stored = contest.stored

        def heard(found: dict[str, Any]) -> None:
            nonlocal stored
            stored = found.get("stored") or stored
            if "progress" in found:
                self._contests.note(contest.id, progress=found["progress"])

        began = asked = time.monotonic()
        ends = ""

        def interrupts() -> str:
            """Return why the contest is stopped, if it is: something comes first, or others take part by now."""
            nonlocal ends, asked
            if time.monotonic() - asked > LOOK:
                asked = time.monotonic()
                present = self._contests.count_wanted(contest.id)
                if present != contest.wanted:
                    ends = "others take part"
                elif asked - began > LEAST and self._bots.any_waiting():
                    ends = "bots wait to be checked"
            return ends

        job = {
            "kind": "hold",
            "plan": contest.plan.to_json(),
            "entries": entries,
            "store": os.fspath(self._settings.store),
            "label": contest.label,
            "workers": max(1, cores() - 1),
        }
        came_to = self._run(job, heard, interrupts)
        found: dict[str, Any] = {"running": False, "progress": "", "stored": stored}
        if came_to is not None and not ends:
            found |= {"held": contest.wanted, "problem": came_to}
        self._contests.note(contest.id, **found)

    def _run(
        self, job: dict[str, Any], heard: Callable[[dict[str, Any]], None], interrupts: Callable[[], str]
    ) -> str | None:
        """Let a process do a job, and hand on what it tells.

        Returns why it did not end, in words, or nothing if it did; None if the server ends, and nothing is known.
        """
        job |= {"isolation": str(self._settings.isolation)}
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "dicegym.web.enter.bot_child", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            start_new_session=True,
        )
        lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        reader = threading.Thread(target=_read, args=(process, lines), daemon=True)
        reader.start()
        done = False
        try:
            if process.stdin is not None:
                with contextlib.suppress(OSError):  # it has ended, which is noticed below
                    process.stdin.write(json.dumps(job) + "\n")
                    process.stdin.close()
            while True:
                if self._over.is_set():
                    return None
                if stopped := interrupts():
                    return stopped
                try:
                    line = lines.get(timeout=LOOK / 4)
                except queue.Empty:
                    continue
                if not line:
                    break
                found = json.loads(line)
                if "problem" in found:
                    return one_line(found["problem"], 1000)
                done |= "done" in found
                heard(found)
            return "" if done else f"its process ended ({process.wait(PATIENCE)}) before it was done"
        finally:
            _end(process)
            reader.join(PATIENCE)


def _read(process: subprocess.Popen[str], lines: queue.SimpleQueue[str]) -> None:
    """Put what a process tells into a queue, and an empty text at its end."""
    if process.stdout is not None:
        with process.stdout:
            while line := process.stdout.readline(LONGEST_LINE):
                lines.put(line)
    lines.put("")


def _end(process: subprocess.Popen[str]) -> None:
    """End a process, which has some time to store what it has."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
    process.wait()
