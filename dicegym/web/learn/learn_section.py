"""Trainings as pages: the list, and each while it runs."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from dicegym.web.door import Door, QueryNumber
from dicegym.web.learn.run_folders import Trainings
from dicegym.web.learn.run_views import describe_run, digest_runs, summary
from dicegym.web.pages import web_of

PER_PAGE = 50
"""Trainings that a page lists."""
UNCHANGED = 204
"""The status that tells a browser to leave its page as it is."""
DOOR = Door(
    "/learn",
    "Learn",
    "Watch trainings while they run: curves, games a second, the league, and their models to play against.",
)


@DOOR.get("/learn", template="learn/list.html")
def list_runs(request: Request, game: str = "", page: QueryNumber = None, seen: str = "") -> dict[str, Any] | Response:
    """List the trainings, those that run first."""
    trainings, number = web_of(request).get(Trainings), page or 1
    runs = trainings.all()
    chosen = [run for run in runs if game in ("", run.game)]
    there = chosen[(number - 1) * PER_PAGE : number * PER_PAGE]
    digest = digest_runs(there)
    if seen == digest:
        return Response(status_code=UNCHANGED)
    return {
        "runs": [summary(run) for run in there],
        "games": sorted({run.game for run in runs if run.game}),
        "game": game,
        "number": number,
        "more": len(chosen) > number * PER_PAGE,
        "total": len(chosen),
        "running": sum(run.state == "running" for run in chosen),
        "seen": digest,
        "roots": [str(root) for root in trainings.roots],
    }


@DOOR.get("/learn/run/{name:path}", template="learn/run.html")
def show_run(request: Request, name: str, seen: str = "") -> dict[str, Any] | Response:
    """Show a training with its curve, pace and settings."""
    run = web_of(request).get(Trainings).one(name)
    digest = digest_runs([run])
    return Response(status_code=UNCHANGED) if seen == digest else {"run": describe_run(run), "seen": digest}
