"""All pages together, as an ASGI application."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import anyio.to_thread
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from dicegym.web import api, openapi, static_files
from dicegym.web.context import Web
from dicegym.web.enter import SECTION as ENTER
from dicegym.web.faults import HANDLERS
from dicegym.web.learn import SECTION as LEARN
from dicegym.web.pages import page
from dicegym.web.play import SECTION as PLAY
from dicegym.web.play.cards import dealt
from dicegym.web.rights import sign_operator_in
from dicegym.web.rules import SECTION as RULES
from dicegym.web.section import Section
from dicegym.web.security import Safety
from dicegym.web.server import SECTION as SERVER
from dicegym.web.settings import WebSettings
from dicegym.web.watch import SECTION as WATCH

SECTIONS: tuple[Section, ...] = (PLAY, WATCH, ENTER, LEARN, RULES, SERVER)
"""In the order of the menu."""
THREADS = 8
"""For endpoints that are plain functions, and `run_in_threadpool`: more would only wait for each other."""
COMPRESSION = 5
"""Of pages, by gzip: above it a page costs twice the time and is one in fifty smaller."""


def create_app(settings: WebSettings) -> Starlette:
    """Return the application that serves all pages, their files, and the interface for programs."""
    web = Web(settings)
    routes: list[Any] = [
        Route("/", _home),
        Route("/favicon.ico", _icon),
        Route("/robots.txt", _robots),
        Route(f"{static_files.PREFIX}/{{name:path}}", static_files.static),
    ]
    operations: list[api.Operation] = []
    for section in SECTIONS:
        routes += section.routes(web)
        operations += section.operations(web)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
        for start in web.on_start:
            start()
        async with contextlib.AsyncExitStack() as stack:
            for stop in web.on_stop:
                stack.callback(stop)
            yield

    app = Starlette(
        routes=[*routes, *openapi.routes(operations), *api.routes(operations)],
        middleware=[Middleware(Safety, web=web), Middleware(GZipMiddleware, compresslevel=COMPRESSION)],
        exception_handlers=HANDLERS,
        lifespan=lifespan,
    )
    app.state.sections = SECTIONS
    app.state.web = web
    return app


def _home(request: Request) -> Response:
    return sign_operator_in(request) or page(request, "home.html", games=dealt())


async def _icon(request: Request) -> Response:
    return RedirectResponse(static_files.address("icon.svg"), 302)


async def _robots(request: Request) -> Response:
    """Games and contests are made while they are read: nothing for those who read everything."""
    return PlainTextResponse("User-agent: *\nDisallow: /\n", headers={"Cache-Control": "public, max-age=86400"})
