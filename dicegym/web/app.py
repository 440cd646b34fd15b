"""All pages together, as an ASGI application."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from dicegym.web import api
from dicegym.web.context import Web
from dicegym.web.enter import SECTION as ENTER
from dicegym.web.faults import HANDLERS
from dicegym.web.learn import SECTION as LEARN
from dicegym.web.pages import page
from dicegym.web.rules import SECTION as RULES
from dicegym.web.section import Section
from dicegym.web.security import Safety
from dicegym.web.settings import WebSettings

SECTIONS: tuple[Section, ...] = (ENTER, LEARN, RULES)
"""In the order of the menu."""


def create_app(settings: WebSettings) -> Starlette:
    """Return the application that serves all pages, their files, and the interface for programs."""
    web = Web(settings)
    routes: list[Any] = [Route("/", _home), Mount("/static", StaticFiles(packages=[("dicegym.web", "static")]))]
    operations: list[api.Operation] = []
    for section in SECTIONS:
        routes += section.routes(web)
        operations += section.operations(web)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        for start in web.on_start:
            start()
        async with contextlib.AsyncExitStack() as stack:
            for stop in web.on_stop:
                stack.callback(stop)
            yield

    app = Starlette(
        routes=[*routes, *api.routes(operations)],
        middleware=[Middleware(Safety, web=web)],
        exception_handlers=HANDLERS,
        lifespan=lifespan,
    )
    app.state.sections = SECTIONS
    app.state.web = web
    return app


async def _home(request: Request) -> Response:
    return page(request, "home.html")
