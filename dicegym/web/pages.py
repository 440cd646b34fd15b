"""How pages are made of templates: everything that is put into one is made harmless and escaped."""

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
from dicegym.web.forms import form_key, with_keys
from dicegym.web.static_files import address

if TYPE_CHECKING:
    from jinja2 import Environment


def agent_address(game: str, name: str) -> str:
    """Return the page of an agent."""
    return f"/watch/agents/{game}/agent?{urlencode({'name': name})}"


@functools.cache
def environment() -> Environment:
    """Return what fills the templates of this package, which may import those of the arena's pages as ``arena/...``."""
    import jinja2

    arena = jinja2.PrefixLoader({"arena": jinja2.FunctionLoader(asset)})
    made = make_environment(jinja2.ChoiceLoader([arena, jinja2.PackageLoader("dicegym.web")]))
    made.globals |= {"static": address, "moment": moment, "agent_address": agent_address}
    return made


def web_of(request: Request) -> Web:
    """Return the server that a request was sent to."""
    found: Web = request.state.web
    return found


def page(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Return a page.

    Args:
        request: what is answered.
        template: its file below ``templates``; it extends ``base.html`` and fills its blocks ``title`` and ``main``.
        status: of the answer.
        values: what the template names, beside ``request``, ``sections``, ``version``, and ``form_key``, which forms
            that change something carry; each gets it by itself.
    """
    key = form_key(request)
    shown = {
        "request": request,
        "sections": request.app.state.sections,
        "version": dicegym.__version__,
        "form_key": key,
    }
    html = environment().get_template(template).render(shown | values)
    return HTMLResponse(with_keys(html, key), status, {"Cache-Control": "private, no-cache"})
