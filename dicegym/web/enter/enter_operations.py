"""Handing bots in: tokens, bots, what becomes of each version, and its places in contests. All but tokens need one."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Any

from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from dicegym.arena.replay.stored_replays import find_replay
from dicegym.arena.store.reading import StoreReader
from dicegym.errors import DicegymError, ParameterError
from dicegym.games import game as make_game
from dicegym.registry import GAMES
from dicegym.web.door import SEEN, Door, PathNumber, QueryNumber, for_programs, text_in
from dicegym.web.enter.bots import BotVersion, HandedIn, VersionState
from dicegym.web.enter.room import EnteringRoom
from dicegym.web.enter.trials import STORE
from dicegym.web.enter.uploads import LARGEST_UPLOAD, PASTED, Upload, read_sent
from dicegym.web.pages import page, web_of
from dicegym.web.rights import forget, holder_of, is_operator, need_holder, remember
from dicegym.web.watch.replay_view import replay_page

DOOR = Door("enter")
TOKENS = 300.0
"""As many requests as a token that is entered counts for."""
ROOM = 64 << 10
"""Bytes of a form beside its file."""
BOT = "/enter/bots/{bot:number}"
PLACE = BOT + "/contests/{contest:number}"
_PLAIN_NAME = re.compile(r"\w[\w.-]{0,80}\.(py|zip)", re.ASCII)
"""A file name that is handed out again as it was sent."""


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


def room_of(request: Request) -> EnteringRoom:
    """Return the room of the server that a request was sent to."""
    return web_of(request).get(EnteringRoom)


def need_sure(request: Request, what: str) -> None:
    """Raise ParameterError unless the box beside a form's button was ticked; programs mean what they send."""
    if not for_programs(request) and text_in(request.state.form, "sure") != "yes":
        raise ParameterError(f"{what} that is removed does not come back: tick the box beside the button first")


def _tell(room: EnteringRoom, bot: HandedIn, version: BotVersion | None = None) -> dict[str, Any]:
    """Return a bot with its contests and a version (default: the newest)."""
    version = version or room.bots.version(bot.id)
    return {**bot._asdict(), "contests": [one.id for one in room.contests.of_bot(bot.id)], "version": version}


def _view_entrance(
    request: Request, found: Any = None, problem: str = "", typed: FormData | None = None
) -> dict[str, Any]:
    room, holder = room_of(request), holder_of(request)
    contests = room.contests.all()
    return {
        "holder": holder,
        "operates": is_operator(request),
        "mine": [] if holder is None else room.bots.of_owner(holder.name),
        "others": room.bots.of_owner(None) if holder is not None and holder.operator else [],
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


@DOOR.get("/enter", api="/enter/bots", template="enter/entrance.html", view=_view_entrance, returns=BotList, token=True)
def list_bots(request: Request) -> dict[str, Any]:
    """List your bots."""
    if not for_programs(request):
        return {}
    room, holder = room_of(request), need_holder(request)
    return {"bots": [_tell(room, bot, version) for bot, version in room.bots.of_owner(holder.name)]}


@DOOR.post("/enter/token")
def sign_in(request: Request) -> Response:
    """Take a token, and know its holder in this browser from now on."""
    web_of(request).limits.pay(request, TOKENS)
    session = room_of(request).tokens.begin_session(text_in(request.state.form, "token"))
    if session is None:
        wrong = "there is no token like this, or it has expired: copy all of it, or ask for another one"
        return page(request, "enter/entrance.html", 401, **_view_entrance(request, None, wrong))
    response = RedirectResponse("/enter", SEEN)
    remember(request, response, session)
    return response


@DOOR.post("/enter/leave")
def sign_out(request: Request) -> Response:
    """Forget whose token was entered in this browser."""
    response = RedirectResponse("/enter", SEEN)
    forget(request, response)
    return response


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
    errors=(404, 413),
    extra={"requestBody": {"required": True, "content": {"application/octet-stream": {}}}},
)
async def hand_in(request: Request, game: str, name: str, file: str = "bot.py") -> dict[str, Any]:
    """Hand in a bot, or a version of one; the body is the file."""
    await run_in_threadpool(need_holder, request)
    return await run_in_threadpool(_hand_in, request, game, name, Upload(file, await request.body()))


def _hand_in(request: Request, game: str, name: str, upload: Upload) -> dict[str, Any]:
    room, holder = room_of(request), need_holder(request)
    if room.shut:
        raise HTTPException(503, room.shut)
    version = room.bots.hand_in(holder, make_game(game), name, upload)
    room.runner.wake()
    return _tell(room, room.bots.bot(version.bot, holder), version)


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


def _own(request: Request, bot: int) -> tuple[EnteringRoom, HandedIn]:
    """Return a bot that its owner, or an operator, asks for."""
    room = room_of(request)
    return room, room.bots.bot(bot, need_holder(request))


def _view_bot(request: Request, found: dict[str, Any]) -> dict[str, Any]:
    room, bot = _own(request, found["id"])
    version, contests, versions = found["version"], room.contests.of_bot(bot.id), room.bots.versions(bot.id)
    inside = {one.id for one in contests}
    return {
        "bot": bot,
        "tried": version,
        "versions": versions,
        "passed": any(one.state is VersionState.PASSED for one in versions),
        "ahead": 0 if version.over else room.bots.ahead_of(version),
        "contests": contests,
        "may_enter": [
            one for one in room.contests.all() if one.game == bot.game and one.is_open and one.id not in inside
        ],
        "title": make_game(bot.game).spec.title,
        "holder": need_holder(request),
    }


@DOOR.get(BOT, api=BOT, template="enter/bot.html", view=_view_bot, returns=BotModel, token=True)
def show_bot(request: Request, bot: PathNumber, version: QueryNumber = None) -> dict[str, Any]:
    """Show what became of a version of a bot, the newest unless another one is asked for."""
    room, found = _own(request, bot)
    return _tell(room, found, room.bots.version(bot, version))


@DOOR.operation("DELETE", BOT + "/remove", api=BOT, to="/enter", returns=BotList, token=True)
def remove_bot(request: Request, bot: PathNumber) -> dict[str, Any]:
    """Remove a bot with all its versions; the others are left."""
    room, found = _own(request, bot)
    need_sure(request, "a bot")
    room.bots.remove(found.id)
    room.runner.wake()
    return list_bots(request)


@DOOR.operation("PUT", PLACE + "/enter", api=PLACE, to="/enter/bots/{0[id]}", returns=BotModel, token=True)
def enter_contest(request: Request, bot: PathNumber, contest: PathNumber) -> dict[str, Any]:
    """Give a bot a place in a contest."""
    room, found = _own(request, bot)
    room.contests.enter(contest, found)
    room.runner.wake()
    return _tell(room, found)


@DOOR.operation("DELETE", PLACE + "/withdraw", api=PLACE, to="/enter/bots/{0[id]}", returns=BotModel, token=True)
def withdraw(request: Request, bot: PathNumber, contest: PathNumber) -> dict[str, Any]:
    """Take a bot out of a contest."""
    room, found = _own(request, bot)
    room.contests.withdraw(contest, found.id)
    room.runner.wake()
    return _tell(room, found)


@DOOR.get(BOT + "/versions/{number:number}/source")
def download_source(request: Request, bot: PathNumber, number: PathNumber) -> Response:
    """Hand out what was handed in, as it was."""
    room, _ = _own(request, bot)
    version = room.bots.version(bot, number)
    suffix = ".zip" if PurePath(version.file).suffix.lower() == ".zip" else ".py"
    plain = version.file if _PLAIN_NAME.fullmatch(version.file) else f"bot-{bot}-{version.number}{suffix}"
    headers = {"Content-Disposition": f'attachment; filename="{plain}"'}
    return Response(read_sent(room.bots.folder(version.id)), media_type="application/octet-stream", headers=headers)


@DOOR.get(BOT + "/versions/{number:number}/games/{wanted}")
def show_trial_game(request: Request, bot: PathNumber, number: PathNumber, wanted: str) -> Response:
    """Show a game that a version was tried in."""
    room, found = _own(request, bot)
    version = room.bots.version(bot, number)
    path = room.bots.folder(version.id) / STORE
    if not path.is_file():
        raise HTTPException(404, "no games are kept of this version")
    with StoreReader(path) as reader:
        replay = find_replay(reader, wanted)
    back = f"/enter/bots/{bot}?version={version.number}"
    back_title = f"{found.name}, version {version.number}"
    return replay_page(request, replay, title=f"{found.name}: game {replay.id}", back=back, back_title=back_title)
