"""The list of contests, and each with its standings, matrix, ratings, faults and matches, also while it runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from dicegym import games
from dicegym.arena.store.stored_rows import StoredMatch
from dicegym.errors import one_line
from dicegym.web.context import Web
from dicegym.web.door import Finite, PathNumber, QueryNumber, for_programs
from dicegym.web.pages import page, web_of
from dicegym.web.watch.contest_boards import PATIENCE, Board, Boards
from dicegym.web.watch.listed_rows import (
    DOOR,
    ContestRow,
    ListedMatch,
    RowCount,
    check_store,
    list_titles,
    rows_of,
    title_of,
)
from dicegym.web.workers import Answer

MATCHES_PAGE, LATEST = 50, 10
"""Rows: of a page of matches, and of the newest matches on the page of a contest."""


class ContestRows(BaseModel):
    """Contests, the newest first."""

    contests: list[ContestRow]
    next: int | None = Field(description="`before` of the next page; null: this is the last one")


class RatingRow(BaseModel):
    """The rating of an entry."""

    name: str
    place: int
    rating: float
    low: Finite = Field(description="of its 95 % interval; null: no bound")
    high: Finite
    games: int
    matches: int


class StruckRow(BaseModel):
    """A disqualified entry."""

    name: str
    reason: str


class ContestBoard(BaseModel):
    """A contest with its standings."""

    contest: ContestRow
    facts: dict[str, str]
    standings: list[dict[str, Any]] = Field(description="as the format ranks them; empty until it has ended")
    ratings: list[RatingRow]
    struck: list[StruckRow]
    remarks: list[str] = Field(description="sentences on what it is worth, faults and remarks")


class MatchRows(BaseModel):
    """Matches, the newest first."""

    matches: list[ListedMatch]
    next: int | None


def _view_contests(request: Request, found: dict[str, Any]) -> dict[str, Any]:
    wanted = one_line(Path(web_of(request).settings.store).name)
    return found | {"games": list_titles(), "wanted": wanted}


@DOOR.get("/watch", api="/contests", template="watch/contests.html", view=_view_contests, returns=ContestRows)
def list_contests(request: Request, game: str = "", before: QueryNumber = None, count: RowCount = 50) -> dict[str, Any]:
    """List contests, the newest first."""
    if game and for_programs(request):
        games.spec(game)
    with web_of(request).store() as reader:
        every = [] if reader is None else reader.contests(game or None)[::-1]
        some = [one for one in every if before is None or one.id < before]
        rows = [ContestRow.of(one, reader is not None and reader.is_held(one.id)) for one in some[:count]]
    more = len(some) > len(rows)
    return {"contests": rows, "next": rows[-1].id if more else None, "game": game, "is_store": reader is not None}


def _view_contest(request: Request, found: dict[str, Any]) -> Mapping[str, Any] | Response:
    if found["board"] is None:
        return page(request, "watch/counting.html", number=found["number"])
    return found | {"latest": rows_of(found["latest"])}


@DOOR.get(
    "/watch/contests/{contest:number}",
    api="/contests/{contest:number}",
    template="watch/contest.html",
    view=_view_contest,
    returns=ContestBoard,
)
async def show_contest(request: Request, contest: PathNumber) -> dict[str, Any]:
    """Show a contest with its standings, ratings and faults."""
    computed = await run_in_threadpool(_prepare, request, contest)
    await computed.settle(None if for_programs(request) else PATIENCE)
    if for_programs(request) and computed.error is not None:
        raise computed.error
    return await run_in_threadpool(_find, web_of(request), contest)


def _prepare(request: Request, contest: int) -> Answer[None]:
    web = web_of(request)
    with web.store() as reader:
        check_store(reader).contest(contest)
    return web.get(Boards).prepare(request.state.visitor, [contest])


def _find(web: Web, contest: int) -> dict[str, Any]:
    board = web.get(Boards).find(contest)
    with web.store() as reader:
        store = check_store(reader)
        latest = list(store.matches(contest, last=LATEST))[::-1]
        standings = store.standings(contest)
    return {"number": contest, "board": board, "latest": latest} | ({} if board is None else _tell(board, standings))


def _tell(board: Board, standings: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what programs get of a contest."""
    said = board.page.report
    return {
        "contest": ContestRow.of(board.contest, board.held),
        "facts": dict(board.facts),
        "standings": standings,
        "ratings": list(board.ratings.values()),
        "struck": [{"name": bad.name, "reason": bad.reason} for bad in said.disqualified],
        "remarks": [*said.words, *said.faults, *said.remarks],
    }


def _view_matches(request: Request, found: dict[str, Any]) -> dict[str, Any]:
    return found | {"rows": rows_of(found["matches"])}


@DOOR.get(
    "/watch/contests/{contest:number}/matches",
    api="/contests/{contest:number}/matches",
    template="watch/matches.html",
    view=_view_matches,
    returns=MatchRows,
)
def list_matches(
    request: Request, contest: PathNumber, entry: str = "", before: QueryNumber = None, count: RowCount = MATCHES_PAGE
) -> dict[str, Any]:
    """List the matches of a contest, the newest first."""
    with web_of(request).store() as reader:
        store = check_store(reader)
        stored = store.contest(contest)
        names = sorted({one.name for one in store.entries(contest)})
        found: list[StoredMatch] = list(store.matches(contest, entry or None, count + 1, before=before))[::-1]
    rows = found[:count]
    return {
        "matches": rows,
        "next": rows[-1].id if len(found) > len(rows) else None,
        "contest": stored,
        "title": title_of(stored.game),
        "entry": entry,
        "names": names,
        "before": before,
    }
