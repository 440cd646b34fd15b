"""What the pages on trainings answer."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from dicegym.errors import ParameterError
from dicegym.escape import one_line
from dicegym.web.context import Web
from dicegym.web.learn.operations import operations
from dicegym.web.learn.places import Trainings, trainings_of
from dicegym.web.learn.shown import compared, has_curve, seen_by, shown_run, summary
from dicegym.web.pages import page, web_of
from dicegym.web.section import Section

PER_PAGE = 50
"""Trainings that a page lists."""
MOST_COMPARED = 100
"""Trainings in one chart."""
UNCHANGED = 204
"""The status that tells a browser to leave its page as it is."""


def _list(request: Request) -> Response:
    """Answer with all trainings, those that run first."""
    trainings = trainings_of(web_of(request))
    runs = trainings.all()
    games = sorted({run.game for run in runs if run.game})
    game = request.query_params.get("game", "")
    chosen = [run for run in runs if game in ("", run.game)]
    number = _number(request.query_params.get("page", "1"))
    there = chosen[(number - 1) * PER_PAGE : number * PER_PAGE]
    seen = seen_by(there)
    if request.query_params.get("seen") == seen:
        return Response(status_code=UNCHANGED)
    return page(
        request,
        "learn/list.html",
        runs=[summary(run) for run in there],
        games=games,
        game=game,
        number=number,
        more=len(chosen) > number * PER_PAGE,
        total=len(chosen),
        running=sum(run.state == "running" for run in chosen),
        seen=seen,
        roots=[str(root) for root in trainings.roots],
    )


def _run(request: Request) -> Response:
    """Answer with one training."""
    run = trainings_of(web_of(request)).one(request.path_params["name"])
    seen = seen_by([run])
    if request.query_params.get("seen") == seen:
        return Response(status_code=UNCHANGED)
    return page(request, "learn/run.html", run=shown_run(run), seen=seen)


def _compare(request: Request) -> Response:
    """Answer with several trainings in one chart for each game; a folder stands for all trainings in it."""
    trainings = trainings_of(web_of(request))
    asked = request.query_params.getlist("run")
    chosen = _chosen(trainings, asked)
    choices = [run.name for run in trainings.all()][: 2 * MOST_COMPARED]
    runs = [trainings.one(name) for name in chosen]
    missing = [run.name for run in runs if not has_curve(run)]
    return page(
        request,
        "learn/compare.html",
        panels=compared(runs),
        chosen=chosen,
        choices=choices,
        asked=asked,
        missing=missing,
    )


def _chosen(trainings: Trainings, asked: Sequence[str]) -> list[str]:
    names = trainings.names()
    found: list[str] = []
    for one in asked:
        below = [name for name in names if name == one or name.startswith(f"{one}/")]
        if not below:
            raise ParameterError(f"there is no training {one_line(one, 80)!r}, and none in a folder of this name")
        found += below
    found = list(dict.fromkeys(found))
    if len(found) > MOST_COMPARED:
        raise ParameterError(f"{len(found)} trainings are too many for one chart: choose {MOST_COMPARED} at most")
    return found


def _number(text: str) -> int:
    return min(int(text[:9]), 1_000_000) if text.isdecimal() and text.isascii() and int(text[:9]) else 1


def _routes(web: Web) -> list[BaseRoute]:
    return [
        Route("/learn", _list),
        Route("/learn/compare", _compare),
        Route("/learn/run/{name:path}", _run),
    ]


SECTION = Section(
    "/learn",
    "Learn",
    "Watch trainings while they run: curves, games a second, the league, and their models to play against.",
    _routes,
    operations,
)
