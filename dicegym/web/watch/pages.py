"""Pages of this section: what all of them name besides."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse

from dicegym.web.pages import page
from dicegym.web.watch.assets import address


def shown(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Return a page of this section; arguments as of `dicegym.web.pages.page`."""
    return page(request, template, status, files=address, **values)
