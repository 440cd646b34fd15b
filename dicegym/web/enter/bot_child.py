"""The process in which a bot is tried out, or a contest runs: ``python -m dicegym.web.enter.bot_child PARENT``.

It reads one job, as JSON, from its standard input, and writes what it finds to its standard output, a line of JSON for
each piece. It gives way to everything else on the machine, and ends with the server that has started it. Bots run in
jails of their own, as in every contest; nothing of theirs runs here.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dicegym.arena import Named, contest
from dicegym.arena.storage import Storage
from dicegym.errors import DicegymError
from dicegym.games import game as make_game
from dicegym.sandbox.confinement import end_with
from dicegym.signals import as_interrupts, status_of
from dicegym.web.enter.plans import ContestPlan
from dicegym.web.enter.trials import TellTrial, try_out

NICE = 15
"""How much it gives way."""
PAUSE = 0.5
"""Seconds between two words on how far it is."""


def hold(job: Mapping[str, Any], tell: TellTrial) -> None:
    """Run a contest of the pages; ``tell`` takes ``{"progress": words}`` and at last ``{"stored": number}``."""
    plan = ContestPlan(**job["plan"])
    told = 0.0

    def progress(done: int, total: int, what: str) -> None:
        nonlocal told
        if time.monotonic() - told >= PAUSE:
            told = time.monotonic()
            tell({"progress": f"{done:,} of {total:,} checks and matches" if total else f"{done:,} checks and matches"})

    result = contest(
        plan.table,
        [*(Named(name, path) for name, path in job["entries"]), *plan.agents],
        None,
        job["workers"],
        progress,
        plan.limits,
        format=plan.format,
        games=plan.games,
        seeds=plan.seeds,
        rounds=plan.rounds,
        less_luck=plan.less_luck,
        players=plan.players,
        isolation=job["isolation"],
        store=Storage(job["store"], label=job["label"]),
    )
    tell({"stored": result.stored.contest if result.stored else None})


def run(job: Mapping[str, Any], tell: TellTrial) -> None:
    """Do a job of either kind; what a user could do something about is told as ``{"problem": words}``."""
    try:
        if job["kind"] == "hold":
            hold(job, tell)
        else:
            try_out(make_game(job["game"]), Path(job["folder"]), job["name"], job["isolation"], tell)
    except DicegymError as error:
        tell({"problem": str(error)})


def main() -> int:
    """Do the job that stands on the standard input; return the exit status."""
    end_with(int(sys.argv[1]))
    with contextlib.suppress(OSError):
        os.nice(NICE)
    job = json.loads(sys.stdin.readline())
    told = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever prints here by mistake mixes with nothing

    def tell(found: dict[str, Any]) -> None:
        told.write(json.dumps(found) + "\n")
        told.flush()

    try:
        with as_interrupts():
            run(job, tell)
    except KeyboardInterrupt as end:
        return status_of(end)
    tell({"done": True})
    return 0


if __name__ == "__main__":
    sys.exit(main())
