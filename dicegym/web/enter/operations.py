"""What programs may ask for: hand a bot in, what became of it, and contests. All but contests needs a token."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request

from dicegym.games import game as make_game
from dicegym.web.api import Operation, query_of
from dicegym.web.enter.bots import BotVersion, HandedIn
from dicegym.web.enter.contests import OpenContest
from dicegym.web.enter.grades import grade_rows
from dicegym.web.enter.room import EnteringRoom, room_of
from dicegym.web.enter.uploads import Upload
from dicegym.web.enter.visitors import needed_holder
from dicegym.web.pages import web_of


class UploadQuery(BaseModel):
    """What is handed in: the body is the file itself."""

    game: str = Field(description="the game's name")
    name: str = Field(description="what the bot is called; a name of yours that is there gets a new version")
    file: str = Field("bot.py", description="what you call the file")


class VersionModel(BaseModel):
    """A version of a bot."""

    number: int
    made: str = Field(description="UTC, ISO 8601")
    file: str
    digest: str = Field(description="SHA-256 of what was handed in")
    state: str = Field(description="waiting, checking, playing, passed, refused or failed")
    over: bool = Field(description="whether nothing more will be found out")
    progress: str
    report: dict[str, Any] | None = Field(description="what the check found")
    results: list[dict[str, Any]] | None = Field(description="what trial games came to, by opponent")


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
    """A contest that these pages hold."""

    id: int
    name: str
    game: str
    open: bool
    until: str | None
    state: str
    plan: dict[str, Any]
    stored: int | None = Field(description="its number in the store, where its standings are")


class ContestList(BaseModel):
    """All contests that these pages hold."""

    contests: list[ContestModel]


class RankedBot(BaseModel):
    """What became of a bot in a contest."""

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
    """A contest with who takes part."""

    entries: list[RankedBot]


M = TypeVar("M", bound=BaseModel)


def operations() -> list[Operation]:
    """Return all of them."""
    bot, inside = "/enter/bots/{bot:number}", "/enter/bots/{bot:number}/contests/{contest:number}"
    return [
        Operation(
            "POST",
            "/enter/bots",
            "Hand in a bot, or a version of one; the body is the file",
            hand_in,
            BotModel,
            query=UploadQuery,
            status=201,
            token=True,
            raw="application/octet-stream",
            errors=(401, 413),
        ),
        _own_operation("GET", "/enter/bots", "List your bots", list_bots, BotList),
        _own_operation("GET", bot, "Say what became of a bot's newest version", show_bot, BotModel),
        _own_operation("DELETE", bot, "Remove a bot with all its versions", remove_bot, BotList),
        _own_operation("PUT", inside, "Give a bot a place in a contest", enter_contest, BotModel),
        _own_operation("DELETE", inside, "Take a bot out of a contest", withdraw, BotModel),
        Operation("GET", "/enter/contests", "List contests", _in_thread(list_contests), ContestList),
        Operation(
            "GET", "/enter/contests/{contest:number}", "Show a contest", _in_thread(show_contest), ContestResultModel
        ),
    ]


def _own_operation(method: str, path: str, summary: str, answer: Callable[[Request], M], returns: type[M]) -> Operation:
    return Operation(method, path, summary, _in_thread(answer), returns, token=True, errors=(401, 404))


def _in_thread(answer: Callable[[Request], M]) -> Callable[[Request], Awaitable[M]]:
    """Return an operation that waits for a file in a thread."""

    @functools.wraps(answer)
    async def waiting(request: Request) -> M:
        return await run_in_threadpool(answer, request)

    return waiting


def _room(request: Request) -> EnteringRoom:
    return room_of(web_of(request))


async def hand_in(request: Request) -> BotModel:
    """Take the body as a bot."""
    holder = await run_in_threadpool(needed_holder, request)
    query, data = query_of(request, UploadQuery), await request.body()

    def take() -> BotModel:
        room = _room(request)
        if room.shut:
            raise HTTPException(503, room.shut)
        version = room.bots.hand_in(holder, make_game(query.game), query.name, Upload(query.file, data))
        room.runner.wake()
        return _bot(room, room.bots.bot(version.bot, holder), version)

    return await run_in_threadpool(take)


def list_bots(request: Request) -> BotList:
    """Return the bots of who asks."""
    room, holder = _room(request), needed_holder(request)
    return BotList(bots=[_bot(room, bot, version) for bot, version in room.bots.of_owner(holder.name)])


def show_bot(request: Request) -> BotModel:
    """Return a bot."""
    return _shown(request, *_own(request))


def remove_bot(request: Request) -> BotList:
    """Remove a bot; return those that are left."""
    room, bot = _own(request)
    room.bots.remove(bot.id)
    room.runner.wake()
    return list_bots(request)


def enter_contest(request: Request) -> BotModel:
    """Let a bot take part in a contest."""
    room, bot = _own(request)
    room.contests.enter(request.path_params["contest"], bot)
    room.runner.wake()
    return _shown(request, room, bot)


def withdraw(request: Request) -> BotModel:
    """Take a bot out of a contest."""
    room, bot = _own(request)
    room.contests.withdraw(request.path_params["contest"], bot.id)
    room.runner.wake()
    return _shown(request, room, bot)


def list_contests(request: Request) -> ContestList:
    """Return all contests."""
    return ContestList(contests=[ContestModel(**_contest(one)) for one in _room(request).contests.all()])


def show_contest(request: Request) -> ContestResultModel:
    """Return a contest with who takes part."""
    room = _room(request)
    contest = room.contests.contest(request.path_params["contest"])
    with web_of(request).store() as reader:
        rows = grade_rows(contest, room.contests.taking_part(contest), reader)
    entries = [RankedBot(**{name: getattr(row, name) for name in RankedBot.model_fields}) for row in rows]
    return ContestResultModel(**_contest(contest), entries=entries)


def _own(request: Request) -> tuple[EnteringRoom, HandedIn]:
    room = _room(request)
    return room, room.bots.bot(request.path_params["bot"], needed_holder(request))


def _shown(request: Request, room: EnteringRoom, bot: HandedIn) -> BotModel:
    return _bot(room, bot, room.bots.version(bot.id))


def _bot(room: EnteringRoom, bot: HandedIn, version: BotVersion) -> BotModel:
    shown = {name: getattr(version, name) for name in VersionModel.model_fields}
    contests = [one.id for one in room.contests.of_bot(bot.id)]
    return BotModel(
        id=bot.id, owner=bot.owner, game=bot.game, name=bot.name, contests=contests, version=VersionModel(**shown)
    )


def _contest(contest: OpenContest) -> dict[str, Any]:
    return {
        "id": contest.id,
        "name": contest.name,
        "game": contest.game,
        "open": contest.is_open,
        "until": contest.end,
        "state": contest.state,
        "plan": contest.plan.to_json(),
        "stored": contest.stored,
    }
