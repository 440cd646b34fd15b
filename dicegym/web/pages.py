"""Render pages from templates, which escape everything."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse

import dicegym
from dicegym.arena.pages.contest_page import moment
from dicegym.arena.pages.template import asset, make_environment
from dicegym.web.context import Web
from dicegym.web.static_files import address

if TYPE_CHECKING:
    from jinja2 import Environment


def agent_address(game: str, name: str) -> str:
    """Return the address of an agent's page."""
    return f"/watch/agents/{game}/agent?{urlencode({'name': name})}"


@functools.cache
def environment() -> Environment:
    """Return Jinja's environment of this package. Templates may import those of contest pages as ``arena/...``."""
    import jinja2

    arena = jinja2.PrefixLoader({"arena": jinja2.FunctionLoader(asset)})
    made = make_environment(jinja2.ChoiceLoader([arena, jinja2.PackageLoader("dicegym.web")]))
    made.auto_reload = False  # templates do not change while the server runs
    made.globals |= {"static": address, "moment": moment, "agent_address": agent_address}
    made.globals["dicegym_version"] = dicegym.__version__
    return made


def web_of(request: Request) -> Web:
    """Return the web server of a request."""
    found: Web = request.state.web
    return found


def render_page(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Return a page.

    Args:
        request: the request to answer.
        template: a file below ``templates`` that extends ``base.html`` by the blocks ``title`` and ``main``.
        status: the HTTP status.
        values: the template's variables, in addition to ``request`` and ``sections``.
    """
    shared = {"request": request, "sections": request.app.state.sections}
    html = environment().get_template(template).render(shared | values)
    return HTMLResponse(html, status, {"Cache-Control": "private, no-cache"})
