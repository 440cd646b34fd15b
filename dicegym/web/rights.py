"""Who may do what only whoever runs the pages should: start a server, hold a contest."""

from __future__ import annotations

from starlette.requests import Request

from dicegym.errors import DicegymError
from dicegym.server.origins import is_loopback
from dicegym.web.context import Web

FORWARDED = ("x-forwarded-for", "forwarded", "x-real-ip")
"""What proxies say of those they ask for."""


class NotAllowedError(DicegymError):
    """Somebody asked for what only an operator may do."""


def is_at_the_machine(request: Request) -> bool:
    """Return whether somebody asks on this machine itself, of a server that nobody else reaches."""
    web: Web = request.state.web
    client = request.client.host if request.client else ""
    alone = is_loopback(web.settings.host) and not web.settings.hosts and not web.settings.proxies
    return alone and is_loopback(client) and not any(name in request.headers for name in FORWARDED)


def is_operator(request: Request) -> bool:
    """Return whether somebody may do what operators do; it may ask a file, so call it in a thread."""
    web: Web = request.state.web
    return is_at_the_machine(request) or any(known(request) for known in web.operators)


def need_operator(request: Request, what: str) -> None:
    """Raise NotAllowedError unless an operator asks for ``what``: "a server is started"."""
    if not is_operator(request):
        raise NotAllowedError(
            f"{what} by operators alone: enter an operator's token, or open these pages on the machine that they run on"
        )
