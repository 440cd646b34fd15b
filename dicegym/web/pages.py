"""How pages are made of templates: everything that is put into one is made harmless and escaped."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import HTMLResponse

import dicegym
from dicegym.arena.pages.template import asset, made_environment
from dicegym.web.context import Web

if TYPE_CHECKING:
    from jinja2 import Environment


@functools.cache
def environment() -> Environment:
    """Return what fills the templates of this package, which may import those of the arena's pages as ``arena/...``."""
    import jinja2

    arena = jinja2.PrefixLoader({"arena": jinja2.FunctionLoader(asset)})
    return made_environment(jinja2.ChoiceLoader([arena, jinja2.PackageLoader("dicegym.web")]))


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
        values: what the template names, besides ``request``, ``sections`` and ``version``.
    """
    shown = {"request": request, "sections": request.app.state.sections, "version": dicegym.__version__}
    return HTMLResponse(environment().get_template(template).render(shown | values), status)
