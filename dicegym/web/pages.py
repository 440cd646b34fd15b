"""Render pages from templates, which escape everything.

Each form has a key of its visitor, so that no other site can send a form in a visitor's name.
"""

from __future__ import annotations

import functools
import hmac
import re
import secrets
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse

import dicegym
from dicegym.arena.pages.contest_page import moment
from dicegym.arena.pages.template import asset, make_environment
from dicegym.web.context import Web
from dicegym.web.static_files import address

if TYPE_CHECKING:
    from jinja2 import Environment

FORM_KEY = "form_key"
"""The name of the input with the key of a form."""
HEADER = "x-form-key"
"""The header in which htmx sends the key."""
_SALT = 16
"""Random letters of a key: each page has another key, so its compressed size reveals nothing (BREACH)."""
_FORM = re.compile(r"<form\b[^>]*\bmethod=[\"']?post\b[^>]*>", re.IGNORECASE)


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
        values: the template's variables, in addition to ``request``, ``sections`` and ``form_key``.
    """
    key = form_key(request)
    shared = {"request": request, "sections": request.app.state.sections, "form_key": key}
    html = environment().get_template(template).render(shared | values)
    field = f'<input type="hidden" name="{FORM_KEY}" value="{key}">'
    keyed = _FORM.sub(lambda form: form[0] + field, html)  # so no template can forget the key
    return HTMLResponse(keyed, status, {"Cache-Control": "private, no-cache"})


def sign(web: Web, *words: str) -> str:
    """Return the server's signature of some words."""
    return hmac.digest(web.secret, "\0".join(words).encode(), "sha256").hex()


def form_key(request: Request) -> str:
    """Return a key for the forms of a page, which only the server can make."""
    salt = secrets.token_hex(_SALT // 2)
    return salt + sign(request.state.web, "form", request.state.visitor, salt)


def check_form_key(request: Request, given: object) -> None:
    """Raise HTTPException (403) unless ``given`` is a key that `form_key` made for this visitor."""
    text = given if isinstance(given, str) else ""
    expected = sign(request.state.web, "form", request.state.visitor, text[:_SALT])
    if not hmac.compare_digest(text[_SALT:].encode(), expected.encode()):
        raise HTTPException(403, "this form was not made for you, or is too old: open its page again, then send it")
