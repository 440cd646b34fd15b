"""Pages of those who hand bots in: their token, their bots, and what becomes of each version."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Any

from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from dicegym.arena.replay.stored import find_replay
from dicegym.arena.store.reading import StoreReader
from dicegym.errors import ParameterError
from dicegym.games import game as make_game
from dicegym.registry import GAMES
from dicegym.web.enter.bots import BotVersion, HandedIn, VersionState
from dicegym.web.enter.forms import name_in, posted, text_in, upload_in
from dicegym.web.enter.room import EnteringRoom, room_of
from dicegym.web.enter.trials import STORE
from dicegym.web.enter.uploads import LARGEST_UPLOAD, sent
from dicegym.web.enter.visitors import COOKIE, forget, holder_of, may_operate, needed_holder, remember
from dicegym.web.pages import page, web_of
from dicegym.web.watch.shown import replay_page

SEEN = 303
"""Status that has a browser get another page after a form."""
TOKENS = 300.0
"""As many requests as a token that is entered counts for: nobody guesses one, and who tries costs nothing."""


_PLAIN_NAME = re.compile(r"\w[\w.-]{0,80}\.(py|zip)", re.ASCII)
"""A file name that is handed out again as it was sent."""


def routes() -> list[BaseRoute]:
    """Return what answers."""
    bot = "/enter/bots/{bot:number}"
    return [
        Route("/enter", entrance),
        Route("/enter/token", posted(sign_in), methods=["POST"]),
        Route("/enter/leave", posted(sign_out), methods=["POST"]),
        Route("/enter/bots", posted(hand_in), methods=["POST"]),
        Route(bot, bot_page),
        Route(f"{bot}/versions/{{number:number}}/source", source),
        Route(f"{bot}/versions/{{number:number}}/games/{{wanted}}", game_page),
        Route(f"{bot}/enter", posted(enter_contest), methods=["POST"]),
        Route(f"{bot}/withdraw", posted(withdraw), methods=["POST"]),
        Route(f"{bot}/remove", posted(remove), methods=["POST"]),
    ]


def to(address: str) -> Response:
    """Return what has a browser get a page after a form."""
    return RedirectResponse(address, SEEN)


def _room(request: Request) -> EnteringRoom:
    return room_of(web_of(request))


def entrance(request: Request) -> Response:
    """Show what somebody has handed in, and how to hand in more; to others how they come to a token."""
    return _entrance(request)


def _entrance(request: Request, problem: str = "", typed: FormData | None = None, status: int = 200) -> Response:
    room, holder = _room(request), holder_of(request)
    mine = [] if holder is None else room.bots.of_owner(holder.name)
    contests = room.contests.all()
    values: dict[str, Any] = {
        "holder": holder,
        "operates": may_operate(request),
        "mine": mine,
        "others": room.bots.of_owner(None) if holder is not None and holder.operator else [],
        "open_contests": [one for one in contests if one.is_open],
        "closed_contests": [one for one in contests if not one.is_open],
        "games": [make_game(name) for name in GAMES],
        "shut": room.shut,
        "problem": problem,
        "typed": {name: text_in(typed, name) if typed else "" for name in ("game", "name", "text")},
        "largest": LARGEST_UPLOAD >> 20,
    }
    return page(request, "enter/entrance.html", status, **values)


def sign_in(request: Request, form: FormData) -> Response:
    """Take a token, and know its holder in this browser from now on."""
    web_of(request).limits.pay(request, TOKENS)
    session = _room(request).tokens.begin_session(text_in(form, "token"))
    if session is None:
        wrong = "that is no token, or not valid any more: copy all of it, or ask for another one"
        return _entrance(request, wrong, status=401)
    response = to("/enter")
    remember(request, response, session)
    return response


def sign_out(request: Request, form: FormData) -> Response:
    """Forget who uses this browser."""
    session = request.cookies.get(COOKIE)
    if session:
        _room(request).tokens.end_session(session)
    response = to("/enter")
    forget(response)
    return response


def hand_in(request: Request, form: FormData) -> Response:
    """Take a bot, or a new version of one."""
    room, holder = _room(request), needed_holder(request)
    if room.shut:
        raise HTTPException(503, room.shut)
    try:
        upload = upload_in(form)
        game = make_game(text_in(form, "game"))
        version = room.bots.hand_in(holder, game, name_in(form, upload), upload)
    except (ParameterError, LookupError) as error:
        return _entrance(request, str(error), form, 400)
    room.runner.wake()
    return to(f"/enter/bots/{version.bot}")


def bot_page(request: Request) -> Response:
    """Show a bot: what became of a version, its contests, and all its versions."""
    room, bot = _own(request)
    version = _version(request, room, bot)
    contests = room.contests.of_bot(bot.id)
    inside = {one.id for one in contests}
    versions = room.bots.versions(bot.id)
    values: dict[str, Any] = {
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
        "holder": needed_holder(request),
    }
    return page(request, "enter/bot.html", **values)


def _own(request: Request) -> tuple[EnteringRoom, HandedIn]:
    """Return the bot that is asked for, if who asks may see it."""
    room = _room(request)
    return room, room.bots.bot(request.path_params["bot"], needed_holder(request))


def _version(request: Request, room: EnteringRoom, bot: HandedIn) -> BotVersion:
    """Return the version that is asked for, by path or query: the newest unless one is."""
    number = request.path_params.get("number")
    text = request.query_params.get("version", "")
    if number is None and text:
        if not text.isdecimal() or len(text) > 9:
            raise ParameterError(f"version={text!r} is no number of a version")
        number = int(text)
    return room.bots.version(bot.id, number)


def source(request: Request) -> Response:
    """Hand out what was handed in, as it was."""
    room, bot = _own(request)
    version = _version(request, room, bot)
    data = sent(room.bots.folder(version.id))
    suffix = ".zip" if PurePath(version.file).suffix.lower() == ".zip" else ".py"
    plain = version.file if _PLAIN_NAME.fullmatch(version.file) else f"bot-{bot.id}-{version.number}{suffix}"
    headers = {"Content-Disposition": f'attachment; filename="{plain}"'}
    return Response(data, media_type="application/octet-stream", headers=headers)


def game_page(request: Request) -> Response:
    """Show a game that a version was tried in."""
    room, bot = _own(request)
    version = _version(request, room, bot)
    path = room.bots.folder(version.id) / STORE
    if not path.is_file():
        raise HTTPException(404, "no games are kept of this version")
    with StoreReader(path) as reader:
        replay = find_replay(reader, request.path_params["wanted"])
    title = f"{bot.name}: game {replay.id}"
    back = f"/enter/bots/{bot.id}?version={version.number}"
    return replay_page(request, replay, title=title, back=back, back_title=f"{bot.name}, version {version.number}")


def enter_contest(request: Request, form: FormData) -> Response:
    """Let a bot take part in a contest."""
    room, bot = _own(request)
    room.contests.enter(_contest_in(form), bot)
    room.runner.wake()
    return to(f"/enter/bots/{bot.id}")


def withdraw(request: Request, form: FormData) -> Response:
    """Take a bot out of a contest."""
    room, bot = _own(request)
    room.contests.withdraw(_contest_in(form), bot.id)
    room.runner.wake()
    return to(f"/enter/bots/{bot.id}")


def _contest_in(form: FormData) -> int:
    text = text_in(form, "contest")
    if not text.isdecimal() or len(text) > 9:
        raise ParameterError(f"contest={text!r} is no number of a contest")
    return int(text)


def remove(request: Request, form: FormData) -> Response:
    """Remove a bot with all its versions."""
    room, bot = _own(request)
    if text_in(form, "sure") != "yes":
        raise ParameterError("a bot that is removed does not come back: tick the box beside the button first")
    room.bots.remove(bot.id)
    room.runner.wake()
    return to("/enter")
