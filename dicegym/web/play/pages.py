"""The pages on which people play."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from dicegym.arena.replay import Replay, record_replay, to_json
from dicegym.errors import DicegymError, ParameterError
from dicegym.web.context import Web
from dicegym.web.pages import page
from dicegym.web.play.asked import AskedGame, asked_in, asked_of
from dicegym.web.play.cards import dealt
from dicegym.web.play.hall import OF_A_VISITOR, PlayHall, hall_of
from dicegym.web.play.review import review_shown
from dicegym.web.play.shown import table_shown
from dicegym.web.play.tables import PlayedTable, StaleMoveError
from dicegym.web.readiness import GettingReadyError
from dicegym.web.watch.shown import moments_before, replay_page

PATIENCE = 0.9
"""Seconds that a page waits for other players before it says who thinks."""
STEP = 0.04
BEGUN, HINTS = 250.0, 75.0
"""As many requests as a game that begins, and a hint, count for."""
Do = Callable[[PlayedTable, FormData], None]


def routes(web: Web) -> list[Route]:
    """Return what the section answers."""
    pages = PlayPages(hall_of(web))
    deeds: dict[str, Do] = {
        "move": lambda table, form: table.choose(_move(form), _text(form, "form"), _fields(form)),
        "insist": lambda table, form: table.insist(_move(form)),
        "reconsider": lambda table, form: table.reconsider(_move(form)),
        "undo": lambda table, form: table.undo(_move(form)),
    }
    return [
        Route("/play", pages.index),
        Route("/play/new", pages.options),
        Route("/play/new", pages.begin, methods=["POST"]),
        Route("/play/{id}", pages.table),
        Route("/play/{id}/review", pages.review),
        Route("/play/{id}/game.json", pages.download),
        Route("/play/{id}/replay", pages.replay),
        Route("/play/{id}/watch/{key}", pages.watched),
        Route("/play/{id}/again", pages.again, methods=["POST"]),
        Route("/play/{id}/away", pages.put_away, methods=["POST"]),
        Route("/play/{id}/share", pages.share, methods=["POST"]),
        *(Route(f"/play/{{id}}/{name}", pages.doing(do), methods=["POST"]) for name, do in deeds.items()),
    ]


class PlayPages:
    """What answers requests; whatever may take long is done in threads."""

    def __init__(self, hall: PlayHall) -> None:
        self.hall = hall

    def index(self, request: Request) -> Response:
        """All games, and what the visitor has begun."""
        own = self.hall.of(request.state.visitor)
        cards = dealt()
        titles = {game.name: game.title for game in cards}
        return page(request, "play/index.html", cards=cards, own=own, most=OF_A_VISITOR, titles=titles)

    def options(self, request: Request) -> Response:
        """How a game is to be played."""
        return page(request, "play/new.html", **asked_of(request.query_params).shown(self.hall.web))

    async def begin(self, request: Request) -> Response:
        """Begin a game."""
        self.hall.web.limits.pay(request, BEGUN)
        asked = asked_in(await request.form())
        try:
            table = await run_in_threadpool(self._begin, request.state.visitor, asked)
        except GettingReadyError as error:
            return page(request, "play/waiting.html", error.status, words=str(error), asked=asked)
        except DicegymError as error:
            return await run_in_threadpool(self._refused, request, asked, str(error))
        return RedirectResponse(f"/play/{table.sheet.id}", 303)

    def _begin(self, visitor: str, asked: AskedGame) -> PlayedTable:
        return self.hall.begin(visitor, **asked.wanted(self.hall.web))

    def _refused(self, request: Request, asked: AskedGame, why: str) -> Response:
        """Show the form again with what was filled in, and what was wrong with it."""
        return page(request, "play/new.html", 400, **asked.shown(self.hall.web, why))

    async def table(self, request: Request) -> Response:
        """The table, for its player."""
        table = await self._own(request)
        await patience(table)
        return await run_in_threadpool(self._shown, request, table, hint=request.query_params.get("hint", ""))

    async def watched(self, request: Request) -> Response:
        """The table, for those whom its player lets watch."""
        table = await run_in_threadpool(self.hall.watched, request.path_params["id"], request.path_params["key"])
        await patience(table)
        values = await run_in_threadpool(table_shown, table, self.hall.advice, owner=False)
        return page(request, "play/watched.html", **values)

    def doing(self, do: Do) -> Callable[[Request], Awaitable[Response]]:
        """Return what answers a form by which something is done at a table."""

        async def answer(request: Request) -> Response:
            form = await request.form()
            table = await self._own(request)
            notice, status = "", 200
            try:
                await run_in_threadpool(do, table, form)
            except StaleMoveError as error:
                notice, status = f"{error}. This is how the table stands.", error.status
            except ParameterError as error:
                notice, status = str(error), 400
            await patience(table)
            swapped = "hx-request" in request.headers
            if notice or swapped:
                # htmx shows no answer that is called an error.
                return await run_in_threadpool(
                    self._shown, request, table, notice=notice, status=200 if swapped else status
                )
            return RedirectResponse(f"/play/{table.sheet.id}", 303)

        return answer

    async def again(self, request: Request) -> Response:
        """Begin another game among the same."""
        self.hall.web.limits.pay(request, BEGUN)
        table = await self._own(request)
        fresh = await run_in_threadpool(self.hall.another, table.sheet)
        return RedirectResponse(f"/play/{fresh.sheet.id}", 303)

    async def put_away(self, request: Request) -> Response:
        """Take a game out of the list."""
        table = await self._own(request)
        await run_in_threadpool(self.hall.put_away, table)
        return RedirectResponse("/play", 303)

    async def share(self, request: Request) -> Response:
        """Let others watch by a link, or no longer."""
        form = await request.form()
        table = await self._own(request)
        await run_in_threadpool(table.share, secrets.token_urlsafe(12) if _text(form, "on") else "")
        return RedirectResponse(f"/play/{table.sheet.id}#share", 303)

    async def review(self, request: Request) -> Response:
        """How the person has played."""
        table = await self._over(request)
        given = request.query_params.get("at", "")
        at = int(given[:9]) if given.isascii() and given.isdecimal() else None
        values = await run_in_threadpool(review_shown, table, self.hall.advice, at)
        return page(request, "play/review.html", **values)

    async def download(self, request: Request) -> Response:
        """The game as a file, for `dicegym arena replay` and `dicegym values analyse`."""
        table = await self._over(request)
        sheet = table.sheet
        values = await run_in_threadpool(lambda: to_json(replay_of_table(table)))
        name = f"{sheet.game}-{sheet.seed}.json"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return JSONResponse(values, headers=headers)

    async def replay(self, request: Request) -> Response:
        """The game, moment by moment, all hidden things too."""
        table = await self._over(request)
        return await run_in_threadpool(self._replayed, request, table)

    def _replayed(self, request: Request, table: PlayedTable) -> Response:
        replay, address = replay_of_table(table), f"/play/{table.sheet.id}"
        before = request.query_params.get("before", "")
        if before.isascii() and before.isdecimal() and int(before[:9]) < len(replay.actions):
            moment = moments_before(replay)[int(before[:9])]
            return RedirectResponse(f"{address}/replay?move={moment}", 303)
        title = f"{table.game.spec.title}, seen again"
        return replay_page(request, replay, title=title, back=address, back_title="Back to the table")

    async def _own(self, request: Request) -> PlayedTable:
        return await run_in_threadpool(self.hall.own, request.path_params["id"], request.state.visitor)

    async def _over(self, request: Request) -> PlayedTable:
        """Return a table whose game is over, for what shows hidden things. Raises ParameterError otherwise."""
        table = await self._own(request)
        await patience(table)
        whole_game(table)
        return table

    def _shown(
        self, request: Request, table: PlayedTable, *, hint: str = "", notice: str = "", status: int = 200
    ) -> Response:
        wanted = hint == str(table.sheet.move)
        values = table_shown(table, self.hall.advice, hint=wanted, notice=notice)
        if wanted and values["hint"] is not None:
            table.told_hint()
        address = f"/play/{table.sheet.id}"
        again = f"{address}?{urlencode({'hint': hint})}" if wanted else address
        return page(request, "play/table.html", status, **values, address=address, refresh=again)


def replay_of_table(table: PlayedTable) -> Replay:
    """Return a game that is over as what is kept of games."""
    return record_replay(table.game, table.place.names, table.sheet.seed, table.sheet.actions)


async def patience(table: PlayedTable) -> None:
    """Wait for other players, if they take no longer than a page may."""
    until, pause = time.monotonic() + PATIENCE, STEP / 8
    while table.busy and time.monotonic() < until:
        await asyncio.sleep(pause)
        pause = min(2 * pause, STEP)
    if table.busy:
        await run_in_threadpool(table.keep)


def whole_game(table: PlayedTable) -> None:
    """Refuse to show all of a game that goes on. Raises ParameterError."""
    if not table.over or table.busy:
        raise ParameterError("this game is not over yet: all of it is shown when it is")


def _text(form: FormData, name: str) -> str:
    found = form.get(name)
    return found if isinstance(found, str) else ""


def _move(form: FormData) -> int:
    """Return the number of the move that a form was made for. Raises StaleMoveError if it holds none."""
    found = _text(form, "move")
    if not (found.isascii() and found.isdecimal() and len(found) < 12):
        raise StaleMoveError("the form does not say which move it was made for")
    return int(found)


def _fields(form: FormData) -> dict[str, list[str]]:
    """Return what was filled in, files left out."""
    found: dict[str, list[str]] = {}
    for name, value in form.multi_items():
        if isinstance(value, str):
            found.setdefault(name, []).append(value)
    return found
