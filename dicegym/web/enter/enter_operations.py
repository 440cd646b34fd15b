"""Handing bots in: tokens, bots, what becomes of each version, and contests. What is somebody's needs its token."""

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
from dicegym.web.door import SEEN, Door, PathNumber, QueryNumber, for_programs, text_in
from dicegym.web.enter.course_contests import GradeRow
from dicegym.web.enter.runner import EnteringRoom
from dicegym.web.enter.submission_tables import Bot, Version, VersionState, WebContest
from dicegym.web.enter.tokens import SESSION
from dicegym.web.enter.uploads import LARGEST_UPLOAD, PASTED, Upload, check_file_name
from dicegym.web.pages import page, web_of


def _set_up(web: Web) -> None:
    web.get(EnteringRoom)
    web.limits.bodies |= {"/enter/bots": LARGEST_UPLOAD + ROOM, "/api/enter/bots": LARGEST_UPLOAD}


DOOR = Door(
    "/enter",
    "Enter",
    "Hand a bot in: it is checked, plays twenty games against each of our agents, and takes a place in a contest.",
    _set_up,
)
TOKENS = 300.0
"""As many requests as a token that is entered counts for."""
ROOM = 64 << 10
"""Bytes of a form beside its file."""
COOKIE = "dicegym_session"
BOT = "/enter/bots/{bot:number}"
PLACE = BOT + "/contests/{contest:number}"
CONTEST = "/enter/contests/{contest:number}"


class VersionModel(BaseModel):
    """A version of a bot."""

    number: int
    made: str = Field(description="UTC, ISO 8601")
    file: str
    digest: str = Field(description="SHA-256 of what was handed in")
    state: str = Field(description="waiting, checking, playing, passed, refused or failed")
    over: bool = Field(description="whether the state is final")
    progress: str
    report: dict[str, Any] | None = Field(description="the result of the check")
    results: list[dict[str, Any]] | None = Field(description="results of the trial games, by opponent")


class BotModel(BaseModel):
    """A bot, with its newest version."""

    id: int
    owner: str
    game: str
    name: str
    contests: list[int] = Field(description="numbers of the contests in which it takes part")
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
    stored: int | None = Field(description="its number in the store, where its standings are")


class ContestList(BaseModel):
    """All contests of the pages."""

    contests: list[ContestModel]


class ContestEntries(BaseModel):
    """A contest with its entries."""

    contest: ContestModel
    entries: list[GradeRow]


# --- tokens


def room_of(request: Request) -> EnteringRoom:
    """Return the room of the server that a request was sent to."""
    return web_of(request).get(EnteringRoom)


def holder_of(request: Request) -> str | None:
    """Return whose token a request shows, by a header or by the cookie of its session; None for no valid one."""
    tokens, given = room_of(request).tokens, request.headers.get("authorization")
    if given is not None:
        scheme, _, token = given.partition(" ")
        return tokens.holder(token.strip()) if scheme.lower() == "bearer" else None
    shown = request.cookies.get(COOKIE)
    return tokens.of_session(shown) if shown else None


def need_holder(request: Request) -> str:
    """Return whose token a request shows. Raises HTTPException (401) if it shows no valid one."""
    holder = holder_of(request)
    if holder is None:
        raise HTTPException(
            401,
            "this needs a token: enter yours at /enter, or send it as `Authorization: Bearer TOKEN`; the operator of "
            "these pages makes one by `dicegym web token add NAME`",
            {"WWW-Authenticate": "Bearer"},
        )
    return holder


def _view_entrance(
    request: Request, found: Any = None, problem: str = "", typed: FormData | None = None
) -> dict[str, Any]:
    room, holder = room_of(request), holder_of(request)
    contests = room.contests.all()
    return {
        "holder": holder,
        "mine": [] if holder is None else room.bots.of_owner(holder),
        "open_contests": [one for one in contests if one.is_open],
        "closed_contests": [one for one in contests if not one.is_open],
        "games": [make_game(name) for name in GAMES],
        "shut": room.shut,
        "problem": problem,
        "typed": {name: text_in(typed, name) for name in ("game", "name", "text")},
        "largest": LARGEST_UPLOAD >> 20,
    }


def _again(request: Request, form: FormData, error: DicegymError) -> Response:
    status = getattr(error, "status", 400)
    return page(request, "enter/entrance.html", status, **_view_entrance(request, None, str(error), form))


@DOOR.post("/enter/token")
def sign_in(request: Request) -> Response:
    """Take a token, and know its holder in this browser from now on."""
    web_of(request).limits.pay(request, TOKENS)
    shown = room_of(request).tokens.begin_session(text_in(request.state.form, "token"))
    if shown is None:
        wrong = "there is no token like this, or it has expired: copy all of it, or ask for another one"
        return page(request, "enter/entrance.html", 401, **_view_entrance(request, None, wrong))
    response = RedirectResponse("/enter", SEEN)
    seconds, secure = round(SESSION.total_seconds()), request.url.scheme == "https"
    response.set_cookie(COOKIE, shown, max_age=seconds, httponly=True, samesite="lax", secure=secure)
    return response


@DOOR.post("/enter/leave")
def sign_out(request: Request) -> Response:
    """Forget whose token was entered in this browser."""
    if shown := request.cookies.get(COOKIE):
        room_of(request).tokens.end_session(shown)
    response = RedirectResponse("/enter", SEEN)
    response.delete_cookie(COOKIE, httponly=True, samesite="lax")
    return response


# --- bots


def _tell(room: EnteringRoom, version: Version) -> dict[str, Any]:
    """Return a bot with its contests and a version."""
    bot = version.bot
    about = {"id": bot.id, "owner": bot.owner, "game": bot.game, "name": bot.name}
    return {**about, "bot": bot, "contests": [one.id for one in room.contests.of_bot(bot.id)], "version": version}


def _own(request: Request, bot: int) -> tuple[EnteringRoom, Bot]:
    """Return a bot that its owner asks for."""
    room = room_of(request)
    return room, room.bots.bot(bot, need_holder(request))


@DOOR.get("/enter", api="/enter/bots", template="enter/entrance.html", view=_view_entrance, returns=BotList, token=True)
def list_bots(request: Request) -> dict[str, Any]:
    """List your bots."""
    if not for_programs(request):
        return {}
    room, holder = room_of(request), need_holder(request)
    return {"bots": [_tell(room, version) for version in room.bots.of_owner(holder)]}


@DOOR.post("/enter/bots", to="/enter/bots/{0[id]}", again=_again)
def hand_in_form(request: Request) -> dict[str, Any]:
    """Take a bot, or a new version of one, from a form: a file, or a text that was pasted."""
    form = request.state.form
    need_holder(request)
    upload = _upload_in(form)
    name = text_in(form, "name") or ("" if upload.file == PASTED else PurePath(upload.file).stem)
    return _hand_in(request, text_in(form, "game"), name, upload)


@DOOR.post(
    api="/enter/bots",
    returns=BotModel,
    status=201,
    token=True,
    extra={"requestBody": {"required": True, "content": {"application/octet-stream": {}}}},
)
async def hand_in(request: Request, game: str, name: str, file: str = "bot.py") -> dict[str, Any]:
    """Hand in a bot, or a version of one; the body is the file."""
    return await run_in_threadpool(_hand_in, request, game, name, Upload(file, await request.body()))


def _hand_in(request: Request, game: str, name: str, upload: Upload) -> dict[str, Any]:
    room, holder = room_of(request), need_holder(request)
    if room.shut:
        raise HTTPException(503, room.shut)
    check_file_name(upload.file)
    version = room.bots.hand_in(holder, make_game(game), name, upload)
    return _tell(room, version)


def _upload_in(form: FormData) -> Upload:
    """Return what is handed in. Raises ParameterError for nothing, or for a file and a text."""
    file, pasted = form.get("file"), form.get("text")
    data = file.file.read(LARGEST_UPLOAD + 1) if isinstance(file, UploadFile) and file.filename else b""
    text = pasted if isinstance(pasted, str) and pasted.strip() else ""
    if bool(data) == bool(text):
        both = "a file and a text: leave one of them out" if data else "no file and no text: choose one, or paste it"
        raise ParameterError(f"there is {both}")
    if data and isinstance(file, UploadFile):
        return Upload(PurePath((file.filename or "").replace("\\", "/")).name, data)
    return Upload(PASTED, text.replace("\r\n", "\n").encode("utf-8", "replace"))


def _view_bot(request: Request, found: dict[str, Any]) -> dict[str, Any]:
    room, bot, version = room_of(request), found["bot"], found["version"]
    versions, inside = room.bots.versions(bot.id), set(found["contests"])
    return found | {
        "tried": version,
        "versions": versions,
        "passed": any(one.state == VersionState.PASSED for one in versions),
        "ahead": 0 if version.over else room.bots.ahead_of(version),
        "contests": room.contests.of_bot(bot.id),
        "may_enter": [
            one for one in room.contests.all() if one.game == bot.game and one.is_open and one.id not in inside
        ],
        "title": make_game(bot.game).spec.title,
    }


@DOOR.get(BOT, api=BOT, template="enter/bot.html", view=_view_bot, returns=BotModel, token=True)
def show_bot(request: Request, bot: PathNumber, version: QueryNumber = None) -> dict[str, Any]:
    """Show what became of a version of a bot, the newest unless another one is asked for."""
    room, found = _own(request, bot)
    return _tell(room, room.bots.version(found.id, version))


@DOOR.operation("DELETE", BOT + "/remove", api=BOT, to="/enter", returns=BotList, token=True)
def remove_bot(request: Request, bot: PathNumber) -> dict[str, Any]:
    """Remove a bot with all its versions; the others are left."""
    room, found = _own(request, bot)
    if not for_programs(request) and text_in(request.state.form, "sure") != "yes":
        raise ParameterError("a bot that is removed does not come back: tick the box beside the button first")
    room.bots.remove(found.id)
    return list_bots(request)


@DOOR.operation("PUT", PLACE + "/enter", api=PLACE, to="/enter/bots/{0[id]}", returns=BotModel, token=True)
def enter_contest(request: Request, bot: PathNumber, contest: PathNumber) -> dict[str, Any]:
    """Give a bot a place in a contest."""
    room, found = _own(request, bot)
    room.contests.enter(contest, found)
    return _tell(room, room.bots.version(bot))


@DOOR.operation("DELETE", PLACE + "/withdraw", api=PLACE, to="/enter/bots/{0[id]}", returns=BotModel, token=True)
def withdraw(request: Request, bot: PathNumber, contest: PathNumber) -> dict[str, Any]:
    """Take a bot out of a contest."""
    room, found = _own(request, bot)
    room.contests.withdraw(contest, found.id)
    return _tell(room, room.bots.version(bot))


# --- contests


@DOOR.get(api="/enter/contests", returns=ContestList)
def list_open_contests(request: Request) -> dict[str, Any]:
    """List the contests of the pages."""
    return {"contests": room_of(request).contests.all()}


def _view_contest(request: Request, found: dict[str, Any]) -> dict[str, Any]:
    contest: WebContest = found["contest"]
    game = make_game(contest.game)
    form = format_named(contest.plan.format or game.spec.contest).title
    return found | {"holder": holder_of(request), "game": game, "format": form}


@DOOR.get(CONTEST, api=CONTEST, template="enter/contest.html", view=_view_contest, returns=ContestEntries)
def show_open_contest(request: Request, contest: PathNumber) -> dict[str, Any]:
    """Show a contest of the pages with its entries."""
    contests = room_of(request).contests
    found = contests.contest(contest)
    with web_of(request).store() as reader:
        kept = [] if reader is None else [one.id for one in reader.contests(found.game) if one.label == found.label]
        return {
            "contest": found,
            "entries": contests.grades(found, reader),
            "kept": found.stored or max(kept, default=0),
        }
