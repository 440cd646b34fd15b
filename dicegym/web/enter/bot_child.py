"""The process that checks a bot or runs a contest: ``python -m dicegym.web.enter.bot_child``.

It reads its job as JSON from standard input, and writes the results into the tables of the pages. It runs at low
priority, and ends with the server that started it. Bots run in processes of their own, as in every contest.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from pathlib import Path

from dicegym.arena import Named, contest
from dicegym.arena.storage import Storage
from dicegym.engine.threads import cores
from dicegym.errors import DicegymError, ParameterError
from dicegym.sandbox.confinement import end_with
from dicegym.signals import as_interrupts, status_of
from dicegym.web.enter.bots import Bots
from dicegym.web.enter.course_contests import WebContests
from dicegym.web.enter.submission_tables import SubmissionStore, now
from dicegym.web.enter.trials import try_out
from dicegym.web.enter.uploads import bot_in

NICENESS = 15
NOTE_SECONDS = 0.5
"""Least seconds between two notes of progress."""
FEWEST_ENTRIES = 2


def run_contest(contests: WebContests, bots: Bots, number: int, store: str, isolation: str) -> None:
    """Run a contest of the pages; note its progress and result."""
    found = contests.contest(number)
    plan, noted = found.plan, 0.0
    entries = [  # all have passed their checks
        Named(bot.called, str(bot_in(plan.table, bots.folder(version.id))[0]))
        for bot, version in contests.taking_part(found)
        if version is not None
    ]
    contests.note(number, running=True, progress="", problem="", last=now())

    def progress(done: int, total: int, what: str) -> None:
        nonlocal noted
        if time.monotonic() - noted >= NOTE_SECONDS:
            noted = time.monotonic()
            words = f"{done:,} of {total:,} checks and matches" if total else f"{done:,} checks and matches"
            contests.note(number, progress=words)

    try:
        if len(entries) + len(plan.agents) < FEWEST_ENTRIES:
            raise ParameterError(f"it needs at least {FEWEST_ENTRIES} bots, our agents included")
        result = contest(
            plan.table,
            [*entries, *plan.agents],
            None,
            max(1, cores() - 1),
            progress,
            plan.limits,
            format=plan.format,
            isolation=isolation,
            store=Storage(store, label=found.label),
            **plan.options,
        )
    except DicegymError as error:
        contests.note(number, held=found.wanted, problem=str(error))
        return
    contests.note(number, held=found.wanted, stored=result.stored.contest if result.stored else None)


def main() -> int:
    """Do the job on standard input; return the exit status."""
    job = json.loads(sys.stdin.readline())
    end_with(job["parent"])
    with contextlib.suppress(OSError):
        os.nice(NICENESS)
    try:
        with as_interrupts(), SubmissionStore(Path(job["folder"])) as store:
            bots = Bots(store)
            if job["kind"] == "contest":
                run_contest(WebContests(store), bots, job["number"], job["store"], job["isolation"])
                return 0
            try:
                try_out(bots, job["number"], job["isolation"])
            except DicegymError as error:
                bots.give_up(job["number"], str(error))
    except KeyboardInterrupt as end:
        return status_of(end)
    return 0


if __name__ == "__main__":
    sys.exit(main())
