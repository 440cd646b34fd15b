"""Pages of contests: who takes part and how far they are; and, for operators, how they are made and closed."""

from __future__ import annotations

from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from dicegym.arena.contest import FORMATS, format_named
from dicegym.errors import ParameterError
from dicegym.games import game as make_game
from dicegym.players.roster import agent_names
from dicegym.registry import GAMES
from dicegym.web.enter.contests import OpenContest
from dicegym.web.enter.forms import plan_in, posted, text_in
from dicegym.web.enter.grades import as_csv, grade_rows
from dicegym.web.enter.pages import to
from dicegym.web.enter.room import EnteringRoom, room_of
from dicegym.web.enter.visitors import holder_of, may_operate, needed_operator
from dicegym.web.pages import page, web_of

FIELDS = (
    "name", "game", "format", "games", "seeds", "rounds", "players", "exact", "less_luck",
    "parameters", "agents", "seconds", "memory", "until",
)  # fmt: skip
"""What stands in the form of a new contest."""


def routes() -> list[BaseRoute]:
    """Return what answers."""
    one = "/enter/contests/{contest:number}"
    return [
        Route("/enter/contests/new", new),
        Route("/enter/contests", posted(make), methods=["POST"]),
        Route(one, contest_page),
        Route(f"{one}/grades.csv", grades),
        Route(f"{one}/close", posted(close), methods=["POST"]),
        Route(f"{one}/remove", posted(remove), methods=["POST"]),
    ]


def _room(request: Request) -> EnteringRoom:
    return room_of(web_of(request))


def _asked(request: Request) -> OpenContest:
    return _room(request).contests.contest(request.path_params["contest"])


def contest_page(request: Request) -> Response:
    """Show who takes part in a contest, and how far it is."""
    room, contest, holder = _room(request), _asked(request), holder_of(request)
    taking_part = room.contests.taking_part(contest)
    with web_of(request).store() as reader:
        rows = grade_rows(contest, taking_part, reader)
    values: dict[str, Any] = {
        "contest": contest,
        "rows": rows,
        "holder": holder,
        "operates": may_operate(request),
        "game": make_game(contest.game),
        "format": format_named(contest.plan.format or make_game(contest.game).spec.contest).title,
        "numbers": {(one.bot.owner, one.bot.name): one.bot.id for one in taking_part},
    }
    return page(request, "enter/contest.html", **values)


def new(request: Request) -> Response:
    """Ask an operator for a contest."""
    needed_operator(request)
    return _new(request)


def _new(request: Request, problem: str = "", typed: FormData | None = None, status: int = 200) -> Response:
    games = [make_game(name) for name in GAMES]
    values: dict[str, Any] = {
        "games": games,
        "agents": {game.name: list(agent_names(game)) for game in games},
        "formats": list(FORMATS.values()),
        "problem": problem,
        "typed": {name: text_in(typed, name) if typed else "" for name in FIELDS},
    }
    return page(request, "enter/new_contest.html", status, **values)


def make(request: Request, form: FormData) -> Response:
    """Make a contest."""
    room, operator = _room(request), needed_operator(request)
    try:
        made = room.contests.add(text_in(form, "name"), plan_in(form), operator, text_in(form, "until") or None)
    except (ParameterError, LookupError, TypeError) as error:
        return _new(request, str(error), form, 400)
    room.runner.wake()
    return to(f"/enter/contests/{made.id}")


def close(request: Request, form: FormData) -> Response:
    """Close a contest."""
    needed_operator(request)
    contest = _asked(request)
    _room(request).contests.close(contest.id)
    return to(f"/enter/contests/{contest.id}")


def remove(request: Request, form: FormData) -> Response:
    """Remove a contest from these pages."""
    needed_operator(request)
    if text_in(form, "sure") != "yes":
        raise ParameterError("a contest that is removed does not come back: tick the box beside the button first")
    _room(request).contests.remove(_asked(request).id)
    return to("/enter")


def grades(request: Request) -> Response:
    """Hand out what became of each who took part."""
    needed_operator(request)
    room, contest = _room(request), _asked(request)
    with web_of(request).store() as reader:
        rows = grade_rows(contest, room.contests.taking_part(contest), reader)
    headers = {"Content-Disposition": f'attachment; filename="contest-{contest.id}.csv"'}
    return Response(as_csv(rows), media_type="text/csv; charset=utf-8", headers=headers)
