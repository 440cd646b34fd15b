"""The ASGI application that serves all pages."""

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
from dicegym.web.enter.enter_operations import SECTION as ENTER
from dicegym.web.error_answers import HANDLERS
from dicegym.web.learn.learn_section import SECTION as LEARN
from dicegym.web.pages import environment, web_of
from dicegym.web.play.cards import list_cards
from dicegym.web.play.game_sessions import GameSessions
from dicegym.web.play.play_operations import SECTION as PLAY
from dicegym.web.rules.rules_section import SECTION as RULES
from dicegym.web.section import API, Section, describe_api
from dicegym.web.security import Safety
from dicegym.web.watch.agent_pages import SECTION as WATCH
from dicegym.web.web_settings import WebSettings

SECTIONS: tuple[Section, ...] = (PLAY, WATCH, ENTER, LEARN, RULES)
"""The sections in the order of the menu."""
THREADS = 8
"""Threads for operations that are plain functions; more would only wait for each other."""
FIRST = ("base.html", "home.html", "play/deal.html", "play/widgets.html")
"""Templates of the first page, loaded at the start."""
MOST_UNFINISHED_SHOWN = 3
COMPRESSION = 1
"""Level of gzip for pages: level 5 takes 1.5 times as long and makes a page a seventh smaller."""
CACHE_FOREVER = "public, max-age=31536000, immutable"
REVALIDATE = "public, no-cache"
SECTION = Section("", "Site", "Addresses outside the sections.")


def create_app(settings: WebSettings) -> FastAPI:
    """Return the application that serves all pages, their static files and the JSON API."""
    web = Web(settings)

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
        for start in web.on_start:
            start()
        _ = list_cards(), static_files.files()  # so that the first visitor does not wait for them
        for name in FIRST:
            environment().get_template(name)
        async with contextlib.AsyncExitStack() as stack:
            for stop in web.on_stop:
                stack.callback(stop)
            yield

    app = FastAPI(
        title="dicegym",
        version=dicegym.__version__,
        description="The content of the pages as JSON. For an error, `error` says what was wrong and what to do.",
        openapi_url=None,
        middleware=[Middleware(Safety, web=web), Middleware(GZipMiddleware, compresslevel=COMPRESSION)],
        exception_handlers=HANDLERS,
        lifespan=lifespan,
    )
    for section in (SECTION, *SECTIONS):
        section.setup(web)
        app.router.routes.extend(section.routes)
    app.state.sections = SECTIONS
    app.state.web = web
    return app


@SECTION.get("/", template="home.html")
def show_home(request: Request) -> dict[str, Any]:
    """Show the games, the visitor's unfinished games and the sections."""
    games = list_cards()
    unfinished = (sheet for sheet in web_of(request).get(GameSessions).of(request.state.visitor) if not sheet.over)
    return {
        "games": games,
        "titles": {one.name: one.title for one in games},
        "own": list(itertools.islice(unfinished, MOST_UNFINISHED_SHOWN)),
        "dice": [secrets.randbelow(6) + 1 for _ in range(5)],
    }


@SECTION.get(f"{API}/openapi.json")
def show_document(request: Request) -> Response:
    """Return the OpenAPI document."""
    return JSONResponse(describe_api(request.app), headers={"Cache-Control": REVALIDATE})


@SECTION.get(f"{static_files.PREFIX}/{{name:path}}")
def show_file(request: Request, name: str) -> Response:
    """Return a static file. Browsers may cache it forever if the request names its current tag."""
    found = static_files.files().get(name)
    if found is None:
        raise HTTPException(404)
    headers = {
        "ETag": f'"{found.tag}"',
        "Cache-Control": CACHE_FOREVER if request.query_params.get("v") == found.tag else REVALIDATE,
    }
    if found.tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(found.body, media_type=found.media_type, headers=headers)


@SECTION.get("/robots.txt")
def show_robots(request: Request) -> Response:
    """Keep search engines out: reading a page may start a game or a computation."""
    return PlainTextResponse("User-agent: *\nDisallow: /\n", headers={"Cache-Control": "public, max-age=86400"})
