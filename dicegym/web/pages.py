"""How pages are made of templates: everything that is put into one is made harmless and escaped.

Forms carry a key made for their visitor, so that no other site can send one in a visitor's name.
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
"""The field of a form, which nobody sees, by which it is known as one of ours."""
HEADER = "x-form-key"
"""Where htmx says the same."""
_SALT = 16
"""Letters that make each page's key another one, so that compression tells nothing of it."""
_FORM = re.compile(r"<form\b[^>]*\bmethod=[\"']?post\b[^>]*>", re.IGNORECASE)


def agent_address(game: str, name: str) -> str:
    """Return the page of an agent."""
    return f"/watch/agents/{game}/agent?{urlencode({'name': name})}"


@functools.cache
def environment() -> Environment:
    """Return what fills the templates of this package, which may import those of the arena's pages as ``arena/...``."""
    import jinja2

    arena = jinja2.PrefixLoader({"arena": jinja2.FunctionLoader(asset)})
    made = make_environment(jinja2.ChoiceLoader([arena, jinja2.PackageLoader("dicegym.web")]))
    made.auto_reload = False  # no page looks at the files of its templates again
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
        values: what the template names, beside ``request``, ``sections``, ``version`` and ``form_key``.
    """
    key = form_key(request)
    shown = {
        "request": request,
        "sections": request.app.state.sections,
        "version": dicegym.__version__,
        "form_key": key,
    }
    html = environment().get_template(template).render(shown | values)
    field = f'<input type="hidden" name="{FORM_KEY}" value="{key}">'
    keyed = _FORM.sub(lambda form: form[0] + field, html)  # in every form: no template can forget it
    return HTMLResponse(keyed, status, {"Cache-Control": "private, no-cache"})


def sign(web: Web, *words: str) -> str:
    """Return a signature of some words that nobody else can make."""
    return hmac.digest(web.secret, "\0".join(words).encode(), "sha256").hex()


def form_key(request: Request) -> str:
    """Return what the forms of a page carry in `FORM_KEY`: nobody else can know it."""
    salt = secrets.token_hex(_SALT // 2)
    return salt + sign(request.state.web, "form", request.state.visitor, salt)


def check_form_key(request: Request, given: object) -> None:
    """Raise HTTPException (403) if a form does not carry what `form_key` gave its visitor."""
    text = given if isinstance(given, str) else ""
    expected = sign(request.state.web, "form", request.state.visitor, text[:_SALT])
    if not hmac.compare_digest(text[_SALT:].encode(), expected.encode()):
        raise HTTPException(403, "this form is not one that was shown to you here: open its page again, then send it")
