"""What people and programs may ask about trainings."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field
from starlette.requests import Request
from starlette.responses import Response

from dicegym.learning.runs import WatchedRun
from dicegym.web.door import Door, Finite, QueryNumber
from dicegym.web.learn.run_folders import Trainings
from dicegym.web.learn.run_views import describe_run, digest_runs, summary
from dicegym.web.pages import web_of
from dicegym.web.section import Section

PER_PAGE = 50
"""Trainings that a page lists."""
UNCHANGED = 204
"""The status that tells a browser to leave its page as it is."""
DOOR = Door("trainings")


class RunLine(BaseModel):
    """A training, in short."""

    name: str = Field(description="by which it is asked for")
    state: str = Field(description="preparing, running, finished, interrupted or damaged")
    game: str
    steps: int = Field(description="decisions of the learner so far")
    of_steps: int
    seconds: float | None = Field(description="of training so far, where it is noted")
    games_a_second: float | None
    problem: str = Field(description="what cannot be read of it")


class RunList(BaseModel):
    """Trainings, those that run first."""

    runs: list[RunLine]


class RunEvaluation(BaseModel):
    """A result of the learner."""

    steps: int
    opponent: str
    measure: str
    value: float
    low: Finite = Field(description="of the 95 % interval, where it is known")
    high: Finite
    games: int = Field(description="0: exact")


class RunPace(BaseModel):
    """The progress of a training at one moment."""

    seconds: float
    steps: int
    games: int


def _list_scores(evaluations: Any) -> list[dict[str, Any]]:
    return [{"steps": one.steps, **score._asdict()} for one in evaluations for score in one.scores]


class RunDetails(RunLine):
    """A training with all that it has noted."""

    command: list[str]
    settings: dict[str, dict[str, object]]
    evaluations: Annotated[list[RunEvaluation], BeforeValidator(_list_scores)]
    pace: list[RunPace]


def _trainings(request: Request) -> Trainings:
    return web_of(request).get(Trainings)


def _view_list(request: Request, found: dict[str, Any]) -> dict[str, Any] | Response:
    runs, game, number = found["runs"], found["game"], found["number"]
    chosen = [run for run in runs if game in ("", run.game)]
    there = chosen[(number - 1) * PER_PAGE : number * PER_PAGE]
    seen = digest_runs(there)
    if request.query_params.get("seen") == seen:
        return Response(status_code=UNCHANGED)
    return {
        "runs": [summary(run) for run in there],
        "games": sorted({run.game for run in runs if run.game}),
        "game": game,
        "number": number,
        "more": len(chosen) > number * PER_PAGE,
        "total": len(chosen),
        "running": sum(run.state == "running" for run in chosen),
        "seen": seen,
        "roots": [str(root) for root in _trainings(request).roots],
    }


@DOOR.get("/learn", api="/runs", template="learn/list.html", view=_view_list, returns=RunList)
def list_runs(request: Request, game: str = "", page: QueryNumber = None) -> dict[str, Any]:
    """List the trainings, those that run first."""
    return {"runs": _trainings(request).all(), "game": game, "number": page or 1}


def _view_run(request: Request, run: WatchedRun) -> dict[str, Any] | Response:
    seen = digest_runs([run])
    if request.query_params.get("seen") == seen:
        return Response(status_code=UNCHANGED)
    return {"run": describe_run(run), "seen": seen}


@DOOR.get("/learn/run/{name:path}", api="/run", template="learn/run.html", view=_view_run, returns=RunDetails)
def show_run(request: Request, name: str) -> WatchedRun:
    """Show a training with its curve, pace and settings."""
    return _trainings(request).one(name)


SECTION = Section(
    "/learn",
    "Learn",
    "Watch trainings while they run: curves, games a second, the league, and their models to play against.",
    door=DOOR,
)
