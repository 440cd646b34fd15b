"""Operations to submit bots: tokens, bots, versions and contests. A bot's operations need its owner's token."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from dicegym.arena.running import format_named
from dicegym.errors import DicegymError, ParameterError
from dicegym.games import game as make_game
from dicegym.registry import GAMES
from dicegym.web.context import Web
from dicegym.web.enter.course_contests import GradeRow
from dicegym.web.enter.runner import SubmissionService
from dicegym.web.enter.submission_tables import Bot, Version, VersionState, WebContest
from dicegym.web.enter.tokens import SESSION
from dicegym.web.enter.uploads import LARGEST_UPLOAD, PASTED, Upload, check_file_name
from dicegym.web.pages import render_page, web_of
from dicegym.web.section import SEE_OTHER, PathNumber, QueryNumber, Section, for_programs, text_in


def _set_up(web: Web) -> None:
    web.get(SubmissionService)
    web.limits.bodies |= {"/enter/bots": LARGEST_UPLOAD + FORM_BYTES, "/api/enter/bots": LARGEST_UPLOAD}


SECTION = Section(
    "/enter",
    "Enter",
    "Submit a bot: it is checked, plays twenty games against each of our agents, and can enter contests.",
    _set_up,
)
TOKEN_COST = 300.0
FORM_BYTES = 64 << 10
"""Bytes of the upload form in addition to the file."""
COOKIE = "dicegym_session"
BOT = "/enter/bots/{bot:number}"
PLACE = BOT + "/contests/{contest:number}"
CONTEST = "/enter/contests/{contest:number}"


class VersionModel(BaseModel):
    """A version of a bot."""

    number: int
    made: str = Field(description="UTC, ISO 8601")
    file: str
    digest: str = Field(description="SHA-256 of the upload")
    state: str = Field(description="waiting, checking, playing, passed, refused or failed")
    over: bool = Field(description="whether the state is final")
    progress: str
    report: dict[str, Any] | None = Field(description="the result of the check")
    results: list[dict[str, Any]] | None = Field(description="results of the trial games, one object for each opponent")


class BotModel(BaseModel):
    """A bot, with its newest version."""

    id: int
    owner: str
    game: str
    name: str
    contests: list[int] = Field(description="ids of its contests")
    version: VersionModel


class BotList(BaseModel):
    """Your bots."""

    bots: list[BotModel]


class ContestModel(BaseModel):
    """A contest of the pages."""

    id: int
    name: str
    game: str
    open: bool = Field(validation_alias="is_open")
    until: str | None = Field(validation_alias="end")
    state: str
    plan: dict[str, Any] = Field(validation_alias="values")
    stored: int | None = Field(description="id of the contest with its standings, below /contests")


class ContestList(BaseModel):
    """All contests of the pages."""

    contests: list[ContestModel]


class ContestEntries(BaseModel):
    """A contest with its entries."""

    contest: ContestModel
    entries: list[GradeRow]


# --- tokens


def service_of(request: Request) -> SubmissionService:
    """Return the submission service of a request's server."""
    return web_of(request).get(SubmissionService)


def holder_of(request: Request) -> str | None:
    """Return the owner of a request's token, from its header or session cookie; None without a valid one."""
    tokens, given = service_of(request).tokens, request.headers.get("authorization")
    if given is not None:
        scheme, _, token = given.partition(" ")
        return tokens.holder(token.strip()) if scheme.lower() == "bearer" else None
    shown = request.cookies.get(COOKIE)
    return tokens.of_session(shown) if shown else None


def need_holder(request: Request) -> str:
    """Return the owner of a request's token. Raises HTTPException (401) without a valid one."""
    holder = holder_of(request)
    if holder is None:
        raise HTTPException(
            401,
            "this needs a token: enter yours at /enter, or send it as `Authorization: Bearer TOKEN`. The operator "
            "makes tokens by `dicegym web token add NAME`",
            {"WWW-Authenticate": "Bearer"},
        )
    return holder


def _view_entrance(
    request: Request, found: Any = None, problem: str = "", typed: FormData | None = None
) -> dict[str, Any]:
    service, holder = service_of(request), holder_of(request)
    contests = service.contests.all()
    return {
        "holder": holder,
        "mine": [] if holder is None else service.bots.of_owner(holder),
        "open_contests": [one for one in contests if one.is_open],
        "closed_contests": [one for one in contests if not one.is_open],
        "games": [make_game(name) for name in GAMES],
        "shut": service.shut,
        "problem": problem,
        "typed": {name: text_in(typed, name) for name in ("game", "name", "text")},
        "largest": LARGEST_UPLOAD >> 20,
    }


def _again(request: Request, form: FormData, error: DicegymError) -> Response:
    status = getattr(error, "status", 400)
    return render_page(request, "enter/entrance.html", status, **_view_entrance(request, None, str(error), form))


@SECTION.post("/enter/token")
def sign_in(request: Request) -> Response:
    """Log a browser in with a token."""
    web_of(request).limits.pay(request, TOKEN_COST)
    shown = service_of(request).tokens.begin_session(text_in(request.state.form, "token"))
    if shown is None:
        wrong = "no token like this is valid: copy all of it, or ask the operator for a new one"
        return render_page(request, "enter/entrance.html", 401, **_view_entrance(request, None, wrong))
    response = RedirectResponse("/enter", SEE_OTHER)
    seconds, secure = round(SESSION.total_seconds()), request.url.scheme == "https"
    response.set_cookie(COOKIE, shown, max_age=seconds, httponly=True, samesite="lax", secure=secure)
    return response


@SECTION.post("/enter/leave")
def sign_out(request: Request) -> Response:
    """Log a browser out."""
    if shown := request.cookies.get(COOKIE):
        service_of(request).tokens.end_session(shown)
    response = RedirectResponse("/enter", SEE_OTHER)
    response.delete_cookie(COOKIE, httponly=True, samesite="lax")
    return response


# --- bots


def _describe(service: SubmissionService, version: Version) -> dict[str, Any]:
    """Return a bot with its contests and a version."""
    bot = version.bot
    about = {"id": bot.id, "owner": bot.owner, "game": bot.game, "name": bot.name}
    return {**about, "bot": bot, "contests": [one.id for one in service.contests.of_bot(bot.id)], "version": version}


def _own(request: Request, bot: int) -> tuple[SubmissionService, Bot]:
    """Return the service, and a bot that belongs to the request's owner."""
    service = service_of(request)
    return service, service.bots.bot(bot, need_holder(request))


@SECTION.get(
    "/enter", api="/enter/bots", template="enter/entrance.html", view=_view_entrance, returns=BotList, token=True
)
def list_bots(request: Request) -> dict[str, Any]:
    """List your bots."""
    if not for_programs(request):
        return {}
    service, holder = service_of(request), need_holder(request)
    return {"bots": [_describe(service, version) for version in service.bots.of_owner(holder)]}


@SECTION.post("/enter/bots", to="/enter/bots/{0[id]}", again=_again)
def hand_in_form(request: Request) -> dict[str, Any]:
    """Submit a bot, or a new version of one, by a form with a file or a pasted text."""
    form = request.state.form
    need_holder(request)
    upload = _upload_in(form)
    name = text_in(form, "name") or ("" if upload.file == PASTED else PurePath(upload.file).stem)
    return _submit(request, text_in(form, "game"), name, upload)


@SECTION.post(
    api="/enter/bots",
    returns=BotModel,
    status=201,
    token=True,
    extra={"requestBody": {"required": True, "content": {"application/octet-stream": {}}}},
)
async def hand_in(request: Request, game: str, name: str, file: str = "bot.py") -> dict[str, Any]:
    """Submit a bot, or a new version of one; the body is the file."""
    return await run_in_threadpool(_submit, request, game, name, Upload(file, await request.body()))


def _submit(request: Request, game: str, name: str, upload: Upload) -> dict[str, Any]:
    service, holder = service_of(request), need_holder(request)
    if service.shut:
        raise HTTPException(503, service.shut)
    check_file_name(upload.file)
    version = service.bots.submit(holder, make_game(game), name, upload)
    return _describe(service, version)


def _upload_in(form: FormData) -> Upload:
    """Return the upload in a form. Raises ParameterError unless there is either a file or a text."""
    file, pasted = form.get("file"), form.get("text")
    data = file.file.read(LARGEST_UPLOAD + 1) if isinstance(file, UploadFile) and file.filename else b""
    text = pasted if isinstance(pasted, str) and pasted.strip() else ""
    if bool(data) == bool(text):
        raise ParameterError(
            "the form has a file and a text: leave one out" if data else "the form has no file and no text: give one"
        )
    if data and isinstance(file, UploadFile):
        return Upload(PurePath((file.filename or "").replace("\\", "/")).name, data)
    return Upload(PASTED, text.replace("\r\n", "\n").encode("utf-8", "replace"))


def _view_bot(request: Request, found: dict[str, Any]) -> dict[str, Any]:
    service, bot, version = service_of(request), found["bot"], found["version"]
    versions, inside = service.bots.versions(bot.id), set(found["contests"])
    return found | {
        "tried": version,
        "versions": versions,
        "passed": any(one.state == VersionState.PASSED for one in versions),
        "ahead": 0 if version.over else service.bots.ahead_of(version),
        "contests": service.contests.of_bot(bot.id),
        "may_enter": [
            one for one in service.contests.all() if one.game == bot.game and one.is_open and one.id not in inside
        ],
        "title": make_game(bot.game).spec.title,
    }


@SECTION.get(BOT, api=BOT, template="enter/bot.html", view=_view_bot, returns=BotModel, token=True)
def show_bot(request: Request, bot: PathNumber, version: QueryNumber = None) -> dict[str, Any]:
    """Show a version of a bot with its check and trial games, by default the newest."""
    service, found = _own(request, bot)
    return _describe(service, service.bots.version(found.id, version))


@SECTION.operation("DELETE", BOT + "/remove", api=BOT, to="/enter", returns=BotList, token=True)
def remove_bot(request: Request, bot: PathNumber) -> dict[str, Any]:
    """Remove a bot with all its versions, and list the others."""
    service, found = _own(request, bot)
    if not for_programs(request) and text_in(request.state.form, "sure") != "yes":
        raise ParameterError("removing a bot cannot be undone: tick the box beside the button first")
    service.bots.remove(found.id)
    return list_bots(request)


@SECTION.operation("PUT", PLACE + "/enter", api=PLACE, to="/enter/bots/{0[id]}", returns=BotModel, token=True)
def enter_contest(request: Request, bot: PathNumber, contest: PathNumber) -> dict[str, Any]:
    """Enter a bot in a contest."""
    service, found = _own(request, bot)
    service.contests.enter(contest, found)
    return _describe(service, service.bots.version(bot))


@SECTION.operation("DELETE", PLACE + "/withdraw", api=PLACE, to="/enter/bots/{0[id]}", returns=BotModel, token=True)
def withdraw(request: Request, bot: PathNumber, contest: PathNumber) -> dict[str, Any]:
    """Take a bot out of a contest."""
    service, found = _own(request, bot)
    service.contests.withdraw(contest, found.id)
    return _describe(service, service.bots.version(bot))


# --- contests


@SECTION.get(api="/enter/contests", returns=ContestList)
def list_open_contests(request: Request) -> dict[str, Any]:
    """List the contests of the pages."""
    return {"contests": service_of(request).contests.all()}


def _view_contest(request: Request, found: dict[str, Any]) -> dict[str, Any]:
    contest: WebContest = found["contest"]
    game = make_game(contest.game)
    form = format_named(contest.plan.format or game.spec.contest).title
    return found | {"holder": holder_of(request), "game": game, "format": form}


@SECTION.get(CONTEST, api=CONTEST, template="enter/contest.html", view=_view_contest, returns=ContestEntries)
def show_open_contest(request: Request, contest: PathNumber) -> dict[str, Any]:
    """Show a contest of the pages with its entries."""
    contests = service_of(request).contests
    found = contests.contest(contest)
    with web_of(request).store() as reader:
        kept = [] if reader is None else [one.id for one in reader.contests(found.game) if one.label == found.label]
        return {
            "contest": found,
            "entries": contests.grades(found, reader),
            "kept": found.stored or max(kept, default=0),
        }
