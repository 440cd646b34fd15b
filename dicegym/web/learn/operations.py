"""What programs may ask about trainings."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from dicegym.learning.runs import WatchedRun
from dicegym.web.api import Operation, query_of
from dicegym.web.context import Web
from dicegym.web.learn.places import trainings_of
from dicegym.web.pages import web_of


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
    low: float | None = Field(description="of the 95 % interval, where it is known")
    high: float | None
    games: int = Field(description="0: exact")


class RunPace(BaseModel):
    """How far a training was."""

    seconds: float
    steps: int
    games: int


class RunDetails(RunLine):
    """A training with all that it has noted."""

    command: list[str]
    settings: dict[str, dict[str, object]]
    evaluations: list[RunEvaluation]
    pace: list[RunPace]


class RunAsked(BaseModel):
    """Which training is asked for."""

    name: str = Field(description="as the list of trainings has it")


def operations(web: Web) -> Sequence[Operation]:
    """Return what programs may ask."""
    return (
        Operation("GET", "/runs", "Trainings, those that run first", _list, RunList, tag="trainings"),
        Operation(
            "GET",
            "/run",
            "A training with its curve, pace and settings",
            _one,
            RunDetails,
            None,
            RunAsked,
            tag="trainings",
        ),
    )


async def _list(request: Request) -> BaseModel:
    runs = await run_in_threadpool(trainings_of(web_of(request)).all)
    return RunList(runs=[RunLine.model_validate(_line(run)) for run in runs])


async def _one(request: Request) -> BaseModel:
    run = await run_in_threadpool(trainings_of(web_of(request)).one, query_of(request, RunAsked).name)
    evaluations = [
        RunEvaluation(
            steps=one.steps,
            opponent=score.opponent,
            measure=score.measure,
            value=score.value,
            low=_finite(score.low),
            high=_finite(score.high),
            games=score.games,
        )
        for one in run.evaluations
        for score in one.scores
    ]
    pace = [RunPace(**one._asdict()) for one in run.pace]
    more = {"command": run.command, "settings": run.settings, "evaluations": evaluations, "pace": pace}
    return RunDetails.model_validate(_line(run) | more)


def _line(run: WatchedRun) -> dict[str, object]:
    return {
        "name": run.name,
        "state": run.state,
        "game": run.game,
        "steps": run.steps,
        "of_steps": run.of_steps,
        "seconds": run.seconds,
        "games_a_second": run.games_a_second,
        "problem": run.problem,
    }


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
