"""All pages together, as an ASGI application."""

from __future__ import annotations

import contextlib
import itertools
import secrets
from collections.abc import AsyncIterator
from typing import Any

import anyio.to_thread
from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

import dicegym
from dicegym.web import static_files
from dicegym.web.context import Web
from dicegym.web.door import API, Door, describe
from dicegym.web.enter.enter_operations import DOOR as ENTER
from dicegym.web.faults import HANDLERS
from dicegym.web.learn.learn_section import DOOR as LEARN
from dicegym.web.pages import environment, web_of
from dicegym.web.play.cards import list_cards
from dicegym.web.play.hall import PlayHall
from dicegym.web.play.play_operations import DOOR as PLAY
from dicegym.web.rules.rules_section import DOOR as RULES
from dicegym.web.security import Safety
from dicegym.web.watch.agent_pages import DOOR as WATCH
from dicegym.web.web_settings import WebSettings

SECTIONS: tuple[Door, ...] = (PLAY, WATCH, ENTER, LEARN, RULES)
"""In the order of the menu."""
THREADS = 8
"""For operations that are plain functions, and `run_in_threadpool`: more would only wait for each other."""
FIRST = ("base.html", "home.html", "play/deal.html", "play/widgets.html")
"""Templates of the first page."""
OWN = 3
"""Games of a visitor that the first page leads to."""
COMPRESSION = 1
"""Of pages, by gzip: level 5 costs half as much time again, and makes a page one in seven smaller."""
FOR_GOOD = "public, max-age=31536000, immutable"
ASK_AGAIN = "public, no-cache"
DOOR = Door("", "Site", "What belongs to no section.")


def create_app(settings: WebSettings) -> FastAPI:
    """Return the application that serves all pages, their files, and the same as JSON."""
    web = Web(settings)

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
        for start in web.on_start:
            start()
        _ = list_cards(), static_files.files()  # the first visitor does not wait for them
        for name in FIRST:
            environment().get_template(name)
        async with contextlib.AsyncExitStack() as stack:
            for stop in web.on_stop:
                stack.callback(stop)
            yield

    app = FastAPI(
        title="dicegym",
        version=dicegym.__version__,
        description="What the pages show, for programs. An error is JSON: `error` says what was wrong and what to do.",
        openapi_url=None,
        middleware=[Middleware(Safety, web=web), Middleware(GZipMiddleware, compresslevel=COMPRESSION)],
        exception_handlers=HANDLERS,
        lifespan=lifespan,
    )
    for section in (DOOR, *SECTIONS):
        section.setup(web)
        section.open_in(app)
    app.state.sections = SECTIONS
    app.state.web = web
    return app


@DOOR.get("/", template="home.html")
def show_home(request: Request) -> dict[str, Any]:
    """Show the games and the sections."""
    web, games = web_of(request), list_cards()
    unfinished = (sheet for sheet in web.get(PlayHall).of(request.state.visitor) if not sheet.over)
    return {
        "games": games,
        "titles": {one.name: one.title for one in games},
        "own": list(itertools.islice(unfinished, OWN)),
        "dice": [secrets.randbelow(6) + 1 for _ in range(5)],
        "ready": web.readiness,
    }


@DOOR.get(f"{API}/openapi.json")
def show_document(request: Request) -> Response:
    """Hand out the OpenAPI document."""
    return JSONResponse(describe(request.app), headers={"Cache-Control": ASK_AGAIN})


@DOOR.get(f"{static_files.PREFIX}/{{name:path}}")
def show_file(request: Request, name: str) -> Response:
    """Hand out a file beside the pages, to be kept for good if it is asked for by its tag."""
    found = static_files.files().get(name)
    if found is None:
        raise HTTPException(404)
    headers = {
        "ETag": f'"{found.tag}"',
        "Cache-Control": FOR_GOOD if request.query_params.get("v") == found.tag else ASK_AGAIN,
    }
    if found.tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(found.body, media_type=found.media_type, headers=headers)


@DOOR.get("/robots.txt")
def show_robots(request: Request) -> Response:
    """Keep search engines out: games and contests are made while they are read."""
    return PlainTextResponse("User-agent: *\nDisallow: /\n", headers={"Cache-Control": "public, max-age=86400"})
