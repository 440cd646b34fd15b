"""Contests of the pages: the entries of each and its progress; and, for operators, how one is made and closed."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from dicegym.arena.running import FORMATS, format_named
from dicegym.errors import DicegymError, ParameterError
from dicegym.games import game as make_game
from dicegym.players.roster import agent_names
from dicegym.registry import GAMES
from dicegym.web.door import PathNumber, text_in
from dicegym.web.enter.course_contests import OpenContest
from dicegym.web.enter.course_grades import GradeRow, as_csv, grade_rows
from dicegym.web.enter.enter_operations import DOOR, need_sure, room_of
from dicegym.web.enter.plans import ContestPlan
from dicegym.web.pages import page, web_of
from dicegym.web.rights import holder_of, is_operator, need_operator

CONTEST = "/enter/contests/{contest:number}"


class ContestModel(BaseModel):
    """A contest of the pages."""

    id: int
    name: str
    game: str
    open: bool
    until: str | None
    state: str
    plan: dict[str, Any]
    stored: int | None = Field(description="its number in the store, where its standings are")


class ContestList(BaseModel):
    """All contests of the pages."""

    contests: list[ContestModel]


class RankedBot(BaseModel):
    """The result of a bot in a contest."""

    owner: str
    bot: str
    version: int | None
    place: int | None
    of: int
    matches: int
    games: int
    games_won: int
    share: float | None
    faults: int
    disqualified: str


class ContestResultModel(ContestModel):
    """A contest with its entries."""

    entries: list[RankedBot]


def _split(given: Any) -> Any:
    """Return words that may be separated by commas or spaces."""
    return [word for one in given for word in str(one).replace(",", " ").split()] if isinstance(given, list) else given


def _parse_parameters(given: Any) -> Any:
    """Return ``goal=50 sides=6`` as a mapping."""
    if not isinstance(given, str):
        return given
    pairs = [word.partition("=") for word in given.replace(",", " ").split()]
    return {name: value for name, _, value in pairs}


class NewContest(BaseModel):
    """A contest that an operator opens; empty fields are as usual."""

    name: str = ""
    game: str
    until: str = Field("", description="when it closes: 2030-12-24, or 14 days; empty: when an operator closes it")
    agents: Annotated[list[str], BeforeValidator(_split)] = Field([], description="agents that take part")
    format: str | None = None
    games: int | None = Field(None, description="of a match")
    seeds: int = Field(1, description="how often each match is played")
    rounds: int | None = None
    players: int | None = Field(None, description="seats at a table")
    less_luck: bool = Field(False, description="use luck-adjusted results")
    parameters: Annotated[dict[str, int], BeforeValidator(_parse_parameters)] = {}
    seconds: float = Field(10.0, description="of processor time, of a bot for all its moves of a match")
    memory: int = Field(512, description="of a bot, MiB")


def _tell(one: OpenContest) -> dict[str, Any]:
    return one._asdict() | {"open": one.is_open, "until": one.end, "state": one.state, "plan": one.plan.to_json()}


@DOOR.get(api="/enter/contests", returns=ContestList)
def list_open_contests(request: Request) -> dict[str, Any]:
    """List the contests of the pages."""
    return {"contests": [_tell(one) for one in room_of(request).contests.all()]}


def _view_contest(request: Request, found: dict[str, Any]) -> dict[str, Any]:
    contest: OpenContest = found["contest"]
    game, bots = make_game(contest.game), room_of(request).contests.taking_part(contest)
    return {
        "contest": contest,
        "rows": found["entries"],
        "holder": holder_of(request),
        "operates": is_operator(request),
        "game": game,
        "format": format_named(contest.plan.format or game.spec.contest).title,
        "numbers": {(one.bot.owner, one.bot.name): one.bot.id for one in bots},
    }


@DOOR.get(CONTEST, api=CONTEST, template="enter/contest.html", view=_view_contest, returns=ContestResultModel)
def show_open_contest(request: Request, contest: PathNumber) -> dict[str, Any]:
    """Show a contest of the pages with its entries."""
    found = room_of(request).contests.contest(contest)
    return _tell(found) | {"entries": _grade(request, found), "contest": found}


def _grade(request: Request, contest: OpenContest) -> list[GradeRow]:
    with web_of(request).store() as reader:
        return grade_rows(contest, room_of(request).contests.taking_part(contest), reader)


def _view_new(request: Request, found: Any = None, problem: str = "", typed: FormData | None = None) -> dict[str, Any]:
    games = [make_game(name) for name in GAMES]
    return {
        "games": games,
        "agents": {game.name: list(agent_names(game)) for game in games},
        "formats": list(FORMATS.values()),
        "problem": problem,
        "typed": {name: text_in(typed, name) for name in NewContest.model_fields},
    }


def _again(request: Request, form: FormData, error: DicegymError) -> Response:
    status = getattr(error, "status", 400)
    return page(request, "enter/new_contest.html", status, **_view_new(request, None, str(error), form))


@DOOR.get("/enter/contests/new", template="enter/new_contest.html", view=_view_new)
def describe_contest(request: Request) -> None:
    """Show an operator the form of a new contest."""
    need_operator(request)


@DOOR.post(
    "/enter/contests",
    api="/enter/contests",
    to="/enter/contests/{0[id]}",
    again=_again,
    returns=ContestModel,
    status=201,
    token=True,
)
def open_contest(request: Request, wanted: NewContest) -> dict[str, Any]:
    """Open a contest, as an operator."""
    room, operator = room_of(request), need_operator(request)
    values = wanted.model_dump(exclude={"name", "until"})
    try:
        made = room.contests.add(wanted.name, ContestPlan(**values), operator, wanted.until or None)
    except TypeError as error:  # a parameter that is called like an argument of ours
        raise ParameterError(f"{wanted.game} cannot be played so: {error}") from None
    room.runner.wake()
    return _tell(made)


@DOOR.post(CONTEST + "/close", to="/enter/contests/{0}")
def close_contest(request: Request, contest: PathNumber) -> int:
    """Close a contest."""
    need_operator(request)
    contests = room_of(request).contests
    contests.close(contests.contest(contest).id)
    return contest


@DOOR.post(CONTEST + "/remove", to="/enter")
def remove_contest(request: Request, contest: PathNumber) -> None:
    """Remove a contest from these pages."""
    need_operator(request)
    need_sure(request, "a contest")
    contests = room_of(request).contests
    contests.remove(contests.contest(contest).id)


@DOOR.get(CONTEST + "/grades.csv")
def download_grades(request: Request, contest: PathNumber) -> Response:
    """Hand out the results of a contest as CSV."""
    need_operator(request)
    found = room_of(request).contests.contest(contest)
    headers = {"Content-Disposition": f'attachment; filename="contest-{found.id}.csv"'}
    return Response(as_csv(_grade(request, found)), media_type="text/csv; charset=utf-8", headers=headers)
