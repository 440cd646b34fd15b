"""The list of contests, and each contest's standings, matrix, ratings, faults and matches, also while it runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel, BeforeValidator, Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from dicegym import games
from dicegym.arena.store.reading import StoreReader
from dicegym.arena.store.stored_rows import StoredContest
from dicegym.errors import UnknownNameError, one_line
from dicegym.web.pages import render_page, web_of
from dicegym.web.section import Finite, PathNumber, QueryNumber, Section, for_programs
from dicegym.web.watch.contest_boards import Boards
from dicegym.web.workers import Answer

SECTION = Section("/watch", "Watch", "Follow contests while they run, step through their games, and meet the agents.")
MOST_ROWS = 200
MATCHES_PAGE, LATEST = 50, 10
"""Rows of a page of matches; newest matches on a contest's page."""
PATIENCE = 0.7
"""Seconds that a page waits for a board before it says that it is being computed."""
RowCount = Annotated[int, Query(ge=1, le=MOST_ROWS, description="rows at most")]
RowObject = Annotated[dict[str, Any], BeforeValidator(lambda row: row if isinstance(row, dict) else row._asdict())]


class ContestRow(BaseModel):
    """A contest."""

    id: int
    game: str
    label: str
    format: str
    parameters: dict[str, int]
    state: str = Field(description="ended, running, or stopped before its end")
    entries: int
    played: int
    planned: int = Field(description="matches; 0: unknown")
    began: str
    ended: str | None

    @classmethod
    def of(cls, contest: StoredContest, held: bool) -> ContestRow:
        """Return the row of a contest; ``held``: whether a process runs it now."""
        state = "ended" if contest.ended else "running" if held else "stopped"
        return cls(**contest._asdict() | {"state": state})


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


class ContestBoard(BaseModel):
    """A contest with its standings."""

    contest: ContestRow
    facts: dict[str, str]
    running: list[RowObject] = Field(description="matches in progress: number of the game, games won so far")
    standings: list[dict[str, Any]] = Field(description="the format's ranking; empty until the contest has ended")
    ratings: list[RatingRow]
    struck: list[RowObject] = Field(description="disqualified entries, each with the reason")
    remarks: list[str] = Field(description="sentences about the ranking's certainty, faults and remarks")


class ListedMatch(BaseModel):
    """A match; all lists by player."""

    id: int
    key: str
    number: int
    games: int
    entries: list[str]
    wins: list[int] = Field(description="games won alone")
    shares: list[float] = Field(description="games won; a shared first place counts in parts")
    faults: list[int]
    failed: str | None = Field(description="the entry whose failure ended the match")
    reason: str | None


class MatchRows(BaseModel):
    """Matches, the newest first."""

    matches: list[ListedMatch]
    next: int | None


def check_store(reader: StoreReader | None) -> StoreReader:
    """Return ``reader``. Raises UnknownNameError for None: there is no store yet."""
    if reader is None:
        raise UnknownNameError("no contests yet: run one with `dicegym tournament`")
    return reader


def title_of(game: str) -> str:
    """Return a game's title; for a game that is not registered, its name."""
    try:
        return games.spec(game).title
    except UnknownNameError:
        return game


def list_titles() -> list[tuple[str, str]]:
    """Return name and title of all games."""
    return [(name, title_of(name)) for name in games.loadable()]


@SECTION.get("/watch", api="/contests", template="watch/contests.html", returns=ContestRows)
def list_contests(request: Request, game: str = "", before: QueryNumber = None, count: RowCount = 50) -> dict[str, Any]:
    """List contests, the newest first."""
    with web_of(request).store() as reader:
        every = [] if reader is None else reader.contests(game or None)[::-1]
        some = [one for one in every if before is None or one.id < before]
        rows = [ContestRow.of(one, reader is not None and reader.is_held(one.id)) for one in some[:count]]
    return {
        "contests": rows,
        "next": rows[-1].id if len(some) > len(rows) else None,
        "game": game,
        "games": list_titles(),
        "is_store": reader is not None,
        "wanted": one_line(Path(web_of(request).settings.store).name),
    }


def _view_contest(request: Request, found: dict[str, Any]) -> Mapping[str, Any] | Response:
    return render_page(request, "watch/counting.html", number=found["number"]) if found["board"] is None else found


@SECTION.get(
    "/watch/contests/{contest:number}",
    api="/contests/{contest:number}",
    template="watch/contest.html",
    view=_view_contest,
    returns=ContestBoard,
)
async def show_contest(request: Request, contest: PathNumber) -> dict[str, Any]:
    """Show a contest with its standings, ratings and faults."""
    computed = await run_in_threadpool(_prepare_board, request, contest)
    await computed.settle(None if for_programs(request) else PATIENCE)
    found = await run_in_threadpool(_find_board, request, contest)
    if computed.error is not None and (for_programs(request) or found["board"] is None):
        raise computed.error
    return found


def _prepare_board(request: Request, contest: int) -> Answer[None]:
    web = web_of(request)
    with web.store() as reader:
        check_store(reader).contest(contest)
    return web.get(Boards).prepare(request.state.visitor, contest)


def _find_board(request: Request, contest: int) -> dict[str, Any]:
    board = web_of(request).get(Boards).find(contest)
    with web_of(request).store() as reader:
        store = check_store(reader)
        latest = list(store.matches(contest, last=LATEST))[::-1]
        standings = store.standings(contest)
        held = store.is_held(contest)
        running = store.running(contest) if held else []
    found = {"number": contest, "board": board, "latest": latest, "running": running}
    if board is None:
        return found
    report = board.page.report
    return found | {
        "contest": ContestRow.of(board.contest, held),
        "facts": dict(board.facts),
        "standings": standings,
        "ratings": list((board.ratings or {}).values()),
        "struck": [{"name": bad.name, "reason": bad.reason} for bad in report.disqualified],
        "remarks": [*report.words, *report.faults, *report.remarks],
    }


@SECTION.get(
    "/watch/contests/{contest:number}/matches",
    api="/contests/{contest:number}/matches",
    template="watch/matches.html",
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
        found = list(store.matches(contest, entry or None, count + 1, before=before))[::-1]
    matches = found[:count]
    return {
        "matches": matches,
        "next": matches[-1].id if len(found) > count else None,
        "contest": stored,
        "title": title_of(stored.game),
        "entry": entry,
        "names": names,
        "before": before,
    }
