"""The list of contests, and the page of one: standings, matrix, ratings, faults and matches; live while it is held."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from dicegym import games
from dicegym.arena.pages.contests import ShownMatch, moment
from dicegym.arena.pages.stored import list_match
from dicegym.arena.store.reading import StoreReader
from dicegym.arena.store.stored import StoredMatch
from dicegym.errors import ParameterError, UnknownNameError, one_line
from dicegym.web.context import Web
from dicegym.web.pages import environment
from dicegym.web.streams import Tell
from dicegym.web.watch.boards import SHARE, SHORTEST_PAUSE, Board, Boards, status_of
from dicegym.web.watch.pages import shown

CONTESTS_PAGE, MATCHES_PAGE, LATEST = 50, 50, 10
"""Rows: of the list of contests, of a page of matches, and of the matches on a live page."""


class Contests:
    """Pages of contests.

    Args:
        web: the server.
    """

    def __init__(self, web: Web) -> None:
        self._web = web
        self.boards = Boards(web)

    def index(self, request: Request) -> Response:
        """Answer with the list of contests."""
        before = number_of(request, "before")
        game = request.query_params.get("game") or None
        with self._web.store() as reader:
            found = [] if reader is None else reader.contests(game)[::-1]
            some = [one for one in found if before is None or one.id < before][:CONTESTS_PAGE]
            rows = [
                (one, title_of(one.game), status_of(one.ended, reader is not None and reader.is_held(one.id)))
                for one in some
            ]
        return shown(
            request,
            "watch/contests.html",
            rows=rows,
            game=game,
            games=[(spec.name, spec.title) for spec in map(games.spec, games.loadable())],
            store=None if reader is None else reader.name,
            wanted=one_line(Path(self._web.settings.store).name),
            older=some[-1].id if some and some[-1].id > found[-1].id else None,
            moment=moment,
        )

    def contest(self, request: Request) -> Response:
        """Answer with the page of a contest."""
        number = request.path_params["contest"]
        with self._web.store() as reader:
            asked = there(reader)
            asked.contest(number)
            self.boards.prepare(request.state.visitor, [number])
            board = self.boards.kept(number)
            if board is None:
                return shown(request, "watch/counting.html", number=number, here=request.url.path)
            latest = list(asked.matches(number, last=LATEST))[::-1]
        return shown(request, "watch/contest.html", board=board, latest=rows_of(latest), number=number)

    def matches(self, request: Request) -> Response:
        """Answer with a page of the matches of a contest."""
        number, before = request.path_params["contest"], number_of(request, "before")
        entry = request.query_params.get("entry") or None
        with self._web.store() as reader:
            asked = there(reader)
            contest = asked.contest(number)
            names = sorted({one.name for one in asked.entries(number)})
            found = list(asked.matches(number, entry, MATCHES_PAGE + 1, before=before))[::-1]
        some = found[:MATCHES_PAGE]
        return shown(
            request,
            "watch/matches.html",
            contest=contest,
            title=title_of(contest.game),
            rows=rows_of(some),
            entry=entry,
            names=names,
            before=before,
            older=some[-1].id if len(found) > len(some) else None,
        )

    async def live(self, request: Request) -> Response:
        """Answer with what happens in a contest, as it happens: one look at the store for all who watch."""
        number = request.path_params["contest"]
        await run_in_threadpool(self._check, number)

        async def source(tell: Tell) -> None:
            while True:
                board, latest = await self._web.work.run(f"contest {number}", self._look, number)
                tell("progress", fragment("watch/progress.html", board=board))
                tell("standings", fragment("watch/standings.html", board=board, latest=rows_of(latest), number=number))
                if board.status != "running":
                    return
                await asyncio.sleep(max(SHORTEST_PAUSE, SHARE * board.seconds))

        return self._web.channels.stream(request, f"contest {number}", source)

    def _check(self, number: int) -> None:
        """Raise UnknownNameError if there is no such contest."""
        with self._web.store() as reader:
            there(reader).contest(number)

    def _look(self, number: int) -> tuple[Board, list[StoredMatch]]:
        with self._web.store() as reader:
            asked = there(reader)
            return self.boards.board(asked, number), list(asked.matches(number, last=LATEST))[::-1]


def fragment(template: str, **values: object) -> str:
    """Return a part of a page."""
    return environment().get_template(template).render(**values)


def there(reader: StoreReader | None) -> StoreReader:
    """Return a store. Raises UnknownNameError if there is none yet."""
    if reader is None:
        raise UnknownNameError("there is no store of contests yet: `dicegym tournament` makes one where it is run")
    return reader


def number_of(request: Request, name: str) -> int | None:
    """Return a number of the query; None if there is none. Raises ParameterError if it is something else."""
    text = request.query_params.get(name, "")
    if text and not re.fullmatch("[0-9]{1,15}", text, re.ASCII):
        raise ParameterError(f"{name}={one_line(text, 40)} is no number: follow the links of the list")
    return int(text) if text else None


def title_of(game: str) -> str:
    """Return what people call a game; of one that is not registered here, its name."""
    try:
        return games.spec(game).title
    except UnknownNameError:
        return game


def rows_of(matches: list[StoredMatch]) -> list[ShownMatch]:
    """Return matches as rows."""
    return [list_match(match) for match in matches]
